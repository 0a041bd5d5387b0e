"""Decide: which lines are read-only."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ragforge.tools.command import paths
from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed, Refused
from tests.unit.tools.command.allowed_lines import ALLOWED
from tests.unit.tools.command.refused_lines import LINES, REFUSED

_SHARED = [folder / "shared" / "data" / "commands" for folder in Path(__file__).parents]
SAMPLES = next((folder for folder in _SHARED if folder.is_dir()), Path("nowhere"))


def runs(line: str, project: Path, cwd: str | None = None) -> list[list[str]]:
    """Return the programs and arguments of an allowed line."""
    decision = decide(line, str(project), cwd)
    assert isinstance(decision, Allowed), decision
    return [[s.program, *s.arguments] for step in decision.steps for s in step.stages]


def reason(line: str, project: Path, cwd: str | None = None) -> str:
    """Return why a line is refused."""
    decision = decide(line, str(project), cwd)
    assert isinstance(decision, Refused), decision
    return decision.reason


def test_there_are_enough_lines_of_both_kinds() -> None:
    assert len(set(ALLOWED)) >= 200
    assert len(set(LINES)) >= 500


@pytest.mark.parametrize("line", ALLOWED)
def test_a_read_only_line_is_allowed(line: str, project: Path) -> None:
    assert isinstance(decide(line, str(project)), Allowed), decide(line, str(project))


@pytest.mark.parametrize("mechanism", REFUSED)
def test_a_line_is_refused_for(mechanism: str, project: Path) -> None:
    allowed = [
        line for line in REFUSED[mechanism] if isinstance(decide(line, str(project)), Allowed)
    ]
    assert allowed == []


@pytest.mark.parametrize(
    "line",
    [
        "sed '}' a.txt",
        "sed '{p' a.txt",
        f"sed '{'{' * 60}p{'}' * 60}' a.txt",
        "sed '1,x' a.txt",
        "sed 's/a\nb/c/' a.txt",
        "sed 's/a\\' a.txt",
        "awk '}' a.txt",
        "awk '{print (1}' a.txt",
        "awk '{print $1 / 2 / 3}' a.txt",
        "git log --not HEAD main",
        "git log HEAD -",
    ],
)
def test_a_line_that_is_broken_or_has_two_readings_is_refused(line: str, project: Path) -> None:
    assert reason(line, project)


@pytest.mark.parametrize("line", ["awk '{print $1 / 2}' a.txt", "ls **", "ls a\\*b*"])
def test_a_line_with_one_reading_is_allowed(line: str, project: Path) -> None:
    assert runs(line, project)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the development data is not on this machine")
@pytest.mark.parametrize(
    ("name", "expected"), [("attacks-sample", Refused), ("benign-sample", Allowed)]
)
def test_the_development_samples_are_decided_as_they_should_be(
    name: str, expected: type, project: Path
) -> None:
    lines = (SAMPLES / f"{name}.jsonl").read_text().splitlines()
    commands = [json.loads(line)["command"] for line in lines if line.strip()]
    wrong = [line for line in commands if not isinstance(decide(line, str(project)), expected)]
    assert wrong == []


def test_options_are_taken_apart_and_operands_follow_two_dashes(project: Path) -> None:
    assert runs("grep -inA3 foo a.txt", project) == [
        ["grep", "-i", "-n", "-A", "3", "--", "foo", "a.txt"]
    ]
    assert runs("head -n5 --bytes 3 a.txt", project) == [
        ["head", "-n", "5", "--bytes=3", "--", "a.txt"]
    ]


def test_a_value_that_looks_like_an_option_stays_attached_to_its_own(project: Path) -> None:
    assert runs("diff -L --paginate a.txt b.txt", project) == [
        ["diff", "-L--paginate", "--no-dereference", "--", "a.txt", "b.txt"]
    ]
    assert runs("grep -e -v a.txt", project) == [["grep", "-e-v", "--", "a.txt"]]
    assert runs("grep -f - a.txt", project) == [["grep", "-f", "-", "--", "a.txt"]]


def test_following_links_is_replaced_by_not_following_them(project: Path) -> None:
    (words,) = runs("grep -R foo .", project)
    assert words[:2] == ["grep", "-r"]
    assert words[-3:] == ["--", "foo", "."]
    assert "--no-dereference" in runs("diff src tests", project)[0]


def test_ripgrep_reads_no_configuration(project: Path) -> None:
    (words,) = runs("rg foo", project)
    assert words[:3] == ["rg", "--no-config", "--no-ignore-messages"]


def test_git_gets_options_against_helpers(project: Path) -> None:
    (words,) = runs("git diff", project)
    assert words == ["git", "diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"]


def test_branches_and_tags_are_only_ever_listed(project: Path) -> None:
    assert runs("git branch -a", project) == [["git", "branch", "-a", "--list"]]
    assert runs("git tag --contains", project) == [["git", "tag", "--list", "--contains=HEAD"]]
    assert "would create 'x'" in reason("git branch x", project)


def test_unquoted_patterns_are_expanded_inside_the_project(project: Path) -> None:
    (project / ".hidden.txt").touch()
    (project / "-n.txt").touch()
    assert runs("cat *.txt", project) == [["cat", "--", "./-n.txt", "a.txt", "b.txt"]]
    assert runs("cat [ab].txt", project) == [["cat", "--", "a.txt", "b.txt"]]
    assert runs("cat s*/*.py", project) == [["cat", "--", "src/app.py"]]
    assert runs("cat .h*", project) == [["cat", "--", ".hidden.txt"]]
    assert runs("cat '*.txt'", project) == [["cat", "--", "*.txt"]]
    assert runs("cat nothing*", project) == [["cat", "--", "nothing*"]]
    assert runs("cat \\*.txt", project) == [["cat", "--", "*.txt"]]


def test_a_pattern_with_a_slash_at_its_end_means_directories(project: Path) -> None:
    assert runs("ls -d */", project) == [["ls", "-d", "--", "src/"]]


def test_a_pattern_that_would_look_at_very_many_files_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "MAX_LISTED", 3)
    assert reason("ls *", project) == "'*' would look at too many files"
    assert reason("ls s*/x*", project).endswith("too many files")
    assert runs("ls src/*", project)


def test_brackets_are_a_test(project: Path) -> None:
    assert runs("[ -f a.txt ]", project) == [["test", "-f", "a.txt"]]
    assert runs("[ ! a.txt -nt b.txt ]", project) == [["test", "!", "a.txt", "-nt", "b.txt"]]
    assert "outside" in reason("[ -f ../secret ]", project)
    assert "outside" in reason("[ a.txt -ef ../secret ]", project)


def test_a_setting_is_asked_for_however_that_is_written(project: Path) -> None:
    asked = [["git", "config", "--get", "user.name"]]
    for line in ("git config user.name", "git config get user.name", "git config --get user.name"):
        assert runs(line, project) == asked


def test_a_pattern_is_not_expanded_where_a_program_wants_a_pattern(project: Path) -> None:
    assert runs("find . -name *.txt", project) == [["find", ".", "-name", "*.txt"]]
    assert runs("grep a* a.txt", project) == [["grep", "--", "a*", "a.txt"]]


def test_find_starts_where_it_is_told_to_else_here(project: Path) -> None:
    assert runs("find src -type f", project) == [["find", "src", "-type", "f"]]
    assert runs("find -type f", project) == [["find", ".", "-type", "f"]]


def test_a_pattern_that_matches_a_link_out_of_the_project_is_refused(project: Path) -> None:
    (project / "c.txt").symlink_to(project.parent / "secret")
    assert reason("cat *.txt", project) == "'c.txt' is outside the project"


def test_links_are_resolved(project: Path) -> None:
    (project / "out").symlink_to(project.parent)
    (project / "in").symlink_to(project / "src")
    (project / "loop").symlink_to(project / "loop")
    assert "outside" in reason("cat out/secret", project)
    assert "outside" in reason("ls out", project)
    assert "outside" in reason("cat in/../../secret", project)
    assert "outside" in reason("cd out && ls", project)
    assert "outside" in reason("ls out/*", project)
    assert runs("cat in/app.py", project)
    assert runs("cat loop", project)


def test_a_path_with_the_projects_own_prefix_is_inside_and_a_look_alike_is_not(
    project: Path,
) -> None:
    assert runs(f"cat {project}/a.txt", project)
    assert "outside" in reason(f"cat {project}-other/a.txt", project)


def test_a_pipe_on_disk_is_not_opened(project: Path) -> None:
    os.mkfifo(project / "fifo")
    assert reason("cat fifo", project) == "'fifo' is neither a file nor a directory"
    (project / "link").symlink_to(project / "fifo")
    assert "neither" in reason("cat link", project)


def test_commands_run_where_the_line_says(project: Path) -> None:
    decision = decide("cd src && ls; pwd", str(project))
    assert isinstance(decision, Allowed)
    assert [step.stages[0].cwd for step in decision.steps] == [str(project / "src")] * 2
    decision = decide("cat app.py", str(project), "src")
    assert isinstance(decision, Allowed)
    assert decision.steps[0].stages[0].cwd == str(project / "src")


def test_changing_the_directory_later_or_perhaps_is_refused(project: Path) -> None:
    for line in ("ls; cd src", "cd src || ls", "cd src | ls", "cd", "cd -", "cd a.txt && ls"):
        assert reason(line, project)


def test_a_working_directory_outside_the_project_is_refused(project: Path) -> None:
    assert "outside" in reason("ls", project, "..")
    assert "outside" in reason("ls", project, "/")
    assert "not a directory" in reason("ls", project, "nowhere")
    assert "not a directory" in reason("ls", project / "nowhere")


def test_git_does_not_run_in_a_repository_inside_the_project(project: Path) -> None:
    (project / "evil" / ".git").mkdir(parents=True)
    (project / "bare" / "sub").mkdir(parents=True)
    for name in ("HEAD", "objects", "refs"):
        (project / "bare" / name).touch()
    assert "another repository" in reason("cd evil && git status", project)
    assert "another repository" in reason("git status", project, "evil")
    assert "another repository" in reason("git log", project, "bare/sub")
    assert "another repository" in reason("git -C evil status", project)
    assert runs("git -C . status", project)


def test_quotes_and_backslashes_are_read_as_a_shell_would(project: Path) -> None:
    assert runs(r"""echo a'b c'"d \"e\" \$f \n" g\ h '' """, project) == [
        ["echo", r"""ab cd "e" $f \n""", "g h", ""]
    ]
    assert runs('grep "foo$" a.txt', project)[0][-2] == "foo$"
    assert runs("grep 'a\nb' a.txt", project)[0][-2] == "a\nb"


def test_harmless_redirections_are_kept(project: Path) -> None:
    decision = decide("ls 2>/dev/null | wc -l 2>&1; ls > /dev/null", str(project))
    assert isinstance(decision, Allowed)
    stages = [stage for step in decision.steps for stage in step.stages]
    assert [(s.errors_to, s.silent) for s in stages] == [
        ("nowhere", False),
        ("stdout", False),
        ("stderr", True),
    ]


def test_a_very_long_line_is_refused_at_once(project: Path) -> None:
    assert "longer" in reason("echo " + "a" * 20_000, project)
    assert "more than 50 commands" in reason("ls;" * 60, project)


def test_deep_nesting_is_refused_and_does_not_crash(project: Path) -> None:
    for line in ("$(" * 3000, "(" * 5000, "{" * 5000, "ls && " * 1500 + "ls", '"' * 5001):
        assert reason(line, project)


def test_reasons_are_sentences_about_the_line(project: Path) -> None:
    assert reason("rm x", project) == "the program 'rm' is not on the list"
    assert reason("ls > x", project).startswith("it redirects")
    assert reason("echo $(id)", project) == "it has a command substitution"
    assert reason("sort -o x", project) == "the option '-o' is not on the list"
    assert reason("A=1 ls", project) == "it sets a variable"
