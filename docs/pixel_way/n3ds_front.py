"""The stages from the call to the fragment's inputs (3DS)."""

from __future__ import annotations

import struct

import numpy as np
from PIL import Image

from pixel_way.drawings import bits
from pixel_way.n3ds import ADDRESS, Followed, X, Y, known
from pixel_way.pictures import around, covered, marked
from pixel_way.writing import (
    Page,
    code,
    colour,
    edge_rows,
    meaning,
    number,
    numbers,
    octets,
    place,
    register,
    signed,
    whole,
    word,
)
from pocketgpu.builder import gx
from pocketgpu.facts.gsp import GX_COMMANDS, GX_HEADER, GX_QUEUE
from pocketgpu.facts.n3ds.structures import structure
from pocketgpu.facts.pica import PICA, START_LIST
from pocketgpu.facts.shader_isa import SEMANTICS
from pocketgpu.pictures import beside

_SHOWN = (
    "TEXUNIT0_DIM", "TEXUNIT0_PARAM", "TEXUNIT0_ADDR", "TEXUNIT0_TYPE", "TEXENV0_SOURCE", "TEXENV0_COMBINER",
    "BLEND_FUNC", "DEPTH_COLOR_MASK", "ATTRIBBUFFERS_LOC", "NUMVERTICES", "DRAWARRAYS",
)  # fmt: skip
"""Registers whose words the page lists."""
GX_SLOT = 32
"""Bytes of a GX command: eight words."""
_FIELDS = {
    "TEXENV0_SOURCE": ("rgb0", "rgb1", "rgb2"), "TEXENV0_COMBINER": ("rgb",),
    "TEXUNIT0_PARAM": ("mag_filter", "wrap_t", "wrap_s"),
    "DEPTH_COLOR_MASK": ("depth_test", "depth_function", "depth_write"),
    "BLEND_FUNC": ("equation_rgb", "src_rgb", "dst_rgb"),
}  # fmt: skip
"""Fields of them that matter here; of others all."""


def begin(page: Page, way: Followed) -> None:
    """What the page is about, with the pixel in the picture."""
    page.say(
        "A *pixel* is one point of a picture. This page follows one of them on a Nintendo 3DS, from the call of a",
        f"program to the screen. It is the pixel ({X}, {Y}) of the top screen, counted from the top left. It shows",
        f"water, and ends as {colour(way.answer.color)}.",
    )  # fmt: skip
    page.say(
        "The chip that draws is the *PICA200*, the GPU (graphics processor) of the 3DS. Programs control it by its",
        "*registers*: words of 32 bits inside the chip, each with an address and a meaning. Each name of a register",
        "below is a link to the page that explains its bits.",
    )  # fmt: skip
    page.say(
        "Nothing here is an example with invented numbers. The recording that comes with pocketgpu was run while this",
        "page was built, and the debugger read the numbers from the machine. You can ask for them yourself. This",
        "renders the recording and tells where it is; the commands below call it `scene.ctf.xz`:",
    )  # fmt: skip
    page.command("demo", f"why scene.ctf.xz {ADDRESS}")
    page.pictures([
        ("screen", marked(way.screen, X, Y), "The top screen: a jewel above water, with a cross hair on its reflection",
         f"The pixel ({X}, {Y}) in the first frame of the recording."),
        ("around", around(way.screen, X, Y), "Some rows of dark blue pixels, with a frame around the middle one",
         "The pixels around it, enlarged."),
    ])  # fmt: skip


def the_call(page: Page, way: Followed) -> None:
    page.stage("The call of the program")
    event = way.list
    size, address = int(event.facts["size"]), event.reads[0].address
    words = gx.process_command_list(address, size)
    page.say(
        "A program does not write registers itself. It puts a *GX command* into a queue in memory that it shares with",
        "*gsp*, the part of the system software for graphics. A GX command has eight words. This one says: run the",
        f"command list at {place(address)}. The program knows this place by another address, {word(words[1])}, because",
        "each program has a view of memory of its own; gsp translates.",
    )  # fmt: skip
    slots, count = GX_QUEUE["slots"], GX_QUEUE["slots"].size // GX_SLOT
    page.say(
        f"The queue of the first program begins at byte {GX_QUEUE.start(0):#x} of the shared memory. It has room for",
        f"{count} commands of {GX_SLOT} bytes each, from byte {slots.offset} of the queue on.",
    )  # fmt: skip
    command = next(one for one in GX_COMMANDS if one.id == GX_HEADER["id"].raw(words[0]))
    names = ["header: command " + command.name, *(one.name for one in command.words)]
    docs = ["", *(one.doc for one in command.words)]
    rows = [
        (index, word(value), name, doc) for index, (value, name, doc) in enumerate(zip(words, names, docs, strict=True))
        if name != "unused"
    ]  # fmt: skip
    page.table(("word", "value", "name", "note"), rows)
    page.say(
        "Then gsp writes three registers of the GPU. The last one starts the list. These writes are in the recording;",
        "the command above is the one that makes gsp do them.",
    )  # fmt: skip
    values = {
        "CMDBUF_SIZE0": PICA["CMDBUF_SIZE0"].encode(size=size),
        "CMDBUF_ADDR0": PICA["CMDBUF_ADDR0"].encode(address=address),
        "CMDBUF_JUMP0": START_LIST,
    }
    page.table(
        ("register", "address", "word", "means"),
        [
            (register(name), place(known(name).address), word(value), meaning(known(name), value))
            for name, value in values.items()
        ],
    )  # fmt: skip
    page.command(f"events scene.ctf.xz {event.address}", "decode scene.ctf.xz f0 --filter 'CMDBUF*'")


