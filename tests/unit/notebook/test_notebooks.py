"""The five notebooks run as they stand, each in a kernel of its own, and print what the Python API says.

They are stored without outputs; the site runs them again.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import widgets
from support.notebooks import FIGURE, NOTEBOOKS, ROOT, VIEWER, Outputs, array_of, notebook, prose, run

import pocketgpu
from pocketgpu.inspect.inspection import Inspection
from pocketgpu.notebook import tables

DATA = ROOT / "src" / "pocketgpu" / "data"
HAS_VIEWER = not widgets.missing()
MOST_CELLS = 25
NAMES = {"first-pictures", "a-pixels-life", "building-a-triangle", "a-kernel", "a-corpus"}
of_kernels = pytest.mark.filterwarnings("ignore:Proactor event loop", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def n3ds() -> Inspection:
    return pocketgpu.debug(DATA / "sample.ctf.xz")


@pytest.fixture(scope="module")
def switch() -> Inspection:
    return pocketgpu.debug(DATA / "sample_switch.mxcap.zip")


def says(name: str, *texts: object) -> None:
    """A notebook's prose has these texts."""
    found = " ".join(prose(name).split())
    for text in texts:
        assert str(text) in found, f"{name} does not say {text}"


def viewer_shows(outputs: Outputs, expected: Image.Image) -> None:
    """The widget keeps this picture for pages without a kernel."""
    if HAS_VIEWER:
        assert "application/vnd.jupyter.widget-view+json" in outputs.cells["widget"][0]["data"]
        assert np.array_equal(outputs.picture("widget"), np.asarray(expected.convert("RGB")))
    else:
        assert outputs.cells["widget"] == []


@of_kernels
def test_first_pictures(tmp_path: Path, n3ds: Inspection, switch: Inspection) -> None:
    name = "first-pictures"
    out = run(name, tmp_path, HAS_VIEWER)
    (frame,) = n3ds.capture.render(range(1))
    assert np.array_equal(out.picture("render"), frame.top.array)
    assert out.text("array") == "(240, 400, 3) (240, 320, 3)\n16 draws, 1998 triangles\n287063 fragments\n"

    units = {trace["name"] for trace in out.traces("timeline")}
    assert units == {n3ds.unit(event) for event in n3ds.events(0)}
    assert sum(array_of(trace["x"]).sum() for trace in out.traces("timeline")) == len(n3ds.events(0))

    for cell, one in (("plot-costs", n3ds), ("switch-costs", switch)):
        costs, sums = one.costs(0), Counter[str]()
        for trace in out.traces(cell):
            sums[trace["hovertemplate"].partition("} ")[2].partition("<")[0]] += int(array_of(trace["y"]).sum())
        columns = ("vertices", "primitives", "fragments")
        assert sums == {column: int(getattr(costs, column).sum()) for column in columns}
    dearest = out.html("dearest")
    first = np.argsort(-n3ds.costs(0).fragments.astype(int), kind="stable")[:5]
    assert re.findall(r"<td>(f0/d\d+)</td>", dearest) == [f"f0/d{number}" for number in first]
    fragments = [f"{number:,}" for number in n3ds.costs(0).fragments.tolist()]
    assert all(f"<td>{fragments[number]}</td>" in dearest for number in first)
    says(name, fragments[0], fragments[3], "8 triangles", "640 triangles")
    assert n3ds.costs(0).primitives[[0, 3]].tolist() == [8, 640]

    counts = n3ds.overdraw("f0/d15", "frame").counts
    (heat,) = out.traces("plot-overdraw")
    assert np.array_equal(array_of(heat["z"]), counts)
    says(name, f"{counts.mean():.2f} fragments")
    (heat,) = out.traces("switch-overdraw")
    counts = switch.overdraw("f0", "frame").counts
    assert array_of(heat["z"]).shape == (180, 320) and array_of(heat["z"]).max() == counts.max()
    says(name, f"up to {counts.max()} fragments")

    sizes = {(one.format, one.width): one.bytes for one in tables.textures(n3ds, 0)}
    assert (sizes["RGBA8", 32], sizes["ETC1", 32]) == (4096, 512)
    assert out.html("plot-textures").count("<img ") == len(tables.textures(n3ds, 0)) == 11
    mirror = next(one for one in tables.textures(switch, 0) if (one.width, one.height) == (400, 225))
    assert mirror.first == "f0/d14" and mirror.memory in {one.target.split(" at ")[1].split(",")[0] for one in
                                                         switch.passes(0)}  # fmt: skip
    assert out.picture("switch").shape == (720, 1280, 3)
    large = [trace for trace in out.traces("switch-frames") if "1280x720" in trace["name"]]
    shown = [array_of(trace["y"]) > 0 for trace in large]
    assert len(large) == 2 and (shown[0] != shown[1]).all(), "the large target alternates"
    target = n3ds.seek("f0/d3").target
    assert target is not None
    viewer_shows(out, target.image)


