"""Switch captures without their textures: by whatever way textures come, noise of the same format stands for them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    Event,
    FrameContents,
    Map,
    StateRecord,
    Store,
    Submit,
    bytes_of,
)
from pocketgpu.capture.pgc import channel_origins, channel_redact
from pocketgpu.capture.pgc.channel_origins import MADE, Origins
from pocketgpu.capture.pgc.channel_redact import replace_textures
from pocketgpu.capture.pgc.redact import redact
from pocketgpu.capture.pgc.texture_noise import noise
from pocketgpu.cli import main
from pocketgpu.facts.maxwell import A140, B0B5, TWOD, MethodBlock
from pocketgpu.facts.maxwell.formats import TEXTURE
from pocketgpu.maxwell.formats import arrays
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.memory import places

CUBE_BYTES = 256 * 256 // 2
"""What the texture of ex04_textured_cube takes: BC1."""


def contents_of(shared: Path, name: str) -> Contents:
    capture = pocketgpu.open(shared / "captures" / "switch" / f"{name}_320x180.mxcap.zip")
    return pgc.contents_of(capture.trace)


def log_of(contents: Contents) -> pgc.PgcLog:
    log = pgc.trace_of(pgc.parse(pgc.encode(contents)))
    assert isinstance(log, pgc.PgcLog)
    return log


class Noting(Origins):
    """Keeps the texels of all textures, too."""

    def watch(self) -> None:
        self.texels: list[np.ndarray[Any, np.dtype[np.uint8]]] = []
        super().watch()

    def uses_texels(self, texture: TextureHeader, address: int, size: int) -> None:
        before = len(self.uses)
        super().uses_texels(texture, address, size)
        if len(self.uses) > before:
            self.texels.append(np.frombuffer(self.machine.memory.try_read(address, size)[0], np.uint8))


def origins_of(contents: Contents) -> Noting:
    origins = Noting(log_of(contents))
    origins.watch()
    return origins


def pictures(contents: Contents) -> list[bytes]:
    capture = pocketgpu.Capture("", log_of(contents))
    return [frame.screens["screen"].array.tobytes() for frame in capture.render()]


@pytest.mark.parametrize(("name", "count"), [("ex04_textured_cube", 1), ("gl_textured_cube", 1), ("mesa_texkinds", 5)])
def test_textures_become_noise(name: str, count: int, shared_dir: Path, tmp_path: Path) -> None:
    capture = pocketgpu.open(shared_dir / "captures" / "switch" / f"{name}_320x180.mxcap.zip")
    found = redact(capture)
    assert (found.textures, found.left, found.lost) == (count, 0, 0) and found.replaced >= 16384
    pgc.save(tmp_path / "noise.pgc", found.contents)
    noisy = pocketgpu.open(tmp_path / "noise.pgc")
    assert all(check.same for check in pgc.check(noisy))
    shown, noise_shown = list(capture.render()), list(noisy.render())
    assert [frame.counts for frame in shown] == [frame.counts for frame in noise_shown]
    assert [frame.warnings for frame in shown] == [frame.warnings for frame in noise_shown]
    assert shown[0].screens["screen"].array.tobytes() != noise_shown[0].screens["screen"].array.tobytes()
    assert redact(capture).contents.frames[0].pictures == found.contents.frames[0].pictures, "the same noise each time"
    # Every texture is another one now, and nothing of it is left.
    before, after = (origins_of(contents).texels for contents in (pgc.contents_of(capture.trace), found.contents))
    for old, new in zip(before, after, strict=True):
        words = old.view("<u4")
        kept = (words == new.view("<u4")) & (words != 0)
        assert kept.sum() < 2 + len(words) / 100


def test_nothing_but_textures_changes(shared_dir: Path) -> None:
    contents = replace(contents_of(shared_dir, "ex04_textured_cube"), tail=())
    found = replace_textures(contents, log_of(contents))
    changed = 0
    for old, new in zip(contents.memory_events(), found.contents.memory_events(), strict=True):
        a, b = (np.frombuffer(bytes_of(event.pieces), np.uint8) for event in (old, new))
        assert replace(old, pieces=()) == replace(new, pieces=())  # type: ignore[type-var]
        changed += int((a != b).sum())
    assert 0.98 * CUBE_BYTES < changed <= found.replaced == CUBE_BYTES


def test_targets_that_are_sampled_stay(shared_dir: Path) -> None:
    """mesa_compute samples what a grid wrote: the capture has no bytes of it."""
    contents = contents_of(shared_dir, "mesa_compute")
    found = replace_textures(contents, log_of(contents))
    assert (found.textures, found.replaced, found.lost) == (2, 0, 0)
    assert pictures(found.contents) == pictures(contents)


# Other ways by which a texture may come


def packet(block: MethodBlock, subchannel: int, name: str, values: list[int], form: int = 1) -> list[int]:
    return [form << 29 | len(values) << 16 | subchannel << 13 | block[name].word, *values]


def staged(contents: Contents) -> tuple[int, int, Store, int]:
    """(frame, number of the event) of the store that brings the texture, the store, and where in it that begins."""
    origins = origins_of(contents)
    first = int(origins.uses[0].origins.min()) - 1
    assert sorted(origins.uses[0].origins.tolist()) == list(range(first + 1, first + 1 + CUBE_BYTES))
    at = 0
    for f, frame in enumerate(contents.frames):
        for e, event in enumerate(frame.events):
            if isinstance(event, Store):
                size = sum(map(len, event.pieces))
                if at <= first < at + size:
                    return f, e, event, first - at
                at += size
    raise AssertionError


def brought_by(contents: Contents, make: object) -> tuple[Contents, bytes]:
    """The same capture, but commands bring the texture. make: (GPU address of the texture's bytes, the bytes, address
    of free memory) to (words of a pushbuffer, bytes for the free memory)."""
    frame, number, store, start = staged(contents)
    data = bytes_of(store.pieces)
    texture = data[start : start + CUBE_BYTES]
    free, id, handle = 0x7_0000_0000, 9000, 9000
    words, more = make(store.gpu_va + start, texture, free + 0x100000)  # type: ignore[operator]
    bytes_of_words = np.array(words, "<u4").tobytes()
    channel = next(e.channel for f in contents.frames for e in f.events if isinstance(e, Submit))
    events: list[Event] = [
        replace(store, pieces=(data[:start],)) if start else None,  # type: ignore[list-item]
        Store(store.handle, store.offset + start + CUBE_BYTES, store.gpu_va + start + CUBE_BYTES,
              (data[start + CUBE_BYTES :],)) if data[start + CUBE_BYTES :] else None,  # type: ignore[list-item]
        Map(id, free, 0x200000, handle, 0),
        Store(handle, 0, free, (bytes_of_words,)),
        *([Store(handle, 0x100000, free + 0x100000, (more,))] if more else []),
        Submit(channel, np.array([free | len(words) << 42], np.uint64)),
    ]  # fmt: skip
    frames = list(contents.frames)
    old = frames[frame].events
    new = (*old[:number], *(event for event in events if event is not None), *old[number + 1 :])
    frames[frame] = FrameContents(new, frames[frame].pictures)
    return replace(contents, frames=frames), texture


def check_redacted(contents: Contents, texture: bytes, original: Contents) -> None:
    assert pictures(contents) == pictures(original), "it is the same texture"
    found = replace_textures(contents, log_of(contents))
    assert (found.textures, found.lost) == (1, 0) and found.replaced == CUBE_BYTES and found.left == 0
    stored = b"".join(bytes_of(event.pieces) for event in found.contents.memory_events())
    pieces = [texture[at : at + 16] for at in range(0, CUBE_BYTES, 16)]
    assert not any(piece in stored for piece in pieces if len(set(piece)) > 8)
    assert pictures(found.contents) != pictures(original)


def inline(data: bytes, address: int, size: int, subchannel: int) -> list[int]:
    """Words that send data to an address, `size` words of it in a packet."""
    words = packet(A140, subchannel, "LINE_LENGTH_IN", [len(data)]) + packet(A140, subchannel, "LINE_COUNT", [1])
    words += packet(A140, subchannel, "OFFSET_OUT_UPPER", [address >> 32, address & 0xFFFFFFFF])
    words += packet(A140, subchannel, "LAUNCH_DMA", [1 | 1 << 12])
    texels = np.frombuffer(data, "<u4").tolist()
    for at in range(0, len(texels), size):
        words += packet(A140, subchannel, "LOAD_INLINE_DATA", texels[at : at + size], form=3)
    return words


@pytest.mark.parametrize("size", [0x1FFF, 1000])
def test_textures_in_pushbuffers(size: int, shared_dir: Path) -> None:
    """Inline data, in packets with commands between them."""
    original = contents_of(shared_dir, "ex04_textured_cube")
    contents, texture = brought_by(original, lambda address, data, _: (inline(data, address, size, 2), b""))
    check_redacted(contents, texture, original)


def test_textures_in_pushbuffers_of_a_capture_from_the_middle(shared_dir: Path) -> None:
    """What subchannels are bound to is part of the state at the start then."""
    original = contents_of(shared_dir, "ex04_textured_cube")
    contents, texture = brought_by(original, lambda address, data, _: (inline(data, address, 0x1FFF, 5), b""))
    channel = next(e.channel for f in contents.frames for e in f.events if isinstance(e, Submit))
    number = next(item.number for item in F.STATE_SWITCH if item.name == "bindings")
    bound = np.array([0xB197, 0xB1C0, 0xA140, 0x902D, 0xB0B5, 0xA140, 0, 0], np.uint32)
    contents = replace(contents, state=[StateRecord(number, bound, channel=channel)])
    check_redacted(contents, texture, original)


def test_textures_that_a_copy_takes_apart(shared_dir: Path) -> None:
    """A remapping copy makes the texture of bytes that are no texture yet."""
    original = contents_of(shared_dir, "ex04_textured_cube")

    def swap(address: int, data: bytes, free: int) -> tuple[list[int], bytes]:
        halves = np.frombuffer(data, "<u2").reshape(-1, 2)[:, ::-1].tobytes()
        words = packet(B0B5, 4, "OFFSET_IN_UPPER", [free >> 32, free & 0xFFFFFFFF])
        words += packet(B0B5, 4, "OFFSET_OUT_UPPER", [address >> 32, address & 0xFFFFFFFF])
        words += packet(B0B5, 4, "LINE_LENGTH_IN", [len(data) // 4])
        words += packet(B0B5, 4, "SET_REMAP_COMPONENTS", [1 | 0 << 4 | 1 << 16 | 1 << 20 | 1 << 24])
        return words + packet(B0B5, 4, "LAUNCH_DMA", [0x586]), halves

    contents, texture = brought_by(original, swap)
    check_redacted(contents, texture, original)


def blit(address: int, free: int, from_format: int, source_y: int, step: int) -> list[int]:
    """64 x 128 pixels of four bytes from `free` to `address`, as 0xD5 (A8B8G8R8), both in rows."""

    def upper(at: int) -> list[int]:
        return [at >> 32, at & 0xFFFFFFFF]

    side = [1, 1, 0, 0, 256, 64, 128]  # pitch layout, block, depth, layer, pitch, width, height
    words = packet(TWOD, 3, "SET_DST_FORMAT", [0xD5, *side, *upper(address)])
    words += packet(TWOD, 3, "SET_SRC_FORMAT", [from_format, *side, *upper(free)])
    words += packet(TWOD, 3, "SET_CLIP_ENABLE", [0]) + packet(TWOD, 3, "SET_OPERATION", [3])
    words += packet(TWOD, 3, "SET_PIXELS_FROM_MEMORY_SAMPLE_MODE", [0])
    fixed = [0, 1, 0, step & 0xFFFFFFFF, 0, 0, 0, source_y]  # du/dx, dv/dy, x0, y0; fraction before number
    return words + packet(TWOD, 3, "SET_PIXELS_FROM_MEMORY_DST_X0", [0, 0, 64, 128, *fixed])


@pytest.mark.parametrize("how", ["other order of colours", "upside down"])
def test_textures_that_a_blit_makes(how: str, shared_dir: Path) -> None:
    original = contents_of(shared_dir, "ex04_textured_cube")

    def upload(address: int, data: bytes, free: int) -> tuple[list[int], bytes]:
        pixels = np.frombuffer(data, np.uint8).reshape(128, 64, 4)
        if how == "upside down":
            return blit(address, free, 0xD5, 127, -1), pixels[::-1].tobytes()
        return blit(address, free, 0xCF, 0, 1), pixels[:, :, [2, 1, 0, 3]].tobytes()

    contents, texture = brought_by(original, upload)
    check_redacted(contents, texture, original)


def test_bytes_that_are_commands_as_well_stay(shared_dir: Path) -> None:
    """Half a block of noise may be no block: blocks that something else reads too are left whole, and reported."""
    contents = contents_of(shared_dir, "ex04_textured_cube")
    log = log_of(contents)
    plain = replace_textures(contents, log)

    class Reading(Origins):
        def watch(self) -> None:
            super().watch()
            self.kept[int(self.uses[0].origins[16])] = True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channel_redact, "Origins", Reading)
        found = replace_textures(contents, log)
    assert (found.left, found.replaced) == (8, plain.replaced - 8)


def with_a_gap(shared_dir: Path) -> Contents:
    """A recording whose texture has words that nobody stored, next to stored ones."""
    original = contents_of(shared_dir, "ex04_textured_cube")
    frame, number, store, start = staged(original)
    data = bytes_of(store.pieces)
    half = start + CUBE_BYTES // 2
    gap = 2048  # of a page that is used
    events: list[Event] = [
        replace(store, pieces=(data[:half],)),
        Store(store.handle, store.offset + half + gap, store.gpu_va + half + gap, (data[half + gap :],)),
    ]
    frames = list(original.frames)
    old = frames[frame].events
    frames[frame] = FrameContents((*old[:number], *events, *old[number + 1 :]))
    return replace(original, frames=frames)


def test_blank_texels_in_a_page_that_was_drawn_are_made(shared_dir: Path) -> None:
    """A blank texel there may have been drawn: it is not the recording's to change."""
    contents = with_a_gap(shared_dir)
    found = origins_of(contents)
    blank = found.uses[0].origins >= found.unwritten
    assert blank.sum() == 2048
    drawn = Noting(log_of(contents))
    drawn.memory_written(np.arange(len(drawn.drawn)))
    drawn.watch()
    origins = drawn.uses[0].origins
    assert (origins[blank] == MADE).all() and (origins[~blank] == found.uses[0].origins[~blank]).all()


