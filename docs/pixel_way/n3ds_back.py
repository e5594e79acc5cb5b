"""The stages from the texture to the screen (3DS)."""

from __future__ import annotations

from pathlib import Path

from pixel_way import followed
from pixel_way import n3ds_front as front
from pixel_way.drawings import cells, scan, texel_square
from pixel_way.n3ds import ADDRESS, SCREEN, Followed, X, Y, known
from pixel_way.writing import Page, colour, meaning, number, octets, place, register, whole, word
from pocketgpu.builder import gx
from pocketgpu.facts.timing import CPU_CLOCK
from pocketgpu.pica.fragment.combiners import STAGES
from pocketgpu.pica.memory.surface import texel_index

TILE = 8
"""Pixels of a side of a tile."""


def the_texture(page: Page, way: Followed) -> None:
    page.stage("The texture")
    values = way.stage("texture 0").values
    width, height = values["size"]
    texels = list(way.texels())
    page.say(
        "A *texture* is a picture in memory that is put onto triangles; its pixels are called *texels*. Texture unit",
        f"0 reads the one at {place(int(values['address'], 16))}, {width} x {height} texels in format",
        f"{values['format']} ({register('TEXUNIT0_ADDR')}, {register('TEXUNIT0_DIM')}, {register('TEXUNIT0_TYPE')}).",
        "I8 has one byte for each texel, its brightness. The first row in memory is the top one: texels",
        f"(0, {height - 1}) to ({width - 1}, {height - 1}).",
    )  # fmt: skip
    page.say(
        f"The interpolated coordinates are s = {number(values['s'])} and t = {number(values['t'])}. From 0 to 1 they",
        f"go once over the texture. {register('TEXUNIT0_PARAM')} sets the wrap mode to {values['wrap_s']}, so beyond 1",
        f"the texture begins again: s * {width} = {number(values['s'] * width)} and t * {height} =",
        f"{number(values['t'] * height)}. The point lies between the centres of four texels, and the filter mode is",
        f"{values['mag_filter']}: all four are mixed, the nearer ones more. Each share is a part of the distance to",
        f"the right (here {number(values['fraction_s'])} of a texel) times one of the distance up",
        f"({number(values['fraction_t'])}):",
    )  # fmt: skip
    page.table(
        ("texel", "address", "byte", "colour", "share"),
        [
            (
                f"({texel['x']}, {texel['y']})", place(address), octets(way.read(address, 1)), colour(texel["color"]),
                f"{100 * weight:.2f} %",
            )
            for texel, address, weight in texels
        ],
    )  # fmt: skip
    upper, lower = texels[2:], texels[:2]
    page.drawing(
        texel_square(
            [(f"({one['x']}, {one['y']})", one["color"], weight) for one, _, weight in [*upper, *lower]],
            (values["fraction_s"], 1 - values["fraction_t"]),
            "Four texels as squares with their shares, and the point between their centres",
        ),
        "The four texels, t upwards, and the point that is sampled. The last texel of a row is left of the first one, "
        "because the texture repeats.",
    )  # fmt: skip
    total = sum(one["color"][0] * weight for one, _, weight in texels)
    page.say(
        f"The sum of bytes times shares is {total:.2f}, and the unit gives {colour(values['color'])}. Texels that are",
        "neighbours have addresses that are not: textures are stored in tiles, as the",
        f"[target](#way-{page.stem}-{STAGES_IN_ORDER.index(the_framebuffer) + 1}) is.",
    )  # fmt: skip
    page.command(f"state scene.ctf.xz {way.draw.address} --textures textures")


def the_combiners(page: Page, way: Followed) -> None:
    page.stage("The texture combiners")
    busy = [n for n in range(STAGES) if not way.stage(f"combiner {n}").values["idle"]]
    page.say(
        f"The PICA200 has no programs for fragments. It has {STAGES} *combiners* in a row instead. For each, registers",
        "choose an operation and its inputs: textures, the colour of the vertices, a constant, the result of the",
        f"combiner before. Values are whole numbers from 0 to 255. Of our draw, combiners {whole(busy)} do something,",
        "and the others pass their input on:",
    )  # fmt: skip
    rows = []
    for number_ in busy:
        values = way.stage(f"combiner {number_}").values
        for part in ("rgb", "alpha"):
            one = values[part]
            operands = ", ".join(f"{x['source']}.{x['operand']} {x['value']}" for x in one["operands"])
            rows.append((f"{number_} {part}", one["operation"], operands, one["result"]))
    page.table(("combiner", "operation", "inputs", "result"), rows)
    page.say(
        "*interpolate* mixes the first two inputs by the third: a * c + b * (1 - c). *add signed* adds, and subtracts",
        f"128, so that an input can make the other one darker, too: {_signed(way)}. Here the texture makes waves of",
        "light and shadow in the colour of the water.",
    )  # fmt: skip
    page.links(
        register(f"TEXENV{n}_{part}") for n in busy for part in ("SOURCE", "OPERAND", "COMBINER", "COLOR", "SCALE")
    )  # fmt: skip
    page.command(f"why scene.ctf.xz {way.touch.pixel}")