@of_kernels
def test_a_pixels_life(tmp_path: Path, n3ds: Inspection, switch: Inspection) -> None:
    name = "a-pixels-life"
    out = run(name, tmp_path, HAS_VIEWER)
    answer, reply = n3ds.why("f0/px200,120"), switch.why("f0/px640,560")
    assert out.text("around").splitlines() == answer.conclusion
    assert answer.proved and reply.proved
    top = n3ds.seek("f0").screens["top"]
    assert out.picture("around").shape == (240, 240, 3)
    assert out.picture("around")[120, 120].tolist() == top.array[120, 200].tolist() == list(answer.color or ())
    fates = [one.fate for touch in answer.touches[-1].sources[0].touches for one in touch.fragments]
    assert all(fate in out.text("touches") for fate in fates) and fates.count("written") == 4

    (bars,) = out.traces("colours")
    after = [one.after[0][:6] for touch in answer.touches[-1].sources[0].touches for one in touch.fragments
             if one.before != one.after]  # fmt: skip
    assert bars["text"] == ["#000000", *(f"#{one}" for one in after)] == list(bars["marker"]["color"])
    assert f"#{after[-1]}" == answer.hex

    fragment = answer.last.writer
    assert fragment is not None
    for stage in fragment.stages:
        assert all(line.strip() in out.text("print-stages") for line in stage.text), stage
    result = fragment.stage("combiner 1")
    assert result is not None
    assert out.text("by-hand").split("] ")[1].strip("[]\n").split() == [str(n) for n in result.values["rgb"]["result"]]

    vertex = n3ds.trace(fragment.corners[0].address)
    x, y, _, w = vertex.end.vector("o0")
    assert f"divided by w: {x / w} {y / w}" in out.text("position")
    assert str(len(vertex)) in out.html("step") and "dp4 o0.x, c0, v0" in out.html("step")

    assert out.text("switch").splitlines() == reply.conclusion
    rejected, written = reply.touches[-1].fragments[0], reply.touches[-2].fragments[0]
    assert written.written and not rejected.written
    for depth in re.findall(r"0x[0-9a-f]{6}", rejected.fate):
        says(name, depth)
    pixel = switch.trace("f0/d13/px640,560")
    assert "TEX R0, R4" in pixel[4].text
    for trace in out.traces("switch-registers"):
        steps = [step.index for step in pixel.where(trace["name"])]
        assert array_of(trace["x"]).tolist() == steps
        assert array_of(trace["y"])[-1] == pytest.approx(pixel.end.float(trace["name"]), rel=1e-6)
    assert out.text("switch-end").endswith(f"{list(bytes.fromhex((reply.hex or '')[1:]))}\n")
    viewer_shows(out, top.image)


