"""Chores: messages such as "commit this", which need no memory and no code."""

from __future__ import annotations

import re

from ragforge.search.scripts import strip_accents
from ragforge.search.small_talk import SAYS_NOTHING, goes_on, is_small_talk

MOST_WORDS = 16
"""A longer message says more than a chore."""

_RUN = re.compile(r"[^\W_]+")

# What is done with a repository and its checks. English, French, German, Spanish; without accents.
_ACTS = frozenset(
    """
    checkout cherry clone conflict conflicts develop diff draft gh gitignore head hotfix origin
    unpushed untracked yml yaml reset reseta resete staging
    amend bisect branch branches branching build builds ci commit commita commite commited
    committe committed committen committer committest committing commits deploy deploye deployer
    deploys despliega fetch force fusion fusiona fusionar fusionne fusionner git github gitlab
    main master merge mergea mergen merged merger merging pipeline pipelines pousse pousser pr
    prs pull publish push pushe pushea pushed pushen pusher pushing rama rebase rebasea rebased
    rebasen rebaser rebasing release releasen rerun restage revert revierte ship squash squashe
    squashen stage stash subelo sube sync tag undo unstage upstream veroffentliche workflow
    zweig
    """.split()  # noqa: SIM905
)
# What is said about such an act.
_DETAILS = frozenset(
    """
    abort action approve assign bump close cut dev dry format fmt green hard history hooks kick
    label log merged nightly pick prod production queue ready reviewer reviewers rewrite rewritten
    sign signed skip soft switch trigger verify wip
    accurate actions add against another atomic base based bump change changed changes check
    checks clean commits conventional current default description detailed directly draft
    everything fail failed failing fails feature file files finish fresh gates good green head
    job jobs last latest lease lint linter local meaningful merge message messages name new next
    onto open opened origin passed passes passing past patch previous proper ready red remote
    repo repository request requests restart resolve retry run running separate several single
    small staged stuff suite test tests them title trunk tree two update version whole work
    worktree write

    actuelle annule annuler assure branche changements courante cree creer demande dernier
    derniere derniers distante echoue echouent ensemble envoie fichiers jour lance lancer
    message mets modifications modifs nouveau nouvelle ouvre ouvrir petits principale relance
    relancer reviens rouge refais serveur suis verifie vert verte version

    aktuellen aktuelle andere anderungen anlegen baue bitte brauch bringe dateien erneut
    erstelle erstellen fehlgeschlagen fehlschlag festschreiben gangig grun hauptzweig hoch
    kleine lade letzte letzten letzter mach nachricht neu neuen neuer neues noch offne rot
    ruckgangig schieb schiebe schreib server sichere stand starte stell zusammen

    abre actual anterior archivos cambios confirma construccion crea crear deshaz deshacer envia
    falla fallado fallo haz lanza mensaje nueva nuevo paso pequenos peticion principal rojo
    ejecuta reinicia relanza remoto remota repositorio servidor solicitud ultima ultimo ultimos
    verde vuelve
    """.split()  # noqa: SIM905
)
# A question about these things may be about the project.
_ASKS = frozenset(
    """
    how what where which who whose why combien comment ou pourquoi quel quelle quels quelles
    quoi warum was welche welcher welches weshalb wie wieso wo como cual cuales donde que quien
    """.split()  # noqa: SIM905
)
_KNOWN = _ACTS | _DETAILS | SAYS_NOTHING


def is_chore(message: str) -> bool:
    """Tell whether a message only asks for an act with the repository or its checks."""
    words = _RUN.findall(strip_accents(message).casefold())
    if len(words) > MOST_WORDS or not words or not _ASKS.isdisjoint(words[:2]):
        return False
    return _KNOWN.issuperset(words) and not _ACTS.isdisjoint(words)


def needs_nothing(message: str, in_session: bool = False) -> bool:
    """Tell whether a message needs no memory and no code: a chore, or small talk.

    In a session "yes, go on" means what was said last, and may need what belongs to that.
    """
    return is_chore(message) or (is_small_talk(message) and not (in_session and goes_on(message)))
