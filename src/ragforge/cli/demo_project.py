"""Demo project: a small service with the history that three agents wrote about it.

The files and sessions are in `demo/*.toml`. Transcripts are written as each agent writes them, so
that the importer reads them as it reads real ones.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from ragforge.domain.instants import now
from ragforge.resources import read_resource

Line: TypeAlias = dict[str, Any]
NAME = "till"
WHO = {"GIT_AUTHOR_NAME": "Ann Lind", "GIT_AUTHOR_EMAIL": "ann@till.example"}
GIT = {name.replace("AUTHOR", "COMMITTER"): value for name, value in WHO.items()} | WHO
MODELS = {"claude-code": "claude-sonnet-4-5", "codex": "gpt-5-codex", "gemini": "gemini-2.5-pro"}
STEP = timedelta(seconds=40)


@cache
def read_demo(name: str) -> dict[str, Any]:
    """Return what a file of the demo contains."""
    return tomllib.loads(read_resource(f"cli/demo/{name}.toml"))


def write_project(home: Path, environ: Mapping[str, str]) -> Path:
    """Write the project and the transcripts of its agents below a folder; return the project.

    The edits of each session are made when it is written, and committed where it says so.
    """
    project = home / NAME
    commit = _open_repository(project, environ)
    for name, file in read_demo("project").items():
        _write(project / name, file["text"])
    commit("First version", now() - timedelta(days=48))
    for number, session in enumerate(read_demo("sessions")["session"], 1):
        day = now().astimezone() - timedelta(days=session["days"])
        at = datetime.combine(day, time.fromisoformat(session["at"])).astimezone()
        lines = Transcript(session["agent"], project, f"{number:08x}-{NAME}", at)
        for turn in session["turn"]:
            lines.add_turn(turn)
            for call in turn.get("call", ()):
                _make_edit(project, call)
        lines.write(home)
        if "commit" in session:
            commit(session["commit"], at + timedelta(minutes=20))
    return project


def _open_repository(project: Path, environ: Mapping[str, str]) -> Callable[[str, datetime], None]:
    """Make a folder a repository; return what commits all its files: nothing without git."""
    project.mkdir(parents=True)
    git = shutil.which("git", path=environ.get("PATH"))

    def run(words: Sequence[str], at: str = "") -> None:
        dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
        if git is not None:
            command = [git, "-C", str(project), "-c", "commit.gpgsign=false", *words]
            subprocess.run(
                command, env={**environ, **GIT, **dates}, check=True, capture_output=True
            )

    def commit(message: str, at: datetime) -> None:
        run(("add", "--all"))
        run(("commit", "-q", "-m", message), at.isoformat())

    run(("init", "-q", "-b", "main"))
    return commit


def _make_edit(project: Path, call: Mapping[str, Any]) -> None:
    if "edit" in call:
        file = project / call["edit"]
        text = file.read_text("utf-8") if file.exists() else ""
        if call["old"] not in text:
            raise ValueError(f"{call['edit']} does not have {call['old']!r}")
        _write(file, text.replace(call["old"], call["new"], 1))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8", newline="\n")


class Transcript:
    """The lines of one session, in the format of its agent."""

    def __init__(self, agent: str, project: Path, session: str, at: datetime) -> None:
        self._agent, self._project, self._session, self._at = agent, project, session, at
        self._lines: list[Line] = []
        if agent == "codex":
            meta = {"id": session, "cwd": str(project), "cli_version": "0.166.0"}
            self._put("session_meta", **meta)
        elif agent == "gemini":
            head = {"sessionId": session, "directories": [str(project)], "kind": "main"}
            self._lines.append({**head, "startTime": self._stamp()})

    def add_turn(self, turn: Mapping[str, Any]) -> None:
        """Add a question, the calls that the agent made, and its answer."""
        add = {"claude-code": self._add_claude, "codex": self._add_codex}
        add.get(self._agent, self._add_gemini)(turn, turn.get("call", ()))

    def write(self, home: Path) -> None:
        """Write the file where the agent keeps it below the user's home."""
        name = f"{self._at:%Y-%m-%dT%H-%M-%S}-{self._session}"
        places = {
            "claude-code": f".claude/projects/{NAME}/{self._session}.jsonl",
            "codex": f".codex/sessions/{self._at:%Y/%m/%d}/rollout-{name}.jsonl",
            "gemini": f".gemini/tmp/{NAME}/chats/session-{name}.jsonl",
        }
        text = "".join(json.dumps(line) + "\n" for line in self._lines)
        _write(home / places[self._agent], text)

    def _add_claude(self, turn: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> None:
        self._say_claude("user", turn["user"])
        for call in calls:
            name = "Edit" if "edit" in call else "Read" if "read" in call else "Bash"
            used = {"type": "tool_use", "id": self._name(), "name": name, "input": self._give(call)}
            self._say_claude("assistant", [used])
            result = {"type": "tool_result", "tool_use_id": used["id"], "content": _output(call)}
            self._say_claude("user", [result], toolUseResult=self._describe_edit(call))
        sent, cached, written = turn["tokens"]
        usage = {"input_tokens": sent - cached, "cache_read_input_tokens": cached}
        said = [{"type": "text", "text": turn["answer"]}]
        self._say_claude("assistant", said, {**usage, "output_tokens": written})

    def _say_claude(self, kind: str, content: Any, usage: Any = None, **more: Any) -> None:
        ids = {"uuid": self._name(), "parentUuid": self._lines[-1]["uuid"] if self._lines else None}
        about = {"cwd": str(self._project), "sessionId": self._session, "gitBranch": "main"}
        message = {"role": kind, "content": content, "usage": usage, "model": MODELS[self._agent]}
        said = {"type": kind, "timestamp": self._stamp(), "message": message}
        self._lines.append({**ids, **about, **said, **more})

    def _describe_edit(self, call: Mapping[str, Any]) -> Line | None:
        """Return what Claude Code writes down about an edit."""
        if "edit" not in call:
            return None
        file = self._project / call["edit"]
        old, new = call["old"].splitlines(), call["new"].splitlines()
        lines = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
        before = file.read_text("utf-8")
        start = before.partition(call["old"])[0].count("\n") + 1
        at = {"oldStart": start, "oldLines": len(old), "newStart": start, "newLines": len(new)}
        edit = {"filePath": str(file), "oldString": call["old"], "newString": call["new"]}
        return {**edit, "originalFile": before, "structuredPatch": [{**at, "lines": lines}]}

    def _add_codex(self, turn: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> None:
        about = {"turn_id": self._name(), "cwd": str(self._project), "model": MODELS["codex"]}
        self._put("turn_context", **about)
        self._item("message", role="user", content=[{"type": "input_text", "text": turn["user"]}])
        for call in calls:
            key = self._name()
            if "edit" in call:
                patch = _write_patch(call)
                self._item("custom_tool_call", name="apply_patch", input=patch, call_id=key)
                self._item("custom_tool_call_output", call_id=key, output="Success.")
                continue
            words = call["run"] if "run" in call else f"cat {call['read']}"
            given = json.dumps({"command": ["bash", "-lc", words]})
            self._item("function_call", name="shell", arguments=given, call_id=key)
            self._item("function_call_output", call_id=key, output=_output(call))
        said = [{"type": "output_text", "text": turn["answer"]}]
        self._item("message", role="assistant", content=said)
        sent, cached, written = turn["tokens"]
        counts = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": written}
        info = {"last_token_usage": counts, "total_token_usage": counts}
        self._put("event_msg", type="token_count", info=info)

    def _add_gemini(self, turn: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> None:
        self._message("user", content=turn["user"])
        for call in calls:
            name = "replace" if "edit" in call else "read_file"
            output = {"functionResponse": {"response": {"output": _output(call)}}}
            about = {"id": self._name(), "name": name, "args": self._give(call)}
            done = {**about, "status": "success", "result": [output]}
            self._message("gemini", content="", model=MODELS["gemini"], toolCalls=[done])
        sent, cached, written = turn["tokens"]
        tokens = {"input": sent, "cached": cached, "output": written, "total": sent + written}
        said = {"content": turn["answer"], "model": MODELS["gemini"], "tokens": tokens}
        self._message("gemini", **said)

    def _give(self, call: Mapping[str, Any]) -> Line:
        """Return the arguments of a call."""
        if "run" in call:
            return {"command": call["run"]}
        file = str(self._project / call.get("edit", call.get("read", "")))
        if "read" in call:
            return {"file_path": file}
        return {"file_path": file, "old_string": call["old"], "new_string": call["new"]}

    def _put(self, kind: str, **payload: Any) -> None:
        self._lines.append({"timestamp": self._stamp(), "type": kind, "payload": payload})

    def _item(self, kind: str, **fields: Any) -> None:
        self._put("response_item", type=kind, **fields)

    def _message(self, kind: str, **fields: Any) -> None:
        ids = {"id": self._name(), "timestamp": self._stamp(), "type": kind}
        self._lines.append({**ids, **fields})

    def _name(self) -> str:
        """Return an id that nothing else in the session has."""
        self._at += STEP / 8
        return f"{self._session}-{self._at.timestamp():.0f}"

    def _stamp(self) -> str:
        self._at += STEP
        return self._at.isoformat()


def _output(call: Mapping[str, Any]) -> str:
    return str(call.get("output", "ok"))


def _write_patch(call: Mapping[str, Any]) -> str:
    """Return an edit as Codex writes it."""
    new = [f"+{line}" for line in call["new"].splitlines()]
    if call["old"]:
        old = [f"-{line}" for line in call["old"].splitlines()]
        body = [f"*** Update File: {call['edit']}", "@@", *old, *new]
    else:
        body = [f"*** Add File: {call['edit']}", *new]
    return "\n".join(("*** Begin Patch", *body, "*** End Patch"))