@of_kernels
def test_building_a_triangle(tmp_path: Path) -> None:
    out = run("building-a-triangle", tmp_path, HAS_VIEWER)
    one, other = out.picture("n3ds-draw"), out.picture("switch-draw")
    assert one.shape == (240, 400, 3) and np.array_equal(one, other)
    assert one[120, 200].tolist() == [64, 64, 127] and one[0, 0].tolist() == [0x20, 0x30, 0x40]
    inside = (one != one[0, 0]).any(axis=2)
    # The area of the triangle: half of 1.6 by 1.6 of a screen that is 2 by 2.
    assert inside.sum() == 400 * 240 * 1.6 * 1.6 / 2 / 4
    assert out.text("compare-pixels").splitlines() == [
        f"{inside.sum()} {inside.sum()} pixels inside", "0 pixels inside of one triangle only",
        "0 is the greatest difference of a colour",
    ]  # fmt: skip
    (line,) = out.traces("rows")
    assert array_of(line["y"]).tolist() == inside.sum(axis=1).tolist()

    runs = [pocketgpu.debug(tmp_path / name) for name in ("triangle.ctf.xz", "triangle.mxcap.zip")]
    assert out.text("centre-n3ds").splitlines()[:3] == runs[0].why("f0/px200,120").conclusion
    assert out.text("centre-n3ds").splitlines()[3] == "[0.251 0.251 0.498]"
    assert "7 steps" in out.html("centre-switch") and "IPA R2, a[0x88], R4" in out.html("centre-switch")
    assert out.text("centre-cost").splitlines() == [str(run.costs(0)) for run in runs]
    for run_, cell in zip(runs, ("n3ds-events", "switch-events"), strict=True):
        assert out.html(cell) == tables.events(run_, 0)._repr_html_()
    assert out.text("n3ds-listing").splitlines()[-1] == "DRAWARRAYS 0x00000000 -> 0x00000001"
    passed = {trace["name"]: trace for trace in out.traces("centre-cost")}["passed"]
    assert f"{inside.sum():,} of {inside.sum():,}" in passed["text"]


def mandelbrot(width: int, height: int, most: int) -> np.ndarray:
    """Rounds of each point with 64-bit numbers, which decide the same as 32-bit ones for this view."""
    x, y = np.meshgrid(-2.25 + np.arange(width) * 3 / width, -1.125 + np.arange(height) * 3 / width)
    point, z = x + 1j * y, np.zeros((height, width), complex)
    count = np.zeros((height, width), int)
    for _ in range(most):
        going = z.real**2 + z.imag**2 <= 4
        count += going & (count == count.max())
        z = np.where(going, z * z + point, z)
    return count


@of_kernels
def test_a_kernel(tmp_path: Path) -> None:
    out = run("a-kernel", tmp_path, HAS_VIEWER)
    rounds = array_of(out.traces("picture")[0]["z"]).astype(int)
    assert rounds.shape == (96, 128) and (rounds.min(), rounds.max()) == (1, 100)
    assert (rounds == mandelbrot(128, 96, 100)).mean() > 0.995
    assert out.text("by-numpy") == "12288 of 12288 threads agree\n"
    steps, faults = map(int, re.findall(r"\d+", out.text("launch")))
    warps = rounds.reshape(96, 4, 32)
    turns = np.minimum(warps + 1, 100)
    assert faults == 0 and steps > turns.max(axis=2).sum() * 5

    assert out.text("trace-end").startswith(f"rounds: {rounds[20, 90]} and in the array: {rounds[20, 90]}\n")
    assert "S2R R0, SR_CTAID.X" in out.html("trace") and f"0x{rounds[20, 90]:08x}" in out.text("trace-end")

    place, lanes = out.text("warp").splitlines()[:2]
    row, number, slowest = map(int, re.findall(r"\d+", place))
    of_lanes = [int(one) for one in lanes.split(": ")[1].split()]
    assert of_lanes == warps[row, number].tolist() and of_lanes[slowest] == max(of_lanes)
    active = array_of(out.traces("warp-picture")[0]["z"])
    assert active.shape[0] == 32 and active[:, 0].all() and active[:, -1].all() and active[slowest].all()
    # In each turn of the loop a lane runs the test of its distance: it is active for as many of these as it takes.
    ran, most = active.sum(axis=1), max(of_lanes)
    order = np.argsort(of_lanes, kind="stable")
    assert (np.diff(ran[order]) >= 0).all() and ran[slowest] == active.shape[1]
    assert all((ran[one] == active.shape[1]) == (of_lanes[one] == most) for one in range(32))

    share = turns.sum() / (turns.max(axis=2) * 32).sum()
    blocks = [turns[y : y + 4].reshape(4, 128)[:, x : x + 8] for y in range(0, 96, 4) for x in range(0, 128, 8)]
    better = turns.sum() / sum(32 * int(block.max()) for block in blocks)
    assert out.text("efficiency").splitlines() == [
        f"{share:.0%} of the lanes' turns are used", f"{better:.0%} if a warp had a block of 8x4 points",
    ]  # fmt: skip
    assert better > share + 0.1
    used = array_of(out.traces("efficiency-picture")[0]["z"])
    assert np.array_equal(used[:, ::32], (100 * turns.mean(axis=2) / turns.max(axis=2)).astype(int))
    assert used.max() == 100 and used.min() < 25


