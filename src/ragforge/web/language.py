"""Language: the texts of the page in English and French, chosen by the browser's languages."""

from __future__ import annotations

from collections.abc import Mapping

FRENCH: Mapping[str, str] = {
    "Search": "Rechercher",
    "Sessions": "Sessions",
    "Code": "Code",
    "Context": "Contexte",
    "Store": "Stockage",
    "Search memory and code": "Rechercher dans la mémoire et le code",
    "Keys": "Touches",
    "search": "rechercher",
    "move through the results": "parcourir les résultats",
    "open": "ouvrir",
    "this help": "cette aide",
    "leave": "quitter",
    "Skip to the content": "Aller au contenu",
    "Project": "Projet",
    "Agent": "Agent",
    "From": "Du",
    "To": "Au",
    "All": "Tous",
    "Apply": "Appliquer",
    "Memory": "Mémoire",
    "Nothing found.": "Rien trouvé.",
    "Type to search what was said and done, and the code of this project.": (
        "Tapez pour chercher ce qui a été dit et fait, et le code de ce projet."
    ),
    "This project's code is not known yet. Run: ragforge ingest": (
        "Le code de ce projet n’est pas encore connu. Lancez : ragforge ingest"
    ),
    "No sessions yet.": "Pas encore de session.",
    "(no title)": "(sans titre)",
    "Newer": "Plus récentes",
    "Older": "Plus anciennes",
    "Earlier turns": "Tours précédents",
    "Later turns": "Tours suivants",
    "Latest turns": "Derniers tours",
    "turn": "tour",
    "turns": "tours",
    "tokens": "jetons",
    "Reasoning": "Raisonnement",
    "Arguments": "Arguments",
    "Result": "Résultat",
    "failed": "échec",
    "interrupted": "interrompu",
    "Receipt": "Reçu",
    "What the model was given": "Ce que le modèle a reçu",
    "archived": "archivée",
    "private": "privée",
    "started by": "lancée par",
    "branch": "branche",
    "summary": "résumé",
    "note": "note",
    "code changed since": "le code a changé depuis",
    "Ask": "Demander",
    "A question": "Une question",
    "Budget in characters": "Budget en caractères",
    "Type a question to see the context that a model would get. Nothing is stored.": (
        "Tapez une question pour voir le contexte qu’un modèle recevrait. Rien n’est enregistré."
    ),
    "characters": "caractères",
    "of": "sur",
    "Left out": "Écarté",
    "Searches": "Recherches",
    "The text": "Le texte",
    "Why": "Pourquoi",
    "Score": "Score",
    "Source": "Source",
    "Part": "Partie",
    "State": "État",
    "Found": "Trouvés",
    "A file, function or class": "Un fichier, une fonction ou une classe",
    "Show": "Montrer",
    "Nothing has this name.": "Rien ne porte ce nom.",
    "Several have this name": "Plusieurs portent ce nom",
    "uses": "utilise",
    "used_by": "utilisé par",
    "inherits_from": "hérite de",
    "inherited_by": "parent de",
    "inside": "dans",
    "holds": "contient",
    "Sessions that touched it": "Les sessions qui l’ont touché",
    "No session touched it.": "Aucune session ne l’a touché.",
    "edited": "modifié",
    "read": "lu",
    "named": "nommé",
    "Jobs": "Tâches",
    "Nothing is waiting.": "Rien n’est en attente.",
    "Retry failed jobs": "Relancer les tâches en échec",
    "The store": "Le stockage",
    "Kind": "Genre",
    "Status": "Statut",
    "Attempts": "Essais",
    "Problem": "Problème",
    "There is no such page.": "Cette page n’existe pas.",
    "Something went wrong.": "Quelque chose s’est mal passé.",
    "The store cannot be reached. Try again in a moment.": (
        "Le stockage est inaccessible. Réessayez dans un instant."
    ),
    "Back to the sessions": "Retour aux sessions",
    "Password": "Mot de passe",
    "Enter": "Entrer",
    "That is not the password.": "Ce n’est pas le mot de passe.",
    "This address was used already. Run `ragforge web` again.": (
        "Cette adresse a déjà servi. Relancez `ragforge web`."
    ),
    "Delete this session": "Supprimer cette session",
    "It is deleted for good. Are you sure?": "Elle sera supprimée pour de bon. Êtes-vous sûr ?",
    "Yes, delete it": "Oui, la supprimer",
    "Export": "Exporter",
}
"""English text → French text."""


def choose_language(header: str) -> str:
    """Return `fr` or `en`, whichever an Accept-Language header prefers."""
    best, weight = "en", 0.0
    for part in header.lower().split(",")[:20]:
        name, _, quality = part.strip().partition(";q=")
        language = name.partition("-")[0]
        try:
            value = float(quality) if quality else 1.0
        except ValueError:
            continue
        if language in ("en", "fr") and value > weight:
            best, weight = language, value
    return best


def translate(text: str, language: str) -> str:
    """Return a text of the page in a language."""
    return FRENCH.get(text, text) if language == "fr" else text
