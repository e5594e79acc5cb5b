"""The stages from the submission to the fragment's inputs (Switch)."""

from __future__ import annotations

import numpy as np
from PIL import Image

from pixel_way.drawings import bits
from pixel_way.pictures import around, covered, marked
from pixel_way.switch import ADDRESS, Followed, X, Y, known
from pixel_way.writing import (
    Page,
    code,
    colour,
    edge_rows,
    meaning,
    method,
    number,
    numbers,
    octets,
    place,
    whole,
    word,
)
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.headers import HANDLE
from pocketgpu.facts.maxwell.pushbuffers import ENTRY, HEADER, segment_of
from pocketgpu.pictures import beside

_SHOWN = (
    "SET_PIPELINE_SHADER(1)", "SET_PIPELINE_PROGRAM(1)", "SET_PIPELINE_PROGRAM(5)", "SET_VERTEX_STREAM_A_FORMAT(0)",
    "SET_VERTEX_STREAM_A_LOCATION_B(0)", "SET_INDEX_BUFFER_B", "SET_INDEX_BUFFER_E", "BEGIN", "DRAW_INDEX_BUFFER",
)  # fmt: skip
"""Methods whose words the page lists."""
_Z_RANGES = B197.values("SET_VIEWPORT_Z_CLIP.RANGE")


def linked(name: str) -> str:
    """A link to a method; the number of an array's element follows it."""
    base, _, index = name.partition("(")
    return method(base) + (f" ({index}" if index else "")


def steps(page: Page, found: list, title: str) -> None:
    """Steps of a program as a table that is folded."""
    page.lines += [f"<details><summary>{title}</summary>", ""]
    rows = [(one.index, code(one.text), one.read_text.replace("|", "\\|"), one.happened) for one in found]
    page.table(("step", "instruction", "reads", "writes"), rows)
    page.lines += ["</details>", ""]


def some_steps(page: Page, found: list) -> None:
    """Some steps of a program."""
    rows = [(one.index, code(one.text), one.read_text.replace("|", "\\|"), one.happened) for one in found]
    page.table(("step", "instruction", "reads", "writes"), rows)


