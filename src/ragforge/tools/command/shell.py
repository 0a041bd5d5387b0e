"""Shell: a command line as plain data, or a refusal.

The grammar is tree-sitter's bash. A short list of nodes is understood; whatever is off it is
refused, and so is every character that no understood node accounts for. No shell ever sees the
line, so a mistake here can make RagForge run another allowed command than was meant, never one
that is not allowed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ragforge.tools.command.plan import (
    Joint,
    Loop,
    NotAllowed,
    Pipeline,
    SimpleCommand,
    Word,
    mark_bare,
    mark_quoted,
)

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_CHARS = 10_000
MAX_COMMANDS = 50

_REASONS = {
    "variable_assignment": "it sets a variable",
    "variable_assignments": "it sets a variable",
    "command_substitution": "it has a command substitution",
    "process_substitution": "it has a process substitution",
    "simple_expansion": "it expands a variable",
    "expansion": "it expands a variable",
    "arithmetic_expansion": "it has an arithmetic expansion",
    "ansi_c_string": "it has an ANSI-C quoted string",
    "translated_string": "it has a translated string",
    "brace_expression": "it has a brace expansion",
    "heredoc_redirect": "it has a here-document",
    "herestring_redirect": "it has a here-string",
    "subshell": "it has a subshell",
    "compound_statement": "it has a group of commands",
    "function_definition": "it defines a function",
    "for_statement": "it has a loop that is not a simple one over names",
    "c_style_for_statement": "it has a loop",
    "while_statement": "it has a loop",
    "if_statement": "it has a condition",
    "case_statement": "it has a condition",
    "[[": "it has a test in double brackets",
    "negated_command": "it negates a command",
    "declaration_command": "it declares a variable",
    "unset_command": "it unsets a variable",
    "comment": "it has a comment",
    "&": "it runs something in the background",
    "|&": "it pipes with |&",
    "ERROR": "it is not a shell line that can be understood",
}
# Letters and marks that show nothing.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_GLOBS = frozenset("*?[")


def parse(line: str) -> tuple[Pipeline | Loop, ...]:
    """Return the pipelines and loops of a line. Raises NotAllowed with the reason."""
    _check_characters(line)
    source = line.encode()
    tree = load_parser().parse(source)
    parts = tuple(_LineReader(source).program(tree.root_node))
    if not parts:
        raise NotAllowed("the line is empty")
    if sum(map(_count_commands, parts)) > MAX_COMMANDS:
        raise NotAllowed(f"it has more than {MAX_COMMANDS} commands")
    return parts


def _count_commands(part: Pipeline | Loop) -> int:
    if isinstance(part, Loop):
        return sum(map(_count_commands, part.body))
    return len(part.commands)


@cache
def load_parser() -> Parser:
    """Return the parser of the shell's grammar."""
    import tree_sitter_bash  # loaded with the first line
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _check_characters(line: str) -> None:
    if len(line) > MAX_CHARS:
        raise NotAllowed(f"it is longer than {MAX_CHARS} characters")
    if "\\\n" in line:
        raise NotAllowed("it continues on another line with a backslash")
    for character in line if not line.isprintable() or not line.isascii() else "":
        if character in "\n\t":
            continue
        category = unicodedata.category(character)
        if character != " " and (category[0] in "CZ" or _UNSEEN.match(character)):
            raise NotAllowed(f"it has the character U+{ord(character):04X}")


