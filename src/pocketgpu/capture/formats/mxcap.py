"""Reader of channel logs (`.mxcap.zip`), recordings of what a Switch program submitted to its GPU.

A log begins at power-on and has what passed through the system software: mappings of GPU memory with their lifetimes,
runs of words that the processor changed, lists of GPFIFO entries in the order of submission, and the presented
surfaces. It is a zip file with one JSON document and the bytes of the runs as separate files.

The files are not trusted. A zip file can claim more than it contains, and JSON can contain anything: everything is
checked and limited here, before the first submission runs, and errors name the place in the document
("submissions[3].gpfifo[2].raw") or the file in the archive. Nothing is ever unpacked to disk.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.formats.documents import LIMIT as DOCUMENT_LIMIT
from pocketgpu.capture.formats.documents import Document
from pocketgpu.errors import CaptureError
from pocketgpu.events import Event, sized
from pocketgpu.facts.maxwell.formats import SHOWN, shown_layout
from pocketgpu.facts.maxwell.page_kinds import KINDS, kind_number
from pocketgpu.facts.maxwell.pushbuffers import MOST_WORDS, pack_entry, segment_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.capture.formats.pgc.contents import StateRecord

DOCUMENT = "capture.json"
FORMAT, VERSION, GPU = "maxwell-capture", 1, "GM20B"

VA_END = 1 << 40
PAGE = 4096
FILES_LIMIT = 1 << 30
"""The most bytes of all files of memory in one log, unpacked."""
MEMORY_LIMIT = 1 << 30
"""The most bytes of memory of a log's mappings: each handle counts once."""
MAPPED_LIMIT = 1 << 36
"""The most bytes of address space of all mappings together, at any time."""
UPDATES_LIMIT = 1 << 34
"""The most bytes that all memory updates together may store."""
ENTRIES_LIMIT = 1 << 16
"""The most files in the archive."""
CHANNELS = 256
"""Channels have numbers below this."""
LARGEST_SIDE = 1 << 14
"""The most pixels of a side of a presented surface, the limit of the GPU's targets."""

_CENTRAL = b"PK\x01\x02"
_CHUNK = 1 << 20
_HANDLES = 1 << 32
_ENTRY_FLAGS = {"not_main": "LEVEL=SUBROUTINE", "no_prefetch": "SYNC=WAIT"}
"""Flags of an entry, and the hardware field and value of each."""

PresentFormat: TypeAlias = str
FORMATS: tuple[PresentFormat, ...] = tuple(SHOWN)
"""Formats of presented surfaces."""


