"""Resizing: a prompt leaves nothing behind when the window becomes narrower."""

from __future__ import annotations

from typing import Any

from prompt_toolkit.application import Application

from ragforge.show.reflow import count_rows, rewraps_lines


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
