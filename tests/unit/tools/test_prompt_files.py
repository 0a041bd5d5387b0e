"""Prompt files: commands and skills as users write them; no link leads out of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.errors import InputError, OutsideProject
from ragforge.tools.prompt_files import (
    PromptFolders,
    SkillArguments,
    describe_skills,
    expand_arguments,
    read_skill,
)

REVIEW = (
    "---\ndescription: Review a file\nargument-hint: [file]\n---\n\nReview $1 for $ARGUMENTS.\n"
)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / "user"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_a_command_has_its_facts_from_its_head_and_its_name_from_its_file(
    user: Path, project: Path
) -> None:
    write(user / "commands" / "review.md", REVIEW)
    write(user / "commands" / "windows.md", REVIEW.replace("\n", "\r\n"))
    write(user / "commands" / "bare.md", "\n# Tidy up\n\nAll of it.\n")
    write(user / "commands" / "odd.md", "---\n: [\n---\nStill a command.\n")
    write(user / "commands" / "Not A Name.md", "x")
    write(user / "commands" / "notes.txt", "x")
    (user / "commands" / "binary.md").write_bytes(b"\xff\xfe\x00")
    found = PromptFolders(user, project, lambda: False).find("commands")
    assert [(one.name, one.description, one.argument_hint) for one in found] == [
        ("bare", "Tidy up", ""),
        ("odd", "Still a command.", ""),
        ("review", "Review a file", "[file]"),
        ("windows", "Review a file", "[file]"),
    ]
    assert found[2].body == "Review $1 for $ARGUMENTS."


@pytest.mark.parametrize(
    ("body", "arguments", "text"),
    [
        ("See $ARGUMENTS.", "a 'b c'", "See a 'b c'."),
        ("$2 then $1$3", "a 'b c'", "b c then a"),
        ("$1", "it's", "it's"),
        ("$1 and $ARGUMENTS", "$2 $ARGUMENTS", "$2 and $2 $ARGUMENTS"),  # filled in once
        ("Tidy up.", "all of it", "Tidy up.\n\nall of it"),
        ("Tidy up: $HOME $10.", "", "Tidy up: $HOME 0."),
        ("Tidy up.", "", "Tidy up."),
    ],
)
def test_arguments_are_filled_in(body: str, arguments: str, text: str) -> None:
    assert expand_arguments(body, arguments) == text


def test_a_projects_commands_count_when_it_is_trusted_and_never_replace_the_users(
    user: Path, project: Path
) -> None:
    write(user / "commands" / "review.md", "Mine.")
    write(project / ".ragforge" / "commands" / "review.md", "Theirs.")
    write(project / ".ragforge" / "commands" / "deploy.md", "Deploy.")
    bodies = [one.body for one in PromptFolders(user, project, lambda: False).find("commands")]
    assert bodies == ["Mine."]
    bodies = [one.body for one in PromptFolders(user, project, lambda: True).find("commands")]
    assert bodies == ["Deploy.", "Mine."]


def test_a_link_out_of_the_project_is_not_read(user: Path, project: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    write(secret / "SKILL.md", "the key")
    commands, skills = (project / ".ragforge" / name for name in ("commands", "skills"))
    commands.mkdir(parents=True)
    skills.mkdir()
    (commands / "leak.md").symlink_to(secret / "SKILL.md")
    (skills / "leak").symlink_to(secret)
    folders = PromptFolders(user, project, lambda: True)
    assert folders.find("commands") == []
    assert folders.find("skills") == []


def test_a_skill_is_described_and_read_with_its_files_and_no_others(
    user: Path, project: Path, tmp_path: Path
) -> None:
    write(tmp_path / "outside.txt", "the key")
    write(
        user / "skills" / "release" / "SKILL.md", "---\ndescription: How to release\n---\nTag it."
    )
    write(user / "skills" / "release" / "more" / "list.md", "Then announce it.")
    skills = PromptFolders(user, project, lambda: False).find("skills")
    assert describe_skills(skills).endswith("\n\n- release: How to release")
    assert describe_skills([]) == ""
    read = read_skill(skills, SkillArguments(name="release"))
    assert read.to_json() == {"name": "release", "skill": "Tag it."}
    more = read_skill(skills, SkillArguments(name="release", file="more/list.md"))
    assert more.text == "Then announce it."
    with pytest.raises(OutsideProject):
        read_skill(skills, SkillArguments(name="release", file="../../../outside.txt"))
    with pytest.raises(InputError, match="cannot be read"):
        read_skill(skills, SkillArguments(name="release", file="nothing.md"))
    with pytest.raises(InputError, match=r"no skill 'deploy'\. There are: release"):
        read_skill(skills, SkillArguments(name="deploy"))
