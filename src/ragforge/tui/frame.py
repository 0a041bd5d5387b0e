"""The frame: rules above and below what the user types, the toolbar under them, menus on top."""

from __future__ import annotations

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition, has_completions, is_done, to_filter
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

from ragforge.show.screen import Signs

MENU_LINES = 8
LEAST_ROWS = 8
"""Of a terminal that has room for rules."""


def frame_input(session: PromptSession[str], signs: Signs) -> None:
    """Lay out a prompt anew: its own layout leaves no room around what is typed.

    A menu takes the place of what is below. The rules are gone when the input is sent: what stays
    is the question alone.
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
    return get_app().output.get_size().rows >= LEAST_ROWS


def _make_rule(signs: Signs) -> ConditionalContainer:
    rule = Window(char=signs.rule, height=1, style="class:rule")
    return ConditionalContainer(rule, Condition(_has_room) & ~is_done)


def _make_menu_room() -> ConditionalContainer:
    """Return the empty rows below: as many as a menu needs, while there is one."""

    def choose_height() -> Dimension:
        rows = get_app().output.get_size().rows
        return Dimension(min=max(0, min(MENU_LINES, rows - LEAST_ROWS)) if has_completions() else 0)

    return ConditionalContainer(Window(height=choose_height), ~is_done)