def the_list(page: Page, way: Followed) -> None:
    page.stage("Words of the command list")
    spans = way.draw.words.spans
    page.say(
        "A *command list* is a row of words in memory. The GPU reads it by itself, while the processor does other",
        "things. Words come in pairs: a value, then a header that says which register gets it.",
        f"{len(way.draw.words.values)} of the {len(way.list.words.values)} words of this list, from",
        f"{place(spans[0].address)} on, belong to the draw that makes our pixel. Here are some of them:",
    )  # fmt: skip
    rows = []
    for name in _SHOWN:
        entry = way.entry(name)
        value = int(entry["register"]["new"], 16)
        fields = _FIELDS.get(name, ())
        said = meaning(known(name), value, fields)
        rows.append((f"`{entry['address']}`", f"`{entry['word']}`", register(name), said))
    page.table(("address", "value", "register", "means"), rows)
    entry = way.entry("TEXUNIT0_ADDR")
    header = int.from_bytes(way.read(int(entry["address"], 16) + 4, 4), "little")
    layout = structure("LIST_ENTRY")
    page.say(
        f"The header after the value of {register('TEXUNIT0_ADDR')} is {word(header)}. It names the register by its",
        "number (`id`), and says which of its four bytes are written (`byte_mask`) and how many more values follow",
        "(`extra`).",
    )  # fmt: skip
    page.drawing(
        bits(
            [one for one in layout.fields if one.name != "unused"], header,
            f"The 32 bits of the header {header:#010x}, by fields",
        ),
        f"The header {header:#010x}: id {layout['id'].raw(header):#05x} is TEXUNIT0_ADDR.",
    )  # fmt: skip
    page.command(f"decode scene.ctf.xz {way.draw.address}")


def the_registers(page: Page, way: Followed) -> None:
    page.stage("The state of the draw")
    page.say(
        f"{register('DRAWARRAYS')} starts a *draw*: the GPU draws triangles with whatever its registers hold at that",
        "moment. This is called the state. Registers keep their values, so most of them were set earlier, and a list",
        "only changes what shall be different. In short, this draw has:",
    )  # fmt: skip
    summary = way.run.seek(way.draw.address).summary.parts
    page.table(("part", "state"), summary.items())
    page.say(
        "The *target* is where colours and depths are drawn to, in video memory. The 3DS holds its screens on their",
        f"side, so the target of the top screen is {way.moment.target.width} pixels wide and",
        f"{way.moment.target.height} high. Our pixel ({X}, {Y}) is in column {way.source.x}. In memory it is in row",
        f"{way.source.y}. The viewport counts rows from the other end ({register('FRAMEBUFFER_DIM')}: flip =",
        f"{way.text('FRAMEBUFFER_DIM.flip')}), so there it is in row {way.row}. Addresses in commands, such as",
        f"{code(f'px{way.source.x},{way.row}')}, and all rows up to blending count as the viewport does.",
    )  # fmt: skip
    page.command(f"state scene.ctf.xz {way.draw.address}")


