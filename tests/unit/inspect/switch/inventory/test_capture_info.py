"""What `info` says about channel logs: forms of headers, methods by class, counts, unknown methods, doubts."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.builder.maxwell.packets import header
from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.maxwell import B06F, B197
from pocketgpu.inspect.switch.inventory import doubts as maxwell_doubts
from pocketgpu.inspect.switch.inventory import method_use
from pocketgpu.inspect.switch.inventory.capture_info import MaxwellInfo, examine


def told(*segments: PushBuffer, bind: bool = True) -> MaxwellInfo:
    """What is reported for one submission that nothing shows, after the binding of all classes."""
    made = MaxwellCaptureBuilder()
    if bind:
        made.submit(PushBuffer().bind("3D").bind("compute").bind("inline-to-memory").bind("2D").bind("DMA copy"))
    return examine(made.submit(*segments).log())


def writes(info: MaxwellInfo) -> dict[tuple[str, int], int]:
    """How often each method was written, by class and word."""
    return {
        (name, int(word)): int(use.writes[word])
        for name, use in info.classes.items()
        for word in np.flatnonzero(use.writes)
    }


def test_packets_of_every_form() -> None:
    words = [
        header("inc", 0, 0x200, 2), 1, 2, header("non_inc", 3, 0x80, 2), 3, 4, header("immd", 4, 0x100, 5),
        header("one_inc", 0, 0xE00, 3), 6, 7, 8, 0, header("inc", 6, 4, 1), 9,
    ]  # fmt: skip
    info = told(PushBuffer().raw(words), bind=False)
    assert writes(info) == {
        ("b197", 0x200): 1, ("b197", 0x201): 1, ("902d", 0x80): 2, ("b0b5", 0x100): 1, ("b197", 0xE00): 1,
        ("b197", 0xE01): 2, ("b06f", 4): 1,
    }  # fmt: skip
    assert info.headers == {
        "immediate": 1, "increment_once": 1, "incrementing": 2, "non_incrementing": 1, "nop_word_0": 1
    }  # fmt: skip
    assert list(info.headers) == sorted(info.headers)
    unbound = {doubt.choice: use for doubt, use in info.doubts.items()}["channel.unbound"]
    assert (unbound.count, unbound.first) == (4, "s0/e0+0")
    assert info.classes["b06f"].subchannels == {6} and info.classes["b197"].subchannels == {0}


def _segment(*words: int) -> PushBuffer:
    return PushBuffer().raw(words)


def test_packets_go_on_in_the_next_segment_and_submission() -> None:
    made = MaxwellCaptureBuilder()
    made.submit(_segment(header("inc", 0, 0x9A, 3), 1), _segment(2))
    made.submit(_segment(3, header("one_inc", 0, 0xA0, 4), 1), _segment(2, 3), _segment(4))
    info = examine(made.log())
    assert writes(info) == {("b197", 0x9A + n): 1 for n in range(3)} | {("b197", 0xA0): 1, ("b197", 0xA1): 3}
    unknown = {key: (use.count, use.first) for key, use in info.unknown.items()}
    # A packet counts in each segment that has data of it, and is named by its header or its first word there.
    assert unknown[("b197", 0x9C)] == (1, "s1/e0+0")
    assert unknown[("b197", 0xA0)] == (1, "s1/e0+1") and unknown[("b197", 0xA1)] == (2, "s1/e1+0")
    assert told(_segment(header("non_inc", 0, 0x6D, 9), 1, 2)).open_words == 7


def test_old_forms_and_the_end_of_a_segment() -> None:
    legacy = 2 << 18 | 0x200 << 2  # word in 12:2, count in 28:18
    found = told(PushBuffer().raw([legacy, 1, 2, 2 << 29 | legacy, 3, 4]), bind=False)
    assert writes(found) == {("b197", 0x200): 3, ("b197", 0x201): 1}
    assert found.headers == {"group_0": 1, "group_2": 1}
    found = told(PushBuffer().raw([7 << 29, header("immd", 0, 0x44, 1)]), bind=False)
    assert writes(found) == {} and found.headers == {"end_segment": 1}
    found = told(PushBuffer().raw([1 << 16, header("immd", 0, 0x44, 1)]), bind=False)  # a sub-device mask
    assert writes(found) == {("b197", 0x44): 1} and found.headers == {"group_0": 1, "immediate": 1}


def test_objects_are_followed() -> None:
    bound = header("inc", 5, 0, 1)
    words = [bound, 0xB0B5, header("immd", 5, 0x100, 1), bound, 0x1234, header("immd", 5, 0x100, 1)]
    info = told(PushBuffer().raw(words), bind=False)
    assert writes(info) == {("b06f", 0): 2, ("b0b5", 0x100): 1, ("unknown", 0x100): 1}
    assert not any(doubt.choice == "channel.unbound" for doubt in info.doubts)


def test_many_words_are_told_apart_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    made = MaxwellCaptureBuilder()
    made.submit(PushBuffer().bind("3D").upload_macro(3, [0x00000091, 0x00000011], 16))
    for number in range(12):
        target = PushBuffer().raw([header("inc", 0, 0x3F0, 4), 1, 2])
        made.submit(target, PushBuffer().raw([3]))
        made.submit(PushBuffer().raw([4, header("immd", number % 6, 0x100, 1)]))
    whole = examine(made.log())
    monkeypatch.setattr(method_use, "MOST_NOTED", 2)
    pieces = examine(made.log())
    assert pieces.to_dict() == whole.to_dict() and writes(whole)[("b197", 0x3F3)] == 12


def test_counts_of_frames_and_of_what_follows() -> None:
    made = MaxwellCaptureBuilder()
    target = Surface(made.allocate(size_of(16, 16, block_height_log2=1)), 16, 16, "A8B8G8R8", None, 1)
    clear = PushBuffer().bind("3D").render_target(0, target).clear((1, 1, 1, 1))
    made.submit(clear).submit(clear, clear).present(target).submit(clear).present(target)
    made.submit(PushBuffer().method("WAIT_FOR_IDLE"))
    info = examine(made.log())
    assert [frame.submissions for frame in info.frames] == [2, 1] and info.tail is not None
    assert [frame.segments for frame in info.frames] == [3, 1]
    assert [frame.counts["clears"] for frame in info.frames] == [3, 1] and info.tail.counts["clears"] == 0
    totals = info.totals()
    assert totals["submissions"] == 4 and totals["clears"] == 4 and totals["words"] == 4 * len(clear) + 1
    assert totals["load_bytes"] == 4 * totals["words"]
    use = info.classes["b197"]
    assert use.writes[B197["CLEAR_SURFACE"].word] == 4 and use.subchannels == {0}
    assert use.to_dict()["methods"]["CLEAR_SURFACE"] == 4
    assert {feature.id for feature in info.features} == {"clear", "present"}
    assert info.unknown == {} and info.open_words == 0


def test_unknown_methods_and_unfinished_packets_are_told() -> None:
    words = [header("immd", 0, 0x44, 0), header("inc", 0, 0x3F0, 2), 1, 2, header("immd", 4, 0x3FF, 0)]
    info = told(PushBuffer().raw(words).raw([header("inc", 0, 0x200, 5), 1]))
    assert {(name, word): use.count for (name, word), use in info.unknown.items()} == {("b0b5", 0x3FF): 1} | {
        ("b197", word): 1 for word in (0x3F0, 0x3F1) if B197.at(word) is None
    }
    assert next(iter(info.unknown.values())).first.startswith("s1/e0+")
    assert info.open_words == 4
    assert any("unknown" in event.id for event in info.events)


DOUBTS = [
    ("channel.acquire_geq", lambda pb: pb.semaphore_acquire(0, 0, compare="geq"),
     lambda pb: pb.semaphore_acquire(0, 0)),
    ("channel.syncpoint_index", lambda pb: pb.syncpoint_increment(300), lambda pb: pb.syncpoint_increment(8)),
    ("channel.illegal_header", lambda pb: pb.raw([6 << 29]), lambda pb: pb.raw([0])),
    (
        "mme.reads",
        lambda pb: pb.method("SET_MME_SHADOW_RAM_CONTROL", MODE="METHOD_PASSTHROUGH"),
        lambda pb: pb.method("SET_MME_SHADOW_RAM_CONTROL", MODE="METHOD_TRACK"),
    ),
    (
        "mme.shadow_exempt",
        lambda pb: pb.method("SET_MME_SHADOW_RAM_CONTROL", MODE="METHOD_REPLAY"),
        lambda pb: pb.method("SET_MME_SHADOW_RAM_CONTROL", MODE="METHOD_TRACK"),
    ),
    (
        "mme.instruction_ram",
        lambda pb: pb.method("LOAD_MME_INSTRUCTION_RAM_POINTER", 2048, 1, form="one_inc"),
        lambda pb: pb.method("LOAD_MME_INSTRUCTION_RAM_POINTER", 10, 5000, form="one_inc"),
    ),
    (
        "inline.pitch_origin",
        lambda pb: pb.on("compute").method("SET_DST_ORIGIN_BYTES_X", 4),
        lambda pb: pb.on("compute").method("SET_DST_ORIGIN_BYTES_X", 0),
    ),
    (
        "dma.layer",
        lambda pb: pb.on("DMA copy").method("SET_SRC_DEPTH", 4, 2),
        lambda pb: pb.on("DMA copy").method("SET_SRC_DEPTH", 4, 0),
    ),
    ("report.release_size", lambda pb: pb.report(0, 1, four_words=True), lambda pb: pb.report(0, 1)),
    (
        "clear.raster_disabled",
        lambda pb: pb.method("SET_RASTER_ENABLE", 0),
        lambda pb: pb.method("SET_RASTER_ENABLE", 1),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("choice", "disputed", "plain"), DOUBTS, ids=[choice for choice, _, _ in DOUBTS])
def test_doubts_that_methods_tell_of(choice: str, disputed: object, plain: object) -> None:
    assert callable(disputed) and callable(plain)
    assert choice in {doubt.choice for doubt in told(disputed(PushBuffer())).doubts}
    assert choice not in {doubt.choice for doubt in told(plain(PushBuffer())).doubts}


def test_doubts_of_what_is_done() -> None:
    unbound = told(PushBuffer().method("WAIT_FOR_IDLE"), bind=False)
    assert {doubt.choice for doubt in unbound.doubts} == {"channel.unbound"}
    made = MaxwellCaptureBuilder()
    made.submit(PushBuffer().bind("3D").semaphore_acquire(made.allocate(4096), 1))
    stuck = examine(made.log())
    assert "channel.deadlock" in {doubt.choice for doubt in stuck.doubts}
    made = MaxwellCaptureBuilder()
    one, two = (Surface(made.allocate(4096), 12, 8, pitch=64) for _ in range(2))
    pb = PushBuffer().bind("2D").blit(one, two, (0, 0, 7, 5), filter="BILINEAR")
    pb.method("SET_OPERATION", "SRCCOPY_AND").method("PIXELS_FROM_MEMORY_SRC_Y0_INT", 0)
    doubts = {doubt.choice: doubt for doubt in examine(made.submit(pb).log()).doubts}
    assert not doubts["twod.weights"].certain and doubts["twod.and_operations"].certain


def test_every_doubt_is_a_switch_and_every_watched_method_exists() -> None:
    named = {doubt.choice for block in ("b197", "b1c0", "a140", "b0b5", "b06f") for watches in
             maxwell_doubts.watched(block).values() for _, doubt in watches}  # fmt: skip
    assert len(named) >= 10 and named <= CHOICES.keys()
    assert B06F["SEMAPHORED"].word in maxwell_doubts.watched("b06f") and maxwell_doubts.watched("902d") == {}
