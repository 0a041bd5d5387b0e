"""Permissions: the user's rules first, then the user; and a yes covers no more than was asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ragforge.agent.permissions import Permissions, Verdict, allow_edits, deny_all
from ragforge.agent.rules import PermissionRules, make_rule, parse_rule
from ragforge.errors import Declined, InputError
from ragforge.tools.command.command_tools import list_lasting_patterns
from ragforge.tools.permission import PermissionRequest

RUNNERS = (
    *("timeout 5 x", "nice x", "python3 -m x", "uv run x", ". x", "source x", "CI=1 x", "env x"),
    *(
        "sudo x",
        "xargs x",
        "bash -c x",
        "sh x",
        "npx x",
        "make x",
        "just x",
        "go test ./...",
        "rm x",
    ),
    *("git fetch x", "npm run x", "npm exec x", "cargo run", "poetry run x", "./x y", "stdbuf x"),
)


def runs(line: str) -> PermissionRequest:
    return PermissionRequest("run_command", line, f"$ {line}", list_lasting_patterns(line))


def edits(path: str) -> PermissionRequest:
    return PermissionRequest("edit_file", path, "", (path, "**"))


@pytest.fixture
def rules(tmp_path: Path) -> PermissionRules:
    return PermissionRules(tmp_path / "state" / "permissions.json", tmp_path / "project")


@pytest.mark.parametrize(
    ("rule", "line", "fits"),
    [
        ("make test", "make test", True),
        ("make test", "make test all", False),
        ("make *", "make test", True),
        ("make *", "make", True),
        ("make *", "makefile", False),
        ("make *", "make test; rm -rf /", False),
        ("make *", "make test && rm x", False),
        ("make *", "make $(rm x)", False),
        ("make *", "make `rm x`", False),
        ("make *", "make test\nrm x", False),
        ("make *", "make test > x", False),
        ("make *", "make test & rm x", False),
        ("make *", "X=1 make test", False),
        ("git push *", "git push --force", True),
        ("git push *", "git pull", False),
    ],
)
def test_a_yes_to_a_command_reaches_no_other(rule: str, line: str, fits: bool) -> None:
    assert make_rule("allow", "run_command", rule).matches(runs(line)) is fits


@pytest.mark.parametrize(
    "line",
    [
        *("git push", "git push -f", "cd x && git push", "git  push", "true;git push"),
        *("/usr/bin/git push", "git -C . push", "git -c a.b=c --no-pager push origin"),
        *("env X=1 git push", "X=1 git push", "command git push", "\\git push", "'git' \"push\""),
        *("sh -c 'git push'", 'bash -lc "cd x; git push"', "sudo -u me git push", "g''it push"),
        *("timeout 5 nice git push", "echo $(git push)", "if true; then git push; fi"),
        *("(git push)&", "find . -exec git push {} +", "git \\\n push", "eval 'git push'"),
        *("sh -c \"env A=b sh -c 'git push'\"", "xargs git push < x", "sh <<E\ngit push\nE"),
    ],
)
def test_a_no_to_a_command_applies_wherever_and_however_it_is_written(line: str) -> None:
    assert parse_rule("deny", "run_command(git push *)").matches(runs(line))
    assert parse_rule("deny", "run_command(*)").matches(runs(line))


@pytest.mark.parametrize(
    "line", ["git pull", "git commit -m push", "legit push", "pushd git", "make push # git"]
)
def test_a_no_to_a_command_does_not_apply_to_others(line: str) -> None:
    assert not parse_rule("deny", "run_command(git push *)").matches(runs(line))


def test_a_no_to_a_line_holds_for_that_command_and_no_longer_one() -> None:
    rule = parse_rule("deny", "run_command(npm publish)")
    assert rule.matches(runs("cd x; npm publish"))
    assert not rule.matches(runs("npm publish --dry-run"))


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("**", "a/b.py", True),
        ("src/**", "src/a/b.py", True),
        ("src/**", "tests/a.py", False),
        ("src/a.py", "src/a.py", True),
        ("*.md", "docs/x.md", True),
        ("Makefile", "Makefile", True),
        ("Makefile", "deep/er/Makefile", False),
    ],
)
def test_a_yes_to_files_is_a_glob(glob: str, path: str, fits: bool) -> None:
    assert make_rule("allow", "edit_file", glob).matches(edits(path)) is fits
    assert not make_rule("deny", "run_command", glob).matches(edits(path))


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pytest -x tests", ("pytest -x tests", "pytest *")),
        ("npm test", ("npm test", "npm test *")),
        ("npm", ("npm",)),
        ("git -C / push", ("git -C / push",)),
        ("python x.py", ("python x.py",)),
        ("/bin/bash x", ("/bin/bash x",)),
        ("make a; make b", ("make a; make b",)),
        ("git commit -v", ("git commit -v", "git commit *")),
        *((line, (line,)) for line in RUNNERS),
    ],
)
def test_a_lasting_yes_is_offered_for_no_more_than_can_be_foreseen(
    line: str, offered: tuple[str, ...]
) -> None:
    assert list_lasting_patterns(line) == offered


async def test_rules_are_kept_for_one_project_and_a_no_beats_a_yes(
    rules: PermissionRules, tmp_path: Path
) -> None:
    rules.add(parse_rule("allow", "run_command(git *)"))
    rules.add(parse_rule("deny", "run_command(git push *)"))
    again = PermissionRules(tmp_path / "state" / "permissions.json", tmp_path / "project")
    other = PermissionRules(tmp_path / "state" / "permissions.json", tmp_path / "other")

    await Permissions(again, deny_all).require_permission(runs("git commit -m x"))
    with pytest.raises(Declined, match="rule"):
        await Permissions(again, deny_all).require_permission(runs("git push"))
    with pytest.raises(Declined, match="No one"):
        await Permissions(other, deny_all).require_permission(runs("git commit -m x"))

    again.remove(parse_rule("allow", "run_command(git *)"))
    assert [str(rule) for rule in rules.all()] == ["run_command(git push *)"]


async def test_wishes_are_put_one_after_the_other_and_settled_ones_not_at_all(
    rules: PermissionRules,
) -> None:
    asked: list[str] = []
    waiting = 0

    async def approve(wish: PermissionRequest) -> Verdict:
        nonlocal waiting
        waiting += 1
        assert waiting == 1
        await asyncio.sleep(0)
        asked.append(wish.subject)
        waiting -= 1
        return Verdict("always", "**")

    permissions = Permissions(rules, approve)
    await asyncio.gather(*(permissions.require_permission(edits(f"{n}.py")) for n in range(5)))

    assert asked == ["0.py"]


async def test_yes_to_edits_is_no_to_commands(rules: PermissionRules) -> None:
    permissions = Permissions(rules, allow_edits)
    await permissions.require_permission(edits("a.py"))
    with pytest.raises(Declined):
        await permissions.require_permission(runs("make"))


@pytest.mark.parametrize("text", ["", "make", "other(x)", "edit_file()", "edit_file([)"])
def test_an_invalid_rule_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_rule("allow", text)


def test_a_file_of_rules_that_cannot_be_read_allows_nothing(
    rules: PermissionRules, tmp_path: Path
) -> None:
    rules.add(parse_rule("allow", "edit_file(**)"))
    (tmp_path / "state" / "permissions.json").write_text("{")
    with pytest.raises(InputError, match=r"permissions\.json"):
        rules.verdict(edits("a.py"))


async def test_a_lasting_yes_to_a_line_does_not_open_the_network(rules: PermissionRules) -> None:
    rules.add(parse_rule("allow", "run_command(npm install)"))
    asked: list[PermissionRequest] = []

    async def approve(request: PermissionRequest) -> Verdict:
        asked.append(request)
        return Verdict("always")

    permissions = Permissions(rules, approve)
    wanted = PermissionRequest("run_command", "npm install", "", (), network=True)
    await permissions.require_permission(runs("npm install"))
    for _ in range(2):
        await permissions.require_permission(wanted)

    assert asked == [wanted, wanted]


async def test_a_rule_that_forbids_a_line_forbids_it_with_network_too(
    rules: PermissionRules,
) -> None:
    rules.add(parse_rule("deny", "run_command(git push *)"))

    async def approve(request: PermissionRequest) -> Verdict:
        return Verdict("once")

    request = PermissionRequest("run_command", "git push -f", "", (), network=True)
    with pytest.raises(Declined):
        await Permissions(rules, approve).require_permission(request)


@pytest.mark.parametrize(
    ("wish", "others"),
    [
        (runs("rm -f *"), [runs("rm -f /home/me/.ssh/id_ed25519"), runs("rm -f x")]),
        (runs("git add *"), [runs("git add x")]),
        (edits("Makefile"), [edits("deep/er/Makefile")]),
        (edits("app/[id]/page.tsx"), [edits("app/i/page.tsx")]),
        (edits("*.py"), [edits("a.py")]),
    ],
)
async def test_always_this_means_exactly_this(
    rules: PermissionRules, wish: PermissionRequest, others: list[PermissionRequest]
) -> None:
    async def approve(wish: PermissionRequest) -> Verdict:
        return Verdict("always", wish.always[0])

    await Permissions(rules, approve).require_permission(wish)

    await Permissions(rules, deny_all).require_permission(wish)
    for other in others:
        with pytest.raises(Declined):
            await Permissions(rules, deny_all).require_permission(other)


def test_rules_from_before_are_literal_where_they_allow_and_patterns_where_they_forbid(
    rules: PermissionRules, tmp_path: Path
) -> None:
    file = tmp_path / "state" / "permissions.json"
    file.parent.mkdir()
    old = {
        "allow": ["run_command(rm -f *)", "edit_file(a.py)"],
        "deny": ["run_command(git push *)"],
    }
    file.write_text(json.dumps({str(tmp_path / "project"): old, "/other": old}))

    assert rules.verdict(runs("rm -f x")) is None
    assert rules.verdict(runs("rm -f *")) == "allow"
    assert rules.verdict(edits("a.py")) == "allow"
    assert rules.verdict(runs("git push -f")) == "deny"

    rules.add(parse_rule("allow", "run_command(pytest *)"))
    assert [(str(rule), rule.kind) for rule in rules.all()] == [
        ("run_command(git push *)", "pattern"),
        ("run_command(rm -f *)", "exact"),
        ("edit_file(a.py)", "exact"),
        ("run_command(pytest *)", "pattern"),
    ]
    assert json.loads(file.read_text())["/other"] == old


def test_a_yes_to_every_command_is_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match="would allow every command"):
        parse_rule("allow", "run_command(*)")
    assert parse_rule("allow", "run_command(*)", exact=True).matches(runs("*"))


@pytest.mark.parametrize("kind", ["glob", None])
def test_a_stored_rule_that_cannot_be_read_allows_nothing(
    rules: PermissionRules, tmp_path: Path, kind: str | None
) -> None:
    file = tmp_path / "state" / "permissions.json"
    file.parent.mkdir()
    rule = {"effect": "allow", "action": "edit_file", "kind": kind, "text": "**"}
    file.write_text(json.dumps({str(tmp_path / "project"): {"rules": [rule]}}))
    with pytest.raises(InputError, match="cannot be read"):
        rules.verdict(edits("a.py"))


def reads_page(host: str) -> PermissionRequest:
    return PermissionRequest("fetch_url", host, f"GET https://{host}/", (host,))


@pytest.mark.parametrize(
    ("rule", "host", "fits"),
    [
        ("docs.example.org", "docs.example.org", True),
        ("Docs.Example.org", "docs.example.org", True),
        ("docs.example.org", "evil-docs.example.org", False),
        ("docs.example.org", "docs.example.org.evil.net", False),
        ("docs.example.org", "docs.example.org:8080", False),
        ("localhost:8000", "localhost:8000", True),
        ("*.example.org", "docs.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "evilexample.org", False),
    ],
)
def test_a_rule_for_web_pages_speaks_of_a_host(rule: str, host: str, fits: bool) -> None:
    assert parse_rule("allow", f"fetch_url({rule})").matches(reads_page(host)) == fits
    assert parse_rule("deny", f"fetch_url({rule})").matches(reads_page(host)) == fits


def test_all_hosts_can_be_forbidden_and_not_allowed() -> None:
    assert parse_rule("deny", "fetch_url(*)").matches(reads_page("x.org"))
    with pytest.raises(InputError, match="is too broad"):
        parse_rule("allow", "fetch_url(*)")
    for text in ("https://x.org/", "x.org/y", "a b", "*x.org", "x.*"):
        with pytest.raises(InputError, match="is not a host"):
            parse_rule("allow", f"fetch_url({text})")


async def test_always_for_a_page_is_for_its_host(rules: PermissionRules) -> None:
    async def approve(request: PermissionRequest) -> Verdict:
        return Verdict("always", request.always[0])

    await Permissions(rules, approve).require_permission(reads_page("x.org"))

    assert [str(rule) for rule in rules.all()] == ["fetch_url(x.org)"]
    await Permissions(rules, deny_all, "plan").require_permission(reads_page("x.org"))
    for approve_none in (deny_all, allow_edits):
        with pytest.raises(Declined):
            await Permissions(rules, approve_none).require_permission(reads_page("y.org"))
