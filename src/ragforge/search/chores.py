"""Chores: messages such as "commit this", which need no memory and no code."""

from __future__ import annotations

from ragforge.patterns import compile_on_use
from ragforge.search.scripts import strip_accents
from ragforge.search.small_talk import SAYS_NOTHING, goes_on, is_small_talk

MAX_WORDS = 16
"""A longer message says more than a chore."""

_RUN = compile_on_use(r"[^\W_]+")
_NUMBER = compile_on_use(r"v?\d+")  # of a version or a pull request

# What is done with a repository and its checks. English, French, German, Spanish; without accents.
_ACTS = frozenset(
    """
    amend bisect branch branche branches branching build builds checkout cherry ci clone commit
    commita commite commited commits committe committed committen committer committest
    committing conflict conflicts deploy deploye deployer deploys despliega develop diff draft
    fetch force fusion fusiona fusionar fusionne fusionner gh git github gitignore gitlab head
    hotfix main master merge mergea merged mergen merger merging origin pipeline pipelines
    pousse pousser pr prs publish pull push pushe pushea pushed pushen pusher pushing rama
    rebase rebasea rebased rebasen rebaser rebasing release releasen rerun reset reseta resete
    restage revert revierte ship squash squashe squashen stage staging stash sube subelo sync
    tag undo unpushed unstage untracked upstream veroffentliche workflow yaml yml zweig
    """.split()  # noqa: SIM905
)
# What is said about such an act.
_DETAILS = frozenset(
    """
    abort accurate action actions add against ahead another apply approve assign assignee atomic
    base based behind bump change changed changes check checks clean close commits conventional
    create creates creating current cut dans default delete deletes description detailed dev
    directly draft drop dry everything fail failed failing fails feature file files finish fmt
    format fresh gates good green hard head history hooks into job jobs keep kick label last
    latest lease leave lint linter list local log logs meaningful merge merged message messages
    name new next nightly old onto open opened origin pass passed passes passing past patch pick
    previous prod production proper queue ready red remote repo repository request requests
    resolve restart retry reviewer reviewers rewrite rewritten run running separate several show
    sign signed single skip small soft split staged status stuff suite switch test tests them
    title tree trigger trunk two update verify version when whole wip work worktree write

    actuelle annule annuler assure branche changements courante cree creer demande depuis
    dernier derniere derniers distante echoue echouent ecrase efface enregistre ensemble envoie
    fichiers garde jour lance lancer message mets modifications modifs nettoie nouveau nouvelle
    ouvre ouvrir petits principale propre refais relance relancer reviens rouge serveur stp suis
    supprime supprimer svp valide valider verifie version vert verte

    aktuelle aktuellen andere anderungen anlegen baue behalte bitte brauch bringe danach daraus
    dateien entferne erneut erstelle erstellen fehlgeschlagen fehlschlag festschreiben fuhre
    fuhren gangig grun hauptzweig hoch kleine lade lege letzte letzten letzter loesche losche
    mach nachricht neu neuen neuer neues noch offne rot ruckgangig schieb schiebe schreib server
    setz setze sichere stand starte stell verwirf wechsle zusammen

    abre actual anade anterior archivos borra borrar cambia cambios confirma construccion crea
    crear deshacer deshaz ejecuta elimina envia falla fallado fallo guarda guardar hacer haz
    lanza lanzar mensaje nueva nuevo nuevos paso pequenos peticion principal reinicia relanza
    remota remoto repositorio rojo servidor sobre solicitud sube ultima ultimo ultimos verde
    vuelve
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
    found = _RUN.findall(strip_accents(message).casefold())
    words = [word for word in found if not _NUMBER.fullmatch(word)]
    if len(words) > MAX_WORDS or not words or not _ASKS.isdisjoint(words[:2]):
        return False
    return _KNOWN.issuperset(words) and not _ACTS.isdisjoint(words)


def needs_nothing(message: str, in_session: bool = False) -> bool:
    """Tell whether a message needs no memory and no code: a chore, or small talk.

    In a session "yes, go on" means what was said last, and may need what belongs to that.
    """
    return is_chore(message) or (is_small_talk(message) and not (in_session and goes_on(message)))
