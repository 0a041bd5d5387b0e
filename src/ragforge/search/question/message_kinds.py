"""Small talk: messages such as thanks, hello or yes, without anything to search for."""

from __future__ import annotations

import re

from ragforge.patterns import compile_on_use
from ragforge.search.words.scripts import strip_accents

MAX_WORDS = 14
MAX_CHARS = 200
"""A longer message is not small talk."""
FEW = 2
"""This many words or fewer may be names and are searched for, unless one is a courtesy."""

_RUN = compile_on_use(r"[^\W_]+")

# Small talk if nothing else is said. English, French, German, Spanish, Italian; without accents.
_COURTESIES = frozenset(
    """
    absolutely accord adelante adieu adios agreed alright amazing appreciate appreciated
    arrivederci avanti awesome benissimo bestens bises bisous bitte bonjour bonne bonsoir brava
    bravo brilliant buonanotte buonasera buongiorno bye capito certo cheers ciao claro congrats
    congratulations continue cool correcto coucou dac dank danke dankeschon definitely desole
    desolee einverstanden entendu esatto estupendo exactly exacto excelente excellent fantastic
    fantastico felicitations fine formidable genau genial gern gerne glad go good goodbye
    goodnight gracias grazie great grossartig gruss grusse gut gute guten haha hahaha hallo
    hasta hello hey hi hmm hola igualmente impeccable ja jawohl klar lol lovely mach merci moin
    morgen nee nein nice no non nope ok okay okey oops ottimo oui parfait parfaite parfaitement
    passt perdon perfect perfecto perfekt perfetto please prego prima procedi proceed saludos
    salut salve scusa scusi servus si siga sigue sorry spitze splendido stimmt super sure thank
    thanks thx toll top tschuss ty understood vai vale vamos vas verstanden voila volontiers
    weiter weitermachen welcome wiedersehen wonderful wow wunderbar yay yeah yep yes yup
    """.split()  # noqa: SIM905
)
# Words that accompany them and cannot be searched for.
_COMPANY = frozenset(
    """
    a afternoon again agree ah ahead all already also am and any anything anyway are as at back
    be been best better bit both but can care catch clear complete completely correct couldn
    course d day days dear did didn do does doesn doing don done dont else enjoy enough evening
    everyone everything fair far for friday friend from fun give going got happy have having
    help helped helpful helping helps here hope how however i id if ill im in indeed is isn it
    its ive job just keep kind know later let lets like little ll look looks lot lots love loved
    luck ma maybe me mean minute moment monday more morning much my naturally night not nothing
    now of off oh on once one only other others perfectly pleasure point re really rest right
    rightly s same saturday second see sense so something soon sound sounds start still stop
    sunday sweet t take talk tell that thats the then there they thing think this thursday till
    time to today tomorrow tonight too totally try tuesday understand until up us ve very wait
    was way we wednesday week weekend well were what whatever whenever will first idea option
    proposal wish with won work worked works would year yesterday yet you your yours

    agreable ai aide aider aimerais ainsi ajouter aller allez allons alors amities apres au
    aucun aucune aujourd aussi aux avance avant avec beaucoup bien bientot bon bonnes c ca cela
    certainement ces cest chaque cher chere comme comment compris de deja demain des deux
    dimanche dis donc du elle en encore enfin ensuite es est et etait ete etes etre exact
    exactement excellente excuse excusez faire fais fait faites faut fin gentil gentille grand
    gros heureux hier hui ici il j jai je jeudi jour journee jours jusqu juste l la le les lundi
    m magnifique mai mais mardi matin meilleur mercredi merveilleux mes mieux moi mon n ne ni
    nous nuit ou parle pas passe passez pense peu peut peux plaira plaisir plait plus pour
    pourquoi pouvez prochain prochaine qu que quel quelle qui reponse reste revoir rien sa
    samedi sans semaine sera serait soir soiree son sont suis suite sur sympa ta te tellement
    tes tiens toi toujours tous tout toute tres tu un une utile va vendredi vers deuxieme idee
    plutot premier premiere proposition seconde veuillez veux vite vos votre voudrais vous
    vraiment y

    abend aber alle alles an auch auf aus bald beste besten bin bis bist bleib bleibt da daf
    dafur damit dann das dass dein deine dem den denn der dich die dienstag dir doch donnerstag
    echt ein eine einen einfach erst feierabend fein fertig freitag freue freut frohes fruh
    fruhe fur ganz gar gefallt geholfen geht gemacht gerade gesagt gleich gluck glucklich gross
    guter hab habe haben halb hast heisst herzlich herzlichen heute hilf hilfe hilfreich hilfst
    hilft ich ihnen ihr ist jetzt kann kannst kein keine klappt klasse klingt konnen kurz
    langsam lass leben leider lieb liebe lieben los machen machst macht mal mehr mein meine mich
    mir mit mittwoch montag na nachmittag nachste nachsten nacht naja nett neues nicht nichts
    noch nun nur oder recht richtig ruhig sag sagen samstag schlaf schon schonen schones sehen
    sehr sei sein sicher sie sind sollen sonntag sonst soweit spass spat spater tag tage tausend
    tja tun unbedingt und uns verstehe viel viele vielen vielleicht erste ersten lieber variante
    vorschlag zweite zweiten voll von vor wahr war wenn wer wie wieder wiederhoren willkommen
    wir wird wirklich wo woche wochenende wunsch wunsche zu zum zur zusammen

    ademas ahora alegro algo amigo anda aqui asi ayuda ayudar bastante buena buenas bueno buenos
    como con continua continuar cosa cuando cuidate del demasiado dia dias dos el ella entendido
    eres eso espera esta este esto estoy favor fue gusto ha hace hasta hay haz hecho hora hoy
    las lo luego manana mas mejor mi mil mira momento mucha muchas muchisimas mucho muy nada
    noche noches nos otra otro para pero poco podemos por porque pronto pues quiero se semana
    senor siento soy su sus tal tambien tan tarde tardes tengo una usted ver vez vosotros voy ya
    yo

    adesso allora altro amico anche ancora andare andiamo aspetta assolutamente basta bella
    bello bene buon buona certamente che chiaro ci come continuare cosi cui dai davvero della di
    dici domani dopo dove e ecco era essere fa fai fare fatto favore felice figurati forse
    gentile gentilissimo gia giornata giorno giusto grande hai ho importa io lei loro magnifico
    mattina meglio mia mille mio molte molto nessun niente noi notte nulla o oggi ora passo per
    perche piacere piu poi posso presto proprio prossima puoi quando quanto quella quello questa
    questo sembra sempre serata sono sta stai stato sto tanta tante tanto ti tra tutti tutto
    vada vediamo vero vi vieni voi
    """.split()  # noqa: SIM905
)

