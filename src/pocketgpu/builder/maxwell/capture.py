"""Builder of whole recordings for the Switch's GPU: memory, submissions and presents, written as a channel log.

The builder also allocates GPU memory, so that users need not compute addresses: `allocate` maps new memory, `put`
stores data in new memory, `alias` maps memory a second time.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterable
from typing import Any, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.maxwell.packets import Packets
from pocketgpu.builder.maxwell.surface import Surface
from pocketgpu.capture.formats.mxcap import DOCUMENT, FORMAT, GPU, PAGE, VA_END, VERSION, ChannelLog, parse
from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import SHOWN
from pocketgpu.facts.maxwell.pushbuffers import MOST_WORDS, pack_entry
from pocketgpu.wording import counted

Segment: TypeAlias = Packets | tuple[int, int]
"""Words of a pushbuffer, or (GPU address, words) of words that are in memory already."""

FIRST_ADDRESS: Final = 0x5_0000_0000
PUSHBUFFER_SIZE: Final = 1 << 20
FIRST_SYNCPOINT: Final = 8
"""Each channel of a built recording has its own syncpoint, from this one on, in the order of their first use."""

_PRESENT_FORMATS: Final = {layout: name for name, layout in SHOWN.items()}
_DATE = (1980, 1, 1, 0, 0, 0)


class MaxwellCaptureBuilder:
    """A recording under construction.

        capture = MaxwellCaptureBuilder()
        target = Surface(capture.allocate(size_of(640, 360)), 640, 360)
        capture.submit(PushBuffer().bind("3D").render_target(0, target).clear((0, 0, 0.2, 1)))
        capture.present(target)                        # ends a frame
        capture.save("scene.mxcap.zip")

    The machine that replays it starts at power-on. step: what addresses of mappings are multiples of. A console's
    system maps pages of 64 KiB at these addresses, so a recording that shall run there needs a step of 0x10000.
    """

    def __init__(self, source: str = "", *, step: int = PAGE) -> None:
        if step <= 0 or step % PAGE:
            raise UsageError(f"mappings cannot begin at multiples of {step}", hint=f"{PAGE} is the smallest step.")
        self._source, self._step = source, step
        self._mappings: list[dict[str, Any]] = []
        self._chunks: list[tuple[dict[str, Any], bytes]] = []
        self._updates: list[int] = []
        self._submissions: list[dict[str, Any]] = []
        self._presents: list[dict[str, Any]] = []
        self._channels: dict[int, int] = {}
        self._next = FIRST_ADDRESS
        self._handles = 0
        self._commands = (0, 0)

    def __repr__(self) -> str:
        parts = {"frame": self._presents, "submission": self._submissions, "mapping": self._mappings}
        return line_of(self, ", ".join(counted(len(some), name) for name, some in parts.items()))

    # -- memory -----------------------------------------------------------------------------------------------------
    def allocate(self, size: int, *, kind: str = "pitch") -> int:
        """Map `size` bytes of new memory, zero at first; returns the GPU address, a multiple of 4096."""
        if size <= 0:
            raise UsageError(f"cannot allocate {counted(size, 'byte')}")
        self._handles += 1
        return self._map(self._handles, -(-size // PAGE) * PAGE, kind)

    def alias(self, address: int, *, kind: str = "generic_16bx2") -> int:
        """Map the memory at `address`, as `allocate` returned it, at a second address; returns that."""
        mapping = self._mapping(address)
        if mapping["gpu_va"] != address:
            raise UsageError(f"no mapping begins at {address:#x}", hint="Aliases are of whole mappings.")
        return self._map(mapping["handle"], mapping["size"], kind)

    def unmap(self, address: int) -> Self:
        """Remove a mapping before the next submission."""
        self._mapping(address)["until_submission"] = len(self._submissions)
        return self

    def load(self, address: int, data: bytes | NDArray[Any]) -> Self:
        """Bytes that the processor writes to a GPU address before the next submission."""
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        if raw:
            mapping = self._mapping(address, len(raw))
            flags = {"handle": mapping["handle"], "offset": address - mapping["gpu_va"]}
            entry = {"gpu_va": address, "size": len(raw), "kind": mapping["kind"], "flags": flags}
            self._updates.append(len(self._chunks))
            self._chunks.append((entry, raw))
        return self

    def put(self, data: bytes | NDArray[Any], *, kind: str = "pitch") -> int:
        """Map memory, store data there, return its address."""
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        address = self.allocate(len(raw), kind=kind)
        self.load(address, raw)
        return address

    def _map(self, handle: int, size: int, kind: str) -> int:
        address = self._next
        if address + size > VA_END:
            raise UsageError(f"{size} bytes do not fit into the address space")
        end = address + size + 16 * PAGE  # a gap, so that overruns are found
        self._next = end + -end % self._step
        self._mappings.append(
            {
                "gpu_va": address,
                "size": size,
                "kind": kind,
                "handle": handle,
                "from_submission": len(self._submissions),
                "until_submission": -1,
            }
        )
        return address

    def _mapping(self, address: int, size: int = 1) -> dict[str, Any]:
        for mapping in self._mappings:
            start = mapping["gpu_va"]
            if start <= address and address + size <= start + mapping["size"] and mapping["until_submission"] == -1:
                return mapping
        raise UsageError(f"nothing is mapped at {address:#x}", hint="Call allocate or put first.")

    # -- work -------------------------------------------------------------------------------------------------------
    def submit(self, *segments: Segment, channel: int = 0) -> Self:
        """Submit segments of pushbuffer to a channel, in order, as one submission."""
        self._channels.setdefault(channel, FIRST_SYNCPOINT + len(self._channels))
        entries = []
        for segment in segments:
            if isinstance(segment, tuple):
                address, words = segment
            else:
                address, words = self._store(segment.tobytes()), len(segment)
            if not 0 < words <= MOST_WORDS:
                raise UsageError(f"a segment has 1 to {MOST_WORDS} words, not {words}")
            raw = pack_entry(address, words, "LEVEL=SUBROUTINE")
            entries.append({"gpu_va": address, "words": words, "flags": ["not_main"], "raw": raw})
        self._submissions.append({"channel": channel, "gpfifo": entries, "memory_updates": self._updates})
        self._updates = []
        return self

    def syncpoint(self, channel: int = 0) -> int:
        """The syncpoint of a channel; it starts at 0."""
        return self._channels.setdefault(channel, FIRST_SYNCPOINT + len(self._channels))

    def _store(self, words: bytes) -> int:
        address, left = self._commands
        if len(words) > left:
            left = max(PUSHBUFFER_SIZE, -(-len(words) // PAGE) * PAGE)
            address = self.allocate(left)
        self.load(address, words)
        self._commands = (address + len(words), left - len(words))
        return address

    def present(self, surface: Surface, *, fence: int | None = None, transform: int = 0) -> Self:
        """Show a surface: ends a frame. fence: the value that the syncpoint of channel 0 must have reached."""
        if surface.format not in _PRESENT_FORMATS:
            known = ", ".join(_PRESENT_FORMATS)
            raise UsageError(f"{surface.format} surfaces cannot be shown", hint=f"These can: {known}.")
        mapping = self._mapping(surface.address, surface.size)
        entry = {
            "after_submission": len(self._submissions) - 1,
            "gpu_va": surface.address,
            "handle": mapping["handle"],
            "offset": surface.address - mapping["gpu_va"],
            "width": surface.width,
            "height": surface.height,
            "format": _PRESENT_FORMATS[surface.format],
            "layout": "block_linear" if surface.pitch is None else "pitch",
            "block_height_log2": surface.block_height_log2,
            "stride_bytes": surface.row if surface.pitch is None else surface.pitch,
            "size": surface.size,
            "transform": transform,
        }
        if fence is not None:
            entry["fence"] = {"syncpt_id": self.syncpoint(), "value": fence}
        self._presents.append(entry)
        return self

    # -- files ------------------------------------------------------------------------------------------------------
    def document(self) -> dict[str, Any]:
        """The JSON document, with the names of the files from `files`."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "gpu": GPU,
            "mappings": self._mappings,
            "memory": [{**entry, "file": _name(i)} for i, (entry, _) in enumerate(self._chunks)],
            "submissions": self._submissions,
            "presents": self._presents,
            "events": [
                {"before_submission": 0, "op": "alloc_gpfifo", "channel": channel, "syncpt_id": id, "syncpt_value": 0}
                for channel, id in self._channels.items()
            ],
            "meta": {"source": self._source, "recorder": "pocketgpu.builder"},
        }

    def files(self) -> Iterable[tuple[str, bytes]]:
        """The files of memory, by name."""
        return ((_name(i), data) for i, (_, data) in enumerate(self._chunks))

    def tobytes(self) -> bytes:
        """The archive. The same input gives the same contents; the compression is zlib's."""
        output = io.BytesIO()
        with zipfile.ZipFile(output, "w") as archive:
            document = json.dumps(self.document(), separators=(",", ":")).encode()
            for name, data in ((DOCUMENT, document), *self.files()):
                member = zipfile.ZipInfo(name, _DATE)
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, data, compresslevel=9)
        return output.getvalue()

    def log(self) -> ChannelLog:
        """The recording as its reader returns it."""
        return parse(self.tobytes())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the archive."""
        with open(path, "wb") as stream:
            stream.write(self.tobytes())


def _name(number: int) -> str:
    return f"mem/{number:04d}.bin"
