"""Pictures held against each other: what is counted, what is drawn of it, the page, and the folder of a report."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pocketgpu.errors import UsageError
from pocketgpu.inspect.pages.findings import Finding, hold, measures, page
from pocketgpu.inspect.pages.report_folder import MANIFEST, clear, store, write_report
from pocketgpu.inspect.pictures.comparing import as_pixels, compare, difference, read_picture, sheet, to_png


def noise(height: int = 12, width: int = 20, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def test_what_is_counted() -> None:
    golden = np.full((12, 20, 3), 100, np.uint8)
    ours = golden.copy()
    ours[3, 4, 0] += 1
    ours[5, 9, 1] -= 3
    ours[8, 2, 2] = 255
    found = compare(as_pixels(ours), as_pixels(golden))
    assert (found.differing, found.touched, found.largest, found.box) == (3, 3, 155, (2, 3, 10, 9))
    assert str(found) == "3 of 240 pixels differ, by 155 at most, between (2, 3) and (9, 8)"
    assert measures(found) == (
        ("size", "20x12"), ("differing pixels", "3 of 240 (1.25 %)"), ("largest difference", "155 of 255, allowed 0"),
    )  # fmt: skip
    found = compare(as_pixels(ours), as_pixels(golden), 1)
    assert (found.differing, found.touched, found.box, found.same) == (2, 3, (2, 5, 10, 9), False)
    found = compare(as_pixels(ours), as_pixels(golden), 155)
    assert (found.differing, found.touched, found.largest, found.same) == (0, 3, 155, True)
    assert not compare(as_pixels(ours), as_pixels(golden), 154).same


def test_differences_do_not_wrap_around() -> None:
    """0 and 255 are far apart, in both directions, and alpha counts like a colour."""
    dark, bright = (np.full((2, 2, 4), value, np.uint8) for value in (0, 255))
    for one, two in ((dark, bright), (bright, dark)):
        assert compare(one, two).largest == 255
        assert not compare(one, two, 254).same
    clear_white = bright.copy()
    clear_white[1, 1, 3] = 254
    assert compare(bright, clear_white).differing == 1


def test_sizes_must_agree() -> None:
    found = compare(as_pixels(noise(10, 20)), as_pixels(noise(20, 10)))
    assert not found.same and str(found) == "the picture is 20x10, the golden 10x20"
    assert measures(found) == (("size", "20x10"), ("size of the golden", "10x20"))


def test_what_is_a_picture() -> None:
    pixels = noise()
    image = Image.fromarray(pixels)
    for picture in (pixels, image, image.convert("RGBA"), type("Screen", (), {"array": pixels})):
        assert np.array_equal(as_pixels(picture)[..., :3], pixels)
        assert (as_pixels(picture)[..., 3] == 255).all()
    grey = as_pixels(pixels[..., 0])
    assert np.array_equal(grey[..., 2], pixels[..., 0])
    for wrong in (pixels.astype(float), pixels[..., :2], np.zeros((0, 4, 3), np.uint8), "f0.png", pixels.ravel()):
        with pytest.raises(UsageError):
            as_pixels(wrong)
    with pytest.raises(UsageError, match="8 bits"):
        as_pixels(Image.new("I;16", (4, 4)))


def test_the_difference_shows_where() -> None:
    golden = np.full((4, 6, 3), 120, np.uint8)
    ours = golden.copy()
    ours[1, 2, 0] = 121  # within the tolerance
    ours[2, 3, 1] = 130
    ours[3, 4, 2] = 0
    shown = difference(as_pixels(ours), as_pixels(golden), 2)
    assert shown[0, 0].tolist() == [30, 30, 30, 255]
    assert shown[1, 2].tolist() == [0, 96, 255, 255]
    assert shown[2, 3].tolist() == [116, 10, 0, 255]
    assert shown[3, 4].tolist() == [255, 120, 0, 255]
    # Of pictures of different size, what only one has stands out, and what none has is clear.
    shown = difference(as_pixels(golden[:2]), as_pixels(golden[:, :3]))
    assert shown.shape == (4, 6, 4)
    assert shown[3, 0].tolist() == shown[0, 5].tolist() == [96, 0, 128, 255]
    assert shown[3, 5, 3] == 0 and shown[1, 1].tolist() == [30, 30, 30, 255]


def test_a_sheet_has_all_pictures_as_they_are() -> None:
    one, two = as_pixels(noise(10, 30, 1)), as_pixels(noise(8, 40, 2))
    whole = sheet([("one", one), ("two", two)])
    assert whole.shape == (26, 78, 4)
    assert np.array_equal(whole[16:, :30], one) and np.array_equal(whole[16:24, 38:], two)
    assert len(np.unique(whole[:16, :30].reshape(-1, 4), axis=0)) > 1  # a name stands there


def test_pictures_survive_their_files(tmp_path: Path) -> None:
    clear_corner = as_pixels(noise())
    clear_corner[0, 0, 3] = 7
    for name, pixels in (("opaque", as_pixels(noise())), ("clear", clear_corner)):
        path = tmp_path / f"{name}.png"
        path.write_bytes(to_png(pixels))
        assert np.array_equal(read_picture(path), pixels)
        with Image.open(path) as image:
            assert image.mode == ("RGB" if name == "opaque" else "RGBA")


def test_damaged_picture_files_are_refused(tmp_path: Path) -> None:
    """Cut anywhere or with any byte flipped: the right pixels, or an error with the name of the file."""
    data = to_png(as_pixels(noise(4, 5)))
    path = tmp_path / "golden.png"
    read = 0
    for place in range(len(data)):
        for broken in (data[:place], data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]):
            path.write_bytes(broken)
            try:
                read_picture(path)
                read += 1
            except UsageError as error:
                assert str(path) in str(error)
    assert read < len(data) // 2
    with pytest.raises(UsageError, match="No such file"):
        read_picture(tmp_path / "none.png")
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
    with pytest.raises(UsageError, match="git lfs pull"):
        read_picture(path)


def finding(test: str = "t.py::test", golden: str = "goldens/a.png", seed: int = 1) -> Finding:
    found, pictures = hold(as_pixels(noise(seed=seed)), as_pixels(noise(seed=9)), 0)
    return Finding(test, golden, str(found), measures(found), pictures)


def test_findings_travel_as_json() -> None:
    found = finding()
    assert [name for name, _ in found.pictures] == ["ours", "golden", "difference"]
    assert Finding.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert hold(as_pixels(noise()), as_pixels(noise()), 0)[1] == ()


def test_the_page_has_its_pictures_inside_and_trusts_no_name() -> None:
    text = page([finding("<b>one</b>"), finding("two", seed=2)], "2 & more", "do <this>")
    assert "<b>" not in text and "&lt;b&gt;one" in text and "do &lt;this&gt;" in text and "2 &amp; more" in text
    inside = re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    assert len(inside) == 6 and not re.search(r'(?:src|href)="(?!data:|#)', text)
    with Image.open(io.BytesIO(base64.b64decode(inside[3]))) as image:
        assert np.array_equal(np.asarray(image), noise(seed=2))


def test_a_report_replaces_the_one_before_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    far = [str(tmp_path / place / "b.png") for place in ("far", "farther")]
    same = [finding(), finding("x", "b.png"), *(finding("other <é>" + "x" * 300, golden) for golden in far)]
    sheets = write_report(folder, same)
    assert len({path.name.lower() for path in sheets.values()}) == 4
    assert all(path.is_file() and len(path.name.encode()) < 200 for path in sheets.values())
    assert (folder / "candidates" / "goldens" / "a.png").is_file() and (folder / "candidates" / "b.png").is_file()
    assert len(list((folder / "outside").glob("*b.png"))) == 2, "none stands where another golden of the project is"
    assert (folder / "outside" / "b.png").is_file(), "the first one keeps its name"
    mine = folder / "mine.png"
    mine.write_text("mine")
    assert write_report(folder, []) == {}
    assert [path for path in folder.rglob("*") if path.is_file()] == [mine]


def test_a_forged_list_of_files_leads_nowhere_else(tmp_path: Path) -> None:
    folder, outside = tmp_path / "report", tmp_path / "outside.txt"
    for path in (outside, folder / "inside.txt"):
        store(path, b"x")
    store(folder / MANIFEST, f"../outside.txt\n{outside}\n\ninside.txt\n".encode())
    clear(folder)
    assert outside.exists() and not (folder / "inside.txt").exists()


def test_what_cannot_be_replaced_leaves_no_parts(tmp_path: Path) -> None:
    (tmp_path / "a.png").mkdir()
    with pytest.raises(OSError):
        store(tmp_path / "a.png", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
