"""The prompt: where the user types. Enter sends, Alt-Enter or Ctrl-J begins another line."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.cursor_shapes import ModalCursorShapeConfig
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import (
    Condition,
    completion_is_selected,
    emacs_mode,
    has_completions,
    is_done,
    to_filter,
    vi_mode,
    vi_navigation_mode,
)
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.key_binding.bindings.completion import display_completions_like_readline
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    CompletionsMenu,
    ConditionalContainer,
    Dimension,
    Float,
    FloatContainer,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.styles import Style

from ragforge.errors import RagForgeError
from ragforge.records import dataclass
from ragforge.show.screen import Signs, count_rows, rewraps_lines
from ragforge.tui.pastes import Pastes

_PLAIN = "noreverse bg:ansidefault"
STYLE = Style.from_dict(
    {
        "bottom-toolbar": "noreverse ansibrightblack",
        "rule": "ansibrightblack",
        "prompt": "ansicyan bold",
        "mode": "ansiyellow",
        "completion-menu": f"{_PLAIN} ansidefault",
        "completion-menu.completion": f"{_PLAIN} ansidefault",
        "completion-menu.completion.current": f"{_PLAIN} ansicyan bold",
        "completion-menu.meta.completion": f"{_PLAIN} ansibrightblack",
        "completion-menu.meta.completion.current": f"{_PLAIN} ansicyan",
        "scrollbar.background": "bg:ansidefault",
        "scrollbar.button": "bg:ansibrightblack",
    }
)

ALT_ENTER = Keys.F24
"""What Alt-Enter becomes: a key that keyboards lack, so that Esc and then Enter is not the same."""
ANSI_SEQUENCES["\x1b\r"] = ALT_ENTER
ESCAPE_SECONDS = 0.1
"""How long the rest of a key's sequence may take; after that, Esc was pressed."""
REWIND = "/rewind"

MENU_LINES = 8
MIN_ROWS = 8
"""Of a terminal that has room for rules."""