def test_blank_places_do_not_show_what_was_there(shared_dir: Path) -> None:
    """Recorders leave out words that are zero: noise goes there, too, as far as something was beside them."""
    contents = with_a_gap(shared_dir)
    found = replace_textures(contents, log_of(contents))
    assert found.replaced == CUBE_BYTES and found.lost == 0
    (texels,) = origins_of(found.contents).texels
    assert texels.reshape(-1, 8).any(axis=1).all(), "no block is left blank"


def test_redact_command(shared_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = shared_dir / "captures" / "switch" / "ex04_textured_cube_320x180.mxcap.zip"
    out = tmp_path / "out.pgc"
    assert main(["capture", "redact", str(source), str(out)]) == 0
    assert "1 texture, 32,768 bytes are noise now" in capsys.readouterr().out
    assert main(["capture", "verify", str(out)]) == 0
    capsys.readouterr()
    assert main(["capture", "redact", str(source), str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["textures"], told["bytes_replaced"], told["bytes_left"], told["bytes_lost"]) == (1, CUBE_BYTES, 0, 0)


# Noise


BLOCKS = ((4, 4), (5, 4), (8, 6), (12, 12))
"""Of all the sizes of ASTC blocks, some."""
FORMATS = [
    layout.name
    for layout in TEXTURE.values()
    if layout.bytes and (not layout.name.startswith("ASTC") or layout.block in BLOCKS)
]


@pytest.mark.parametrize("name", FORMATS)
def test_noise_is_valid(name: str) -> None:
    """It decodes; floats are finite; blocks of ASTC and BC are none that stand for an error."""
    layout = TEXTURE.named(name)
    types = ("float", "float", "float", "float")
    random = np.random.default_rng(5)
    made = noise(random, layout, types, 64)
    assert made.shape == (64, layout.bytes) and len(np.unique(made, axis=0)) > 16
    rows = made.reshape(8, -1)
    try:
        texels = arrays.decode(rows, layout, types)
    except pocketgpu.PocketGPUError:
        texels = arrays.decode(rows, layout)  # of 8 bits there are no floats
    assert np.isfinite(texels).all()
    if any("Z" in (part.name, part.meaning) for part in layout.components):
        assert texels[..., 0].min() >= 0  # depths have no sign
    elif layout.components and all(not part.type and part.width in (16, 32) for part in layout.components):
        assert texels.min() < 0 < texels.max() < 2
    if name.startswith("ASTC"):
        across, down = layout.block
        blocks = texels.reshape(8, down, 8, across, 4).swapaxes(1, 2).reshape(64, -1, 4)
        magenta = (blocks == np.array([1, 0, 1, 1], np.float32)).all(axis=(1, 2))
        assert not magenta.any() and (np.ptp(blocks, axis=1).max(axis=1) > 0).mean() > 0.9
    if name.startswith(("BC7", "BC6H")):
        assert texels.reshape(8, 4, 8, 4, 4).any(axis=(1, 3, 4)).all()


def test_large_textures_and_long_copies_are_followed_in_pieces(
    shared_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one piece, a texture of half a gigabyte would take ten of the host's memory."""
    original = contents_of(shared_dir, "ex04_textured_cube")
    whole = replace_textures(original, log_of(original))
    monkeypatch.setattr(channel_origins, "_SLICE", 12 << 10)
    monkeypatch.setattr(places, "CHUNK", 1 << 10)
    found = replace_textures(original, log_of(original))
    assert (found.textures, found.replaced, found.left, found.lost) == (1, CUBE_BYTES, 0, 0)
    assert pictures(found.contents) != pictures(original) and whole.replaced == found.replaced
    before, after = (b"".join(origins_of(contents).texels) for contents in (original, found.contents))
    kept = np.frombuffer(before, "<u4") == np.frombuffer(after, "<u4")
    assert len(before) == CUBE_BYTES and kept.mean() < 0.01
