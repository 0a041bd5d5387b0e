"""Foreign: a cheap check whether a text may be in another language than English.

Only then are the tables of languages read. The list contains the commonest function words of each
language that English and code do not use, and the words that programmers use most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ENGLISH = "english"
MARK = "0"
"""The first character of an index word that is a stem of another language than English."""
SHORT = 30
"""In words: a longer text in a language has more than one function word."""

_COMMONEST = """
le les des du au aux une un est et où ou que qui quoi quel quelle quels dans avec
ce cet cette ces sont fait faire pas peut se ne il elle nous vous la de l qu dell
quand pourquoi sous en fonction classe fichier fichiers erreur erreurs requête gestion
fonctionne marche merci bonjour salut
der die das dem den des ein eine einen einem einer eines und oder nicht ist sind wird werden wie wo
wer wann warum welche welcher welches von vom zum zur zu mit für auf aus bei beim nach über im
danke bitte hallo suche befehl befehle aufgabe aufgaben zeile zeilen zeichen ordner größe länge
schnittstelle rückgabe abfrage es sich ich wenn dass kann gibt datei dateien fehler funktion klasse
löschen fuer ueber
el los las una por para gracias hola como cómo dónde donde qué cual cuál es está se en un hay
il lo gli grazie ciao della dei delle nel nella dove perché che chi sono viene di dal è
da dos das na nos não uma como onde qual são por pelo pela é ao obrigado
het een wat waar hoe welke niet en wordt worden zijn naar voor bij dat heeft bedankt
и в не на что как где с по для из это какой какая когда почему я от к спасибо привет функция файл
och att det som på är för inte hur vad när ett er af ikke hvordan hvad hvor når på hva
ja ei se että miten missä mikä kun jest nie się jak gdzie czy że są który je jsou jak kde
který že se și să este cum unde pentru în az és nem egy hogy hogyan hol bir bu için nasıl
nerede ne amb els què però és και το να είναι πως πώς που τι yang dan di untuk bagaimana apa dari
ir yra kaip kur kad kuidas kus ning kako gde koji kao je како где који као је
في من على كيف أين ما إلى در به از که چگونه کجا का के में है कैसे कहाँ और क्या
և է ինչպես որտեղ eta nola zer agus conas tá kaj kiel kie estas
மற்றும் எப்படி எங்கே र छ कसरी कहाँ און איז ווי וואו
méthode requêtes dossier chemin utilisateur données paramètre paramètres valeur chaîne supprimer
ajouter créer lire écrire ouvrir envoyer vérifier chercher suppression ajout création lecture
écriture envoi vérification recherche affichage chargement enregistrement dépendances connexion
utilisateurs chaînes réponse réponses tâche tâches modèle lien clé clés serveur réseau tableau
bibliothèque afficher charger gérer trouver renvoyer methode anfrage anfragen verzeichnis pfad
benutzer daten wert zeichenkette hinzufügen erstellen lesen schreiben öffnen senden prüfen suchen
einstellungen fehlerbehandlung konfiguration einstellung anmeldung antwort antworten nachricht
schlüssel passwort verbindung umgebung prüfung speichern ändern anzeigen ausführen aufrufen
umwandeln behandeln verarbeiten entfernen hochladen herunterladen beenden ersetzen vergleichen
función método clase archivo archivos fichero errores petición carpeta ruta usuario datos eliminar
borrar añadir crear leer escribir comprobar buscar funciones métodos clases respuesta contraseña
conexión clave mensaje tarea guardar cargar mostrar ejecutar actualizar validar configuración
gestión
objeto objetos módulo módulos código nombre parámetro parámetros excepción excepciones instancia
atributo atributos línea líneas carácter caracteres cadenas directorio diccionario servidor sesión
sesiones versión versiones registro registros búsqueda tamaño codificación contenido biblioteca
árbol solicitud solicitudes peticiones propiedad enlace acceso permisos formulario formularios
plantilla plantillas proceso hilo bucle señal serializar convertir copiar cambiar generar obtener
establecer devolver llamar utilizar adivinar cuyo cuya cuyos cuyas nadie ningún después
funzione metodo errore errori richiesta cartella percorso utente valore stringa eliminare
cancellare aggiungere creare leggere scrivere aprire inviare controllare cercare funzioni metodi
risposta connessione elenco chiave messaggio utenti salvare caricare mostrare eseguire aggiornare
gestione configurazione função arquivo arquivos ficheiro erros requisição pasta caminho usuário
dados excluir apagar adicionar criar ler escrever verificar procurar funções resposta senha
conexão chave mensagem tarefa salvar carregar executar atualizar configuração functie bestand
bestanden fout fouten verzoek gebruiker gegevens waarde verwijderen toevoegen aanmaken lezen
schrijven openen versturen controleren zoeken functies antwoord wachtwoord verbinding lijst
sleutel bericht taak opslaan tonen uitvoeren bijwerken instellingen функции метод класс файлы
файлов ошибка ошибки запрос данные пользователь значение удалить добавить создать читать функцию
функций методы класса файла ответ пароль соединение список ключ сообщение задача сохранить
загрузить показать выполнить обновить настройки обработка
"""
_WORDS = frozenset(_COMMONEST.split() + _COMMONEST.title().split())
_KNOWN = _WORDS | {word.encode() for word in _WORDS if word.isascii()}


def may_be_foreign(runs: Iterable[str | bytes]) -> bool:
    """Tell whether a text, given by its runs of letters, may not be English."""
    return not _KNOWN.isdisjoint(runs)


def may_hold_foreign(runs: Sequence[str | bytes]) -> bool:
    """Tell whether a text may contain lines in another language.

    In a long text, one such word is part of an address or a name.
    """
    if len(runs) <= SHORT:
        return may_be_foreign(runs)
    return len(_KNOWN.intersection(runs)) > 1