@dataclass(frozen=True, slots=True)
class MappingRecord:
    """`size` bytes of the memory `handle`, from its byte `offset`, are mapped to `gpu_va` before submissions start ..
    end - 1."""

    gpu_va: int
    size: int
    kind: str
    handle: int
    start: int
    end: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A run of bytes that the processor changed: at `gpu_va`, or at `offset` of `handle` if that is known."""

    gpu_va: int
    handle: int | None
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """GPFIFO entries submitted together. `updates`: indices of the chunks that are stored before."""

    channel: int
    entries: NDArray[np.uint64]
    updates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """A surface that was presented after submission `after` (-1: before any) had run.

    stride: bytes of a row. fence: (syncpoint, value) that the program waited for, if known. transform: bit 0 mirrors
    left and right, bit 1 top and bottom, bit 2 turns a quarter to the right. left, top: pixels of width and height that
    are left out of the picture.
    """

    after: int
    gpu_va: int
    handle: int | None
    offset: int
    width: int
    height: int
    format: PresentFormat
    block_linear: bool
    block_height_log2: int
    stride: int
    size: int
    transform: int
    fence: tuple[int, int] | None
    left: int = 0
    top: int = 0

    @property
    def row(self) -> int:
        """Bytes of the pixels of a row."""
        return self.width * bytes_per_pixel(self.format)


class ChannelLog:
    """A parsed log. Made by `parse`; frames are counted by presents."""

    console: Final = "Switch"
    kind = "channel log"
    """What the file is, in words."""
    other_files: tuple[str, ...] = ()
    other_bytes: bytes = b""
    """Files that were read besides it: none."""

    def __init__(
        self,
        file: str,
        mappings: tuple[MappingRecord, ...],
        chunks: tuple[ChunkRecord, ...],
        submissions: tuple[Submission, ...],
        presents: tuple[Present, ...],
        syncpoints: Mapping[int, int],
        source: str,
        warnings: list[Event],
    ) -> None:
        self.file = file
        self.mappings = mappings
        self.chunks = chunks
        self.submissions = submissions
        self.presents = presents
        self.syncpoints = dict(syncpoints)
        self.source = source
        self.warnings = tuple(warnings)
        self.frame_count = len(presents)
        self.state: tuple[StateRecord, ...] = ()
        """Initial state of channels, for recordings that do not begin at power-on."""
        self.handles: dict[int, int] = {}
        for mapping in mappings:
            end = mapping.offset + mapping.size
            self.handles[mapping.handle] = max(self.handles.get(mapping.handle, 0), end)

    def submissions_of(self, frame: int) -> range:
        """The numbers of the submissions after the last present and before that of frame `frame`."""
        first = self.presents[frame - 1].after + 1 if frame else 0
        return range(first, self.presents[frame].after + 1)

    @property
    def has_rest(self) -> bool:
        """Whether submissions come after the last present."""
        return bool(self.tail)

    @property
    def tail(self) -> range:
        """Submissions after the last present: they belong to no frame."""
        return range(self.presents[-1].after + 1 if self.presents else 0, len(self.submissions))


def bytes_per_pixel(format: PresentFormat) -> int:
    """Bytes of a pixel of a presented surface."""
    return shown_layout(format).bytes


def parse(data: bytes, *, file: str = "") -> ChannelLog:
    """A log from the bytes of its archive. `file` is its name in errors.

    Raises CaptureError for an archive or a document that is damaged, of another kind or beyond the limits above.
    """
    archive = _Archive(data, file)
    return _ChannelLogParser(file, archive).parse()


class _Archive:
    """The files of a zip archive, by name; reads are limited regardless of the sizes in the archive."""

    def __init__(self, data: bytes, file: str) -> None:
        self.file = file
        # The directory is read as a whole: check its number of files before making objects of them.
        if data.count(_CENTRAL) > ENTRIES_LIMIT:
            self._fail(f"the archive has more than {ENTRIES_LIMIT:,} files", "A channel log is refused at that size.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _ZIP_ERRORS as error:
            self._fail(f"the zip archive is damaged: {_reason(error)}", "The file was probably cut short while copied.")
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in self._zip.infolist():
            if member.filename in self._members:
                self._fail("the archive holds two files of that name", "The log is damaged.", member.filename)
            self._members[member.filename] = member

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def size(self, name: str) -> int:
        """The claimed size of a file in bytes."""
        return self._members[name].file_size

    def read(self, name: str, limit: int) -> bytes:
        """A whole file of at most `limit` bytes."""
        member = self._members.get(name)
        if member is None:
            self._fail("the archive lacks that file", "Keep the archive as it was recorded.", name)
        if member.flag_bits & 1:
            self._fail("the file is encrypted", "Pack the log without a password.", name)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self._fail("the file is packed in an unusual way", "Pack the log with deflate.", name)
        if member.file_size > limit:
            self._fail(f"the file has more than {counted(limit, 'byte', form=',')}", "Record fewer frames.", name)
        output = io.BytesIO()
        try:
            with self._zip.open(member) as stream:
                while part := stream.read(_CHUNK):
                    output.write(part)
                    if output.tell() > limit:
                        self._fail(
                            f"the file has more than {counted(limit, 'byte', form=',')}", "Record fewer frames.", name
                        )
        except _ZIP_ERRORS as error:
            self._fail(f"the file cannot be unpacked: {_reason(error)}", "Copy the log again.", name)
        if output.tell() != member.file_size:
            self._fail(
                f"the file has {counted(output.tell(), 'byte')} instead of {member.file_size}",
                "Copy the log again.",
                name,
            )
        return output.getvalue()

    def _fail(self, message: str, hint: str, name: str = "") -> NoReturn:
        place = f"file {_shown(name)}" if name else ""
        location = ", ".join(part for part in (self.file, place) if part)
        raise CaptureError(message, file=self.file, location=location or None, hint=hint)


# The exceptions of the library for inconsistent archives; none of them may reach a user.
_ZIP_ERRORS = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, OSError, ValueError, OverflowError,
    NotImplementedError, RuntimeError, IndexError, MemoryError,
)  # fmt: skip


def _reason(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:100] or type(error).__name__


def _shown(name: str) -> str:
    return repr(name if len(name) <= 80 else name[:77] + "...")


class _ChannelLogParser(Document):
    def __init__(self, file: str, archive: _Archive) -> None:
        super().__init__(f"{file}, {DOCUMENT}" if file else "", archive.read(DOCUMENT, DOCUMENT_LIMIT))
        self.archive = archive
        self.name = file
        self.submission_count = 0
        self.handles: dict[int, int] = {}
        self._files: dict[str, bytes] = {}
        self._files_size = 0

    def parse(self) -> ChannelLog:
        document = self.as_object(self.document(), "the document")
        for name, known in (("format", FORMAT), ("gpu", GPU)):
            if (found := self.member(document, name, "the document")) != known:
                shown = _shown(found) if isinstance(found, str) else "no text"
                self.fail(f"unknown {name} {shown}", name, f"Only {known} is known.")
        self.check_version(document, VERSION)
        listed = {
            name: self.as_list(self.member(document, name, "the document"), name)
            for name in ("mappings", "memory", "submissions", "presents")
        }
        self.submission_count = len(listed["submissions"])
        mappings = self.mappings(listed["mappings"])
        chunks = tuple(self.chunk(item, f"memory[{i}]") for i, item in enumerate(listed["memory"]))
        submissions = self.submissions(listed["submissions"], chunks)
        presents = self.presents(listed["presents"])
        syncpoints = self.syncpoints(document.get("events", []))
        source = self.as_object(document.get("meta", {}), "meta").get("source", "")
        log = ChannelLog(
            self.name, mappings, chunks, submissions, presents, syncpoints,
            source if isinstance(source, str) else "", self.warnings,
        )  # fmt: skip
        return log

    # -- parts ------------------------------------------------------------------------------------------------------
    def range(self, item: Mapping[str, Any], place: str) -> tuple[int, int]:
        """`gpu_va` and `size` of a range in the address space of the GPU."""
        va = self.number(self.member(item, "gpu_va", place), f"{place}.gpu_va", VA_END)
        size = self.number(self.member(item, "size", place), f"{place}.size", VA_END + 1)
        if va + size > VA_END:
            self.fail(f"{counted(size, 'byte')} from {va:#x} leave the 40-bit address space", place)
        return va, size

    def mappings(self, listed: list[Any]) -> tuple[MappingRecord, ...]:
        found = []
        mapped = 0
        for i, entry in enumerate(listed):
            place = f"mappings[{i}]"
            item = self.as_object(entry, place)
            va, size = self.range(item, place)
            size += -size % PAGE
            if not size or va % PAGE:
                self.fail(f"{size} bytes at {va:#x} are no pages of {PAGE} bytes", place)
            handle = self.number(self.member(item, "handle", place), f"{place}.handle", _HANDLES)
            start = self.number(item.get("from_submission", 0), f"{place}.from_submission", 1 << 32)
            until = item.get("until_submission", -1)
            end = self.submission_count if until == -1 else self.number(until, f"{place}.until_submission", 1 << 32)
            if start > self.submission_count or end > self.submission_count or end < start:
                message = f"it lives from submission {start} to {end} of {self.submission_count}"
                self.fail(message, place)
            mapped += size
            self.handles[handle] = max(self.handles.get(handle, 0), size)
            kind = self.as_text(item.get("kind", "pitch"), f"{place}.kind")
            try:
                kind_number(kind)
            except ValueError:
                self.fail(f"there is no page kind {_shown(kind)}", f"{place}.kind", f"Known are {', '.join(KINDS)}.")
            found.append(MappingRecord(va, size, kind, handle, start, end))
        if mapped > MAPPED_LIMIT or sum(self.handles.values()) > MEMORY_LIMIT:
            self.fail(
                f"the mappings have {counted(sum(self.handles.values()), 'byte', form=',')} of memory and {mapped:,} "
                f"of addresses",
                "mappings",
                f"At most {MEMORY_LIMIT:,} and {MAPPED_LIMIT:,} are replayed.",
            )
        return tuple(found)

    def chunk(self, entry: Any, place: str) -> ChunkRecord:
        item = self.as_object(entry, place)
        va, size = self.range(item, place)
        name = self.as_text(self.member(item, "file", place), f"{place}.file")
        data = self.read_file(name, place)
        if len(data) != size:
            self.fail(f"the file {_shown(name)} has {counted(len(data), 'byte')} instead of {size}", place)
        flags = self.as_object(item.get("flags", {}), f"{place}.flags")
        handle: int | None = None
        offset = 0
        if "handle" in flags:
            handle = self.number(flags["handle"], f"{place}.flags.handle", _HANDLES)
            offset = self.number(flags.get("offset", 0), f"{place}.flags.offset", VA_END)
            if handle not in self.handles:
                handle = None  # never mapped: the address is used, and the replay reports it if it is not mapped
            elif offset + size > self.handles[handle]:
                message = f"bytes {offset} to {offset + size} of memory {handle}, which has {self.handles[handle]}"
                self.fail(message, place)
        return ChunkRecord(va, handle, offset, data)

    def read_file(self, name: str, place: str) -> bytes:
        if name not in self._files:
            if name not in self.archive:
                self.fail(f"the archive lacks the file {_shown(name)}", f"{place}.file")
            if name == DOCUMENT:
                self.fail("the document is no memory", f"{place}.file")
            data = self.archive.read(name, FILES_LIMIT - self._files_size)
            self._files_size += len(data)
            self._files[name] = data
        return self._files[name]

    def submissions(self, listed: list[Any], chunks: tuple[ChunkRecord, ...]) -> tuple[Submission, ...]:
        found = []
        stored = 0
        for i, entry in enumerate(listed):
            place = f"submissions[{i}]"
            item = self.as_object(entry, place)
            channel = self.number(item.get("channel", 0), f"{place}.channel", CHANNELS)
            fifo = self.as_list(self.member(item, "gpfifo", place), f"{place}.gpfifo")
            entries = [self.entry(word, f"{place}.gpfifo[{j}]") for j, word in enumerate(fifo)]
            listed_updates = self.as_list(item.get("memory_updates", []), f"{place}.memory_updates")
            updates = tuple(
                self.number(number, f"{place}.memory_updates[{j}]", max(len(chunks), 1))
                for j, number in enumerate(listed_updates)
            )
            if updates and not chunks:
                self.fail("there is no memory to update from", f"{place}.memory_updates")
            stored += sum(len(chunks[number].data) for number in updates)
            if stored > UPDATES_LIMIT:
                self.fail(f"the updates store more than {UPDATES_LIMIT:,} bytes", place, "Record fewer frames.")
            found.append(Submission(channel, np.array(entries, np.uint64), updates))
        return tuple(found)

    def entry(self, entry: Any, place: str) -> int:
        """A GPFIFO entry in the hardware's form."""
        item = self.as_object(entry, place)
        if "raw" in item:
            raw = self.number(item["raw"], f"{place}.raw", 1 << 64)
            if "gpu_va" in item and item["gpu_va"] != segment_of(raw)[0]:
                self.warn(
                    "capture.entry-differs", "a raw GPFIFO entry names another place than gpu_va; raw counts", place
                )
            if "words" in item and item["words"] != segment_of(raw)[1]:
                self.warn("capture.entry-differs", "a raw GPFIFO entry has another length than words; it counts", place)
            return raw
        va = self.number(self.member(item, "gpu_va", place), f"{place}.gpu_va", VA_END)
        words = self.number(self.member(item, "words", place), f"{place}.words", MOST_WORDS + 1)
        if va % 4:
            self.fail(f"{va:#x} is no multiple of 4", f"{place}.gpu_va")
        flags = self.as_list(item.get("flags", []), f"{place}.flags")
        return pack_entry(va, words, *(flag for name, flag in _ENTRY_FLAGS.items() if name in flags))

    def presents(self, listed: list[Any]) -> tuple[Present, ...]:
        found: list[Present] = []
        for i, entry in enumerate(listed):
            place = f"presents[{i}]"
            present = self.present(self.as_object(entry, place), place)
            if found and present.after < found[-1].after:
                message = f"it comes after submission {present.after}, the one before it after {found[-1].after}"
                self.fail(message, f"{place}.after_submission", "Presents must be in order.")
            found.append(present)
        return tuple(found)

    def present(self, item: Mapping[str, Any], place: str) -> Present:
        after = self.member(item, "after_submission", place)
        if after != -1 or isinstance(after, bool):
            after = self.number(after, f"{place}.after_submission", max(self.submission_count, 1))
        if after >= self.submission_count:
            self.fail("there is no submission", f"{place}.after_submission")
        va = self.number(self.member(item, "gpu_va", place), f"{place}.gpu_va", VA_END)
        width, height = (
            self.number(self.member(item, name, place), f"{place}.{name}", LARGEST_SIDE + 1)
            for name in ("width", "height")
        )
        if not width or not height:
            self.fail(f"a surface of {sized(width, height)} pixels", place)
        format = self.as_text(self.member(item, "format", place), f"{place}.format")
        if format not in FORMATS:
            self.fail(f"unknown format {_shown(format)}", f"{place}.format", f"Known are {', '.join(FORMATS)}.")
        layout = self.as_text(item.get("layout", "block_linear"), f"{place}.layout")
        if layout not in ("block_linear", "pitch"):
            self.fail(f"unknown layout {_shown(layout)}", f"{place}.layout", "Known are block_linear and pitch.")
        block = self.number(item.get("block_height_log2", 4), f"{place}.block_height_log2", 6)
        row = width * bytes_per_pixel(format)
        stride = self.number(item.get("stride_bytes", row), f"{place}.stride_bytes", 1 << 20)
        if stride < row:
            self.fail(f"rows of {row} bytes do not fit into {stride}", f"{place}.stride_bytes")
        if layout == "pitch":
            needed = (height - 1) * stride + row
        else:
            needed = -(-stride // 64) * 64 * (-(-height // (8 << block)) * (8 << block))
        handle: int | None = None
        offset = 0
        if "handle" in item:
            handle = self.number(item["handle"], f"{place}.handle", _HANDLES)
            offset = self.number(item.get("offset", 0), f"{place}.offset", VA_END)
            if handle not in self.handles:
                handle = None
            elif offset + needed > self.handles[handle]:
                message = (
                    f"{counted(needed, 'byte')} from {offset:#x} of memory {handle}, which has "
                    f"{self.handles[handle]}"
                )
                self.fail(message, place)
        if va + needed > VA_END:
            self.fail(f"{counted(needed, 'byte')} from {va:#x} leave the 40-bit address space", place)
        transform = self.number(item.get("transform", 0), f"{place}.transform", 8)
        return Present(
            after, va, handle, offset, width, height, format, layout == "block_linear", block, stride, needed,
            transform, self.fence(item, place),
        )  # fmt: skip

    def fence(self, item: Mapping[str, Any], place: str) -> tuple[int, int] | None:
        if item.get("fence") is None:
            return None
        fence = self.as_object(item["fence"], f"{place}.fence")
        id, value = (
            self.number(self.member(fence, name, f"{place}.fence"), f"{place}.fence.{name}", 1 << 32)
            for name in ("syncpt_id", "value")
        )
        return id, value

    def syncpoints(self, listed: Any) -> dict[int, int]:
        """The initial values of the channels' syncpoints."""
        found = {}
        for i, entry in enumerate(self.as_list(listed, "events")):
            place = f"events[{i}]"
            item = self.as_object(entry, place)
            if item.get("op") == "alloc_gpfifo" and "syncpt_id" in item:
                id = self.number(item["syncpt_id"], f"{place}.syncpt_id")
                found[id] = self.number(item.get("syncpt_value", 0), f"{place}.syncpt_value")
        return found
