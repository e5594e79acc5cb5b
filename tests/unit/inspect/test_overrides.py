"""A register that holds another value from an event on gives what the same change in the capture's words gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.pica_scenes import Scene
from support.switch_scene import Scene as SwitchScene

import pocketgpu
from pocketgpu.builder import CaptureBuilder, CommandList
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import debug, forced_words
from pocketgpu.inspect.model.forcing import Override
from pocketgpu.inspect.model.inspection import Inspection

DATA = Path(__file__).resolve().parents[3] / "src/pocketgpu/data"
SWITCH = SwitchScene()


def pictures(run: Inspection, at: str) -> dict[str, bytes]:
    return {name: one.pixels.tobytes() for name, one in run.seek(at).pictures.items()}


def writing(**registers: dict[str, Any] | int) -> Callable[[CaptureBuilder, CommandList], None]:
    """A step of a scene that writes registers before its second draw."""

    def step(_: CaptureBuilder, commands: CommandList) -> None:
        for name, value in registers.items():
            if isinstance(value, int):
                commands.write(name, value)
            else:
                commands.write(name, **value)

    return step


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    return Scene().save(tmp_path_factory.mktemp("scene") / "plain.ctf.xz")


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
@pytest.mark.parametrize(
    ("override", "written"),
    [
        ("VIEWPORT_XY=0x00080008", {"VIEWPORT_XY": 0x00080008}),  # read by the vertex side
        ("TEXENV0_SOURCE=0x000e000e", {"TEXENV0_SOURCE": 0x000e000e}),  # a part of the fragment state
        ("COLORBUFFER_WRITE=0", {"COLORBUFFER_WRITE": 0}),
        ("SCISSORTEST_MODE=3", {"SCISSORTEST_MODE": 3}),
    ],
)  # fmt: skip
def test_a_draw_of_a_3ds_reads_what_is_forced(
    plain: str, tmp_path: Path, override: str, written: dict[str, Any], evaluator: str
) -> None:
    original, changed = debug(plain), debug(Scene(between=writing(**written)).save(tmp_path / "b.ctf.xz"))
    run = debug(plain, evaluator=evaluator, overrides=[f"{override}@f0/d1"])
    assert pictures(run, "f0/d0") == pictures(original, "f0/d0")
    assert pictures(run, "f0/d1") == pictures(changed, "f0/d1") != pictures(original, "f0/d1")
    assert pictures(run, "f0") == pictures(changed, "f0")
    name = override.partition("=")[0]
    assert run.seek("f0/d1").registers()[name] == changed.seek("f0/d1").registers()[name]
    assert run.seek("f0/d0").registers()[name] == original.seek("f0/d0").registers()[name]
    assert [str(one) for one in run.events(0)] == [str(one) for one in original.events(0)]


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [("SET_VIEWPORT_OFFSET_X(0)", "20.0", 20.0), ("SET_CT_WRITE(0).R_ENABLE", "FALSE", 0x1110)],
)
def test_draws_of_a_switch_read_what_is_forced(name: str, value: str, word: float) -> None:
    register = name.partition(".")[0]
    original = SWITCH.look()
    for place, changed in (
        ("f0/d1", SWITCH.but(methods=((register, word),)).look()),
        ("f0", SWITCH.but(before=((register, word),)).look()),
    ):
        run = debug(SWITCH.capture(), overrides=[f"{name}={value}@{place}"])
        for at in ("f0/d0", "f0/d1", "f0"):
            assert pictures(run, at) == pictures(changed, at)
            assert run.seek(at).registers()[register] == changed.seek(at).registers()[register]
        assert (pictures(run, "f0/d0") == pictures(original, "f0/d0")) == (place == "f0/d1")
    assert pictures(run, "f0") != pictures(original, "f0")


def test_a_clear_of_a_switch_reads_what_is_forced() -> None:
    run = debug(SWITCH.capture(), overrides=["SET_COLOR_CLEAR_VALUE(1)=0x3f800000@f0"])
    assert pictures(run, "f0") == pictures(SWITCH.but(clear=(0, 1, 0, 1)).look(), "f0")


def test_it_holds_in_later_frames_and_after_going_back(tmp_path: Path) -> None:
    path = Scene(frames=3).save(tmp_path / "a.ctf.xz")
    original, run = debug(path), debug(path, overrides=["COLORBUFFER_WRITE=0@f1/d1"])
    for at in ("f2/d1", "f1/d0", "f0", "f2/d0", "f1/d1"):
        same = pictures(run, at) == pictures(original, at)
        assert same == (at in ("f1/d0", "f0")), at
    several = SWITCH.but(frames=3)
    look, forced = several.look(), debug(several.capture(), overrides=["SET_CT_WRITE(0)=0@f1"])
    for at in ("f2/d1", "f0/d1", "f1/d0", "f0"):
        assert (pictures(forced, at) == pictures(look, at)) == at.startswith("f0"), at


@pytest.mark.parametrize(
    ("sample", "override"),
    [
        ("sample.ctf.xz", "DEPTH_COLOR_MASK.red=no@f0/d4"),
        ("sample_switch.mxcap.zip", "SET_CT_WRITE(0).R_ENABLE=FALSE@f0/d4"),
    ],
)
def test_only_the_field_changes_in_the_samples(sample: str, override: str) -> None:
    original, run = debug(DATA / sample), debug(DATA / sample, overrides=[override])
    one = Override.parse(override)
    (word,) = forced_words(original.capture, [one])
    for draw in original.draws(0)[:7]:
        was = original.seek(draw.address).registers()[one.register]
        now = run.seek(draw.address).registers()[one.register]
        assert now == (was if draw.draw < 4 else word.of(was))  # type: ignore[operator]
    assert pictures(run, "f0/d3") == pictures(original, "f0/d3")
    assert pictures(run, "f0/d4") != pictures(original, "f0/d4")


def test_without_overrides_a_machine_is_as_always(plain: str) -> None:
    run = debug(plain, overrides=[])
    assert len(run.player.machine.observers) == 1  # type: ignore[attr-defined]
    assert pictures(run, "f0") == pictures(debug(plain), "f0")
    switch = debug(SWITCH.capture())
    assert switch.player.machine.forced == ()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BLEND_COLOR@f0", "does not say"),
        ("BLEND_COLOR.=1@f0", "does not say"),
        ("NOTHING=1@f0", "there is no register NOTHING"),
        ("BLEND_COLOR.q=1@f0", "has no field q"),
        ("BLEND_COLOR.r=256@f0", "does not fit"),
        ("BLEND_COLOR=0x100000000@f0", "is not a word of 32 bits"),
        ("DEPTH_COLOR_MASK.depth_function=nearly@f0", "is no value of depth_function"),
        ("BLEND_COLOR=1@f9", "no frame 9"),
        ("BLEND_COLOR=1@f0/d9", "no draw 9"),
        ("DRAWARRAYS=1@f0", "has an effect by itself"),
        ("VSH_FLOATUNIFORM_DATA0=1@f0", "has an effect by itself"),
        ("LIGHTING_LUT_INDEX=1@f0", "has an effect by itself"),
        ("VSH_OPDESCS_INDEX=1@f0", "cannot be forced"),
        ("CMDBUF_ADDR0=1@f0", "where command lists are"),
        ("PSC0_VALUE=1@f0", "do their work when they are written"),
    ],
)
def test_what_cannot_be_forced_on_a_3ds(plain: str, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        debug(plain, overrides=[text])


@pytest.mark.parametrize("name", ["BEGIN", "CLEAR_SURFACE", "LOAD_CONSTANT_BUFFER(0)", "CALL_MME_MACRO(0)", "END"])
def test_what_cannot_be_forced_on_a_switch(name: str) -> None:
    with pytest.raises(UsageError, match="has an effect by itself"):
        debug(SWITCH.capture(), overrides=[f"{name}=1@f0"])


def test_registers_are_found_by_words(plain: str) -> None:
    found = debug(plain).forcing.search("depth mask", 10)
    assert [one.name for one in found] == ["DEPTH_COLOR_MASK"] and not found[0].refusal
    all_of_them = debug(plain).forcing.search("", 20)
    assert len(all_of_them) == 20
    refused = debug(plain).forcing.search("DRAWARRAYS", 10)
    assert refused and all(one.refusal for one in refused)
    assert [one.name for one in SWITCH.look().forcing.search("depth_func", 5)] == ["SET_DEPTH_FUNC"]


def test_the_command_line(plain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample, force = str(DATA / "sample.ctf.xz"), "DEPTH_COLOR_MASK.red=no@f0/d4"
    assert main(["render", sample, "--frames", "0", "--out", str(tmp_path), "--force", force]) == 0
    shown = np.asarray(Image.open(tmp_path / "f0.top.png"))
    assert (shown == debug(sample, overrides=[force]).seek("f0").screens["top"].array).all()
    assert (shown != debug(sample).seek("f0").screens["top"].array).any()
    capsys.readouterr()
    force = "COLORBUFFER_WRITE=0@f0/d1"
    assert main(["diff", plain, "--force-b", force]) == 1
    assert "COLORBUFFER_WRITE" in capsys.readouterr().out
    assert main(["state", plain, "f0/d1", "--force", force]) == 0
    assert "COLORBUFFER_WRITE" in capsys.readouterr().out
    assert main(["why", plain, "f0/d1", "--force", force]) == 0
    assert main(["render", plain, "--out", str(tmp_path / "d"), "--force", "NOTHING=1@f0"]) == 2
    assert "there is no register NOTHING" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sample", "override"),
    [("sample.ctf.xz", "DEPTH_COLOR_MASK.red=no@f0"), ("sample_switch.mxcap.zip", "SET_CT_WRITE(0).R_ENABLE=FALSE@f0")],
)
def test_captures_render_with_forced_words(sample: str, override: str) -> None:
    capture = pocketgpu.open(DATA / sample)
    words = forced_words(capture, [override])
    (forced,), (usual,) = (list(capture.render(range(1), forced=one)) for one in (words, ()))
    name = next(iter(usual.screens))
    assert forced.screens[name].array.tobytes() != usual.screens[name].array.tobytes()
    sought = debug(capture, overrides=[override]).seek("f0").screens[name]
    assert forced.screens[name].array.tobytes() == sought.array.tobytes()
