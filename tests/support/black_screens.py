"""Black screens: a recording of each console whose frames are a sound scene with one mistake each, such as developers
of homebrew make. Each has one draw, and shows nothing of it."""

from __future__ import annotations

from pathlib import Path

from support.strict_scenes import Edit, Scene
from support.strict_scenes_switch import ROWS
from support.strict_scenes_switch import Scene as SwitchScene

from pocketgpu.builder import CaptureBuilder, CommandList
from pocketgpu.builder.maxwell import MaxwellCaptureBuilder

BLACK = 0x000000FF
NOWHERE = 0x23000000
"""An address in FCRAM to which nobody writes."""


def _edited(edit: Edit) -> Scene:
    return Scene(clear=BLACK, edit=edit)


def _shows_another(scene: Scene, capture: CaptureBuilder) -> None:
    """The screen gets the buffer of a swap that never came."""
    capture.show("top", capture.allocate(240 * 400 * 3))


def _constant_without_colour(scene: Scene, cl: CommandList) -> None:
    cl.combiner(0, ("modulate", "texture 0", "constant"), ("replace", "vertex color"))


_UNWRITTEN = {f"c{n}, v0": f"c{40 + n}, v0" for n in range(4)}


def _program_of_other_uniforms() -> str:
    text = Scene().program
    for old, new in _UNWRITTEN.items():
        text = text.replace(old, new)
    return text


N3DS: dict[str, Scene] = {
    "depth is cleared to the near end": Scene(clear=BLACK, depth_clear=0xFFFFFF),
    "the wrong side is culled": _edited(
        lambda scene, cl: cl.write("FACECULLING_CONFIG", mode="front (counter-clockwise)")
    ),
    "blending keeps the target": _edited(lambda scene, cl: cl.blend("zero", "one")),
    "the texture is somewhere else": _edited(lambda scene, cl: cl.texture(0, NOWHERE, 16, 16, filter="linear")),
    "the screen shows another buffer": Scene(clear=BLACK, after=_shows_another),
    "uniforms were never written": Scene(clear=BLACK, program=_program_of_other_uniforms()),
    "a combiner's constant has no colour": _edited(_constant_without_colour),
    "positions are beyond the far plane": Scene(clear=BLACK, z=0.5),
}


def _methods(*before: tuple[object, ...]) -> SwitchScene:
    return SwitchScene(before=before)


SWITCH: dict[str, SwitchScene] = {
    "the alpha test compares with too much": _methods(
        ("SET_ALPHA_TEST", 1), ("SET_ALPHA_FUNC", 0x204), ("SET_ALPHA_REF", 0.9)
    ),
    "the wrong side is culled": _methods(
        ("OGL_SET_CULL", 1), ("OGL_SET_CULL_FACE", 0x404), ("OGL_SET_FRONT_FACE", 0x901)
    ),
    "blending keeps the target": _methods(
        ("SET_BLEND(0)", 1), *((f"SET_BLEND_{part}_{side}_COEFF", 0x4000 + (side == "DEST"))
                               for part in ("COLOR", "ALPHA") for side in ("SOURCE", "DEST")),
    ),
    "nobody wrote the texture": SwitchScene(texel=None),
    "another surface is shown": SwitchScene(shows=False, other_cleared=True),
    "a constant buffer is not bound": SwitchScene(
        vertex="MOV R9, c[0x3][0x10]\nALD.128 R0, a[0x80]\nALD.64 R4, a[0x90]\nFMUL R3, R3, R9\n"
        "AST.128 a[0x70], R0\nAST.64 a[0x80], R4\nEXIT"
    ),
    "positions are beyond the far plane": SwitchScene(rows=tuple((*row[:2], 2.0, *row[3:]) for row in ROWS)),
    "raster is off": _methods(("SET_RASTER_ENABLE", 0)),
}  # fmt: skip


def save(console: str, folder: Path) -> str:
    """Write the recording of a console. Its frames are in the order of N3DS or SWITCH; returns its path."""
    if console == "3DS":
        capture, target, depth = CaptureBuilder(), 0, 0
        for scene in N3DS.values():
            scene.target, scene.depth = target, depth  # the same for all, as there is little memory for targets
            scene.build(capture)
            target, depth = scene.target, scene.depth
        path = folder / "black.ctf"
        capture.save(path)
        return str(path)
    recording = MaxwellCaptureBuilder("a test")
    for channel, one in enumerate(SWITCH.values()):
        one.build(recording, channel)  # a channel of its own has the state of power-on
    path = folder / "black.mxcap.zip"
    recording.save(path)
    return str(path)


__all__ = ["N3DS", "SWITCH", "save"]