def begin(page: Page, way: Followed) -> None:
    """What the page is about, with the pixel in the picture."""
    page.say(
        "A *pixel* is one point of a picture. This page follows one of them on a Nintendo Switch, from the program to",
        f"the screen. It is the pixel ({X}, {Y}), counted from the top left. It shows the ground of an island with a",
        f"firefly in front of it, and ends as {colour(way.answer.color)}.",
    )  # fmt: skip
    page.say(
        "The chip that draws is the *GM20B*, the GPU (graphics processor) of the Switch; its architecture is called",
        "Maxwell. Programs control it by *methods*: numbered places of 32 bits in one of its engines, each with a",
        "meaning, as registers have it on other chips. Each name of a method below is a link to the page that",
        "explains its bits.",
    )  # fmt: skip
    page.say(
        "Nothing here is an example with invented numbers. The recording that comes with pocketgpu was run while this",
        "page was built, and the debugger read the numbers from the machine. You can ask for them yourself. This",
        "renders the recording and tells where it is; the commands below call it `scene.mxcap.zip`:",
    )  # fmt: skip
    page.command("demo --console switch", f"why scene.mxcap.zip {ADDRESS}")
    height, width = way.screen.shape[:2]
    whole_screen = Image.fromarray(marked(way.screen, X, Y, 18)).resize((width // 2, height // 2), Image.Resampling.BOX)
    page.pictures([
        ("screen", np.asarray(whole_screen),
         "An island with a lighthouse at dusk, with a cross hair on the ground at its lower edge",
         f"The pixel ({X}, {Y}) in the first frame of the recording, at half the size of the screen."),
        ("around", around(way.screen, X, Y), "A bright spot on brown ground, with a frame around the middle pixel",
         "The pixels around it, enlarged."),
    ])  # fmt: skip
    page.say(
        f"Two draws made it: {way.draw.address} the ground, and {way.firefly.event.address} the firefly. The stages",
        "follow the ground first, and the firefly after it has been written.",
    )  # fmt: skip


def the_submission(page: Page, way: Followed) -> None:
    page.stage("The submission")
    entry = int(way.run.log.submissions[1].entries[0])
    address, count = segment_of(entry)
    page.say(
        "A program writes its commands into memory, as a row of words called a *pushbuffer*. Then it asks the system",
        "to run it, by a list of *GPFIFO entries*. An entry has 64 bits: where words are, and how many. The queue of",
        "a program is called a *channel*. This is the entry of our frame:",
    )  # fmt: skip
    low, high = entry & 0xFFFFFFFF, entry >> 32
    page.table(
        ("part", "value"),
        [
            ("the entry", f"`{entry:#018x}`, two words: {word(low)} and {word(high)}"),
            ("address of the words", f"{place(address)} (`GET`, `GET_HI`)"),
            ("number of words", f"{count} (`LENGTH`)"),
            ("`LEVEL`", ENTRY["LEVEL"].text(entry)),
            ("`SYNC`", ENTRY["SYNC"].text(entry)),
        ],
    )  # fmt: skip
    page.say("Addresses are those of the GPU's own view of memory, into which the system mapped the program's memory.")
    page.command("events scene.mxcap.zip f0/p0", "info scene.mxcap.zip")


def the_words(page: Page, way: Followed) -> None:
    page.stage("Words of the pushbuffer")
    event = way.draw
    (span,) = event.words.spans
    header = way.entry("SET_VERTEX_STREAM_A_FORMAT(0)")
    at = int(header["address"], 16) - 4
    value = int.from_bytes(way.read(at, 4), "little")
    page.say(
        f"{len(event.words.values)} words, from {place(span.address)} on, belong to the draw of the ground. A *header*",
        "says which method gets the words that follow, on which subchannel (each has an engine: 3D, compute, copies),",
        f"how many there are, and whether they go to one method after the other. The header {word(value)} at",
        f"{place(at)}:",
    )  # fmt: skip
    page.drawing(
        bits(
            [one for one in HEADER.fields if not one.view], value,
            f"The 32 bits of the header {value:#010x}, by fields",
        ),
        f"The header {value:#010x}: {HEADER['COUNT'].raw(value)} words for method {HEADER['ADDRESS'].raw(value):#x} "
        "and those after it.",
    )  # fmt: skip
    page.say(
        "A header can also hold a small value itself, so that one word is enough. SEC_OP says which form it is.",
    )  # fmt: skip
    page.command(f"decode scene.mxcap.zip {event.address}")


def the_methods(page: Page, way: Followed) -> None:
    page.stage("Methods set the state")
    page.say(
        "Most methods only keep what is written to them. Together they are the *state*: what will be drawn, from",
        "where, and how. Here are some of the words of our draw:",
    )  # fmt: skip
    rows = []
    for name in _SHOWN:
        entry = way.entry(name)
        value = int(entry["register"]["new"], 16)
        rows.append((f"`{int(entry['address'], 16):#x}`", word(value), linked(name), meaning(known(name), value)))
    page.table(("address", "value", "method", "means"), rows)
    page.say(
        f"{method('BEGIN')} and {method('DRAW_INDEX_BUFFER')} start a *draw*. Shader 1 is the program for vertices,",
        "shader 5 the one for pixels. An upper half of an address, such as `5` for the region of programs, is in a",
        "method of its own. In short, the draw has this state:",
    )  # fmt: skip
    page.table(("part", "state"), way.run.seek(way.draw.address).summary.parts.items())
    page.command(f"state scene.mxcap.zip {way.draw.address}")


def the_constants(page: Page, way: Followed) -> None:
    page.stage("Constants")
    page.say(
        "Numbers that are the same for all vertices and pixels of a draw are in *constant buffers*, written",
        f"c[buffer][byte] in programs. The pushbuffer carries their words: {method('LOAD_CONSTANT_BUFFER')} writes",
        f"them to the buffer that {method('SET_CONSTANT_BUFFER_SELECTOR_A')} and the two methods after it choose, and",
        f"{method('BIND_GROUP_CONSTANT_BUFFER')} gives it a number for a program. The draw of the ground has:",
    )  # fmt: skip
    moment = way.run.seek(way.draw.address)
    rows = []
    for one in moment.buffers:
        data = np.frombuffer(way.read(one.address, 16), np.float32)
        rows.append((f"{one.group} c[{one.slot:#x}]", place(one.address), f"{one.size} bytes", numbers(data)))
    page.table(("buffer", "address", "size", "first four words as floats"), rows)
    page.say(
        "c[0x0] of the vertex program begins with the matrix of the camera. c[0x2] of the pixel program has the",
        f"*handle* of a texture, which is no float: {word(way.texture.handle)}. Its lower 20 bits are the number of a",
        f"texture header, {way.texture.number}, the upper ones that of a sampler,",
        f"{HANDLE['SAMPLER'].raw(way.texture.handle)}.",
    )  # fmt: skip
    page.command(f"decode scene.mxcap.zip {way.draw.address} --filter 'LOAD_CONSTANT*'")


def the_vertices(page: Page, way: Followed) -> None:
    page.stage("Indices and vertex streams")
    index = way.moment.index_buffer
    first = way.corners[0]
    page.say(
        "A triangle has three corners, and what a program says about a corner is a *vertex*: a row of numbers, called",
        "its attributes. Neighbours share vertices, so the draw has a list of *indices*: numbers of vertices, three",
        f"for each triangle. Our triangle is number {way.fragment.primitive} of the draw; its indices are the numbers",
        f"{whole(way.corners)} of the list at {place(index.address)} ({method('SET_INDEX_BUFFER_A')},",
        f"{method('SET_INDEX_BUFFER_B')}).",
    )  # fmt: skip
    size = int(index.type.lstrip("u")) // 8
    rows = []
    for corner in way.corners:
        at = index.address + corner * size
        rows.append((corner, place(at), octets(way.read(at, size)), int(index.array[corner])))
    page.table(("place in the list", "address", "bytes", "index"), rows)
    (buffer,) = way.moment.vertex_buffers
    vertex = int(index.array[first])
    page.say(
        f"A *vertex stream* is memory with vertices. {method('SET_VERTEX_STREAM_A_LOCATION_B')} says that it begins at",
        f"{place(buffer.address)}, {method('SET_VERTEX_STREAM_A_FORMAT')} that each vertex takes {buffer.stride}",
        f"bytes, and {method('SET_VERTEX_ATTRIBUTE_A')} where in them each attribute is, and in which format. The",
        f"bytes of vertex {vertex}:",
    )  # fmt: skip
    rows = []
    for attribute, element in zip(way.vertices.attributes, buffer.elements, strict=True):
        at = buffer.address + buffer.stride * vertex + element.at
        values = way.vertices.inputs[attribute.register][first]
        kind = f"{attribute.format} {attribute.type}"
        rows.append((attribute.register, place(at), octets(way.read(at, element.size)), kind, numbers(values)))
    page.table(("attribute", "address", "bytes", "format", "values"), rows)
    page.say(
        "*snorm* means that whole numbers stand for -1 to 1. a0 is the position, a1 the direction that the surface",
        "faces (its normal), a2 where on the texture it is. Components that are missing become 0, 0, 0, 1.",
    )  # fmt: skip
    page.command(f"state scene.mxcap.zip {way.draw.address} --vertices vertices.npz")


def the_program(page: Page, way: Followed) -> None:
    page.stage("The vertex program")
    found = list(way.trace)
    positions = [one for one in found if any(f"R{n}" in one.text.split(",")[0] for n in (12, 13, 14, 15))
                 and one.text.startswith(("MOV", "FFMA"))][:16]  # fmt: skip
    page.say(
        "The *vertex program* (vertex shader) runs once for each vertex. It is machine code of the GPU, with",
        f"{way.moment.programs['vertex B'].registers} registers R0, R1, ... of 32 bits. `ALD` loads attributes, `AST`",
        f"stores results, and `FFMA` multiplies two numbers and adds a third. For vertex {way.corners[0]} it takes",
        f"{len(found)} steps. These multiply the position by the matrix of the camera:",
    )  # fmt: skip
    some_steps(page, positions)
    steps(page, found, f"All {len(found)} steps")
    page.say(
        "Results are stored at numbers of attribute space: a[0x70] has the position, a[0x80] and those after it what",
        "the pixel program shall get. For the three vertices:",
    )  # fmt: skip
    rows = [
        (vertex, *(numbers(out[name]) for name in ("position", "generic0", "generic1")))
        for vertex, out in zip(way.corners, way.outputs, strict=True)
    ]
    page.table(("vertex", "position, a[0x70]: x, y, z, w", "normal, a[0x80]", "texture coordinates, a[0x90]"), rows)
    page.command(f"shader step scene.mxcap.zip {way.fragment.corners[0].address}")


def the_viewport(page: Page, way: Followed) -> None:
    page.stage("Clipping and the viewport")
    clip = way.value("SET_VIEWPORT_Z_CLIP")
    near = "0" if known("SET_VIEWPORT_Z_CLIP")["RANGE"].raw(clip) == _Z_RANGES.ZERO_TO_POSITIVE_W else "-w"
    page.say(
        "w tells how far away from the camera a corner is. Triangles that reach out of what can be seen would be cut",
        "off at its border (*clipping*). Ours lies inside: x and y of all corners are between -w and w, and z is",
        f"between {near} and w ({method('SET_VIEWPORT_Z_CLIP')}: {known('SET_VIEWPORT_Z_CLIP')['RANGE'].text(clip)}).",
        "They are divided by w, so that what is far away gets small. Then the *viewport* makes columns, rows and",
        "depths:",
    )  # fmt: skip
    rows = []
    for axis, name in zip("XYZ", ("column", "row", "depth"), strict=True):
        scale, offset = (way.real(f"SET_VIEWPORT_{part}_{axis}(0)") for part in ("SCALE", "OFFSET"))
        rows.append((
            name, f"{axis.lower()} / w * {number(scale)} + {number(offset)}",
            f"{method(f'SET_VIEWPORT_SCALE_{axis}')}, {method(f'SET_VIEWPORT_OFFSET_{axis}')}",
        ))  # fmt: skip
    page.table(("result", "computed as", "factors from"), rows)
    page.table(
        ("vertex", "column", "row", "depth", "1 / w"),
        [
            (vertex, f"{x:.2f}", f"{y:.2f}", number(z), number(1 / out["position"][3]))
            for vertex, out in zip(way.corners, way.outputs, strict=True)
            for x, y, z in [way.window(out["position"])]
        ],
    )  # fmt: skip
    page.command(f"why scene.mxcap.zip {way.draw.address}/t{way.fragment.primitive}")


def the_raster(page: Page, way: Followed) -> None:
    page.stage("Set-up and raster")
    shape = way.shape
    page.say(
        "Which pixels does a triangle cover? For each of its three edges, *set-up* makes a function of the place that",
        "is 0 on the edge and grows towards the inside. Places are counted in 256ths of a pixel. A pixel is covered",
        "if all three are 0 or more at its centre. *Raster* means to test this for the pixels around:",
    )  # fmt: skip
    page.table(("edge", "function", "at the pixel"), edge_rows(shape, "x", "y"))
    page.say(
        "All three are positive, so the pixel is covered. What a triangle leaves on a pixel is a *fragment*. It is",
        "not a pixel yet: it can still be rejected, or mixed with what is there.",
    )  # fmt: skip
    height, width = way.screen.shape[:2]
    sheet = marked(covered(way.screen, [shape.mask(width, height)]), X, Y, 14)
    left, top, right, bottom = X - 100, Y - 60, X + 100, Y + 60
    page.picture(
        "triangle", np.asarray(beside([Image.fromarray(sheet[top:bottom, left:right])], scale=3)),
        "A part of the screen in grey with one small triangle in a bright colour; the pixel is marked inside of it",
        "The pixels that the triangle covers, in a part of the screen.",
    )  # fmt: skip
    page.command(f"why scene.mxcap.zip {way.draw.address}")


def the_inputs(page: Page, way: Followed) -> None:
    page.stage("Interpolation")
    shape = way.shape
    corners = [way.window(out["position"])[:2] for out in way.outputs]
    total = float(shape.values.sum())
    shares = [float(shape.values[edge]) / total for edge in shape.opposite(corners)]
    inverse = [1 / float(out["position"][3]) for out in way.outputs]
    one_over_w = sum(share * one for share, one in zip(shares, inverse, strict=True))
    page.say(
        "The corners have texture coordinates, but which has a point between them? The GPU *interpolates*: the nearer",
        "a corner is, the more it counts. The share of a corner is the function of the edge opposite to it, divided",
        "by the sum of all three. Because things get smaller with distance, values are divided by w before they are",
        "mixed, and the sum is divided by that of 1 / w:",
    )  # fmt: skip
    rows = [
        (
            vertex, f"{100 * share:.2f} %", number(one), number(share * one),
            *(number(share * one * float(out["generic1"][n])) for n in (0, 1)),
        )
        for vertex, share, one, out in zip(way.corners, shares, inverse, way.outputs, strict=True)
    ]  # fmt: skip
    sums = [
        sum(
            share * one * float(out["generic1"][n])
            for share, one, out in zip(shares, inverse, way.outputs, strict=True)
        )
        for n in (0, 1)
    ]
    rows.append(("sum", "", "", number(one_over_w), *(number(one) for one in sums)))
    rows.append(("divided by the sum of 1 / w", "", "", "", *(number(one / one_over_w) for one in sums)))
    page.table(("vertex", "share", "1 / w", "share / w", "share * s / w", "share * t / w"), rows)
    page.say(
        "The pixel program asks for this itself. `IPA` interpolates one number, `MUFU.RCP` computes 1 / x, and the",
        "first steps for our fragment are:",
    )  # fmt: skip
    some_steps(page, list(way.pixel_trace)[:4])
    page.command(f"shader step scene.mxcap.zip {way.ground.pixel} --to 3")