SAYS_NOTHING = _COURTESIES | _COMPANY
"""Words that do not say what a message is about."""

_CONTINUES = frozenset(
    """
    adelante agreed allez allons begin continua continue continuer continuez continuons correct
    correcto d'accord accord do exactly first genau go go-ahead idea ja jawohl keep let lets mach
    machen next ok okay oui option please premier premiere primera primero procedi proceed
    proposition right seconde second segunda si siga sigue start stimmt sure vale vamos vas
    variante vorschlag weiter weitermachen yeah yep yes yup zweite erste
    """.split()  # noqa: SIM905
)

_ORDER = compile_on_use(
    r"\b(?:(?:in|the) (?:what |which |same )?(?:order|sequence)\b|chronolog\w+|timeline|time line"
    r"|(?:which|what|who) (?:\w+ )*(?:came|happened|was|did) (?:\w+ )*first"
    r"|dans quel ordre|l'ordre (?:dans|des|de)|(?:en|par) ordre|lequel (?:\w+ )*d'abord)"
)
_SEVERAL = compile_on_use(
    r"\b(?:list|summar(?:y|ise|ize)|overview|recap|throughout|across (?:all|our|my|the)|so far"
    r"|every(?:thing)?|all (?:the|of|my|our)|how many (?:\w+ )?(?:times|different|kinds|types)"
    r"|(?:what|which) (?:are|were) "
    r"|(?:what|which) (?:\w+ ){0,2}\w{3,}(?<!s)s (?:has|have|do|does|did|are|were) "
    r"|(?:what|where|who|which) (?:[\w+/-]+ ){0,4}(?:has|have) (?!to\b)\w+"
    r"|liste|resum(?:e|er|ez)|tou(?:s|tes) (?:les|mes|nos)|combien de fois|quel(?:le)?s \w+s)\b"
)

