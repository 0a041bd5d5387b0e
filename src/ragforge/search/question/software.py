"""Software: whether a message may be about a program.

A French question about English code shares no words with it, and a small embedding model does not
see their relation. But it contains technical words.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ragforge.search.question.code_names import contains_code
from ragforge.search.words.scripts import strip_accents

_RUN = re.compile(r"[^\W_]+")

# English, French, German, Spanish, Italian, Portuguese with Dutch; without accents and endings.
_ONLY_SOFTWARE = frozenset(
    """
    api apis async asynchronous auth authenticate authenticated authentication backend backtrace
    boolean buffer bytecode callback callee changelog cli codebase codec config constructor cpu
    css csv database dataset datatype deadlock debug debugger debugging decode decoder
    deprecated deprecation deserialization deserialize deserializer docker dockerfile docstring
    encode encoder endpoint enum exe executable filename filesystem frontend git github
    goroutine graphql hostname html http hyperlink init iterator javascript json kubernetes
    linter linux localhost logger logging login logout lookup malloc markdown metadata
    middleware monorepo mutex namespace npm nullable oauth orm parse parsed parser parsing
    payload pipeline plugin postgres postgresql programmatically refactor refactored refactoring
    regex regexp renderer repo schema sdk segfault semver serialization serialize serializer
    shader sql sqlite stacktrace stderr stdin stdout struct subclass subcommand submodule
    subprocess substring syntax sysadmin tcp timestamp tokenize tokenizer traceback tuple
    typecheck typescript udp unicode unittest uri url urls utf username utils uuid validator
    variable webhook websocket xml yaml

    algorithme authentification bdd bogue booleen chiffrement compilateur debogage deboguer
    decodage dependance deploiement deployer deserialisation encodage entete enumeration
    fichier gestionnaire implementation implementer instanciation instancier iterateur jeton
    journalisation librairie logiciel navigateur octet parametre parseur pointeur
    refactorisation refactoriser requete routeur sauvegarder serialisation serialiser typage
    utilisateur validateur

    abfrage abhangigkeit algorithmus aufruf authentifizierung befehlszeile benutzer
    benutzername bezeichner codebasis datei dateiname datenbank datensatz datentyp debuggen
    endpunkt entwickler fehlermeldung implementieren implementiert implementierung
    initialisiert initialisierung instanz kennwort kodierung kommandozeile kompilieren
    kompiliert kompilierung konfiguration konstruktor laufzeit modul parameter passwort puffer
    quellcode quelltext rekursion ruckgabewert schnittstelle serialisierung skript software
    testfall umgebungsvariable validierung vererbung verschlusselung verzeichnis verzeichnisse
    weiterleitung zeichenkette zwischenspeicher

    algoritmo archivo autenticacion bucle compilador compilar configuracion contrasena
    depuracion depurar despliegue directorio ejecutable enrutador fichero implementacion
    interfaces interfaz parametro peticion puntero repositorio servidor sintaxis usuario

    algoritmi autenticazione compilatore configurazione eseguibile implementazione interfacce
    interfaccia parametri puntatore repository sintassi stringa stringhe utente utenti
    variabile variabili

    afhankelijkheid arquivo bestand broncode configuracao diretorio excecao gebruiker
    requisicao sessao uitzondering variabele variavel wachtwoord
    """.split()  # noqa: SIM905
)
_ALSO_SOFTWARE = frozenset(  # which have other meanings too
    """
    argument array assert bug bugs build byte cache cached caller chunk client code commit compile
    compiled compiling configuration configure constant crash crashed crashing decorator
    dependencies dependency deploy deployed deployment directory encoding error exception
    execute executed execution extension file flag folder framework function handler hash
    header identifier implement implemented import index inherit inheritance input instance
    integer interface invalid iterate kernel keyword lambda latency leak lock logs loop merge
    method migrate migration mock module nested node null object output override package panic
    param parameters password patch permission pointer prefix process project properties
    property protocol proxies proxy python queries query queue recursion recursive redirect
    rename render rendered rendering request response retries retry rollback router runtime
    script server session settings shell socket startup static stream streaming string suffix
    symbol template terminal test testing thread timeout token trace trait transaction typed
    user validate validated validation value version warnings widget worker wrapper

    adresse appel attribut base bibliotheque boucle branche certificat chaine champ classe cle
    commande compilation composant connexion contexte contrainte correctif delai documentation
    donnees erreur evenement executer flux fonction formulaire heritage identifiant lien ligne
    modele objet paquet pile processus propriete redirection reecriture renommer repertoire
    reponse reseau serveur statique tableau valeur valider verrou

    absturz anfrage anmeldung antwort anwendung aufgerufen ausgabe ausnahme befehl bibliothek
    container daten dokumentation eigenschaft eingabe eintrag ereignis ereigniss erweiterung
    fehler feld formular funktion gespeichert klasse komponente kontext modell netzwerk objekt
    optionen ordner pfad projekt protokoll prozedur prozess referenz schleife sitzung speicher
    sperre stapel struktur tabelle transaktion typ typen umgebung verbindung warnung
    warteschlange wert zeiger zeile zeitlimit zertifikat zugriff

    aplicacion argumento biblioteca campo clase codigo comando conexion consulta datos
    dependencia ejecutar evento excepcion flujo formulario funcion herencia lenguaje metodo
    modelo modulo objeto respuesta ruta sesion tabla

    applicazione argomenti argomento campi cartella classi codice comandi connessione dati
    dipendenza dipendenze eccezione eccezioni errori esecuzione eseguire flusso funzione
    funzioni gestore libreria librerie linguaggio metodi modello moduli oggetti oggetto
    pacchetti pacchetto richiesta richieste risposta sessioni tabella

    bibliotheek funcao funcoes functie
    """.split()  # noqa: SIM905
)
ACTION_WORDS = """
    add build calculate call change check choose compute configure count create decide define
    delete determine do find get give handle happen implement keep know load locate look make
    manage perform process read remove return run save send set show start stop store take tell
    turn update use work write

    after along among before behind besides between during except inside into may might must onto
    outside over since through toward under until upon versus whether while within without

    another each even every itself many more most once only out several three together two whose
    yet
