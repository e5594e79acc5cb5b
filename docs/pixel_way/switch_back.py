"""The stages from the pixel program to the screen (Switch)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pixel_way import followed
from pixel_way import switch_front as front
from pixel_way.drawings import cells, inside_block, texel_square
from pixel_way.switch import ADDRESS, Followed, X, Y, known
from pixel_way.writing import Page, code, colour, meaning, method, number, numbers, octets, place, word
from pocketgpu.facts.maxwell.headers import HANDLE, TSC
from pocketgpu.maxwell.memory.blocklinear import GOB_HEIGHT, GOB_SIZE, GOB_WIDTH, Layout
from pocketgpu.maxwell.sampling.store import HEADER_BYTES, SAMPLER_BYTES

PARTS = 256
"""Steps between two texels."""
SECTOR = 16
"""Bytes that lie together in a GOB."""


def the_texture(page: Page, way: Followed) -> None:
    page.stage("The texture")
    texture, values = way.texture, way.stage("texture").values
    header, sampler = texture.header, texture.sampler
    headers, samplers = (
        way.long(f"SET_TEX_{kind}_POOL_A", f"SET_TEX_{kind}_POOL_B") for kind in ("HEADER", "SAMPLER")
    )
    at = headers + HEADER_BYTES * texture.number
    number_of_sampler = HANDLE["SAMPLER"].raw(texture.handle)
    page.say(
        "A *texture* is a picture in memory that is put onto triangles; its pixels are called *texels*. The",
        f"instruction {code(values['text'])} reads one by its handle. The handle names a *texture header*,",
        f"{HEADER_BYTES} bytes that say where the texture is and what it is like, and a *sampler*, {SAMPLER_BYTES}",
        f"bytes that say how it is read. Both are in pools, where {method('SET_TEX_HEADER_POOL_A')} and",
        f"{method('SET_TEX_SAMPLER_POOL_A')} say.",
    )  # fmt: skip
    page.table(
        ("structure", "address", "bytes", "means"),
        [
            ("header " + str(texture.number), place(at), octets(way.read(at, HEADER_BYTES)),
             f"{header.kind}, {header.width}x{header.height}, {header.format.name} at {header.address:#x}, "
             f"{header.levels} levels, {header.layout}"),
            ("sampler " + str(number_of_sampler), place(samplers + SAMPLER_BYTES * number_of_sampler),
             octets(way.read(samplers + SAMPLER_BYTES * number_of_sampler, SAMPLER_BYTES)), _sampler_text(sampler)),
        ],
    )  # fmt: skip
    details = values["details"]
    level = round(details["level"][0])
    part = texture.parts[level]
    s, t = (_real(values["coordinates"][name]) for name in ("R4", "R5"))
    page.say(
        "A texture has *levels*: the same picture at half the size, a quarter and so on, for what is far away. From",
        f"how much the coordinates differ between neighbouring pixels follows level {number(details['level'][0])}, and",
        f"the sampler takes the nearest one, level {level} of {part.width} x {part.height} texels. Coordinates from 0",
        f"to 1 go once over the texture: s * {part.width} = {number(s * part.width)} and t * {part.height} =",
        f"{number(t * part.height)}. Beyond it the texture begins again. The point lies between the centres of four",
        "texels, and all four are mixed, the nearer ones more:",
    )  # fmt: skip
    shares = [details[f"part_{axis}"][0] / PARTS for axis in "xy"]
    right, down = shares
    weights = [(1 - right) * (1 - down), right * (1 - down), (1 - right) * down, right * down]
    x0, y0 = details["x"][0], details["y"][0]
    places = [((x0 + dx) % part.width, (y0 + dy) % part.height) for dy in (0, 1) for dx in (0, 1)]
    rows, squares = [], []
    for (x, y), texel, weight in zip(places, details["texel"], weights, strict=True):
        address = texture.place(part, x, y).address
        data = way.read(address, texture.texel_bytes)
        assert int.from_bytes(data, "little") == int(texel, 16)
        rows.append((f"({x}, {y})", place(address), octets(data), colour(data[:3]), f"{100 * weight:.2f} %"))
        squares.append((f"({x}, {y})", list(data[:3]), weight))
    page.table(("texel", "address", "bytes", "colour", "share"), rows)
    page.drawing(
        texel_square(squares, (right, down), "Four texels as squares with their shares, and the point between them"),
        "The four texels, t downwards, and the point that is sampled.",
    )  # fmt: skip
    result = [_real(values["result"][f"R{n}"]) for n in range(3)]
    sums = [sum(square[1][n] * square[2] for square in squares) / 255 for n in range(3)]
    page.say(
        f"The sums of bytes times shares, divided by 255, are {numbers(sums)}. The program gets {numbers(result)} in",
        "R0, R1 and R2.",
    )  # fmt: skip
    page.command(f"state scene.mxcap.zip {way.draw.address} --textures textures")


def _real(text: str) -> float:
    """A register's word, in hexadecimal, as a float."""
    return float(np.array([int(text, 16)], np.uint32).view(np.float32)[0])


