"""C and C++: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_c_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("buffer.c")
    assert found.outline.language == "c"
    assert not found.outline.damaged
    assert found.table == [
        "module buffer 1-63",
        "constant MAX_SIZE 10-10",
        "macro MIN 11-12",
        "type size 14-14",
        "struct buffer_t 16-19",
        "struct pair 21-23",
        "enum mode 25-25",
        "enum power 27-30",
        "type callback 32-32",
        "constant NAMES 34-37",
        "function buffer_init 41-41",
        "function buffer_append 43-54",
        "function buffer_dump 57-57",
        "struct number 60-63",
    ]


def test_the_c_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("buffer.c").imports == [
        "6: stdio.h *",
        "7: buffer.h *",
    ]


def test_the_c_sample_uses_these_names(sample: Sample) -> None:
    found = sample("buffer.c")
    assert found.calls("buffer_append") == "MIN fprintf stderr memcpy size"
    assert (
        found.uses("buffer_append") == "buffer_t size MAX_SIZE buffer.used buffer.data pair.right"
    )
    assert found.calls("buffer_dump") == "puts"
    assert found.uses("buffer_dump") == "buffer_t buffer.data"


def test_the_c_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("buffer.c")
    assert (
        found.signature("buffer_append")
        == "static char * buffer_append(buffer_t *buffer, const char *bytes, size count)"
    )
    assert found.signature("MIN") == "#define MIN(a, b) \\ ((a) < (b) ? (a) : (b))"
    assert found.docstrings == {"buffer": "A buffer that grows.", "buffer_append": "Adds bytes."}


def test_the_cpp_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("engine.cpp")
    assert found.outline.language == "cpp"
    assert not found.outline.damaged
    assert found.table == [
        "module engine 1-67",
        "constant MAX_PLAYERS 9-9",
        "namespace game.core 11-56",
        "  class game.core.Engine 13-32",
        "    method game.core.Engine.Engine 17-17",
        "    method game.core.Engine.~Engine 18-18",
        "    method game.core.Engine.step 20-21",
        "    method game.core.Engine.operator== 22-22",
        "    constant game.core.Engine.LIMIT 23-23",
        "    struct game.core.Engine.State 25-28",
        "      method game.core.Engine.State.next 27-27",
        "  enum game.core.Mode 34-34",
        "  type game.core.Callback 36-36",
        "  class game.core.Screen 40-44",
        "    method game.core.Screen.draw 42-42",
        "    method game.core.Screen.clone 43-43",
        "    method game.core.Screen.draw 46-52",
        "    method game.core.Screen.clone 54-54",
        "function clamp 58-61",
        "function main 63-67",
    ]


def test_the_cpp_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("engine.cpp").imports == [
        "2: vector *",
        "3: game/engine.hpp *",
        "5: std *",
        "6: game Player=Player",
        "7: std::filesystem as fs",
    ]


def test_the_cpp_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("engine.cpp")
    assert found.bases == {"game.core.Engine": "Base detail.Timer"}
    assert found.decorators == {"game.core.Engine.step": "nodiscard"}


def test_the_cpp_sample_uses_these_names(sample: Sample) -> None:
    found = sample("engine.cpp")
    assert found.calls("game.core.Screen.draw") == ""
    assert found.uses("game.core.Screen.draw") == "World"
    assert found.calls("main") == "engine.step static_cast"
    assert found.uses("main") == "game.core.Engine"
    assert found.calls("clamp") == "std.max"
    assert found.uses("clamp") == ""


def test_the_cpp_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("engine.cpp")
    assert (
        found.signature("game.core.Engine")
        == "template <typename T> class Engine : public Base<T>, private virtual detail::Timer"
    )
    step = found.signature("game.core.Engine.step")
    assert step == "virtual bool step(double dt) const override;"
    assert found.signature("clamp") == "template <class T> T clamp(T value, T low)"
    assert found.docstrings == {
        "engine": "Runs the game.",
        "game.core.Engine": "A thing that moves.",
        "game.core.Engine.step": "Runs one step.",
    }
