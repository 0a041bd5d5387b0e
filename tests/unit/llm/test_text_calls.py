"""Tool calls that a small model writes into its answer are executed."""

from __future__ import annotations

import pytest

from ragforge.domain.chat import ChatRequest, ToolMessage, UserMessage
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool, ToolSpec
from ragforge.llm.loop import ToolLoop, find_text_calls
from tests.fakes.scripted_model import ScriptedModel

TOOLS = {"read_file", "grep_files"}
CALL = '{"name": "read_file", "arguments": {"path": "a.py"}}'
READ = [("read_file", {"path": "a.py"})]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (f"<tool_call>\n{CALL}\n</tool_call>", ""),
        (f"Let me look.\n<tool_call>{CALL}</tool_call>", "Let me look."),
        (f"<tool_call>{CALL}", ""),
        ('<function=read_file>{"path": "a.py"}</function>', ""),
        (f"[TOOL_CALLS] [{CALL}]", ""),
        (f"I read it.\n\n```json\n{CALL}\n```", "I read it."),
        (CALL, ""),
        ('{"name": "read_file", "parameters": {"path": "a.py"}}', ""),
        ('{"tool": "read_file", "args": "{\\"path\\": \\"a.py\\"}"}', ""),
        ('[{"type": "function", "function": ' + CALL + "}]", ""),
    ],
)
def test_each_way_to_write_a_call_is_recognised(text: str, rest: str) -> None:
    found, left = find_text_calls(text, TOOLS, 1)
    assert [(call.name, call.arguments) for call in found] == READ
    assert left == rest


def test_strings_of_a_call_may_be_written_as_in_python() -> None:
    text = '''```json
{"name": "read_file", "arguments": {"path": """
say "a"
on two lines"""}}
```'''
    [call], _ = find_text_calls(text, TOOLS, 1)
    assert call.arguments == {"path": 'say "a"\non two lines'}


def test_two_calls_are_two() -> None:
    found, _ = find_text_calls(f"<tool_call>{CALL}</tool_call>\n" * 2, TOOLS, 3)
    assert [call.id for call in found] == ["text-3-0", "text-3-1"]


@pytest.mark.parametrize(
    "text",
    [
        "The file is read with read_file.",
        CALL.replace("read_file", "rm_everything"),
        '{"name": "read_file", "arguments": "a.py"}',
        f"```json\n{CALL}\n```\nThis is how a call looks.",
        "A call names its tool and has arguments. " * 9 + f"\n```json\n{CALL}\n```",
        '{"name": "Shop", "version": 1}',
        "<tool_call>not json</tool_call>",
        f"<tool_call>{CALL}</tool_call><tool_call>broken</tool_call>",
        "",
    ],
)
def test_text_that_is_not_a_call_stays_an_answer(text: str) -> None:
    assert find_text_calls(text, TOOLS, 1) == ([], text)


async def test_a_written_call_is_made_and_its_result_sent_back() -> None:
    model = ScriptedModel([f"I look.\n<tool_call>{CALL}</tool_call>", "It says hello."])

    async def read(given: object) -> object:
        return "print('hello')"

    tool = Tool(ToolSpec("read_file", "Read.", {}), read)
    loop = ToolLoop(ChatClient(model).ask, [tool], rounds=5)
    _, text = await loop.run(ChatRequest((UserMessage("What does a.py say?"),)))

    assert text == "It says hello."
    said, result = model.asked[1].messages[1:]
    assert (said.text, result.text) == ("I look.", "print('hello')")
    assert isinstance(result, ToolMessage)
    assert result.request_id == "text-1-0"