def _sampler_text(sampler: dict[str, int]) -> str:
    names = ("ADDRESS_U", "ADDRESS_V", "MAG_FILTER", "MIN_FILTER", "MIP_FILTER")
    return ", ".join(f"{name} = {TSC[name].enum[sampler[name]]}" for name in names)


def the_pixel_program(page: Page, way: Followed) -> None:
    page.stage("The pixel program")
    found = list(way.pixel_trace)
    read = next(one.index for one in found if one.text.startswith("TEX"))
    fog = next(one.index for one in found if one.text.startswith("FADD R0, R0, -c[0x1][0x50]"))
    page.say(
        f"The *pixel program* (pixel shader) runs for each fragment, {len(found)} steps for ours. Its colour collects",
        "in the registers R0, R1 and R2:",
    )  # fmt: skip
    rows = []
    for name, step in (
        ("after the texture was read", read + 1), ("after the light was multiplied in", fog),
        ("at the end", len(found)),
    ):  # fmt: skip
        state = way.pixel_trace.at(step) if step < len(found) else way.pixel_trace.end
        rgb = [state.float(f"R{n}") for n in range(3)]
        rows.append((name, step, numbers(rgb), colour([round(255 * min(one, 1)) for one in rgb])))
    page.table(("moment", "before step", "R0, R1, R2", "as a colour"), rows)
    page.say(
        "The light comes from the direction of the normal and constants of the program. What comes after it is fog: a",
        "mixture with the colour in c[0x1][0x50], the more the farther away the ground is. On this GPU fog is nothing",
        "but a part of a program.",
    )  # fmt: skip
    front.steps(page, found, f"All {len(found)} steps")
    page.command(f"shader step scene.mxcap.zip {way.ground.pixel}")


def the_depth(page: Page, way: Followed) -> None:
    page.stage("Depth test and stencil test")
    values = way.stage("depth test").values
    tests = ("SET_DEPTH_TEST", "SET_DEPTH_FUNC", "SET_DEPTH_WRITE", "SET_STENCIL_TEST", "SET_ALPHA_TEST")
    page.say(
        "For each pixel the depth of what was drawn there is stored, so that what is farther away is not drawn over",
        f"it. The test here: {values['text']}. The numbers in brackets are the 24 bits as they are stored. A greater",
        "depth is farther away; the clear before had set all of them to the greatest. The fragment passes, and its",
        "depth is stored.",
    )  # fmt: skip
    page.table(
        ("method", "word", "means"),
        [(method(name), word(way.value(name)), meaning(known(name), way.value(name))) for name in tests],
    )
    lost = way.rejected.fragments[-1]
    page.say(
        f"Later the draw {way.rejected.event.address}, the sea, has a fragment here too:",
        f"{lost.stage('depth test').values['text']} is false, because the sea lies below the ground. It is rejected",
        "and changes nothing.",
    )  # fmt: skip
    page.command(f"why scene.mxcap.zip {ADDRESS}")


def the_output(page: Page, way: Followed) -> None:
    page.stage("Writing the colour")
    values = way.stage("blend").values
    before, after = (one[0] for one in (way.fragment.before, way.fragment.after))
    page.say(
        f"{method('SET_BLEND')} (0) is {way.value('SET_BLEND(0)')}, so the colour is not mixed with what is there. The",
        f"target has 8 bits for each channel ({method('SET_COLOR_TARGET_FORMAT')}:",
        f"{known('SET_COLOR_TARGET_FORMAT').fields[0].text(way.value('SET_COLOR_TARGET_FORMAT(0)'))}): each number is",
        "multiplied by 255 and rounded.",
    )  # fmt: skip
    page.table(
        ("channel", "from the program", "times 255", "stored"),
        [
            (name, number(value), f"{255 * value:.3f}", int(after[2 * n : 2 * n + 2], 16))
            for n, (name, value) in enumerate(zip(("red", "green", "blue", "alpha"), values["result"], strict=True))
        ],
    )  # fmt: skip
    page.say(
        f"So {colour(bytes.fromhex(before))} of the clear becomes {colour(bytes.fromhex(after))} of the ground.",
    )  # fmt: skip
    page.command(f"why scene.mxcap.zip {way.ground.pixel}")


