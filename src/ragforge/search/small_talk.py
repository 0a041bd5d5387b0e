"""Small talk: messages such as thanks, hello or yes, without anything to search for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ragforge.patterns import compile_on_use
from ragforge.search.scripts import strip_accents

MAX_WORDS = 14
MAX_CHARS = 200
"""A longer message is not small talk."""
FEW = 2
"""So few words may be names and are searched for, unless one of them is a courtesy."""

_RUN = compile_on_use(r"[^\W_]+")

# Said alone, these are small talk. English, French, German, Spanish, Italian; without accents.
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


_GOES_ON = frozenset(
    """
    adelante agreed allez allons begin continua continue continuer continuez continuons correct
    correcto d'accord accord do exactly first genau go go-ahead idea ja jawohl keep let lets mach
    machen next ok okay oui option please premier premiere primera primero procedi proceed
    proposition right seconde second segunda si siga sigue start stimmt sure vale vamos vas
    variante vorschlag weiter weitermachen yeah yep yes yup zweite erste
    """.split()  # noqa: SIM905
)


KEPT = 0.93
"""What is left of a score for each better hit of the same conversation."""

_ORDER = re.compile(
    r"\b(?:(?:in|the) (?:what |which |same )?(?:order|sequence)\b|chronolog\w+|timeline|time line"
    r"|(?:which|what|who) (?:\w+ )*(?:came|happened|was|did) (?:\w+ )*first"
    r"|dans quel ordre|l'ordre (?:dans|des|de)|(?:en|par) ordre|lequel (?:\w+ )*d'abord)"
)
_SEVERAL = re.compile(
    r"\b(?:list|summar(?:y|ise|ize)|overview|recap|throughout|across (?:all|our|my|the)|so far"
    r"|every(?:thing)?|all (?:the|of|my|our)|how many (?:\w+ )?(?:times|different|kinds|types)"
    r"|(?:what|which) (?:are|were) "
    r"|(?:what|which) (?:\w+ ){0,2}\w{3,}(?<!s)s (?:has|have|do|does|did|are|were) "
    r"|(?:what|where|who|which) (?:[\w+/-]+ ){0,4}(?:has|have) (?!to\b)\w+"
    r"|liste|resum(?:e|er|ez)|tou(?:s|tes) (?:les|mes|nos)|combien de fois|quel(?:le)?s \w+s)\b"
)


def goes_on(message: str) -> bool:
    """Tell whether small talk asks to go on, as "yes" does and "thanks" does not."""
    return not _GOES_ON.isdisjoint(_RUN.findall(strip_accents(message).casefold()))


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
    """Tell whether the answer to a question may stand in several places."""
    return asks_for_order(question) or _SEVERAL.search(_fold(question)) is not None


def spread_scores(owners: Sequence[str], scores: Sequence[float]) -> list[float]:
    """Return the scores of hits, best first, each less for those before it of the same owner.

    So the best hits of one conversation do not hide those of others.
    """
    before: Counter[str] = Counter()
    spread = []
    for owner, score in zip(owners, scores, strict=True):
        spread.append(score * KEPT ** before[owner])
        before[owner] += 1
    return spread


def _fold(question: str) -> str:
    return strip_accents(question).casefold()
