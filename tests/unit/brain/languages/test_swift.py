"""Swift: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_swift_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("Player.swift")
    assert found.outline.language == "swift"
    assert not found.outline.damaged
    assert found.table == [
        "module Player 1-68",
        "constant MAX_VOLUME 4-4",
        "type Completion 6-6",
        "interface Playable 8-12",
        "  method Playable.play 11-11",
        "enum State 14-20",
        "  variant State.playing 15-15",
        "  variant State.paused 15-15",
        "  method State.toggled 17-19",
        "struct Track 22-25",
        "  constant Track.EMPTY 24-24",
        "class Player 27-55",
        "  method Player.init 32-35",
        "  method Player.deinit 37-37",
        "  method Player.play 39-46",
        "  method Player.isEmpty 48-50",
        "  class Player.Timer 52-54",
        "    method Player.Timer.tick 53-53",
        "impl Player 57-63",
        "  method Player.description 58-58",
        "  method Player.skip 60-62",
        "function makePlayer 65-68",
    ]


def test_the_swift_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("Player.swift").imports == [
        "1: Foundation as Foundation *",
        "2: AudioKit as AudioKit *",
    ]


def test_the_swift_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("Player.swift")
    assert found.bases == {
        "Playable": "AnyObject Sendable",
        "State": "String",
        "Track": "Codable Hashable",
        "Player": "CustomStringConvertible",
    }
    assert found.decorators == {"Player": "MainActor", "Player.play": "discardableResult"}


def test_the_swift_sample_uses_these_names(sample: Sample) -> None:
    found = sample("Player.swift")
    assert found.calls("Player.play") == "engine.schedule self.finished"
    assert found.uses("Player.play") == "TimeInterval queue.first PlayerError.empty"
    assert found.calls("makePlayer") == "names.map Track Player"
    assert found.uses("makePlayer") == "String Player"


def test_the_swift_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("Player.swift")
    assert found.signature("Player") == "final class Player: NSObject, Playable"
    assert found.signature("Player.play") == "func play(at time: TimeInterval) throws"
    assert found.docstrings == {
        "Playable": "Something that can be played.",
        "Player": "Plays tracks.",
        "Player.play": "Starts.",
    }