class _LineReader:
    """Turns nodes into words; every byte of the source must belong to one or be a blank."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._variable: str | None = None  # of the loop that is read

    def program(self, node: Node) -> Iterator[Pipeline | Loop]:
        if node.type != "program":
            raise _refuse_node(node)
        self._check_gaps(node, 0, len(self._source))
        for child, joint in self._statements(node.children):
            loop = self._loop_at_the_end(child)
            if loop is None:
                yield from self._list(child, joint)
            else:
                yield from loop

    def _statements(self, children: Sequence[Node]) -> Iterator[tuple[Node, Joint]]:
        was_separated = True
        end = children[0].start_byte if children else 0
        for child in children:
            was_separated |= b"\n" in self._source[end : child.start_byte]
            end = child.end_byte
            if child.type in (";", "\n") and not child.is_named:
                was_separated = True
                continue
            if not was_separated:
                raise NotAllowed("its commands are joined in a way that is not understood")
            was_separated = False
            yield child, ";"

    def _loop_at_the_end(self, node: Node) -> Iterator[Pipeline | Loop] | None:
        """Return a loop, with or without `cd DIR &&` before it; None if there is none."""
        if node.type == "for_statement":
            return iter([self._loop(node, ";")])
        if (
            node.type == "list"
            and len(node.children) == 3
            and node.children[2].type == "for_statement"
        ):
            left, operator, right = self._children(node, 3)
            if operator.type != "&&":
                raise _refuse_node(right)
            before: list[Pipeline | Loop] = [*self._list(left, ";")]
            return iter([*before, self._loop(right, "&&")])
        return None

    def _loop(self, node: Node, joint: Joint) -> Loop:
        self._check_gaps(node, node.start_byte, node.end_byte)
        opening, name, within, *values, body = node.children
        if values and values[-1].type == ";":
            values.pop()
        shape = (opening.type, name.type, within.type, body.type)
        if shape != ("for", "variable_name", "in", "do_group") or self._variable is not None:
            raise _refuse_node(node)
        words = tuple(self._word(value) for value in values)
        self._check_gaps(body, body.start_byte, body.end_byte)
        start, *statements, end = body.children
        if (start.type, end.type) != ("do", "done"):
            raise _refuse_node(node)
        self._variable = self._text(name)
        inner = tuple(
            pipeline
            for child, _ in self._statements(statements)
            for pipeline in self._list(child, ";")
        )
        loop = Loop(joint, self._variable, words, inner)
        self._variable = None
        return loop

    def _list(self, node: Node, joint: Joint) -> Iterator[Pipeline]:
        if node.type == "list":
            left, operator, right = self._children(node, 3)
            if operator.type not in ("&&", "||"):
                raise _refuse_node(operator)
            yield from self._list(left, joint)
            yield from self._list(right, "&&" if operator.type == "&&" else "||")
        elif node.type == "redirected_statement":
            yield from self._read_redirection(node, joint)
        else:
            yield Pipeline(joint, tuple(self._pipeline(node)))

    def _read_redirection(self, node: Node, joint: Joint) -> Iterator[Pipeline]:
        """Yield a statement whose redirections belong to its last command."""
        self._check_gaps(node, node.start_byte, node.end_byte)
        body, *redirects = node.children
        *before, last = self._list(body, joint)
        command = last.commands[-1]
        for redirect in redirects:
            command = self._with_redirect(command, redirect)
        yield from before
        yield replace(last, commands=(*last.commands[:-1], command))

    def _pipeline(self, node: Node) -> Iterator[SimpleCommand]:
        if node.type == "pipeline":
            self._check_gaps(node, node.start_byte, node.end_byte)
            for position, child in enumerate(node.children):
                if position % 2 == 0:
                    yield from self._pipeline(child)
                elif child.type != "|":
                    raise _refuse_node(child)
            return
        if node.type == "redirected_statement":
            inner = list(self._read_redirection(node, ";"))
            if len(inner) != 1:
                raise NotAllowed(_REASONS["ERROR"])
            yield from inner[0].commands
            return
        yield self._command(node)

    def _command(self, node: Node) -> SimpleCommand:
        if node.type == "test_command":
            return self._test(node)
        if node.type != "command":
            raise _refuse_node(node)
        self._check_gaps(node, node.start_byte, node.end_byte)
        first, *arguments = node.children
        if first.type != "command_name":
            raise _refuse_node(first)
        (name,) = self._children(first, 1)
        return SimpleCommand((self._word(name), *(self._word(argument) for argument in arguments)))

    def _test(self, node: Node) -> SimpleCommand:
        """Return `[ … ]` as the program it is short for; which questions it may ask is not ours."""
        opening, *inner, closing = node.children
        if (opening.type, closing.type) != ("[", "]"):
            raise _refuse_node(opening)
        self._check_gaps(node, node.start_byte, node.end_byte)
        return SimpleCommand(
            (Word("test"), *(word for part in inner for word in self._read_test(part)))
        )

    def _read_test(self, node: Node) -> Iterator[Word]:
        if node.type in ("unary_expression", "binary_expression"):
            self._check_gaps(node, node.start_byte, node.end_byte)
            for child in node.children:
                yield from self._read_test(child)
        elif node.type in ("!", "=", "==", "!=", "test_operator") and not node.children:
            yield Word(self._text(node))
        else:
            yield self._word(node)

    def _with_redirect(self, command: SimpleCommand, node: Node) -> SimpleCommand:
        if node.type != "file_redirect":
            raise _refuse_node(node)
        if node.children[0].type == "<" and len(node.children) == 2:
            if command.input is not None:
                raise NotAllowed("it redirects its input twice")
            self._check_gaps(node, node.start_byte, node.end_byte)
            return replace(command, input=self._word(node.children[1]))
        text = self._text(node).replace("> /", ">/")
        if text == "2>/dev/null":
            return replace(command, errors_to="nowhere")
        if text == "2>&1":
            return replace(command, errors_to="nowhere" if command.silent else "stdout")
        if text in (">/dev/null", "1>/dev/null") and command.errors_to != "stdout":
            return replace(command, silent=True)
        if text == "&>/dev/null":
            return replace(command, silent=True, errors_to="nowhere")
        raise NotAllowed("it redirects; only to /dev/null, 2>&1, and < FILE, are allowed")

    def _word(self, node: Node) -> Word:
        pieces = [(node, *self._piece(node))] if node.type != "concatenation" else []
        if not pieces:
            self._check_touching(node)
            pieces = [(child, *self._piece(child)) for child in node.children]
        bare = "".join(bare for _, _, bare in pieces)
        text = "".join(text for _, text, _ in pieces)
        check_bare(bare)
        plain = node.type == "word" and bare == text
        has_glob = not _GLOBS.isdisjoint(bare)
        return Word(
            text, make_glob((text, bare) for _, text, bare in pieces) if has_glob else None, plain
        )

    def _piece(self, node: Node) -> tuple[str, str]:
        """Return the text of a piece, and what of it stands unquoted (with \\0 for the rest)."""
        source = self._text(node)
        if node.type in ("word", "number") and not node.children:
            return unescape(source)
        if node.type == "raw_string":
            inner = source[1:-1]
            return inner, "\0" * len(inner)
        if node.type == "string":
            inner = self._string(node)
            return inner, "\0" * len(inner)
        if node.type in ("simple_expansion", "expansion") and self._is_variable(node):
            mark = mark_bare(str(self._variable))
            return mark, "\0" * len(mark)
        if node.type in ("word", "number", "concatenation"):
            raise _refuse_node(node.children[0])
        raise _refuse_node(node)

    def _string(self, node: Node) -> str:
        """Return a double-quoted string, with a mark for the variable of the loop."""
        out: list[str] = []
        at = node.start_byte + 1
        for child in node.children:
            if self._is_variable(child):
                out.append(unescape_string(self._source[at : child.start_byte].decode()))
                out.append(mark_quoted(str(self._variable)))
                at = child.end_byte
            elif child.type not in ('"', "string_content", "$"):
                raise _refuse_node(child)
        out.append(unescape_string(self._source[at : node.end_byte - 1].decode()))
        return "".join(out)

    def _is_variable(self, node: Node) -> bool:
        """Tell whether a node is the variable of the loop, and nothing is done with it."""
        if self._variable is None or node.type not in ("simple_expansion", "expansion"):
            return False
        return self._text(node) in (f"${self._variable}", f"${{{self._variable}}}")

    def _children(self, node: Node, count: int) -> Sequence[Node]:
        self._check_gaps(node, node.start_byte, node.end_byte)
        if len(node.children) != count:
            raise _refuse_node(node)
        return node.children

    def _check_gaps(self, node: Node, start: int, end: int) -> None:
        """Refuse characters between the children that are not blanks."""
        if node.has_error:
            raise NotAllowed(_REASONS["ERROR"])
        for child in node.children:
            self._check_blank(start, child.start_byte)
            start = child.end_byte
        self._check_blank(start, end)

    def _check_blank(self, start: int, end: int) -> None:
        if self._source[start:end].strip(b" \t\n"):
            raise NotAllowed(_REASONS["ERROR"])

    def _check_touching(self, node: Node) -> None:
        end = node.start_byte
        for child in node.children:
            if child.start_byte != end:
                raise NotAllowed(_REASONS["ERROR"])
            end = child.end_byte
        if end != node.end_byte:
            raise NotAllowed(_REASONS["ERROR"])

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode()


def _refuse_node(node: Node) -> NotAllowed:
    if node.type in _REASONS:
        return NotAllowed(_REASONS[node.type])
    if node.type == "file_redirect":
        return NotAllowed("it redirects before its program's name")
    return NotAllowed(f"it has a part that is not allowed ({node.type})")


_BRACES = re.compile(r"\{[^{},]*\}")
_HISTORY = re.compile(r"![^=*.\0]")
_NEVER_BARE = frozenset("$`\"'<>|&;()\n\r\t ")
_ESCAPED_IN_STRINGS = frozenset('$`"\\')
_STARTS_EXPANSION = re.compile(r"[A-Za-z0-9_({\[$!#?@*\-'`]")


def unescape(source: str) -> tuple[str, str]:
    """Take the backslashes out of an unquoted word."""
    if "\\" not in source:
        return source, source
    text, bare = [], []
    characters = iter(source)
    for character in characters:
        if character == "\\":
            escaped = next(characters, None)
            if escaped is None or escaped == "\n":
                raise NotAllowed("it ends in a backslash")
            text.append(escaped)
            bare.append("\0")
        else:
            text.append(character)
            bare.append(character)
    return "".join(text), "".join(bare)


def unescape_string(source: str) -> str:
    """Take the backslashes out of a double-quoted string without expansions."""
    text = []
    position = 0
    while position < len(source):
        character = source[position]
        following = source[position + 1 : position + 2]
        if character == "\\" and following in _ESCAPED_IN_STRINGS and following:
            text.append(following)
            position += 2
            continue
        if character == "`":
            raise NotAllowed("it has a command substitution")
        if character == "$" and _STARTS_EXPANSION.match(following):
            raise NotAllowed("it expands a variable")
        text.append(character)
        position += 1
    return "".join(text)


def check_bare(bare: str) -> None:
    """Refuse unquoted characters that a shell would do something with."""
    if bare.startswith("~"):
        raise NotAllowed("it starts a word with ~, which is outside the project")
    if bare.startswith("#"):
        raise NotAllowed("it has a comment")
    if _HISTORY.match(bare):
        raise NotAllowed("it has an unquoted ! at the start of a word; quote it")
    if not _NEVER_BARE.isdisjoint(bare):
        raise NotAllowed("it has an unquoted special character; quote it")
    if "{" in bare or "}" in bare:
        simple = _BRACES.sub(lambda found: "{" if ".." in found[0] else "", bare)
        if "{" in simple or "}" in simple:
            raise NotAllowed("it has a brace expansion")


def make_glob(pieces: Iterable[tuple[str, str]]) -> str:
    """Return the word as a pattern in which quoted characters are escaped."""
    out = []
    for text, bare in pieces:
        for character, mark in zip(text, bare, strict=True):
            quoted = mark == "\0" and character != "\0"
            out.append(f"\\{character}" if quoted and character in "*?[]\\!-^" else character)
    return "".join(out)