def the_macro(page: Page, way: Followed) -> None:
    page.stage("The macro")
    event = way.firefly.event
    instances = [one for one in way.run.draws(0) if one.words and one.words.spans == event.words.spans]
    words = way.words_of(instances[0])
    written = [one for one in words if "new" in one.get("register", {})]
    call = [one for one in written if one["register"]["name"].startswith("CALL_MME")]
    page.say(
        f"{len(instances)} fireflies fly around the island. Each is a *draw* of four vertices with its own *instance*,",
        f"a number that chooses its place. The pushbuffer does not have {len(instances)} draws: it calls a *macro*, a",
        f"small program that the GPU runs to write methods. {method('CALL_MME_MACRO')} (0) starts macro 0 with the",
        f"first parameter, and {method('CALL_MME_DATA')} gives it the others:",
    )  # fmt: skip
    docs = (
        "how many instances", "vertices of each", "the word for BEGIN of the first instance",
        "the word for BEGIN of the others",
    )  # fmt: skip
    page.table(
        ("address", "word", "method", "used as"),
        [
            (f"`{int(one['address'], 16):#x}`", f"`{one['word']}`", front.linked(one["register"]["name"]), doc)
            for one, doc in zip(call, docs, strict=True)
        ],
    )  # fmt: skip
    first, other = (int(one["word"], 16) for one in call[2:])
    page.say(
        f"The macro is a loop. For each instance it writes {method('BEGIN')}, {method('DRAW_VERTEX_ARRAY')} and",
        f"{method('END')}. {word(first)} means {meaning(known('BEGIN'), first, ('OP', 'INSTANCE_ID'))}; {word(other)}",
        f"means {meaning(known('BEGIN'), other, ('OP', 'INSTANCE_ID'))}. Our firefly is instance",
        f"{event.facts['instance']}, which the debugger calls {event.address}.",
    )  # fmt: skip
    page.command(f"decode scene.mxcap.zip {instances[0].address} --macros")


def the_blending(page: Page, way: Followed) -> None:
    page.stage("The firefly, and blending")
    fragment = way.firefly.writer
    blend, depth = (way.stage(name, fragment).values for name in ("blend", "depth test"))
    found = list(way.firefly_trace)
    page.say(
        f"The firefly goes through the same stages. Its pixel program has {len(found)} steps and no texture: the",
        "farther a fragment is from the centre, the darker it is.",
    )  # fmt: skip
    front.steps(page, found, f"All {len(found)} steps")
    moment = way.run.seek(way.firefly.event.address)
    registers = moment.registers()
    names = ("SET_BLEND_COLOR_OP", "SET_BLEND_COLOR_SOURCE_COEFF", "SET_BLEND_COLOR_DEST_COEFF", "SET_DEPTH_WRITE")
    page.say(
        f"It is nearer than the ground: {depth['text']}. Light is added to what is there, so this draw has *blending*:",
        f"{blend['equation']}.",
    )  # fmt: skip
    page.table(
        ("method", "word", "means"),
        [(method(name), word(int(registers[name])), meaning(known(name), int(registers[name]))) for name in names],
    )
    after = fragment.after[0]
    page.table(
        ("channel", "ground + firefly", "sum", "stored"),
        [
            (name, f"{number(t)} + {number(s)}", number(r), int(after[2 * n : 2 * n + 2], 16))
            for n, (name, s, t, r) in enumerate(
                zip(("red", "green", "blue", "alpha"), blend["source"], blend["target"], blend["result"], strict=True)
            )
        ],
    )  # fmt: skip
    page.say(
        "Sums above 1 are stored as 1, which is 255. The result is the final colour of the pixel,",
        f"{colour(bytes.fromhex(after))}.",
    )  # fmt: skip
    page.command(f"why scene.mxcap.zip {way.firefly.pixel}")


