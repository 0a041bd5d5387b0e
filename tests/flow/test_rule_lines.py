"""Rules as another agent gets them: within their budget, and once in a session."""

from __future__ import annotations

from pathlib import Path

from ragforge.app.hook.rule_lines import HEAD, MAX_CHARS, find_rule_lines
from tests.flow.test_arrival import opened
from tests.flow.test_standing import tell


async def test_a_session_receives_each_rule_once_and_instructions_the_first_time(
    environ: dict[str, str], project: Path
) -> None:
    async with opened(environ, project) as (app, _):
        await app.notes.remember("Keep the changelog current.", rule=True)
        for number in range(30):
            await tell(app, f"Always name part {number} {'with care ' * 6}.")
        projects, given = app.project.ids, set[str]()

        first = await find_rule_lines(app.store, projects, given.__contains__)
        given.update(first.ids)
        second = await find_rule_lines(app.store, projects, given.__contains__)
        await app.notes.remember("Keep the readme short.", rule=True)
        third = await find_rule_lines(app.store, projects, given.__contains__)

    assert first.text.startswith(f"{HEAD}\n- Keep the changelog current. (2")
    assert "Always name part" in first.text
    assert len(first.text) <= MAX_CHARS
    assert (second.text, second.ids) == ("", ())
    assert third.text.splitlines()[1].startswith("- Keep the readme short. (2")
    assert len(third.ids) == 1
