"""The pages "The way of a pixel": all stages are there, and their numbers are those of the recordings.

The pages are made once, into a folder of the test. What they say is compared with the debugger, with rendered pictures,
and with arithmetic that is done again here.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.house import ROOT
from support.pages import blocks, commands, place_stand_ins, run
from support.site import site_module
from support.words import search

import pocketgpu
from pocketgpu import N3DS
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.timing import CPU_CLOCK
from pocketgpu.pica.pdc.scan import scan_plan

DATA = ROOT / "src/pocketgpu/data"
SAMPLES = {"3ds": DATA / "sample.ctf.xz", "switch": DATA / "sample_switch.mxcap.zip"}
STAGES = {
    "3ds": [
        "The call of the program", "Words of the command list", "The state of the draw", "Attributes of the vertices",
        "The vertex program", "Clipping and the viewport", "Set-up and raster", "Interpolation", "The texture",
        "The texture combiners", "Fog", "Scissor, alpha test and stencil test", "The depth test", "Blending",
        "The place in video memory", "The display transfer", "The registers of the display", "Scan-out",
    ],
    "switch": [
        "The submission", "Words of the pushbuffer", "Methods set the state", "Constants",
        "Indices and vertex streams", "The vertex program", "Clipping and the viewport", "Set-up and raster",
        "Interpolation", "The texture", "The pixel program", "Depth test and stencil test", "Writing the colour",
        "The macro", "The firefly, and blending", "The place in memory", "Present",
    ],
}  # fmt: skip
PIXELS = {"3ds": ("top", 200, 200), "switch": ("screen", 613, 569)}
CONSOLES = tuple(STAGES)
Table = list[list[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages with their pictures."""
    made = tmp_path_factory.mktemp("way")
    (made / "old.md").write_text("from an earlier run")
    site_module("generate_way").generate(made)
    return made


@pytest.fixture(scope="module")
def runs() -> dict[str, pocketgpu.Inspection]:
    """The debugger with each sample."""
    return {console: pocketgpu.debug(path) for console, path in SAMPLES.items()}


def text_of(folder: Path, console: str) -> str:
    return (folder / f"{console}.md").read_text(encoding="utf-8")


