"""One executed instruction of one lane: what it read, what it wrote, where control went."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.stepping.register_values import Value, grouped
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted


@dataclass(frozen=True, slots=True, repr=False)
class Change(Displayed):
    """A register, or a pair, that was written, perhaps with the same value.

    of: indices of the step's reads that the new value depends on; None: any of them.
    """

    names: tuple[str, ...]
    kind: str
    old: int
    new: int
    of: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return f"{self.after.name}: {self.before.shown} -> {self.after.shown}"

    @property
    def before(self) -> Value:
        return Value(self.names, self.old, self.kind)

    @property
    def after(self) -> Value:
        return Value(self.names, self.new, self.kind)

    def to_json(self) -> dict[str, Any]:
        after, before = self.after.to_json(), self.before.to_json()
        parts = ("hex", "float", "value")
        return {name: after[name] for name in ("register", "kind")} | {
            when: {part: one[part] for part in parts if part in one} for when, one in (("old", before), ("new", after))
        }


@dataclass(frozen=True, slots=True, repr=False)
class Access(Displayed):
    """A memory access of a lane.

    kind: "load", "store" or "atomic". space: "global", "shared", "local" or "constant". address: in bytes, of that
    space. words: what was loaded or stored, the lowest first; for an atomic the old value, if it returns that.
    """

    kind: str
    space: str
    address: int
    size: int
    words: tuple[int, ...] = ()

    def __str__(self) -> str:
        values = " ".join(f"{word:#010x}" for word in self.words)
        place = f"{self.kind} {counted(self.size, 'byte')} of {self.space} memory at {self.address:#x}"
        return f"{place}: {values}" if values else place

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "space": self.space, "address": f"{self.address:#x}", "bytes": self.size,
            "words": [f"{word:#010x}" for word in self.words],
        }  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Emitted(Displayed):
    """A vertex that EMIT emitted. number: from 0. slot, primitive, winding: as the last SETEMIT set them.

    outputs: words of o0.x to o15.w, 64 of them.
    """

    number: int
    slot: int
    primitive: bool
    winding: bool
    outputs: tuple[int, ...]

    def __str__(self) -> str:
        ends = ", a primitive" * self.primitive + ", turned" * self.winding
        return f"vertex {self.number} into slot {self.slot}{ends}"

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number, "slot": self.slot, "primitive": self.primitive, "winding": self.winding,
            "outputs": [f"{word:#010x}" for word in self.outputs],
        }  # fmt: skip


@dataclass(slots=True, repr=False)
class Step(Displayed):
    """One executed instruction.

    index: its index in the trace. number: index of the instruction in the program. address: in words for a 3DS and in
    bytes for a Switch, as in listings. text: the instruction. flow: result of conditional flow: "taken", "not taken" or
    "waits" (at a barrier). skipped: its guard was false, so it did nothing here. lanes: lanes of the warp that it ran
    for, a bit each; None for a 3DS. to: address of the instruction that ran next in this lane; None after the last.
    notes: what went wrong. line: of the program's source text, None if it is not known.
    """

    index: int
    number: int
    address: int
    text: str
    reads: tuple[Value, ...] = ()
    writes: tuple[Change, ...] = ()
    flow: str = ""
    skipped: bool = False
    accesses: tuple[Access, ...] = ()
    emitted: Emitted | None = None
    lanes: int | None = None
    to: int | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    line: int | None = None

    @property
    def read_text(self) -> str:
        """What it read, for people."""
        return grouped([(value.name, value.shown) for value in self.reads])

    @property
    def happened(self) -> str:
        """What it did, for people."""
        parts = [grouped([(one.after.name, one.after.shown) for one in self.writes])] if self.writes else []
        parts += ["skipped"] if self.skipped else [self.flow] if self.flow else []
        parts += [str(access) for access in self.accesses]
        parts += [str(self.emitted)] if self.emitted is not None else []
        return "; ".join([*parts, *self.notes])

    def __str__(self) -> str:
        read = f"  [{self.read_text}]" if self.reads else ""
        done = f"  -> {self.happened}" if self.happened else ""
        line = "" if self.line is None else f"  line {self.line}"
        return f"{self.index:5}  {self.address:#06x}{line}  {self.text}{read}{done}"

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "index": self.index, "address": f"{self.address:#x}", "number": self.number, "text": self.text,
            "reads": [value.to_json() for value in self.reads], "writes": [one.to_json() for one in self.writes],
            "to": None if self.to is None else f"{self.to:#x}",
        }  # fmt: skip
        if self.line is not None:
            found["line"] = self.line
        if self.flow:
            found["flow"] = self.flow
        if self.skipped:
            found["skipped"] = True
        if self.accesses:
            found["accesses"] = [one.to_json() for one in self.accesses]
        if self.emitted is not None:
            found["emitted"] = self.emitted.to_json()
        if self.lanes is not None:
            found["lanes"] = f"{self.lanes:#010x}"
        if self.notes:
            found["notes"] = list(self.notes)
        return found


__all__ = ["Access", "Change", "Emitted", "Step"]