SHOWN = 20
LIKE = 60  # of 100
_COMMAND = re.compile(r"/[\w:.-]*")
_FILE = re.compile(r"(?:^|\s)@(\S*)$")


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions of keys."""

    show_session: Callable[[], Awaitable[None]]  # Ctrl-O
    change_mode: Callable[[], None]  # Shift-Tab
    paste_picture: Callable[[], Awaitable[str]]  # Ctrl-V: returns what is inserted


class Prompt:
    """Asks for the next input, with a history and a toolbar below."""

    def __init__(
        self,
        completer: InputCompleter,
        history: History,
        signs: Signs,
        toolbar: Callable[[], str],
        actions: Actions,
        shortcuts: Mapping[str, str],
        lead: Callable[[], str],
        pastes: Pastes,
        editing: Literal["emacs", "vi"] = "emacs",
    ) -> None:
        """`shortcuts` are keys that send a complete input, until something is typed.

        `lead` is written before the sign of the prompt.
        """
        self._pastes = pastes
        self._signs = signs
        self._lead = lead
        self._untouched = True
        self._keys_pressed = 0
        self._session: PromptSession[str] = PromptSession(
            history=history,
            completer=completer,
            complete_in_thread=True,
            complete_while_typing=False if signs.is_plain else Condition(_can_complete),
            reserve_space_for_menu=0,  # the frame has room for it
            multiline=True,
            prompt_continuation=lambda width, line, wrapped: " " * width,
            key_bindings=_bind_keys(
                completer, actions, shortcuts, lambda: self._untouched, pastes, signs.is_plain
            ),
            bottom_toolbar=None if signs.is_plain else toolbar,
            enable_open_in_editor=True,
            tempfile_suffix=".md",
            style=STYLE,
            enable_suspend=True,
            editing_mode=EditingMode.VI if editing == "vi" else EditingMode.EMACS,
            cursor=ModalCursorShapeConfig() if editing == "vi" else None,
        )
        if not signs.is_plain:
            frame_input(self._session, signs)
        self._session.default_buffer.on_text_changed += lambda _: self._touch()
        app = self._session.app
        app.ttimeoutlen = ESCAPE_SECONDS
        follow_resizing(app)
        app.key_processor.before_key_press += lambda _: self._count_key()

    @property
    def history(self) -> History:
        return self._session.history

    @property
    def was_one_key(self) -> bool:
        """Whether only one key was pressed since the prompt was shown."""
        return self._keys_pressed == 1

    async def ask(self, draft: str = "") -> str:
        """Return what the user typed, or made of a draft.

        Raises EOFError for Ctrl-D, KeyboardInterrupt for Ctrl-C.
        """
        self._keys_pressed = 0
        try:
            text = await self._session.prompt_async(self._format_sign, default=draft)
            return self._pastes.expand(text)
        finally:
            self._touch()

    def type_ahead(self, text: str) -> None:
        """Take a text as if it were typed at the next prompt; each line is sent."""
        keys: list[KeyPress] = []
        Vt100Parser(keys.append).feed_and_flush(text.replace("\n", "\r"))
        store_typeahead(self._session.input, keys)

    def _format_sign(self) -> StyleAndTextTuples:
        lead = self._lead()
        sign: StyleAndTextTuples = [("class:prompt", f"{self._signs.prompt} ")]
        return [("class:mode", f"{lead} "), *sign] if lead else sign

    def _touch(self) -> None:
        self._untouched = False

    def _count_key(self) -> None:
        self._keys_pressed += 1

    def redraw(self) -> None:
        """Show the toolbar as it is now."""
        get_app().invalidate()


def _can_complete() -> bool:
    return can_complete(get_app().current_buffer.document.text_before_cursor)


def _has_text() -> bool:
    return bool(get_app().current_buffer.text)


async def _call(action: Callable[[], Awaitable[None]]) -> None:
    await action()


async def _insert(buffer: Buffer, actions: Actions) -> None:
    buffer.insert_text(await actions.paste_picture())


def _find_sign(pastes: Pastes) -> str:
    """Return the sign of a paste before the cursor, or nothing."""
    return pastes.find_sign_before(get_app().current_buffer.document.text_before_cursor)


def _bind_keys(
    completer: InputCompleter,
    actions: Actions,
    shortcuts: Mapping[str, str],
    is_untouched: Callable[[], bool],
    pastes: Pastes,
    is_plain: bool,
) -> KeyBindings:
    keys = KeyBindings()
    for key, meaning in shortcuts.items():

        @keys.add(key, filter=Condition(is_untouched))
        def _(event: KeyPressEvent, meaning: str = meaning) -> None:
            # More keys that came with it are the rest of a question that begins with a number.
            if event.key_processor.input_queue:
                event.current_buffer.insert_text(event.data)
                return
            event.current_buffer.text = meaning
            event.app.exit(result=meaning)

    @keys.add("enter", filter=~completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if name := completer.find_first_command(buffer.text):
            buffer.text = name
        buffer.validate_and_handle()

    @keys.add("enter", filter=completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add(ALT_ENTER)
    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("escape", "escape", filter=~Condition(_has_text) & (emacs_mode | vi_navigation_mode))
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.text = REWIND
        event.app.exit(result=REWIND)

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        # A menu takes a moment to open; who types fast means the one command that fits.
        if name := completer.find_only_command(buffer.document.text_before_cursor):
            buffer.insert_text(f"{name} "[len(buffer.document.text_before_cursor) :])
        elif is_plain:  # lines above the prompt, which a screen reader reads
            display_completions_like_readline(event)
        elif buffer.complete_state:
            buffer.complete_next()
        else:
            buffer.start_completion(insert_common_part=True)

    @keys.add("s-tab")
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.complete_state:
            event.current_buffer.complete_previous()
        else:
            actions.change_mode()

    @keys.add("c-c", filter=Condition(_has_text))
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.reset()

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(pastes.fold(event.data))

    @keys.add("c-v")
    def _(event: KeyPressEvent) -> None:
        event.app.create_background_task(_insert(event.current_buffer, actions))

    @keys.add("backspace", filter=Condition(lambda: bool(_find_sign(pastes))))
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.delete_before_cursor(len(_find_sign(pastes)))

    @keys.add("c-x", "c-e", filter=vi_mode)  # with the keys of vi, prompt_toolkit has only v
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.open_in_editor()

    @keys.add("c-o")
    def _(event: KeyPressEvent) -> None:
        event.app.create_background_task(_call(actions.show_session))

    return keys


def frame_input(session: PromptSession[str], signs: Signs) -> None:
    """Change the layout of a prompt: the default has no room around the input.

    A menu covers what is below. The rules disappear when the input is sent: only the question
    stays.
    """
    layout = session.app.layout
    assert isinstance(layout.container, HSplit)
    typed = layout.current_window
    typed.dont_extend_height = to_filter(True)
    _, *others, toolbar = layout.container.children
    below = ConditionalContainer(HSplit([_make_rule(signs), *others, toolbar]), ~has_completions)
    rows = [_make_rule(signs), typed, below, _make_menu_room()]
    menu = CompletionsMenu(max_height=MENU_LINES, scroll_offset=1)
    floats = [Float(menu, xcursor=True, ycursor=True, transparent=True)]
    session.app.layout = Layout(FloatContainer(HSplit(rows), floats), typed)


def _has_room() -> bool:
    return get_app().output.get_size().rows >= MIN_ROWS


def _make_rule(signs: Signs) -> ConditionalContainer:
    rule = Window(char=signs.rule, height=1, style="class:rule")
    return ConditionalContainer(rule, Condition(_has_room) & ~is_done)


def _make_menu_room() -> ConditionalContainer:
    """Return the empty rows below: as many as a menu needs, while there is one."""

    def choose_height() -> Dimension:
        rows = get_app().output.get_size().rows
        return Dimension(min=max(0, min(MENU_LINES, rows - MIN_ROWS)) if has_completions() else 0)

    return ConditionalContainer(Window(height=choose_height), ~is_done)


def can_complete(text: str) -> bool:
    """Tell whether a text can be completed."""
    return _COMMAND.fullmatch(text) is not None or _FILE.search(text) is not None


class InputCompleter(Completer):
    """Completes commands, with their purposes, and what can be named in a question."""

    def __init__(
        self,
        list_commands: Callable[[], Mapping[str, str]],
        list_files: Callable[[], Sequence[str]],
    ) -> None:
        """Both return what there is at the moment; commands with their purposes."""
        self._list_commands = list_commands
        self._list_files = list_files

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield what the word before the cursor could become. Runs in a thread."""
        text = document.text_before_cursor
        if _COMMAND.fullmatch(text):
            for name, purpose in list(self._list_commands().items()):
                if name.startswith(text):
                    yield Completion(name, -len(text), display_meta=purpose)
        elif found := _FILE.search(text):
            for path in find_closest(self._files(), found[1], SHOWN):
                yield Completion(f'"{path}"' if " " in path else path, -len(found[1]))

    def find_first_command(self, text: str) -> str | None:
        """Return the first command of the menu, if a text is the beginning of one."""
        begun = self._list_begun(text)
        return begun[0] if begun and text not in begun else None

    def find_only_command(self, text: str) -> str | None:
        """Return the one command that begins so, if there is no other."""
        begun = self._list_begun(text)
        return begun[0] if len(begun) == 1 else None

    def _list_begun(self, text: str) -> list[str]:
        if not _COMMAND.fullmatch(text):
            return []
        return [name for name in self._list_commands() if name.startswith(text)]

    def _files(self) -> Sequence[str]:
        try:
            return self._list_files()
        except (RagForgeError, OSError):
            return ()