def part(text: str, stage: str) -> str:
    """What the page says about a stage."""
    found = re.search(rf"^## \d+\. {re.escape(stage)}\n(.*?)(?=^\(way-|^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, stage
    return found[1]


def tables(text: str) -> list[Table]:
    """The tables of a text: rows of cells, the heads left out."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    return [
        [re.split(r"(?<!\\)\|", line)[1:-1] for line in one.replace(" | ", "|").splitlines()[2:]] for one in found
    ]  # fmt: skip


def clean(cell: str) -> str:
    return cell.strip().strip("`")


def hex_bytes(cell: str) -> bytes:
    return bytes.fromhex(clean(cell))


# -- the form of the pages ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("console", CONSOLES)
def test_all_stages_are_there_in_their_order(folder: Path, console: str) -> None:
    text = text_of(folder, console)
    heads = re.findall(r"^## (\d+)\. (.*)$", text, re.MULTILINE)
    assert [name for _, name in heads] == STAGES[console]
    assert [int(number) for number, _ in heads] == list(range(1, len(heads) + 1))
    for name in STAGES[console]:
        assert len(part(text, name).split()) > 40, name
        assert [block.kind for block in blocks(part(text, name))].count("sh") == 1, f"{name} has no command"


@pytest.mark.parametrize("console", CONSOLES)
def test_nothing_is_left_unresolved(folder: Path, console: str) -> None:
    text = text_of(folder, console)
    assert sorted(path.suffix for path in folder.iterdir()) == [".md"] * 2 + [".png"] * 6
    prose = re.sub(r"\{(register|method|choice|raw|figure|container)\}", "", re.sub(r"<svg.*?</svg>", "", text))
    for sign in ("{", "}", "None", "nan", "object at", "<bound", "= code"):
        assert sign not in prose, sign
    assert not [*search(f"docs/way/{console}.md", text)]


@pytest.mark.parametrize("console", CONSOLES)
def test_every_link_to_a_register_has_a_page(folder: Path, console: str) -> None:
    from reference_pages.names import anchor_of

    found = re.findall(r"\{(register|method|choice)\}`([^`]*)`", text_of(folder, console))
    assert len(set(found)) > 25
    for role, name in found:
        assert anchor_of(role, name).startswith(f"{role}-"), name


@pytest.mark.parametrize("console", CONSOLES)
def test_every_picture_and_drawing_has_a_text(folder: Path, console: str) -> None:
    text = text_of(folder, console)
    figures = re.findall(r"^:::\{figure\} (.*)\n:alt: (.*)\n", text, re.MULTILINE)
    assert len(figures) == 3
    for name, alternative in figures:
        assert (folder / name).stat().st_size > 500 and len(alternative) > 20
    drawings = re.findall(r'<(?:svg|div class="bits")[^>]*>', text)
    assert len(drawings) >= 4
    assert all(re.search(r'role="img" aria-label="[^"]{20,}"', one) for one in drawings)


@pytest.mark.parametrize("console", CONSOLES)
def test_commands_of_the_pages_run(
    folder: Path, console: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    text = text_of(folder, console)
    monkeypatch.chdir(tmp_path)
    place_stand_ins(text, tmp_path)
    lines = [line for block in blocks(text) if block.kind == "sh" for line in commands(block.text)]
    assert len(lines) >= 12
    for line in dict.fromkeys(lines):
        code, _, errors = run(line.removeprefix("pocketgpu "))
        assert code == 0, f"{line}: {errors}"


# -- the numbers -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("console", CONSOLES)
def test_the_last_colour_is_that_of_the_picture(folder: Path, console: str) -> None:
    screen, x, y = PIXELS[console]
    (frame,) = pocketgpu.open(SAMPLES[console]).render(frames=range(1))
    colour = bytes(frame.screens[screen].array[y, x, :3].tolist()).hex()
    text = text_of(folder, console)
    assert f"ends as <span class=\"colour\" style=\"background:#{colour}\"></span> `#{colour}`." in text
    assert f"#{colour}" in part(text, STAGES[console][-1])
    assert f"({x}, {y})" in text


def test_the_address_of_the_target_holds_the_colour(folder: Path, runs: dict[str, pocketgpu.Inspection]) -> None:
    text = part(text_of(folder, "3ds"), "The place in video memory")
    numbers = re.search(r"address\s+is `(0x\w+)` \+ \((\d+) \* 64 \+ (\d+)\) \* 4 = `(0x\w+)`", text).groups()
    base, tile, within, address = (int(one, 0) for one in numbers)
    assert base + (tile * 64 + within) * 4 == address
    before, after = (hex_bytes(row[1]) for row in tables(text)[0])
    assert runs["3ds"].seek("f0/d4").read(address, 4) == before
    assert runs["3ds"].seek("f0/d5").read(address, 4) == after
    assert runs["3ds"].who_changed(address, 4, before="f0/e34").address == runs["3ds"].event("f0/d5").address


def test_the_transfer_moves_the_bytes(folder: Path, runs: dict[str, pocketgpu.Inspection]) -> None:
    read, written = tables(part(text_of(folder, "3ds"), "The display transfer"))[1]
    assert hex_bytes(written[2]) == hex_bytes(read[2])[1:]
    address = int(clean(written[1]), 16)
    assert runs["3ds"].seek("f0").read(address, 3) == hex_bytes(written[2])
    display = part(text_of(folder, "3ds"), "The registers of the display")
    numbers = re.search(r"`(0x\w+)` \+ (\d+) \* (\d+) \+ (\d+) \* (\d+) = `(0x\w+)`", display).groups()
    base, column, stride, below, size, end = (int(one, 0) for one in numbers)
    assert base + column * stride + below * size == end == address


def test_gsp_makes_the_writes_of_the_page(folder: Path, runs: dict[str, pocketgpu.Inspection]) -> None:
    """The GX commands are not in the recording: a machine runs them, and its registers get the recorded words."""
    text = text_of(folder, "3ds")
    command, writes = tables(part(text, "The call of the program"))
    words = [0] * 8
    for row in command:
        words[int(row[0])] = int(clean(row[1]), 16)
    machine = N3DS()
    event = runs["3ds"].event("f0/e24")
    machine.memory.write(event.reads[0].address, bytes(event.reads[0].size))
    assert machine.gsp.gx(words) == 0
    for name, address, word, _ in writes[:2]:
        assert machine.read_register(int(clean(address), 16)) == int(clean(word), 16), name
    transfer = part(text, "The display transfer")
    words = [int(one, 16) for one in re.findall(r"`(0x\w{8})`", transfer.partition("command:")[2])[:6]] + [0, 0]
    assert machine.gsp.gx(words) == 0
    recorded = runs["3ds"].event("f0/e34").facts
    for name in ("PPF_INPUT_ADDRESS", "PPF_OUTPUT_ADDRESS", "PPF_INPUT_SIZE", "PPF_OUTPUT_SIZE", "PPF_FLAGS"):
        assert machine.read_register(EXTERNAL[name].address) == int(recorded[name], 16), name


def test_the_texture_of_the_3ds_is_filtered_as_the_page_says(
    folder: Path, runs: dict[str, pocketgpu.Inspection]
) -> None:  # fmt: skip
    text = part(text_of(folder, "3ds"), "The texture")
    rows = tables(text)[0]
    shares = [float(row[4].rstrip("% ")) / 100 for row in rows]
    assert sum(shares) == pytest.approx(1, abs=0.0002)
    moment = runs["3ds"].seek("f0/d5")
    for row in rows:
        assert moment.read(int(clean(row[1]), 16), 1) == hex_bytes(row[2])
    total = sum(hex_bytes(row[2])[0] * share for row, share in zip(rows, shares, strict=True))
    shown = re.search(r"shares is ([\d.]+), and the unit gives .*`#(\w\w)\w{4}`", text)
    assert float(shown[1]) == pytest.approx(total, abs=0.05)
    assert int(shown[2], 16) == pytest.approx(total, abs=1)


def test_texels_of_the_3ds_have_the_addresses_that_follow_from_the_page(folder: Path) -> None:
    """As for the target: tiles of 8 x 8 texels in Morton order, and the row of memory that the page says."""
    text = part(text_of(folder, "3ds"), "The texture")
    base, width, height = re.search(r"the one at `(0x\w+)`, (\d+) x (\d+) texels", text).groups()
    top = int(re.search(r"first row in memory is the top one: texels \(0, (\d+)\)", text)[1])
    assert top == int(height) - 1
    for row in tables(text)[0]:
        x, t = map(int, re.findall(r"\d+", row[0]))
        y = top - t
        within = sum((x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1 for bit in range(3))
        assert int(base, 16) + (y // 8 * (int(width) // 8) + x // 8) * 64 + within == int(clean(row[1]), 16)


def test_rows_of_the_3ds_count_in_one_direction(
    folder: Path, runs: dict[str, pocketgpu.Inspection]
) -> None:  # fmt: skip
    """The row of the edge functions is that of the viewport, and of the addresses in commands; memory is told apart."""
    text = text_of(folder, "3ds")
    memory, viewport = map(int, re.search(r"In memory it is in row (\d+)\..* in row (\d+)\.", text).groups())
    assert (memory, viewport) == (200, 199) and f"px39,{viewport}" in text
    for stage in ("Set-up and raster", "Scissor, alpha test and stencil test"):
        assert re.findall(r"column 39 and row (\d+)", part(text, stage), re.IGNORECASE) == [str(viewport)]
    assert re.findall(r"Column 39 and row (\d+)", part(text, "The place in video memory")) == [str(memory)]
    # Corners on the screen: s falls from row to row, and so does the edge function that it grows with.
    corners = {row[0].strip(): row for row in tables(part(text, "Clipping and the viewport"))[0]}
    s = {row[0].strip(): float(row[3].split(",")[0]) for row in tables(part(text, "The vertex program"))[-1]}
    low, high = sorted(("4", "5"), key=lambda one: float(corners[one][4]))
    edges = [row[1] for row in tables(part(text, "Set-up and raster"))[0]]
    change = next(row for row in tables(part(text, "Interpolation"))[0] if row[0].strip() == "s / w")[1]
    factor = float(re.search(r"([+-] [\d.e-]+) \* ", change)[1].replace(" ", ""))
    grows = eval(edges[1], {}, {"column": 39, "row": 200}) > eval(edges[1], {}, {"column": 39, "row": 199})
    assert (s[high] > s[low]) == (grows == (factor > 0))


def test_the_corners_of_the_switch_are_inside_as_the_page_says(
    folder: Path, runs: dict[str, pocketgpu.Inspection]
) -> None:  # fmt: skip
    text = part(text_of(folder, "switch"), "Clipping and the viewport")
    assert "z is between 0 and w ({method}`SET_VIEWPORT_Z_CLIP`: 1 (ZERO_TO_POSITIVE_W))" in text
    for row in tables(part(text_of(folder, "switch"), "The vertex program"))[-1]:
        x, y, z, w = map(float, row[1].split(","))
        assert max(abs(x), abs(y)) <= w and 0 <= z <= w


def test_combiners_and_blending_can_be_computed_again(folder: Path) -> None:
    text = text_of(folder, "3ds")
    rows = {clean(row[0]): row for row in tables(part(text, "The texture combiners"))[0]}
    texture, constant, alpha = (np.array(eval(one)) for one in re.findall(r"\[.*?\]", rows["0 rgb"][2]))
    mixed = np.array(eval(rows["0 rgb"][3]))
    assert clean(rows["0 rgb"][1]) == "interpolate"
    assert np.abs((texture * alpha + constant * (255 - alpha)) / 255 - mixed).max() <= 1
    previous, vertex = (np.array(eval(one)) for one in re.findall(r"\[.*?\]", rows["1 rgb"][2]))
    assert (previous == mixed).all() and clean(rows["1 rgb"][1]) == "add signed"
    assert (previous + vertex - 128 == np.array(eval(rows["1 rgb"][3]))).all()
    for row in tables(part(text, "Blending"))[0]:
        assert eval(row[1].replace("/ 255", "// 255")) == int(row[2])


def test_interpolated_values_are_those_of_the_debugger(
    folder: Path, runs: dict[str, pocketgpu.Inspection]
) -> None:  # fmt: skip
    fragment = runs["3ds"].why("f0/px200,200").touches[-1].sources[0].touches[-1].writer
    values = fragment.stage("inputs").values
    rows = tables(part(text_of(folder, "3ds"), "Interpolation"))[0]
    names = {"s": "texcoord0.u", "t": "texcoord0.v"}
    assert float(rows[0][2]) == pytest.approx(1 / values["w"], rel=1e-4)
    for row in rows[1:]:
        name, shown = clean(row[3]).split(" = ")
        wanted = values.get(names.get(name, name))
        if wanted is None:  # the debugger has texture coordinates with the unit that they go to
            wanted = fragment.stage("texture 0").values[name]
        assert float(shown) == pytest.approx(wanted, rel=2e-4), name
        sums = re.sub(r"(?<=\d) (?=[+-] )", " ", row[1])
        assert eval(sums) == pytest.approx(float(row[2]), abs=2e-5), name


def test_the_edges_of_both_pages_are_positive(folder: Path) -> None:
    places = {"3ds": {"column": 39, "row": 199}, "switch": {"x": 613 * 256 + 128, "y": 569 * 256 + 128}}
    for console, place in places.items():
        rows = tables(part(text_of(folder, console), "Set-up and raster"))[0]
        assert len(rows) == 3
        for row in rows:
            assert eval(row[1], {}, place) == int(row[2].replace(",", "")) > 0


def test_the_scan_is_where_the_display_controller_has_the_pixel(folder: Path) -> None:
    """The plan of a frame says which pixel of the framebuffer each line and clock sends."""
    way = site_module("pixel_way.n3ds").Followed(SAMPLES["3ds"])
    text = part(text_of(folder, "3ds"), "Scan-out")
    line, clock = map(int, re.search(r"line (\d+) at clock (\d+)", text).groups())
    plan = scan_plan(way.mode)
    assert plan.source[line] == 200 and plan.buffer[line] == 0
    assert clock - way.mode.hstart == 239 - 200
    cycles, milliseconds = re.search(r"([\d,]+) cycles of the processor .* or\s+([\d.]+) ms", text).groups()
    assert way.mode.position(int(cycles.replace(",", ""))) == (clock, line)
    assert float(milliseconds) == pytest.approx(1000 * int(cycles.replace(",", "")) / CPU_CLOCK, abs=0.001)


def test_the_switch_reads_the_texels_of_the_page(folder: Path, runs: dict[str, pocketgpu.Inspection]) -> None:
    text = part(text_of(folder, "switch"), "The texture")
    rows = tables(text)[1]
    shares = [float(row[4].rstrip("% ")) / 100 for row in rows]
    moment = runs["switch"].seek("f0/d13")
    texels = [moment.read(int(clean(row[1]), 16), 4) for row in rows]
    assert texels == [hex_bytes(row[2]) for row in rows]
    computed = [sum(texel[n] * share for texel, share in zip(texels, shares, strict=True)) / 255 for n in range(3)]
    given = re.search(r"The program gets ([\d., ]+) in", text)[1].split(", ")
    assert [float(one) for one in given] == pytest.approx(computed, abs=1e-4)


def test_the_vertices_and_the_blending_of_the_switch(folder: Path, runs: dict[str, pocketgpu.Inspection]) -> None:
    text = text_of(folder, "switch")
    moment = runs["switch"].seek("f0/d13")
    for row in tables(part(text, "Indices and vertex streams"))[0]:
        data = moment.read(int(clean(row[1]), 16), 2)
        assert data == hex_bytes(row[2]) and int.from_bytes(data, "little") == int(row[3])
    coordinates = runs["switch"].why("f0/d13/px613,569").fragments[0].stage("texture").values["coordinates"]
    wanted = [np.array([int(word, 16)], np.uint32).view(np.float32)[0] for word in coordinates.values()]
    shown = [float(one) for one in tables(part(text, "Interpolation"))[0][-1][-2:]]
    assert shown == pytest.approx(wanted, rel=1e-4)
    for row in tables(part(text, "Writing the colour"))[0]:
        assert round(float(row[2])) == int(row[3])
    for row in tables(part(text, "The firefly, and blending"))[-1]:
        assert eval(row[1]) == pytest.approx(float(row[2]), abs=6e-6)
        assert round(255 * min(float(row[2]), 1)) == int(row[3])


def test_the_place_of_the_switch_holds_the_colour(folder: Path, runs: dict[str, pocketgpu.Inspection]) -> None:
    text = part(text_of(folder, "switch"), "The place in memory")
    sizes = [int(row[2].replace(",", "")) for row in tables(text)[0]]
    base, total, address = re.search(r"^`(0x\w+)` \+ ([\d,]+) = `(0x\w+)`", text, re.MULTILINE).groups()
    assert sum(sizes) == int(total.replace(",", "")) and int(base, 16) + sum(sizes) == int(address, 16)
    shown = bytes.fromhex(re.search(r"there\s+are `([\w ]+)`", text)[1])
    assert runs["switch"].seek("f0/d21").read(int(address, 16), 4) == shown
    assert runs["switch"].seek("f0").read(int(address, 16), 4) == shown
    assert str(runs["switch"].who_changed(int(address, 16), 4, before="f0/d22").address) == "f0/d21"


def test_the_entry_of_the_submission_has_the_words(folder: Path, runs: dict[str, pocketgpu.Inspection]) -> None:
    text = part(text_of(folder, "switch"), "The submission")
    rows = {clean(row[0]): row[1] for row in tables(text)[0]}
    entry = int(re.search(r"0x\w{16}", rows["the entry"])[0], 16)
    assert entry == int(runs["switch"].log.submissions[1].entries[0])
    address = int(re.search(r"0x\w+", rows["address of the words"])[0], 16)
    assert address == entry & 0xFF_FFFF_FFFC and int(rows["number of words"].split()[0]) == entry >> 42 & 0x1F_FFFF
    draw = runs["switch"].event("f0/d13").words.spans[0]
    assert address <= draw.address < address + 4 * (entry >> 42 & 0x1F_FFFF)