def the_attributes(page: Page, way: Followed) -> None:
    page.stage("Attributes of the vertices")
    first = way.corners[0]
    page.say(
        "A triangle has three corners, and what a program says about a corner is a *vertex*: a row of numbers, called",
        f"its attributes. Our triangle is number {way.fragment.primitive} of the draw. Its vertices are numbers",
        f"{whole(way.corners)}. {register('ATTRIBBUFFERS_LOC')} says where in memory they begin, and",
        f"{register('ATTRIBBUFFER0_CONFIG2')} that each takes {way.text('ATTRIBBUFFER0_CONFIG2.stride')}. The bytes of",
        f"vertex {first}:",
    )  # fmt: skip
    vertices = way.moment.vertices
    row = np.flatnonzero(np.asarray(vertices.numbers) == first)[0]
    rows = []
    (buffer,) = way.moment.vertex_buffers
    for attribute, element in zip(vertices.attributes, buffer.elements, strict=True):
        address = buffer.address + buffer.stride * first + element.at
        data = way.read(address, element.size)
        values = vertices.inputs[attribute.register][row][: len(element.columns)]
        rows.append((attribute.register, place(address), octets(data), attribute.format, numbers(values)))
    page.table(("attribute", "address", "bytes", "format", "values"), rows)
    begin = way.read(buffer.address + buffer.stride * first, 4)
    page.say(
        "v0 is the position in the world, v1 the direction that the surface faces (its normal), v2 where on the",
        f"texture it is, v3 its colour. The formats are in {register('ATTRIBBUFFERS_FORMAT_LOW')}. Numbers have their",
        f"lowest byte first: {octets(begin)} is the float {number(struct.unpack('<f', begin)[0])}.",
    )  # fmt: skip
    page.command(f"state scene.ctf.xz {way.draw.address} --vertices vertices.npz")


def the_program(page: Page, way: Followed) -> None:
    page.stage("The vertex program")
    page.say(
        "The *vertex program* (vertex shader) runs once for each vertex. Its input registers v0 to v15 have the",
        "attributes, c0 to c95 have constants that the program of the console sent (uniforms), o0 to o15 are its",
        f"results. For vertex {way.corners[0]} it takes {len(way.trace)} steps:",
    )  # fmt: skip
    page.table(
        ("step", "instruction", "reads", "writes"),
        [
            (step.index, code(step.text), step.read_text, step.happened) for step in way.trace
        ],
    )  # fmt: skip
    page.say(
        "`dp4` multiplies four pairs of numbers and adds the products. So steps 1 to 4 multiply the position by a",
        "matrix, which turns a place in the world into a place as the camera sees it. The last step makes a colour",
        f"from 0 to 1 of the bytes. {register('VSH_ENTRYPOINT')} says where the program begins,",
        f"{register('VSH_FLOATUNIFORM_INDEX')} and {register('VSH_FLOATUNIFORM_DATA0')} filled the constants, and",
        f"{register('SH_OUTMAP_O0')} and the registers after it say what each output means.",
    )  # fmt: skip
    page.say(
        "A console computes this with floats of 24 bits. pocketgpu uses 32 bits unless the choice",
        "{choice}`shader.precision` is f24, so the last digits can differ from those of a console.",
    )  # fmt: skip
    vertices = way.moment.vertices
    rows = []
    for vertex in way.corners:
        out = vertices.outputs[np.flatnonzero(np.asarray(vertices.numbers) == vertex)[0]]
        rows.append((vertex, numbers(out["position"]), numbers(out["color"]), numbers(out["texcoord0"][:2])))
    page.table(("vertex", "position x, y, z, w", "colour r, g, b, a", "texture coordinates s, t"), rows)
    page.command(f"shader step scene.ctf.xz {way.fragment.corners[0].address}")


def the_clipping(page: Page, way: Followed) -> None:
    page.stage("Clipping and the viewport")
    vertices = way.moment.vertices
    outputs = [vertices.outputs[np.flatnonzero(np.asarray(vertices.numbers) == one)[0]] for one in way.corners]
    beyond = [one for one, out in zip(way.corners, outputs, strict=True) if out["position"][3] <= 0]
    page.say(
        "w tells how far away from the camera a corner is. A corner with w below 0 is behind the camera, as vertex",
        f"{whole(beyond)} is here, and cannot be shown. The GPU cuts such triangles off at the border of what can be",
        f"seen. This is *clipping*. What is left of our triangle has {len(way.parts) + 2} corners, so it becomes",
        f"{len(way.parts)} triangles.",
    )  # fmt: skip
    width, height = (float(known(f"VIEWPORT_{side}")["value"].decode(way.value(f"VIEWPORT_{side}")))
                     for side in ("WIDTH", "HEIGHT"))  # fmt: skip
    x0, y0 = (int(known("VIEWPORT_XY")[axis].decode(way.value("VIEWPORT_XY"))) for axis in "xy")
    page.say(
        "Then x, y and z are divided by w, so that what is far away gets small, and the *viewport* makes columns and",
        f"rows of the results: column = (x / w + 1) * {number(width)} + {x0} and row = (y / w + 1) * {number(height)}",
        f"+ {y0}. The factors are {register('VIEWPORT_WIDTH')} and {register('VIEWPORT_HEIGHT')}, which hold half of",
        f"the size; {register('VIEWPORT_XY')} is where the viewport begins.",
    )  # fmt: skip
    rows = []
    for vertex, out in zip(way.corners, outputs, strict=True):
        x, y, _, w = (float(one) for one in out["position"])
        if w > 0:
            column, line = (x / w + 1) * width + x0, (y / w + 1) * height + y0
            rows.append((vertex, number(x / w), number(y / w), f"{column:.2f}", f"{line:.2f}"))
        else:
            rows.append((vertex, "behind the camera", "", "", ""))
    page.table(("vertex", "x / w", "y / w", "column", "row"), rows)
    page.say(
        "Corners with rows that lie so far outside are cut off as well: what can be seen ends where the viewport does,",
        f"at the rows {y0} and {number(2 * height + y0)}.",
    )  # fmt: skip
    page.command(f"why scene.ctf.xz {way.draw.address}/t{way.fragment.primitive}")


