"""Kept output: the beginning and the end of what a program prints, however much it is."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class KeptOutput:
    """The beginning and the end of a stream."""

    most: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    size: int = 0

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = self.most // 2 - len(self.head)
        self.head += chunk[: max(room, 0)]
        self.tail += chunk[max(room, 0) :]
        del self.tail[: -self.most // 2]

    @property
    def lost(self) -> int:
        return self.size - len(self.head) - len(self.tail)

    def text(self) -> str:
        gap = f"\n[… {self.lost:,} bytes …]\n" if self.lost else ""
        return self.head.decode(errors="replace") + gap + self.tail.decode(errors="replace")
