"""Whether control can run past the end of a program: a forgotten `end`, after which a console runs into garbage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pocketgpu.facts.shader_isa import F2, F3, OPCODES, opcode_number
from pocketgpu.pica.shader.pieces import NewWord, Reading

_MOST_DEPTH = 64
"""Procedures within each other that are followed; a console has room for four."""


class _Walk:
    """Follows control through a procedure, and through those that it calls."""

    def __init__(self, code: Sequence[int], regions: Sequence[tuple[int, int]]) -> None:
        self.code = code
        self.starts = {start for start, end in regions if end > start}
        known = {number: op.name for number, op in OPCODES.items()}
        self.names = [known.get(opcode_number(word), "") for word in code]
        # The last word of a part of an if, and where control goes after it.
        self.after = {
            F2.get(word, "dst") - 1: F2.get(word, "dst") + F2.get(word, "num")
            for name, word in zip(self.names, code, strict=True)
            if name in ("IFC", "IFU")
        }
        self.loops = [
            (at, F3.get(word, "dst"))
            for at, (name, word) in enumerate(zip(self.names, code, strict=True))
            if name == "LOOP"
        ]
        self.known: dict[tuple[int, int], bool] = {}

    def comes_back(self, start: int, end: int, depth: int) -> bool:
        """Whether a routine reaches its end."""
        if (start, end) not in self.known:
            self.known[start, end] = True  # of a routine that calls itself: taken as one that does
            if depth < _MOST_DEPTH:
                self.known[start, end] = bool(self.leaves(start, end, depth + 1))
        return self.known[start, end]

    def leaves(self, start: int, end: int, depth: int = 0) -> list[int]:
        """The words after which control is past the end, or in another procedure that it did not call or jump to."""
        found: list[int] = []
        seen, waiting = {start}, [start]
        while waiting:
            at = waiting.pop()
            if at >= len(self.code):
                continue
            for to, jump in self._next(at, depth):
                if to >= len(self.code) or (not jump and (to == end or (to in self.starts and to != start))):
                    found.append(at)
                elif to not in seen:
                    seen.add(to)
                    waiting.append(to)
        return sorted(set(found))

    def _next(self, at: int, depth: int) -> Iterator[tuple[int, bool]]:
        """Where control goes from a word, and whether it jumps there."""
        name, word = self.names[at], self.code[at]
        following = self.after.get(at, at + 1)
        target = F2.get(word, "dst")
        if name == "END":
            return
        if name in ("BREAK", "BREAKC"):
            inner = [end for first, end in self.loops if first < at <= end]
            if inner:
                yield min(inner) + 1, False
            if name == "BREAK":
                return
        elif name in ("JMPC", "JMPU", "IFC", "IFU"):
            yield target, name.startswith("JMP")
        elif name == "CALL" and not self.comes_back(target, target + F2.get(word, "num"), depth):
            return
        yield following, False


def entry_remarks(
    reading: Reading, files: Sequence[str], items: Sequence[NewWord], code: Sequence[int], start: int,
    regions: Sequence[tuple[int, int]],
) -> None:  # fmt: skip
    """Warn if control can leave the program that begins at `start`. regions: addresses of procedures."""
    end = next((last for first, last in regions if first == start), len(code))
    for at in _Walk(code, regions).leaves(start, end)[:1]:
        real = next((n for n in range(at, -1, -1) if not items[n].padding), at)
        item = items[real]
        reading.file, reading.line, reading.column = files[item.text], item.line, item.begins
        reading.warn("control runs on past this last instruction, and there is no end", hint="Write end after it.")


__all__ = ["entry_remarks"]