def the_raster(page: Page, way: Followed) -> None:
    page.stage("Set-up and raster")
    part = way.part
    page.say(
        "Which pixels does a triangle cover? For each of its three edges, *set-up* makes a function of column and row",
        "that is 0 on the edge and grows towards the inside. A pixel is covered if all three are 0 or more at its",
        f"centre. *Raster* means to test this for the pixels around. For column {way.source.x} and row {way.row}:",
    )  # fmt: skip
    page.table(("edge", "function", "at the pixel"), edge_rows(part, "column", "row"))
    page.say(
        "All three are positive, so the pixel is covered. What a triangle leaves on a pixel is a *fragment*. It is",
        "not a pixel yet: it can still be rejected, or mixed with what is there.",
    )  # fmt: skip
    masks = [one.mask.T[::-1] for one in way.parts]
    sheet = marked(covered(way.screen, masks), X, Y)
    page.picture(
        "triangle", np.asarray(beside([Image.fromarray(sheet)], scale=2)),
        f"The top screen in grey; {len(masks)} parts of the triangle cover a strip at its bottom with the marked pixel",
        "What is left of the triangle after clipping, in a shade for each of the triangles that it became. It is the "
        "part of the water that is nearest to the camera.",
    )  # fmt: skip
    page.command(f"why scene.ctf.xz {way.draw.address}")


def the_inputs(page: Page, way: Followed) -> None:
    page.stage("Interpolation")
    part, inputs = way.part, way.stage("inputs").values
    wanted = ("color.r", "color.g", "color.b", "color.a", "texcoord0.u", "texcoord0.v")
    slots = {name: SEMANTICS.index(name) for name in wanted}
    one_over_w = 1 / inputs["w"]
    page.say(
        "The corners have colours, but what colour has a point between them? The GPU *interpolates*: the nearer a",
        "corner is, the more it counts. The edge functions say how near. Because things get smaller with distance,",
        "the GPU interpolates 1 / w and each value divided by w, and divides the results at the end. Each is a start",
        "value plus a change for two of the edges:",
    )  # fmt: skip
    names = {"texcoord0.u": "s", "texcoord0.v": "t"}

    def said(base: float, first: float, second: float) -> str:
        changes = f"{signed(first)} * {part.values[1]} {signed(second)} * {part.values[2]}"
        return f"{number(base)} {changes}"

    base, d1, d2 = part.plane(SEMANTICS.index("position.w"))
    rows = [("1 / w", said(base, d1, d2), number(one_over_w), "")]
    for name, slot in slots.items():
        base, d1, d2 = part.plane(slot)
        over = part.over_w(slot)
        rows.append((
            f"{names.get(name, name)} / w", said(base, d1, d2),
            number(over), f"{names.get(name, name)} = {number(over / one_over_w)}",
        ))  # fmt: skip
    page.table(("value", "start and changes", "at the pixel", "divided by 1 / w"), rows)
    page.say(
        "The result is what the following stages get for this fragment: colour",
        f"{numbers(inputs[f'color.{channel}'] for channel in 'rgba')}, w {number(inputs['w'])}, depth",
        f"{number(inputs['depth'])}. Depth is z / w of the fragment, with {register('DEPTHMAP_SCALE')}",
        f"({way.text('DEPTHMAP_SCALE.value')}) and {register('DEPTHMAP_OFFSET')} ({way.text('DEPTHMAP_OFFSET.value')})",
        "applied.",
    )  # fmt: skip
    page.command(f"why scene.ctf.xz {way.touch.pixel}")
