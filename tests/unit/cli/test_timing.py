"""`pocketgpu timing`: numbers, drawings and data of a display mode, from registers, sets of values and recordings."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from pocketgpu.cli import main
from pocketgpu.inspect.n3ds import display_timing
from pocketgpu.pica.pdc import display_mode


def run(capsys: Any, *words: str) -> str:
    assert main(["timing", *words]) == 0
    return str(capsys.readouterr().out)


def data(capsys: Any, *words: str) -> dict[str, Any]:
    return json.loads(run(capsys, *words, "--json"))["screens"]  # type: ignore[no-any-return]


def test_the_text_has_both_screens_with_their_numbers_and_drawings(capsys: Any) -> None:
    text = run(capsys)
    assert text.count("59.8312 Hz") == 2
    top, bottom = text.split("bottom screen")
    assert "451 clocks x 414 lines, 4,481,136 CPU cycles" in top
    assert "line 402 to 406, on" in top and "line 404 to 408, on" in bottom
    assert "A, scan doubling" in top and "gsp's mode" in top and "gsp's mode" not in bottom
    for sign in "=.f":
        assert bottom.count(sign) > 20
    assert text.isascii()


def test_registers_by_name_field_and_number(capsys: Any) -> None:
    shown = data(
        capsys, "-r", "PDC0_VTOTAL=494", "-r", "htotal=0x1C2", "-r", "PDC0_FORMAT.interlace=2", "-r", "0x490=-720"
    )
    assert shown["top"]["refresh"] == pytest.approx(50.040660858)
    assert shown["bottom"]["refresh"] == pytest.approx(59.831225)
    assert shown["top"]["interlace"] == 2 and shown["top"]["scan_doubling"] is True
    assert shown["top"]["stride"] == -720
    both = data(capsys, "-r", "VTOTAL=494")
    assert both["top"]["lines"] == both["bottom"]["lines"] == 495


def test_sets_of_values_and_their_problems(capsys: Any) -> None:
    text = run(capsys, "--init", "nngx", "--screen", "top")
    assert "warning: VSYNC 450 is past VTOTAL 413" in text
    assert "bottom screen" not in text
    wide = data(capsys, "--init", "top-wide", "-r", "PDC0_FORMAT=0x80300")["top"]
    assert (wide["gsp_mode"], wide["lines"], wide["divider"]) == (1, 828, 12)
    assert not [p for p in wide["problems"] if p["severity"] == "warning"]


def test_switches_are_honoured(capsys: Any) -> None:
    assert data(capsys, "-r", "PDC0_VSTART=5", "--set", "display.vstart=wiki")["top"]["problems"]
    problems = data(capsys, "-r", "POLARITY=1", "--set", "display.sync_bits=disable")["top"]["problems"]
    assert "no-hsync" in {p["id"] for p in problems}


def test_the_data_is_that_of_the_mode(capsys: Any) -> None:
    shown = data(capsys)["bottom"]
    mode = display_mode("bottom")
    assert shown["vertical"] == [{"name": s.name, "start": s.start, "length": s.length} for s in mode.vertical]
    assert shown["events"]["v_irq"] == {"period": 4481136, "offset": 404 * 10824}
    assert shown["events"]["h_irq"] is None


def test_a_recording_tells_its_own(capsys: Any, sample_path: Path) -> None:
    if not sample_path.is_file():
        pytest.skip("the sample is not built")
    shown = data(capsys, str(sample_path))
    assert shown["top"]["refresh"] == pytest.approx(59.831225)
    assert shown["top"]["color_format"] in range(5)
    assert main(["timing", str(sample_path), "--at", "f999"]) == 4
    assert main(["timing", "nowhere.ctf"]) == 3


def test_the_svg_is_a_drawing_of_all_areas(capsys: Any, tmp_path: Path) -> None:
    file = tmp_path / "scan.svg"
    assert f"drawing in {file}" in run(capsys, "--svg", str(file), "-r", "HIRQ=0x01000080")
    root = ElementTree.parse(file).getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{name}svg"
    colors = {rect.get("fill") for rect in root.iter(f"{name}rect")}
    assert colors == {color for _, _, color in display_timing.AREAS.values()}
    texts = [text.text for text in root.iter(f"{name}text")]
    assert "V irq 402" in texts and "V irq 404" in texts and texts.count("H irq 128") == 2
    assert "205-209" in texts and "79-82" in texts, "labels that have no room share one"
    # The rectangles of a screen cover its scan exactly.
    top = [rect for rect in root.iter(f"{name}rect") if float(rect.get("x", 0)) < 511 and rect.get("height") != "12"]
    assert sum(float(r.get("width", 0)) * float(r.get("height", 0)) for r in top) == 451 * 414
    assert main(["timing", "--svg", str(tmp_path / "no" / "where.svg")]) == 2


def test_the_drawing_is_to_scale_and_loses_nothing() -> None:
    mode = display_mode("bottom")
    lines = [line[6:] for line in display_timing.drawing(mode, 451, 414)]
    assert len(lines) == 414 and {len(line) for line in lines} == {451}
    text = "".join(lines)
    assert text.count(".") == 240 * 320
    assert text[0] == "*"
    small = display_timing.drawing(mode, 40, 12)
    assert any("=" * 40 in line for line in small), "one line of frame sync in 414 is still there"
    marked = [line for line in display_timing.drawing(mode, 451, 414) if line[5] == ">"]
    assert [line[:4] for line in marked] == [" 404"]


def test_modes_with_one_clock_or_line_are_drawn(capsys: Any) -> None:
    for words in (("HTOTAL=0",), ("VTOTAL=0",), ("HTOTAL=0", "VTOTAL=0"), ("HTOTAL=4095", "VTOTAL=4095")):
        assert "refresh" in run(capsys, *(part for word in words for part in ("-r", word)))


@pytest.mark.parametrize(
    "words",
    [
        ["-r", "VTOTAL"], ["-r", "VTOTAL=x"], ["-r", "NOTHING=1"], ["-r", "PPF_FLAGS=1"], ["-r", "VTOTAL=0x100000000"],
        ["-r", "PDC0_FORMAT.interlace=4"], ["--init", "nothing"], ["--screen", "left"], ["--set", "display.vstart=x"],
    ],
)  # fmt: skip
def test_wrong_words(capsys: Any, words: list[str]) -> None:
    assert main(["timing", *words]) == 2
    assert "error:" in capsys.readouterr().err