def find_closest(files: Sequence[str], typed: str, limit: int) -> list[str]:
    """Return the files that are most likely meant by a few letters of their path.

    Names that begin with them come first, then paths that contain them, then similar ones.
    """
    if not typed:
        return sorted(files, key=lambda path: (path.rstrip("/").count("/"), path))[:limit]
    wanted = typed.lower()
    holding = [path for path in files if wanted in path.lower()]

    def fit(path: str) -> tuple[bool, bool, int, str]:
        name = path.lower().rstrip("/").rpartition("/")[2]
        return not name.startswith(wanted), wanted not in name, len(path), path

    found = sorted(holding, key=fit)[:limit]
    if len(found) < limit:
        from rapidfuzz import fuzz, process

        like = process.extract(
            wanted, files, scorer=fuzz.WRatio, processor=str.lower, limit=limit, score_cutoff=LIKE
        )
        found += [path for path, _, _ in like if path not in holding]
    return found[:limit]


def follow_resizing(app: Application[Any]) -> None:
    """Make a prompt erase all its rows after the terminal has wrapped them again.

    prompt_toolkit erases as many rows as it drew. A rule over the whole width is two rows in a
    narrower window.
    """
    if not rewraps_lines():
        return
    redraw = app._on_resize

    def go_to_first_row() -> None:
        drawn = app.renderer.last_rendered_screen
        if drawn is not None:
            cursor = app.renderer._cursor_pos
            widths = [
                max((x for x, cell in drawn.data_buffer[y].items() if cell.char != " "), default=-1)
                + 1
                for y in range(cursor.y)
            ]
            columns = app.output.get_size().columns
            app.output.cursor_up(count_rows([*widths, cursor.x], columns) - cursor.y - 1)
        redraw()

    app._on_resize = go_to_first_row  # type: ignore[method-assign]
