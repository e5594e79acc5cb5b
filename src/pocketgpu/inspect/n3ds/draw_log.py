"""A recorder that also keeps the state of each draw: its registers, and the memories that FIFO registers fill.

Events of processor loads get a digest of the bytes. Only the frame that was recorded last is kept.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from pocketgpu.digests import blake2b
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.n3ds.recorder import Recorder
from pocketgpu.inspect.n3ds.resources.fifo_tables import NAMES
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import BANKS, REGISTER_COUNT
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.front.command_list import EFFECT_NAMES, EFFECT_TABLE
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.wording import counted

_FED = {
    "fixed_data", "vs_uniform_data", "vs_code", "vs_opdescs", "gs_uniform_data", "gs_code", "gs_opdescs",
    "fog", "lighting", "proctex", "gas",
}  # fmt: skip
assert set(EFFECT_NAMES) >= _FED
_LIST = {register.offset for register in PICA if register.name.startswith("CMDBUF_")}
PLAIN = np.array([
    EFFECT_NAMES[code] not in _FED and number not in _LIST
    for number, code in enumerate(EFFECT_TABLE[:REGISTER_COUNT].tolist())
])  # fmt: skip
"""For each register id whether its word is state of a draw. It is not for data ports of FIFOs, which only hold the last
word written, and not for addresses and sizes of lists."""
_VERTICES, _TEXTURES = (
    np.array([register.offset for register in PICA if register.name.startswith(names)])
    for names in (
        ("ATTRIBBUFFER", "INDEXBUFFER_CONFIG", "NUMVERTICES", "VERTEX_OFFSET"),
        tuple(f"TEXUNIT{unit}_{what}" for unit in range(3) for what in ("ADDR", "DIM", "TYPE")),
    )
)
_WORDS = {bank.name: bank.words for bank in BANKS}


@dataclass
class FrameLog:
    """The state of the draws of a frame. registers: a row of 0x300 words for each draw; banks: for each draw, digests
    by bank; contents: words by digest."""

    registers: list[NDArray[np.uint32]] = field(default_factory=list)
    banks: list[dict[str, bytes]] = field(default_factory=list)
    contents: dict[bytes, NDArray[np.uint32]] = field(default_factory=dict)

    def tables(self, draw: int) -> dict[str, NDArray[np.uint32]]:
        """The memories filled by FIFO registers at a draw, by name; those that were never filled hold 0."""
        seen = self.banks[draw]
        return {
            name: self.contents[seen[name]] if name in seen else np.zeros(_WORDS[name], np.uint32) for name in NAMES
        }

    def state_digests(self, draw: int) -> tuple[bytes, bytes, bytes, bytes]:
        """Digests of the state of a draw, the strictest first: all of it; program, vertices and textures; program and
        vertices; the program. Vertices and textures count by their addresses and formats, not by their contents."""
        seen, row = self.banks[draw], self.registers[draw]
        everything = blake2b(row[PLAIN].tobytes(), digest_size=16)
        for name, digest in sorted(seen.items()):
            everything.update(name.encode() + digest)
        program = seen.get("vs_code", b"") + seen.get("vs_opdescs", b"")
        vertices = program + row[_VERTICES].tobytes()
        return everything.digest(), vertices + row[_TEXTURES].tobytes(), vertices, program


class DrawLog(Recorder):
    """A recorder with a log. last: the log of the last finished frame."""

    def __init__(self) -> None:
        super().__init__()
        self.last = FrameLog()
        self._log = FrameLog()

    def vblank(self, frame: int) -> None:
        super().vblank(frame)
        self.last, self._log = self._log, FrameLog()

    def memory_loaded(self, address: int, size: int) -> None:
        data = self.machine.memory.view(address, size)
        facts = {"size": size, "digest": blake2b(data.data, digest_size=16).hexdigest()}
        self._note("load", f"load {counted(size, 'byte')} to {address:#010x}", facts, writes=(Range(address, size),))

    def draws(self, packets: DrawPackets, run: Run) -> None:
        super().draws(packets, run)
        log, first = self._log, len(self._log.banks)
        log.registers += list(packets.registers.copy())
        log.banks += [{} for _ in range(len(packets))]
        for name in NAMES:
            versions = packets.versions(name)
            known: dict[int, bytes] = {}  # places in the work area are valid during this call only
            for n, version in enumerate(versions.tolist()):
                if not version:
                    continue
                if version not in known:
                    words = packets.contents(version, _WORDS[name])
                    digest = known[version] = blake2b(words, digest_size=16).digest()
                    if digest not in log.contents:
                        log.contents[digest] = np.frombuffer(words, np.uint32)
                log.banks[first + n][name] = known[version]
