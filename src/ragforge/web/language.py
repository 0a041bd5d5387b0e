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
    "Still reading the code: {done} of {total} files. The others were searched by words; search "
    "again for more.": (
        "Lecture du code en cours : {done} fichiers sur {total}. Les autres ont été cherchés par "
        "mots ; relancez la recherche pour en trouver davantage."
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
    "Changes since": "Changements depuis",
    "Before and after": "Avant et après",
    "On the left the last commit before that moment, on the right the file as it is now.": (
        "À gauche le dernier commit avant ce moment, à droite le fichier tel qu’il est maintenant."
    ),
    "The file is as it was in the last commit before that.": (
        "Le fichier est tel qu’il était dans le dernier commit avant cela."
    ),
    "Git has no commit of this project that is so old.": (
        "Git n’a pas de commit aussi ancien de ce projet."
    ),
    "Ask": "Demander",
    "Level": "Niveau",
    "L1": "résumés (L1)",
    "L2": "résumés de résumés (L2)",
    "notes": "notes",
    "Notes": "Notes",
    "Nothing was noted yet.": "Rien n’a encore été noté.",
    "Forget this note": "Oublier cette note",
    "Forget": "Oublier",
    "Forget a project": "Oublier un projet",
    "Your sessions and notes of this project are deleted for good.": (
        "Vos sessions et vos notes de ce projet sont supprimées pour de bon."
    ),
    "Are you sure?": "Êtes-vous sûr ?",
    "Yes, forget it": "Oui, l’oublier",
    "Yes, forget all of it": "Oui, tout oublier",
    "sessions": "sessions",
    "superseded": "remplacée",
    "by a newer note": "par une note plus récente",
    "rule": "règle",
    "Meaning": "Sens",
    "turns to embed": "tours sans vecteur",
    "Words alone are searched.": "La recherche se fait par les mots seulement.",
    "files": "fichiers",
    "scopes": "fonctions et classes",
    "changed files": "fichiers changés",
    "scopes to embed": "fonctions et classes sans vecteur",
    "model": "modèle",
    "being indexed anew": "réindexation en cours",
    "Forget what is known of this code": "Oublier ce qui est connu de ce code",
    "The files themselves stay. `ragforge ingest` reads them again.": (
        "Les fichiers restent. `ragforge ingest` les relit."
    ),
    "Graph": "Graphe",
    "Find": "Trouver",
    "scope": "fonction ou classe",
    "file": "fichier",
    "library": "bibliothèque",
    "Click or Enter shows more around a thing; the arrows move to the next one.": (
        "Un clic ou Entrée montre ce qui est autour ; les flèches mènent à la suivante."
    ),
    "The same as a list": "La même chose en liste",
    "Nothing is beside it.": "Rien n’est à côté.",
    "in": "dans",
    "has parent": "est dans",
    "consumes": "utilise",
    "inherits from": "hérite de",
    "imports": "importe",
    "uses library": "utilise la bibliothèque",
    "started": "a lancé",
    "branch of": "branche de",
    "Sessions beside this one": "Sessions voisines",
    "Time line": "Chronologie",
    "Map": "Carte",
    "session": "session",
    "commit": "commit",
    "job": "tâche",
    "summaries": "résumés",
    "Latest sessions": "Dernières sessions",
    "All sessions": "Toutes les sessions",
    "The request": "La requête",
    "What was found for it": "Ce qui a été trouvé pour elle",
    "the first": "dont les",
    "as in the request before": "premiers comme dans la requête précédente",
    "imported by": "importé par",
    "libraries": "bibliothèques",
    "just now": "à l’instant",
    "corrects an earlier note": "corrige une note antérieure",
    "Nothing happened here yet.": "Rien ne s’est encore passé ici.",
    "Earlier": "Plus tôt",
    "Every file is as large as its content.": "Chaque fichier est aussi grand que son contenu.",
    "The warmer, the more often it was talked about.": (
        "Plus il est chaud, plus on en a parlé souvent."
    ),
    "The warmer, the more lately it was talked about.": (
        "Plus il est chaud, plus on en a parlé récemment."
    ),
    "Warm is what changed after it was last talked about.": (
        "Sont chauds ceux qui ont changé depuis qu’on en a parlé."
    ),
    "Colours": "Couleurs",
    "often": "souvent",
    "lately": "récemment",
    "stale": "dépassé",
    "changed since": "changé depuis",
    "Files": "Fichiers",
    "File": "Fichier",
    "Size": "Taille",
    "Talked about": "Évoqué",
    "Last": "Dernier",
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
    "Sessions and commits": "Sessions et commits",
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


def translate_age(age: str, language: str) -> str:
    """Return how long ago something was, such as `3 days ago`, in a language."""
    if language != "fr" or not age.endswith(" ago"):
        return translate(age, language)
    return f"il y a {age.removesuffix(' ago').replace('day', 'jour')}"