def _signed(way: Followed) -> str:
    """The sums of the combiner that adds signed."""
    rgb = way.stage("combiner 1").values["rgb"]
    assert rgb["operation"] == "add signed"
    a, b = (one["value"] for one in rgb["operands"])
    return ", ".join(f"{x} + {y} - 128 = {z}" for x, y, z in zip(a, b, rgb["result"], strict=True))


def the_fog(page: Page, way: Followed) -> None:
    page.stage("Fog")
    page.say(
        "Fog mixes the colour with another one, the more the farther away the fragment is. This draw does not use it:",
        f"`fog_mode` of {register('TEXENV_UPDATE_BUFFER')} is {way.text('TEXENV_UPDATE_BUFFER.fog_mode')}. With fog,",
        f"{register('FOG_COLOR')} has the colour, and {register('FOG_LUT_DATA0')} fills a table of how thick it is at",
        "which depth.",
    )  # fmt: skip
    page.command(f"regs TEXENV_UPDATE_BUFFER {way.value('TEXENV_UPDATE_BUFFER'):#010x}")


def the_tests(page: Page, way: Followed) -> None:
    page.stage("Scissor, alpha test and stencil test")
    page.say(
        "Tests can reject a fragment. The *scissor* keeps what lies inside of a rectangle. The *alpha test* compares",
        "the alpha of the fragment, which usually says how opaque it is, with a number. The *stencil test* compares a",
        "byte that is stored for each pixel.",
    )  # fmt: skip
    box = [way.text(f"SCISSORTEST_{name}") for name in ("POS.x1", "DIM.x2", "POS.y1", "DIM.y2")]
    page.table(
        ("test", "register", "here"),
        [
            ("scissor", register("SCISSORTEST_MODE"),
             f"{way.text('SCISSORTEST_MODE.mode')}: columns {box[0]} to {box[1]}, rows {box[2]} to {box[3]}; column "
             f"{way.source.x} and row {way.row} pass"),
            ("alpha", register("FRAGOP_ALPHA_TEST"), f"enable = {way.text('FRAGOP_ALPHA_TEST.enable')}"),
            ("stencil", register("STENCIL_TEST"), f"enable = {way.text('STENCIL_TEST.enable')}"),
        ],
    )  # fmt: skip
    lines, height = int(box[1]) - int(box[0]) + 1, way.screen.shape[0]
    page.say(f"So the draw paints the lower {lines} of {height} rows of the screen only. The other two tests are off.")
    page.command(f"regs SCISSORTEST_DIM {way.value('SCISSORTEST_DIM'):#010x}")


