"""Captures of every kind as `.pgc`: the same pictures, files that test themselves, small ones, draws, no textures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.packing import packed_well

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.citrace_write import Load as RecordedLoad
from pocketgpu.capture.formats.citrace_write import Write, write_citrace
from pocketgpu.capture.formats.n3ds_trace import InitialState
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import Contents, FrameContents, Gx, Load, Narrow, Submit, Swap
from pocketgpu.capture.formats.pgc.traces import power_on
from pocketgpu.capture.pgc import snapshot
from pocketgpu.capture.pgc.channel_snapshot import begin_at
from pocketgpu.capture.pgc.convert import state_records
from pocketgpu.capture.pgc.minimise import Keep, minimise, parse_keep
from pocketgpu.capture.pgc.redact import redact
from pocketgpu.cli import main
from pocketgpu.errors import CaptureError, NoPictureError
from pocketgpu.pica.core.observer import Observer, Run
from pocketgpu.pica.front.packets import DrawPackets


def pictures(capture: pocketgpu.Capture) -> list[dict[str, bytes]]:
    return [
        {name: screen.array.tobytes() for name, screen in frame.screens.items()}
        for frame in capture.render(pictures=False)
    ]


def converted(source: Path, folder: Path) -> tuple[pocketgpu.Capture, pocketgpu.Capture, Path]:
    """A capture, the same as `.pgc`, and where that is."""
    capture = pocketgpu.open(source)
    out = folder / "out.pgc"
    pgc.write(out, capture)
    return capture, pocketgpu.open(out), out


@pytest.fixture(scope="module")
def sample(sample_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[pocketgpu.Capture, Path]:
    with packed_well():
        _, capture, out = converted(sample_path, tmp_path_factory.mktemp("pgc"))
    return capture, out


def test_the_sample_shows_the_same(sample: tuple[pocketgpu.Capture, Path], sample_path: Path) -> None:
    capture, out = sample
    assert pictures(capture) == pictures(pocketgpu.open(sample_path))
    assert out.stat().st_size < 1.1 * sample_path.stat().st_size
    checks = list(pgc.check(capture))
    assert len(checks) == 6 and all(check.same and not check.differing for check in checks)


def test_events_keep_their_positions(sample: tuple[pocketgpu.Capture, Path], sample_path: Path) -> None:
    original, capture = pocketgpu.open(sample_path), sample[0]
    for frame in range(original.frame_count):
        for a, b in zip(original.trace.runs(frame), capture.trace.runs(frame), strict=True):
            assert (type(a), a.element) == (type(b), b.element)
            for name in ("addresses", "values"):
                if hasattr(a, name):
                    assert np.array_equal(getattr(a, name), getattr(b, name))
            if hasattr(a, "data"):
                assert (a.address, bytes(a.data)) == (b.address, bytes(b.data))


def test_writes_of_all_widths_survive(tmp_path: Path) -> None:
    events = [
        Write(0x10202000, 0x12, 8), Write(0x10202002, 0x3456, 16), Write(0x10202004, 1, 32),
        Write(0x10202008, 0x1_0000_0002, 64), RecordedLoad(0x18000000, b"abcd"),
    ]  # fmt: skip
    write_citrace(tmp_path / "a.ctf", [events], classic=True)
    capture = pocketgpu.open(tmp_path / "a.ctf")
    contents = pgc.parse(pgc.encode(pgc.contents_of(capture.trace)))
    assert [type(event).__name__ for event in contents.frames[0].events] == ["Narrow", "Narrow", "Writes", "Load"]
    (frame,) = (pgc.trace_of(contents).runs(0),)
    assert frame[2].addresses.tolist() == [0x10202004, 0x10202008, 0x1020200C]
    assert frame[2].values.tolist() == [1, 2, 1]
    assert not contents.coverage >> 6 & 1, "an older recorder does not know the tables"


def test_verify_tells_what_differs(
    sample: tuple[pocketgpu.Capture, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents = pgc.parse(sample[1].read_bytes())
    contents.frames = [
        FrameContents(frame.events, {**frame.pictures, 0: bytes(16)} if n == 2 else frame.pictures)
        for n, frame in enumerate(contents.frames)
        if frame.pictures is not None
    ]
    pgc.save(tmp_path / "a.pgc", contents)
    assert main(["capture", "verify", str(tmp_path / "a.pgc")]) == 1
    out = capsys.readouterr().out
    assert "5 of 6 frames as expected" in out and "f2 shows something else: top" in out
    assert main(["capture", "verify", str(tmp_path / "a.pgc"), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [frame["same"] for frame in told["frames"]] == [True, True, False, True, True, True]
    assert told["frames"][2]["screens"]["top"]["expected"] == "00" * 16
    # A changed behaviour is found too.
    assert main(["capture", "verify", str(sample[1]), "--set", "texture.filter=nearest"]) == 1
    # A file without digests cannot be verified.
    capsys.readouterr()
    assert main(["convert", str(sample[1]), str(tmp_path / "b.pgc"), "--no-pictures", "--packing", "zstd"]) == 0
    contents = pgc.parse((tmp_path / "b.pgc").read_bytes())
    assert contents.frames[0].pictures is not None, "known digests stay"
    contents.frames = [FrameContents(frame.events) for frame in contents.frames]
    contents.coverage &= ~F.PICTURES_COVERED
    pgc.save(tmp_path / "b c.pgc", contents)
    assert main(["capture", "verify", str(tmp_path / "b c.pgc")]) == 4
    told = capsys.readouterr().err
    assert "no digests" in told and f"convert '{tmp_path}/b c.pgc' '" in told, "a command that can be copied"


def test_only_pgc_files_know_what_they_show(sample_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CaptureError, match="has no digests of what it must show"):
        pgc.check(pocketgpu.open(sample_path))
    assert main(["convert", str(sample_path), "out.ctf"]) == 2
    assert "end in .pgc" in capsys.readouterr().err


# Real recordings


def recordings(shared: Path) -> list[tuple[str, list[Path]]]:
    """Each public capture with the files that it is made of."""
    folder = shared / "captures"
    found = [(path.name, [path]) for path in sorted(folder.glob("3ds/*.ctf.xz"))]
    for log in sorted(folder.glob("3ds/*.gx.json.xz")):
        found.append((log.name, [log, log.with_name(log.name.replace(".gx.json", ".mem.bin"))]))
    return found + [(path.name, [path]) for path in sorted(folder.glob("switch/*.mxcap.zip"))]


def test_public_captures_convert_and_stay_small(shared_dir: Path, tmp_path: Path) -> None:
    listed = recordings(shared_dir)
    assert len(listed) >= 21 + 21 + 17
    for name, files in listed:
        with packed_well():
            capture, again, out = converted(files[0], tmp_path)
        assert out.stat().st_size <= 1.1 * sum(file.stat().st_size for file in files), name
        assert again.frame_count == capture.frame_count and again.console == capture.console
        assert all(check.same for check in pgc.check(again)), name


def test_a_log_at_the_door_of_the_system_keeps_its_commands(shared_dir: Path, tmp_path: Path) -> None:
    capture, again, _ = converted(shared_dir / "captures" / "3ds" / "2d_shapes.gx.json.xz", tmp_path)
    kinds = {type(event) for frame in again.trace.contents.frames for event in frame.events}
    assert {Gx, Swap, Load} <= kinds
    assert again.trace.virt_to_phys == capture.trace.virt_to_phys
    assert pictures(again) == pictures(capture)


def test_a_channel_log_is_the_same_log(shared_dir: Path, tmp_path: Path) -> None:
    path = shared_dir / "captures" / "switch" / "ex04_textured_cube_320x180.mxcap.zip"
    capture, again, _ = converted(path, tmp_path)
    a, b = capture.trace, again.trace
    assert (a.presents, a.syncpoints, a.source, a.handles) == (b.presents, b.syncpoints, b.source, b.handles)
    by_start = lambda mapping: (mapping.start, mapping.gpu_va)  # noqa: E731
    assert sorted(a.mappings, key=by_start) == sorted(b.mappings, key=by_start)
    for x, y in zip(a.submissions, b.submissions, strict=True):
        assert x.channel == y.channel and x.entries.tolist() == y.entries.tolist()
        assert [a.chunks[n] for n in x.updates] == [b.chunks[n] for n in y.updates]
    assert pictures(capture) == pictures(again)


# Smaller


def test_what_to_keep() -> None:
    assert parse_keep("f3") == Keep(3, 3) and parse_keep("f3-f5") == Keep(3, 5) == parse_keep("f3-5")
    assert parse_keep("f3/d17") == Keep(3, 3, 17) and str(Keep(3, 3, 17)) == "f3/d17"
    for wrong in ("", "3", "f5-f3", "f3/17", "f3-f5/d1", "f"):
        with pytest.raises(ValueError):
            parse_keep(wrong)


def draw_up_to(contents: Contents, frame: int, draw: int) -> Any:
    """A machine that ran all of a capture up to a draw, that one included."""
    driver = drive(pgc.PgcTrace("", contents))
    machine = driver.machine
    while driver.frame < frame:
        driver.play_frame()
    machine.stats.reset()

    class Enough(Exception):
        pass

    class Counting(Observer):
        def draws(self, packets: DrawPackets, run: Run) -> None:
            left = draw + 1 - machine.stats.draws
            run(0, min(left, len(packets)))
            if left <= len(packets):
                raise Enough

    with machine.observed(Counting()), pytest.raises(Enough):
        driver.play_frame()
    return machine


def same_target(small: pocketgpu.N3DS, whole: pocketgpu.N3DS) -> bool:
    """Whether the only colour buffer that the one drew to holds the same bytes in the other."""
    (target,) = small.runner.color_targets()
    pixels = target.read(small.memory)
    return bool(pixels.any()) and pixels.tobytes() == target.read(whole.memory).tobytes()


@pytest.mark.parametrize(("frame", "draw"), [(0, 2), (3, 7)])
def test_one_draw_of_the_sample(frame: int, draw: int, sample: tuple[pocketgpu.Capture, Path], tmp_path: Path) -> None:
    contents = pgc.contents_of(sample[0].trace)
    found = minimise(contents, Keep(frame, frame, draw), replays=60)
    assert found.replays <= 60 and found.bytes_after < found.bytes_before
    pgc.save(tmp_path / "draw.pgc", found.contents)
    capture = pocketgpu.open(tmp_path / "draw.pgc")
    (shown,) = capture.render()
    assert shown.draws == 1
    assert [check.same for check in pgc.check(capture)] == [True]
    assert same_target(shown.machine, draw_up_to(contents, frame, draw))
    assert not same_target(shown.machine, draw_up_to(contents, frame, draw + 1)), "a draw is missing, not none"


def test_one_draw_of_normal_mapping(shared_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = shared_dir / "captures" / "3ds" / "normal_mapping.ctf.xz"
    contents = pgc.contents_of(pocketgpu.open(source).trace)
    for draw in range(2):
        out = tmp_path / f"d{draw}.pgc"
        with packed_well():
            assert main(["capture", "minimise", str(source), str(out), "--keep", f"f1/d{draw}", "--replays", "80"]) == 0
        assert out.stat().st_size < 150_000
        (shown,) = pocketgpu.open(out).render()
        assert shown.draws == 1 and shown.fragments > 40_000
        assert same_target(shown.machine, draw_up_to(contents, 1, draw))
    with pytest.raises(NoPictureError, match="no draw 2 in frame 1"):
        minimise(contents, Keep(1, 1, 2))
    with pytest.raises(NoPictureError, match="no frame 3"):
        minimise(contents, Keep(3, 3))


def test_draws_of_a_log_at_the_door_of_the_system(shared_dir: Path) -> None:
    contents = pgc.contents_of(pocketgpu.open(shared_dir / "captures" / "3ds" / "both_screens.gx.json.xz").trace)
    found = minimise(contents, Keep(1, 1, 1), replays=30)
    (shown,) = pocketgpu.Capture("", pgc.trace_of(found.contents)).render()
    assert shown.draws == 1
    assert same_target(shown.machine, draw_up_to(contents, 1, 1))


def test_kept_frames_show_the_same(sample: tuple[pocketgpu.Capture, Path]) -> None:
    contents = pgc.contents_of(sample[0].trace)
    found = minimise(contents, Keep(2, 3), replays=40)
    small = pocketgpu.Capture("", pgc.trace_of(found.contents))
    assert pictures(small) == pictures(sample[0])[2:4]
    assert all(check.same for check in pgc.check(small))


def test_a_kept_frame_is_not_larger_than_its_source(sample: tuple[pocketgpu.Capture, Path], tmp_path: Path) -> None:
    """What earlier frames drew does not pack; the commands that drew it do."""
    contents = pgc.contents_of(sample[0].trace)
    found = minimise(contents, Keep(3, 3), replays=60)
    with packed_well():
        assert pgc.save(tmp_path / "small.pgc", found.contents) < Path(sample[0].path).stat().st_size
    small = pocketgpu.open(tmp_path / "small.pgc")
    assert pictures(small) == pictures(sample[0])[3:4]
    assert found.replays <= 62


def test_memory_that_nothing_reads_goes(sample: tuple[pocketgpu.Capture, Path]) -> None:
    contents = pgc.contents_of(sample[0].trace)
    unread = Load(0x27000000, (bytes(range(256)) * 64,))
    frames = [FrameContents((unread, *contents.frames[0].events), contents.frames[0].pictures)]
    found = minimise(Contents("3DS", state=contents.state, coverage=contents.coverage, frames=frames), replays=150)
    kept = [event.address for event in found.contents.memory_events() if isinstance(event, Load)]
    assert kept and not any(0x27000000 <= address < 0x27004000 for address in kept)
    assert found.contents.frames[0].pictures == contents.frames[0].pictures


def test_a_switch_in_the_middle(shared_dir: Path) -> None:
    """A frame after nothing but the state of channels: mappings, memory, registers, macros, constant buffers."""
    path = shared_dir / "captures" / "switch" / "gl_textured_cube_320x180.mxcap.zip"
    log = pgc.PgcLog("", pgc.contents_of(pocketgpu.open(path).trace))
    machine = pocketgpu.GM20B()
    begun = begin_at(log, 1, 1, machine)
    assert begun is not None and len(begun.frames) == 1
    assert {state.item for state in begun.state} == {item.number for item in F.STATE_SWITCH}
    again = pgc.PgcLog("", pgc.parse(pgc.encode(begun)))
    other = drive(again).machine
    assert other.channels.keys() == machine.channels.keys()
    for number, channel in other.channels.items():
        before = machine.channels[number]
        assert np.array_equal(channel.files, before.files) and np.array_equal(channel.shadows, before.shadows)
        assert np.array_equal(channel.mme_code, before.mme_code) and channel.macros() == before.macros() != {}
        assert channel.engines[0].constants.bindings == before.engines[0].constants.bindings
    wanted = pictures(pocketgpu.Capture("", log))[1]
    assert pictures(pocketgpu.Capture("", again)) == [wanted]
    # State counts: without it, the frame is another one. (This one calls no macro.)
    for lost in ("registers", "constant_buffers"):
        number = next(item.number for item in F.STATE_SWITCH if item.name == lost)
        poor = replace(begun, state=[state for state in begun.state if state.item != number])
        assert pictures(pocketgpu.Capture("", pgc.trace_of(poor))) != [wanted], lost


def test_frames_of_a_switch(shared_dir: Path) -> None:
    path = shared_dir / "captures" / "switch" / "ex01_simple_setup_320x180.mxcap.zip"
    capture = pocketgpu.open(path)
    contents = pgc.contents_of(capture.trace)
    found = minimise(contents, Keep(1, 1), replays=24)
    small = pocketgpu.Capture("", pgc.trace_of(pgc.parse(pgc.encode(found.contents))))
    assert pictures(small) == pictures(capture)[1:2]
    submissions = [event for event in found.contents.frames[0].events if isinstance(event, Submit)]
    assert 0 < len(submissions) < len(capture.trace.submissions) and found.bytes_after < found.bytes_before
    assert found.contents.state, "it begins with what channels hold"


# Without textures


def test_textures_become_noise_and_nothing_else(sample: tuple[pocketgpu.Capture, Path], tmp_path: Path) -> None:
    capture = sample[0]
    found = redact(capture)
    assert found.textures >= 8 and found.replaced > 10_000
    before, after = pgc.contents_of(capture.trace), found.contents
    changed = total = 0
    for a, b in zip(before.memory_events(), after.memory_events(), strict=True):
        left, right = b"".join(a.pieces), b"".join(b.pieces)
        assert a.address == b.address and len(left) == len(right)
        changed += sum(x != y for x, y in zip(left, right, strict=True))
        total += len(left)
    assert 0.95 * found.replaced < changed <= found.replaced < total
    pgc.save(tmp_path / "noise.pgc", after)
    noisy = pocketgpu.open(tmp_path / "noise.pgc")
    shown = list(noisy.render())
    originals = list(capture.render())
    assert [f.draws for f in shown] == [f.draws for f in originals]
    assert [f.triangles for f in shown] == [f.triangles for f in originals], "geometry stays"
    assert all(check.same for check in pgc.check(noisy))
    assert pictures(noisy) != pictures(capture)
    assert redact(capture).contents.frames[0].pictures == after.frames[0].pictures, "the same noise each time"


def test_what_a_transfer_makes_a_texture_of_is_one(shared_dir: Path) -> None:
    capture = pocketgpu.open(shared_dir / "captures" / "3ds" / "mipmap_fog.ctf.xz")
    found = redact(capture)
    assert found.replaced > 100_000 and found.left == 0


def test_narrow_writes_replay() -> None:
    narrow = (Narrow(0x10202001, 0x12, 8), Narrow(0x10202002, 0x3456, 16))
    driver = drive(pgc.PgcTrace("", Contents("3DS", frames=[FrameContents(narrow)])))
    driver.play_frame()
    machine = driver.machine
    assert machine.read_register(0x10202000) == 0x34561200 | machine.read_register(0x10202000) & 0xFF


def test_a_machine_goes_on_where_another_one_stopped(sample: tuple[pocketgpu.Capture, Path]) -> None:
    """All state of a 3DS: registers, uniforms of 32 bits, tables, programs, memory."""
    contents = pgc.contents_of(sample[0].trace)
    driver = drive(pgc.PgcTrace("", contents))
    whole = driver.machine
    while driver.frame < 3:
        driver.play_frame()
    begun = replace(contents, state=snapshot.state_of(whole), frames=contents.frames[3:4])
    memory = snapshot.memory_of(whole)
    begun.frames = [FrameContents((*memory, *contents.frames[3].events))]
    second = drive(pgc.PgcTrace("", pgc.parse(pgc.encode(begun)))).machine
    before, after = whole.save_state(), second.save_state()
    assert before.keys() == after.keys() == {item.name for item in F.STATE_3DS}
    for name, words in before.items():
        assert np.array_equal(words, after[name]), name
    assert before["vs_uniforms_f32"].any(), "the sample uploads uniforms in 32 bits"
    assert pictures(pocketgpu.Capture("", pgc.trace_of(begun))) == pictures(sample[0])[3:4]


def test_registers_that_a_recording_holds_as_zero_stay_zero() -> None:
    """Without a record, registers are at reset; a recording that says zero must not come back with that."""
    external = np.zeros(1024, np.uint32)
    external[5] = 9
    assert power_on()["external"].any() and power_on()["pica"].any()
    contents = Contents("3DS", state=state_records(vars(InitialState.of(external=external))))
    initial = pgc.PgcTrace("", pgc.parse(pgc.encode(contents))).initial
    assert initial.external.tolist() == external.tolist() and not initial.pica.any() and not initial.lcd.any()
    assert not state_records(power_on())