def the_place(page: Page, way: Followed) -> None:
    page.stage("The place in memory")
    surface = way.moment.target.surface
    layout, size = surface.plane.layout, surface.format.bytes
    address = surface.place(X, Y)
    assert address == way.answer.place.address
    gobs = 1 << layout.block_height_log2
    column, row = X * size // GOB_WIDTH, Y // layout.block_height
    gob = Y % layout.block_height // GOB_HEIGHT
    byte, line = X * size % GOB_WIDTH, Y % GOB_HEIGHT
    page.say(
        f"The colours of the target begin at {place(surface.address)} ({method('SET_COLOR_TARGET_A')},",
        f"{method('SET_COLOR_TARGET_B')}) and take {size} bytes each. They do not lie row by row, but in *GOBs*",
        f"(groups of bytes) of {GOB_WIDTH} bytes by {GOB_HEIGHT} rows, so that pixels which are near each other on the",
        f"screen are near each other in memory. {gobs} GOBs below each other are a *block*",
        f"({method('SET_COLOR_TARGET_MEMORY')}), and blocks follow each other along the row. This layout is called",
        "block-linear.",
    )  # fmt: skip
    page.table(
        ("part", "computed as", "bytes"),
        [
            ("row of blocks", f"{Y} / {layout.block_height}: {row}, each {layout.row_size:,} bytes",
             f"{row * layout.row_size:,}"),
            ("block in the row", f"{X} * {size} / {GOB_WIDTH}: {column}, each {layout.block_size:,} bytes",
             f"{column * layout.block_size:,}"),
            ("GOB in the block", f"({Y} modulo {layout.block_height}) / {GOB_HEIGHT}: {gob}, each {GOB_SIZE} bytes",
             f"{gob * GOB_SIZE:,}"),
            ("place in the GOB", f"byte {byte} of row {line}", f"{_in_gob(byte, line)}"),
        ],
    )  # fmt: skip
    total = row * layout.row_size + column * layout.block_size + gob * GOB_SIZE + _in_gob(byte, line)
    assert surface.address + total == address
    page.drawing(
        inside_block(
            (column, row), gobs, gob, f"A block of {gobs} GOBs below each other; GOB {gob} is marked",
            (GOB_WIDTH, GOB_HEIGHT),
        ),
        f"The block of our pixel: block {column} of row {row} of blocks.",
    )  # fmt: skip
    across = range(0, GOB_WIDTH, SECTOR)
    names = [[str(_in_gob(start, down)) for start in across] for down in range(GOB_HEIGHT)]
    page.drawing(
        cells(
            names, (byte // SECTOR, line),
            "A GOB as 4 columns of 16 bytes and 8 rows, with the byte at which each begins", (72, 28),
        ),
        f"A GOB: at which byte each run of {SECTOR} bytes begins. Ours is the marked one, byte {byte % SECTOR} of it.",
    )  # fmt: skip
    page.say(
        f"{place(surface.address)} + {total:,} = {place(address)}. After the firefly the bytes there are",
        f"{octets(bytes.fromhex(way.firefly.writer.after[0]))}: red, green, blue, alpha.",
    )  # fmt: skip
    page.command(f"who scene.mxcap.zip {address:#x} --size {size}")


def _in_gob(byte: int, row: int) -> int:
    """Where a byte of a row is in its GOB."""
    return Layout(GOB_WIDTH, GOB_HEIGHT).offset_of(byte, row)


def the_present(page: Page, way: Followed) -> None:
    page.stage("Present")
    shown = way.run.log.presents[0]
    event = next(one for one in way.run.events(0) if one.kind == "show")
    data = way.run.seek(event.address).read(way.answer.place.address, way.answer.place.size)
    page.say(
        "When the frame is finished, the program hands the target to the system: it *presents* it.",
        f"{event.title[0].upper()}{event.title[1:]} ({event.address}). The system shows it with the next refresh of",
        f"the screen. The display reads the block-linear layout itself, so nothing is copied, and the pixel ({X}, {Y})",
        f"of the screen is read at {place(way.answer.place.address)}: {octets(data)}.",
    )  # fmt: skip
    page.table(
        ("property", "value"),
        [
            ("address", place(shown.gpu_va)), ("size", f"{shown.width} x {shown.height}"), ("format", shown.format),
            ("GOBs of a block", 1 << shown.block_height_log2), ("after submission", shown.after),
        ],
    )  # fmt: skip
    page.say(
        f"There {colour(way.answer.color)} lights up, and the way of this pixel ends. In the next frame the program",
        "draws to another target, while this one is shown.",
    )  # fmt: skip
    page.command(f"events scene.mxcap.zip {event.address}")


def end(page: Page, way: Followed) -> None:
    """Where to go from here."""
    page.heading("The same for any pixel")
    page.say(
        f"`pocketgpu why scene.mxcap.zip {ADDRESS}` prints the history of this pixel, and other numbers that of any",
        "other. In [the viewer](../guides/viewer.md) it is a click. [Why a pixel of a Switch has its",
        "colour](../guides/debugger-switch.md) explains the answers, and [the other page](3ds.md) follows a pixel of",
        "a 3DS, whose GPU works in another way.",
    )  # fmt: skip


STAGES_IN_ORDER = (
    front.the_submission, front.the_words, front.the_methods, front.the_constants, front.the_vertices,
    front.the_program, front.the_viewport, front.the_raster, front.the_inputs, the_texture, the_pixel_program,
    the_depth, the_output, the_macro, the_blending, the_place, the_present,
)  # fmt: skip


def write(capture: Path, folder: Path) -> Page:
    """The page, and its pictures in the folder."""
    page = Page(folder, "switch", "The way of a pixel: Switch")
    return followed.write(page, Followed(capture), (front.begin, *STAGES_IN_ORDER, end))