@of_kernels
def test_a_corpus(tmp_path: Path) -> None:
    out = run("a-corpus", tmp_path, HAS_VIEWER)
    layers = [1, 2, 4, 8, 16, 32]
    names = ["cut", *(f"layers{count:02}" for count in layers), "sample"]
    assert sorted(path.name for path in (tmp_path / "our-captures").iterdir()) == [f"{one}.ctf.xz" for one in names]
    rows = dict(line.split(": ", 1) for line in out.text("run").splitlines())
    assert rows["our-captures/cut.ctf.xz"].startswith("refused") and len(rows) == 8
    assert sum(text.startswith(("5 frames", "6 frames")) for text in rows.values()) == 7
    assert out.picture("look").shape == (240, 400, 3) and "96,000 pixels" in prose("a-corpus")
    html = out.html("table")
    assert html.count("<tr>") == 9 and html.count("<td>done</td>") == 7 and html.count("<td>refused</td>") == 1
    assert [f"<td>{5 * count}</td>" in html for count in layers] == [True] * 6

    lines = {trace["name"]: array_of(trace["y"]) for trace in out.traces("times")}
    assert {len(line) for name, line in lines.items() if "layers" in name} == {5} and len(lines) == 7
    assert len(lines["our-captures/sample.ctf.xz"]) == 6 and all((line > 0).all() for line in lines.values())
    points = {trace["name"]: trace for trace in out.traces("fragments")}
    assert array_of(points["layers"]["x"]).tolist() == [96_000 * count for count in layers]
    sample = pocketgpu.debug(DATA / "sample.ctf.xz")
    frames = [int(sample.costs(frame).fragments.sum()) for frame in range(6)]
    assert array_of(points["sample"]["x"]).tolist() == [pytest.approx(np.mean(frames))]
    slope = float(re.findall(r"([\d.]+) ns", out.text("line"))[0])
    assert slope > 0, "more fragments take longer"
    assert sum(array_of(trace["y"]).sum() for trace in out.traces("sample")[2::3]) == frames[0]


# -- as they are stored ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    found = notebook(path.stem)
    assert [cell.id for cell in found.cells if cell.get("outputs") or cell.get("execution_count")] == []
    assert found.metadata.kernelspec.name == "python3" and 10 <= len(found.cells) <= MOST_CELLS
    assert found.cells[0].source.startswith("# ")
    assert all(cell.metadata.get("tags", []) in ([], [VIEWER]) for cell in found.cells)
    shown = [cell for cell in found.cells if "Viewer" in cell.source and cell.cell_type == "code"]
    assert [cell.metadata.get("tags") for cell in shown] == [[VIEWER]] * len(shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_a_notebook_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)]+)\)", prose(path.stem))
    assert [one for one in targets if not (path.parent / one.partition("#")[0]).is_file()] == []


def test_the_site_has_all_notebooks() -> None:
    """Each is in the contents of one of the pages that the front page leads to."""
    assert {path.stem for path in NOTEBOOKS} == NAMES
    doors = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "for").glob("*.md"))
    assert [one for one in sorted(NAMES) if doors.count(f"<../notebooks/{one}>\n") != 1] == []
    assert FIGURE not in doors