MAX_CHORE_WORDS = 16
"""A longer message says more than a chore."""

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

_RECORDS = compile_on_use(
    r"\b(licen[cs](e|es|ed|ing|ia|za)?|lizenz\w*|copyright|change ?logs?|release notes|"
    r"contributors|authors|maintainers)\b"
    r"|\bwhat(?:'s| is| has| was| were)? (?:new|changed)\b.*(?:\b(?:version|release)\b|\d\.\d)",
    re.IGNORECASE,
)
_PROJECT = compile_on_use(
    r"\b(install|installing|installation|installer|installieren|instalar|installare|"
    r"getting started|contribut(?:e|ing))\b"
    r"|\bhow (?:do|can|should|to)\b.*\b(?:set ?up|deploy|upgrade)\b"
    r"|\bhow (?:do|can|should|to)\b.*\b(?:build|compile) (?:it|this|from source|the project)\b"
    r"|\bhow (?:do|can|should|to)\b.*\b(?:add|use) (?:it|this) (?:to|in|with|from)\b"
    r"|\breport\b.*\b(?:bugs?|issues?|security|vulnerabilit(?:y|ies)|problems?)\b"
    r"|\b(?:which|what|minimum|oldest)\b.*\bversions?\b.*\b(?:needs?|requires?|supports?|works?)\b",
    re.IGNORECASE,
)


def asks_to_continue(message: str) -> bool:
    """Tell whether small talk asks to continue, as "yes" does and "thanks" does not."""
    return not _CONTINUES.isdisjoint(_RUN.findall(strip_accents(message).casefold()))


def is_small_talk(message: str) -> bool:
    """Tell whether a message is small talk, with nothing to search for.

    So is one without words, such as `:-)` or `!!!`.
    """
    if len(message) > MAX_CHARS:
        return False
    folded = strip_accents(message).casefold()
    words = _RUN.findall(folded)
    if len(words) > MAX_WORDS or not SAYS_NOTHING.issuperset(words):
        return False
    return len(words) > FEW or not words or not _COURTESIES.isdisjoint(words)


def asks_for_order(question: str) -> bool:
    """Tell whether a question is about the order in which things happened or were said."""
    return _ORDER.search(_fold(question)) is not None


def asks_for_several(question: str) -> bool:
    """Tell whether the answer to a question may be in several places."""
    return asks_for_order(question) or _SEVERAL.search(_fold(question)) is not None


def _fold(question: str) -> str:
    return strip_accents(question).casefold()


def is_chore(message: str) -> bool:
    """Tell whether a message only asks for an act with the repository or its checks."""
    found = _RUN.findall(strip_accents(message).casefold())
    words = [word for word in found if not _NUMBER.fullmatch(word)]
    if len(words) > MAX_CHORE_WORDS or not words or not _ASKS.isdisjoint(words[:2]):
        return False
    return _KNOWN.issuperset(words) and not _ACTS.isdisjoint(words)


def needs_nothing(message: str, in_session: bool = False) -> bool:
    """Tell whether a message needs no memory and no code: a chore, or small talk.

    In a session "yes, continue" refers to what was said last, and may need its context.
    """
    return is_chore(message) or (
        is_small_talk(message) and not (in_session and asks_to_continue(message))
    )


def is_for_records(question: str) -> bool:
    """Tell whether a question is for a licence, a changelog or authors, seldom meant otherwise."""
    return _RECORDS.search(question) is not None


def is_for_documents(question: str) -> bool:
    """Tell whether a question is about the project itself, so that documents come before code."""
    return is_for_records(question) or _PROJECT.search(question) is not None
