"""`pocketgpu state`: shows registers and resources right after an event, or writes them into files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import capture_argument, debug_option, force_option, json_option, set_option, standing
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import make_directory, open_capture, write_file
from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.wording import agreed, counted

if TYPE_CHECKING:
    from pocketgpu.inspect.model.inspection import Inspection
    from pocketgpu.inspect.model.moment import Moment

_MOST_CONSTANTS = 64
"""Most words of a constant buffer that the text shows."""


@click.command()
@capture_argument
@click.argument("address", metavar="ADDRESS", shell_complete=complete.addresses)
@click.option(
    "--against", default="previous", show_default=True, metavar="WHAT",
    help="Show registers that differ from: reset, previous (the draw before), or another event's.",
)  # fmt: skip
@click.option("--textures", metavar="DIR", help="Write bound textures, all levels and faces, as PNG files.")
@click.option("--mesh", metavar="FILE", help="Write the draw's triangles: .glb (glTF 2.0) or .obj.")
@click.option(
    "--space", default="output", show_default=True, metavar="SPACE",
    help="Space of --mesh: output (divided by w), clip, input, or an input such as v2 (3DS) or a2 (Switch).",
)  # fmt: skip
@click.option("--vertices", metavar="FILE", help="Write inputs, outputs and triangles as arrays (.npz).")
@click.option("--shaders", is_flag=True, help="Show the programs, disassembled, with uniforms or constant buffers.")
@click.option("--target", metavar="FILE", help="Write the colour target as a PNG file.")
@set_option
@force_option()
@json_option
@debug_option
@click.pass_obj
def state(
    outcome: Outcome, capture: str, address: str, against: str, textures: str | None, mesh: str | None, space: str,
    vertices: str | None, shaders: bool, target: str | None, choices: dict[str, str], forced: tuple[str, ...],
) -> None:  # fmt: skip
    """Show registers, textures, buffers, shaders and vertices at an event.

    The state is that right after the event. A summary comes first: culling, tests, blending, scissor, viewport,
    targets, textures, programs; registers that differ from the draw before are listed at the end. ADDRESS is an event
    (f1/d3, f1/e12), or f1 for the end of a frame.
    """
    from pocketgpu.inspect.index.events import remembered
    from pocketgpu.inspect.inspection import debug

    if mesh is not None and not mesh.lower().endswith((".glb", ".obj")):
        raise click.UsageError(f"--mesh makes .glb and .obj files, not '{mesh}'.")
    opened = open_capture(capture, address)
    outcome.add_events(opened.warnings)
    stand = standing(choices, forced)
    run = debug(opened, choices, overrides=forced)
    with remembered(run, opened, stand):
        lines = _shown(outcome, run, address, against, shaders, target, textures, mesh, space, vertices)
    outcome.show = lambda: terminal.say("\n".join(lines))


def _shown(
    outcome: Outcome, run: Inspection, address: str, against: str, shaders: bool, target: str | None,
    textures: str | None, mesh: str | None, space: str, vertices: str | None,
) -> list[str]:  # fmt: skip
    """Lines for people; the outcome gets the same as data, and files are written. Arguments: as for `state`."""
    moment = run.seek(address)
    at_end = moment.event is None or not moment.address.names_event
    lines = [
        f"end of {'frame' if moment.address.pass_ is None else 'pass'}  {moment.address}"
        if at_end
        else str(moment.event)
    ]
    found: dict[str, Any] = {
        "schema": "pocketgpu.state/1",
        "address": str(moment.address),
        "event": None if moment.event is None else str(moment.event.by_number),
        "registers": {name: f"{word:#010x}" for name, word in moment.registers().items()},
    }
    outcome.extra["state"] = found
    summary = moment.summary
    found["summary"] = summary.to_json()
    lines += [f"    {line}" for line in summary.lines()]
    _target(found, lines, moment, target)
    missing = moment.missing
    if not missing:
        _resources(found, lines, moment, shaders)
    elif textures or mesh or vertices or shaders:
        raise UsageError(missing, location=str(moment.address), hint="Such as f1/d3.")
    else:
        lines.append(missing)
    _changes(found, lines, run, moment, against)
    _files(found, lines, moment, textures, mesh, space, vertices)
    return lines


def _target(found: dict[str, Any], lines: list[str], moment: Moment, file: str | None) -> None:
    target = moment.target
    found["target"] = None if target is None else {"text": str(target)}
    lines.append(f"target: {target if target is not None else 'none'}")
    if file is None:
        return
    if target is None:
        raise NoPictureError("the registers name no render target in memory", location=str(moment.address))
    from pocketgpu.pictures import png_bytes

    write_file(Path(file), png_bytes(target.image))
    found["target"]["file"] = file
    lines.append(f"    in {file}")


def _resources(found: dict[str, Any], lines: list[str], moment: Moment, shaders: bool) -> None:
    textures = moment.textures
    found["textures"] = [texture.to_json() for texture in textures.values()]
    lines += [f"texture {texture}" for texture in textures.values()]
    event = moment.event
    is_draw = event is not None and event.draw is not None
    found["vertex_buffers"] = [buffer.to_json() for buffer in moment.vertex_buffers]
    programs = moment.programs
    found["programs"] = [program.to_json(shaders) for program in programs.values()]
    if is_draw:
        lines += list(_draw(found, moment))
    for program in programs.values():
        lines.append(f"{program.unit} program {program.digest}, {program.size}")
        lines += [f"    {line}" for line in str(program).splitlines()[1:]] if shaders else []
    lines += list(_constants(found, moment, shaders))


def _constants(found: dict[str, Any], moment: Moment, shaders: bool) -> Iterator[str]:
    """Constant buffers; with `shaders`, their contents."""
    buffers = moment.constants
    found["constants"] = [buffer.to_json(shaders) for buffer in buffers]
    for buffer in buffers:
        yield f"constants {buffer}"
        if shaders:
            yield from (f"    {line}" for line in buffer.lines(_MOST_CONSTANTS))


def _changes(found: dict[str, Any], lines: list[str], run: Inspection, moment: Moment, against: str) -> None:
    from pocketgpu.inspect.model.changes import lines_of

    changes = moment.changes(against)
    found["against"], found["changes"] = against, [change.to_json() for change in changes]
    than = {"reset": "after reset", "previous": "at the draw before"}.get(against, f"at {against}")
    before = run.draw_before(moment.address) if against == "previous" else None
    if against == "previous" and before is None:
        than = "after reset"
    count = sum(not change.table for change in changes)
    words = f" and {counted(len(changes) - count, 'word')} of tables" if len(changes) > count else ""
    differ = agreed("{is|are}", 2 if words else count)
    lines.append(f"{counted(count, 'register')}{words} {differ} not as {than}{f'  {before}' if before else ''}")
    lines += [f"    {line}" for line in lines_of(changes)]


def _draw(found: dict[str, Any], moment: Moment) -> Iterator[str]:
    assert moment.event is not None
    indices = moment.index_buffer
    if indices is not None:
        found["index_buffer"] = indices.to_json()
        yield f"indices: {indices}"
    yield from (f"vertices: {buffer}" for buffer in moment.vertex_buffers)
    vertices = moment.vertices
    found["vertices"] = vertices.to_json()
    yield from (f"    {attribute}" for attribute in vertices.attributes)
    yield f"    {vertices}"
    if not len(vertices.shaded) and len(vertices):
        yield "    outputs of its programs are not available: none of its primitives reached raster"


def _files(
    found: dict[str, Any], lines: list[str], moment: Moment, textures: str | None, mesh: str | None, space: str,
    vertices: str | None,
) -> None:  # fmt: skip
    files = found["files"] = []

    def write(path: Path, data: bytes) -> None:
        write_file(path, data)
        files.append(str(path))

    if textures is not None:
        from pocketgpu.inspect.pictures.comparing import to_png

        directory = make_directory(textures)
        for texture in moment.textures.values():
            try:
                pictures = texture.pictures()
            except UsageError as error:  # a header that cannot be read, or a format without a decoder
                lines.append(f"no picture of {texture}: {error.message}")
                continue
            for name, pixels in pictures.items():
                write(directory / f"{name}.png", to_png(pixels))
    if mesh is not None:
        from pocketgpu.inspect.model.meshes import to_glb, to_obj

        made = moment.mesh(space)
        write(Path(mesh), to_glb(made) if mesh.lower().endswith(".glb") else to_obj(made).encode("ascii"))
        if made.left_out:
            left_out = agreed("with a corner that has no finite position {is|are} left out", made.left_out)
            lines.append(f"{counted(made.left_out, 'triangle')} {left_out}")
    if vertices is not None:
        import numpy as np

        whole, data = moment.vertices, io.BytesIO()
        names = ("numbers", "inputs", "outputs", "registers", "ids", "triangles")
        arrays: dict[str, Any] = {name: getattr(whole, name) for name in names if getattr(whole, name) is not None}
        if whole.emitted is not None:
            arrays["emitted"] = whole.emitted
        np.savez(data, **arrays)
        write(Path(vertices), data.getvalue())
    lines += [f"written: {name}" for name in files]