def the_depth(page: Page, way: Followed) -> None:
    page.stage("The depth test")
    values = way.stage("depth test").values
    target = way.run.seek(way.draw.address).target
    address = target.depth_address + target.number(way.source.x, way.source.y) * target.depth_format.bits // 8
    stored = way.read(address, target.depth_format.bits // 8)
    page.say(
        "For each pixel the depth of what was drawn there is stored, so that what is farther away is not drawn over",
        f"it. Depth {number(way.stage('inputs').values['depth'])} becomes a number of 24 bits, {values['incoming']:,}.",
        f"What is stored at {place(address)} is {values['stored']:,}: the bytes are {octets(stored)}, three of depth",
        f"and one of stencil. The comparison is {values['function']}, so the fragment",
        f"{'passes' if values['passed'] else 'fails'}: in this program a greater number is nearer, and the water lies",
        "in front of the reflection that was drawn before.",
    )  # fmt: skip
    page.say(
        f"{register('DEPTH_COLOR_MASK')} has the comparison and says what is written: depth",
        f"{way.text('DEPTH_COLOR_MASK.depth_write')}. So the stored depth stays. {register('DEPTHBUFFER_LOC')} and",
        f"{register('DEPTHBUFFER_FORMAT')} say where depths are and how they are stored.",
    )  # fmt: skip
    page.command(f"regs DEPTH_COLOR_MASK {way.value('DEPTH_COLOR_MASK'):#010x}")


def the_blending(page: Page, way: Followed) -> None:
    page.stage("Blending")
    values = way.stage("blend").values
    source, target, result = values["source"], values["target"], values["result"]
    alpha = values["source_factors"][0], values["target_factors"][0]
    page.say(
        f"Water is transparent, so its colour is mixed with what is there. An earlier draw, {way.below.event.address},",
        f"had painted the reflection of the jewel: {colour(target)}. {register('BLEND_FUNC')} says: the colour of the",
        f"fragment times {values['rgb']['source_factor']}, plus the stored colour times",
        f"{values['rgb']['target_factor']}. The alpha of the fragment is {source[3]}, so the factors are {alpha[0]}",
        f"and {alpha[1]} of 255:",
    )  # fmt: skip
    page.table(
        ("channel", "sum", "result"),
        [
            (name, f"({s} * {f} + {t} * {g}) / 255", r)
            for name, s, f, t, g, r in zip(
                ("red", "green", "blue", "alpha"), source, values["source_factors"], target, values["target_factors"],
                result, strict=True,
            )
        ],
    )  # fmt: skip
    page.say(
        f"This is the final colour of the pixel, {colour(result)}. {register('COLOR_OPERATION')} turns blending on.",
    )  # fmt: skip
    page.command(f"why scene.ctf.xz {way.below.pixel}")


def the_framebuffer(page: Page, way: Followed) -> None:
    page.stage("The place in video memory")
    target, x, row = way.moment.target, way.source.x, way.source.y
    count, size = target.number(x, row), way.source.place.size
    tile = (row // TILE) * (target.width // TILE) + x // TILE
    page.say(
        f"The colours of the target begin at {place(target.address)} ({register('COLORBUFFER_LOC')}) and take {size}",
        f"bytes each ({register('COLORBUFFER_FORMAT')}). They do not lie row by row. The target consists of *tiles* of",
        "8 x 8 pixels, so that pixels which are near each other on the screen are near each other in memory. Within a",
        "tile the bits of column and row alternate in the number of the pixel, which is called Morton order:",
    )  # fmt: skip
    order = texel_index(TILE, TILE, "tiled")
    inside = (x % TILE, row % TILE)
    page.drawing(
        cells(
            [[str(int(number_)) for number_ in order[y]] for y in range(TILE)], inside,
            f"A tile of 8 x 8 cells with their numbers; that at column {inside[0]}, row {inside[1]} is marked",
        ),
        f"The numbers of the pixels of a tile, rows of memory downwards. Ours is {int(order[inside[1], inside[0]])}.",
    )  # fmt: skip
    page.say(
        f"Rows are those of memory here. There are {target.width // TILE} tiles in a row of tiles. Column {x} and row",
        f"{row} are in tile {row // TILE} *",
        f"{target.width // TILE} + {x // TILE} = {tile}, at number {int(order[inside[1], inside[0]])} in it. So the",
        f"address is {place(target.address)} + ({tile} * 64 + {count - tile * 64}) * {size} =",
        f"{place(way.source.place.address)}.",
    )  # fmt: skip
    before, after = (bytes.fromhex(one[0])[::-1] for one in (way.fragment.before, way.fragment.after))
    page.table(
        ("moment", f"bytes at {place(way.source.place.address)}"),
        [("before the draw", octets(before)), ("after the draw", octets(after))],
    )  # fmt: skip
    page.say("RGBA8 has alpha in the lowest byte, then blue, green and red.")
    page.command(f"who scene.ctf.xz {way.source.place.address:#x} --size {size} --before {way.transfer.address}")


def the_transfer(page: Page, way: Followed) -> None:
    page.stage("The display transfer")
    facts = {name: int(value, 16) for name, value in way.transfer.facts.items()}
    source, target = way.transfer.reads[0].address, way.transfer.writes[0].address
    width, height = (int(known("PPF_INPUT_SIZE")[side].decode(facts["PPF_INPUT_SIZE"])) for side in ("width", "height"))
    words = gx.display_transfer(source, target, (width, height))
    page.say(
        "The display cannot read tiles. So at the end of the frame the program asks for a *display transfer*, with",
        f"another GX command: {', '.join(word(one) for one in words[:6])} and two words that are not used. A unit of",
        f"its own copies the target to {place(target)}: from tiles to lines, and from RGBA8 to RGB8, three bytes",
        "instead of four.",
    )  # fmt: skip
    names = ("PPF_INPUT_ADDRESS", "PPF_OUTPUT_ADDRESS", "PPF_INPUT_SIZE", "PPF_OUTPUT_SIZE", "PPF_FLAGS", "PPF_CONTROL")
    fields = {"PPF_FLAGS": ("input_format", "output_format", "linear_to_tiled")}
    page.table(
        ("register", "word", "means"),
        [
            (register(name), word(facts[name]), meaning(known(name), facts[name], fields.get(name, ())))
            for name in names
        ],
    )  # fmt: skip
    shown = way.answer.place
    page.table(
        ("side", "address", "bytes"),
        [
            ("read", place(way.source.place.address),
             octets(way.run.seek(way.transfer.address).read(way.source.place.address, way.source.place.size))),
            ("written", place(shown.address),
             octets(way.run.seek(way.transfer.address).read(shown.address, shown.size))),
        ],
    )  # fmt: skip
    page.command(f"events scene.ctf.xz {way.transfer.address}")


def the_display(page: Page, way: Followed) -> None:
    page.stage("The registers of the display")
    words, shown = way.display, way.answer.place
    stride = known("PDC0_STRIDE")["stride"].raw(words["PDC0_STRIDE"])
    base = way.transfer.writes[0].address
    page.say(
        "The *display controller* of the top screen reads the picture from memory while it sends it to the LCD.",
        "Registers say where the picture begins, how many bytes apart its lines are, and what format it has:",
    )  # fmt: skip
    fields = {"PDC0_FORMAT": ("color_format", "interlace", "scan_doubling")}
    page.table(
        ("register", "word", "means"),
        [
            (register(name), word(words[name]), meaning(known(name), words[name], fields.get(name, ())))
            for name in ("PDC0_ADDRESS_A0", "PDC0_STRIDE", "PDC0_FORMAT", "PDC0_SELECT")
        ],
    )  # fmt: skip
    below = way.screen.shape[0] - 1 - Y
    page.say(
        "The screen is built in on its side, so a line of memory is a column of what you see, from the bottom up.",
        f"Column {X} and {below} pixels from the bottom: {place(base)} + {X} * {stride} + {below} * {shown.size} =",
        f"{place(shown.address)}. This is where the transfer wrote our pixel.",
    )  # fmt: skip
    page.command("decode scene.ctf.xz f0 --filter 'PDC0*'")


def the_scan(page: Page, way: Followed) -> None:
    page.stage("Scan-out")
    mode, (clock, line) = way.mode, way.scanned
    cycles = line * mode.line_cycles + clock * mode.divider
    page.say(
        "The controller counts clocks and lines all the time. It sends one pixel with each clock in which both",
        f"counters are inside of the picture. A line has {mode.clocks} clocks and a frame {mode.lines} lines, so there",
        f"are {mode.refresh:.2f} frames a second ({register('PDC0_HTOTAL')}, {register('PDC0_VTOTAL')}). Our pixel is",
        f"sent in line {line} at clock {clock}: {cycles:,} cycles of the processor after both counters were 0, or",
        f"{1000 * cycles / CPU_CLOCK:.3f} ms.",
    )  # fmt: skip
    page.drawing(
        scan(
            [(one.name, one.start, one.length) for one in mode.horizontal],
            [(one.name, one.start, one.length) for one in mode.vertical], (mode.clocks, mode.lines), (clock, line),
            f"A frame of the display controller, clocks to the right and lines down, with the pixel at clock {clock}, "
            f"line {line}",
        ),
        "One frame of the top screen's display controller. A line of this drawing is a column of the picture.",
    )  # fmt: skip
    page.say(
        f"There {colour(way.answer.color)} lights up, and the way of this pixel ends.",
    )  # fmt: skip
    page.command(f"timing scene.ctf.xz --at f0 --screen {SCREEN}")


def end(page: Page, way: Followed) -> None:
    """Where to go from here."""
    page.heading("The same for any pixel")
    page.say(
        f"`pocketgpu why scene.ctf.xz {ADDRESS}` prints the history of this pixel, and other numbers that of any",
        "other. In [the viewer](../guides/viewer.md) it is a click. [Why is this pixel that",
        "colour?](../guides/debugging.md) explains the answers, and [the other page](switch.md) follows a pixel of a",
        "Switch, whose GPU works in another way.",
    )  # fmt: skip


STAGES_IN_ORDER = (
    front.the_call, front.the_list, front.the_registers, front.the_attributes, front.the_program, front.the_clipping,
    front.the_raster, front.the_inputs, the_texture, the_combiners, the_fog, the_tests, the_depth, the_blending,
    the_framebuffer, the_transfer, the_display, the_scan,
)  # fmt: skip


def write(capture: Path, folder: Path) -> Page:
    """The page, and its pictures in the folder."""
    page = Page(folder, "3ds", "The way of a pixel: 3DS")
    return followed.write(page, Followed(capture), (front.begin, *STAGES_IN_ORDER, end))