"""
"""What is done to anything, and how: that a project says none of these tells nothing."""
# Terms of several words, and German compounds.
_COMPOUNDS = re.compile(
    r"\bmots? de passe\b|\bbases? de donnees\b|\ben-?tetes?\b|\blignes? de commande\b"
    r"|\bdelai d.attente\b|\bmessages? d.erreur\b|\bbases? de datos\b|\blinea de comandos\b"
    r"|\bpull requests?\b|\bstack traces?\b|\bunit tests?\b|\bcode ?base\b|\bsource code\b"
    r"|datenbank|passwort|schnittstell|quellcode|kommandozeile|befehlszeile|zeichenkette|formulardat"
    r"|konfigurationsd|fehlermeldung|programmcode|\w\w\wdatei(?:en)?\b"
)

_ENDINGS = ("es", "en", "er", "s", "n", "e")


class SoftwareWords(NamedTuple):
    """How many different words of a message are about software."""

    only: int  # words that are hardly used otherwise
    also: int  # words with other meanings too
    words: int  # all words


def count_software_words(message: str) -> SoftwareWords:
    """Count the technical words of a message, in all languages of the lists."""
    folded = strip_accents(message).casefold()
    words = set(_RUN.findall(folded))
    only = also = 0
    for word in words:
        if _is_among(word, _ONLY_SOFTWARE):
            only += 1
        elif _is_among(word, _ALSO_SOFTWARE):
            also += 1
    return SoftwareWords(only + (_COMPOUNDS.search(folded) is not None), also, len(words))


def may_be_about_software(message: str) -> bool:
    """Tell whether a message has a technical word, something written as code, or is one word,
    which may be a name.
    """
    counts = count_software_words(message)
    return bool(counts.only or counts.also) or counts.words == 1 or contains_code(message)


def _is_among(word: str, words: frozenset[str]) -> bool:
    """Tell whether a word is in a set, as written or without the ending of a plural or case."""
    if word in words:
        return True
    ends = (end for end in _ENDINGS if word.endswith(end))
    return any(len(word) - len(end) > 3 and word[: -len(end)] in words for end in ends)
