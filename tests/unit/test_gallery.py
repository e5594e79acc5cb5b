"""The scenes of the gallery: each has the form that its page needs, uses public names only, and draws what it drew.

`pytest tests/unit/test_gallery.py --update-goldens` writes the digests of the pictures again, in the table beside this
file. Look at the pictures before you keep them.
"""

from __future__ import annotations

import ast
import hashlib
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence
from support.promised import NAMES
from support.site import site_module

from pocketgpu.pytest_plugin import updating

gallery = site_module("gallery")
gallery_scenes = site_module("gallery_scenes")
ROOT = Path(__file__).resolve().parents[2]
SCENES = sorted((ROOT / "gallery").glob("*/*.py"))
LEAST_SCENES = 80
MOST_LINES = 40
WORDS = range(40, 171)
"""How long a paragraph may be."""
DIGESTS = Path(__file__).with_name("gallery_pictures.tsv")
HEAD = "scene\tpicture\tsize\tframes\tsha256"
OTHERS = ("numpy", "PIL")
"""Libraries that come with the package."""
SIZES = {"picture": 150_000, "moving": 450_000}
"""Bytes."""


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def foreign(tree: ast.Module) -> list[str]:
    """What a scene uses that is not public: imports, and private names."""
    wrong = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wrong += [one.name for one in node.names if not _known(one.name)]
        elif isinstance(node, ast.ImportFrom):
            whole = node.module or ""
            names = [one.name for one in node.names]
            promised = NAMES.get(whole, ())
            wrong += [f"{whole}.{name}" for name in names if name not in promised and not _known(f"{whole}.{name}")]
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            wrong.append(node.attr)
    return wrong


def _known(module: str) -> bool:
    top = module.partition(".")[0]
    return module in NAMES or top in OTHERS or top in sys.stdlib_module_names


def digest(image: Image.Image) -> tuple[str, int, str]:
    """Size, number of frames, and SHA-256 of all pixels."""
    frames = [np.asarray(frame.convert("RGBA")) for frame in ImageSequence.Iterator(image)]
    total = hashlib.sha256(b"".join(frame.tobytes() for frame in frames)).hexdigest()
    return f"{image.width}x{image.height}", len(frames), total


def goldens() -> dict[tuple[str, str], str]:
    """(scene, picture): the rest of the row."""
    rows = [line.split("\t", 2) for line in DIGESTS.read_text(encoding="utf-8").splitlines()[1:]]
    return {(scene, picture): rest for scene, picture, rest in rows}


def write_goldens(scene: str, found: dict[tuple[str, str], str]) -> None:
    there = {name_of(path) for path in SCENES}
    kept = {key: rest for key, rest in goldens().items() if key[0] != scene and key[0] in there}
    rows = [f"{scene}\t{picture}\t{rest}" for (scene, picture), rest in sorted({**kept, **found}.items())]
    DIGESTS.write_text("\n".join([HEAD, *rows, ""]), encoding="utf-8", newline="\n")


# -- scenes -----------------------------------------------------------------------------------------------------------
def test_all_scenes_are_listed_and_there_are_enough() -> None:
    listed = [f"{console}/{name}" for console in gallery_scenes.CONSOLES for name in gallery_scenes.order(console)]
    assert sorted(listed) == [name_of(path) for path in SCENES]
    assert len(listed) >= LEAST_SCENES
    assert {scene for scene, _ in goldens()} == set(listed)


@pytest.mark.parametrize("path", SCENES, ids=name_of)
def test_a_scene_has_the_form_of_its_page(path: Path) -> None:
    scene = gallery_scenes.Source(path)
    title, sentence = scene.heading
    text, underline = title.splitlines()
    assert set(underline) == {"="} and len(underline) == len(text) and not text.endswith(".")
    assert re.fullmatch(r"[^.]+(\.\d[^.]*)*\.", " ".join(sentence.split())), "one sentence"
    assert len([line for line in scene.code.splitlines() if line.strip()]) <= MOST_LINES
    assert scene.text.count(f"\n{gallery_scenes.BLOCK}\n") == 1
    after = scene.text.partition(f"\n{gallery_scenes.BLOCK}\n")[2].splitlines()
    assert after and all(line.startswith("# ") for line in after), "one paragraph"
    assert len(gallery_scenes.plain(scene.paragraph).split()) in WORDS
    assert foreign(scene.tree) == []


@pytest.mark.parametrize("path", SCENES, ids=name_of)
def test_what_a_scene_names_is_in_the_tables(path: Path) -> None:
    """And it links to something: its paragraph is about what a program writes."""
    keys = {name: gallery_scenes.key_of(role, name) for role, name in gallery_scenes.Source(path).named()}
    roles = [role for role, _ in gallery_scenes.ROLE.findall(gallery_scenes.Source(path).paragraph)]
    roles_of_writes = (gallery_scenes.REGISTERS, gallery_scenes.METHODS, gallery_scenes.FIELDS)
    named = [name for role, name in gallery_scenes.Source(path).named() if role in roles_of_writes]
    assert [name for name in named if not keys[name]] == []
    assert set(roles) & set(roles_of_writes)


@pytest.mark.parametrize("path", SCENES, ids=name_of)
def test_a_scene_draws_what_it_drew(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path))
    files = sorted(tmp_path.iterdir())
    assert files and {file.suffix for file in files} <= set(gallery.PICTURES)
    found: dict[tuple[str, str], str] = {}
    for file in files:
        with Image.open(file) as image:
            size, frames, total = digest(image)
            assert max(high - low for low, high in image.convert("RGB").getextrema()) > 0, "one flat colour"
        found[name_of(path), file.name] = f"{size}\t{frames}\t{total}"
        small = tmp_path / "small.png"
        if frames == 1:
            with Image.open(file) as image:
                gallery.save_small(image, small)
        assert (small if frames == 1 else file).stat().st_size <= SIZES["picture" if frames == 1 else "moving"]
    if updating(pytestconfig):
        write_goldens(name_of(path), found)
    assert found == {key: rest for key, rest in goldens().items() if key[0] == name_of(path)}


# -- what reads them --------------------------------------------------------------------------------------------------
SCENE = '''"""
A *title*
=========

It shows a :register:`FOG_COLOR` and
more.
"""

canvas.list.write("TEXUNIT0_DIM").write(name).blend("a")
pb.method("SET_BLEND", 0).method("NO_METHOD")

# %%
# See :method:`902D.SET_OPERATION`, :register:`the fog <GPUREG_FOG_COLOR>`, :field:`TEXUNIT1_DIM.width`
# and :choice:`fog.depth`.
'''


def test_the_parts_of_a_scene(tmp_path: Path) -> None:
    (tmp_path / "3ds").mkdir()
    path = tmp_path / "3ds" / "one.py"
    path.write_text(SCENE, encoding="utf-8")
    scene = gallery_scenes.Source(path)
    assert scene.sentence == "It shows a FOG_COLOR and more." and scene.scene == ("one", "3ds", "A *title*")
    assert scene.code.startswith("canvas.list") and scene.code.endswith('"NO_METHOD")')
    assert scene.paragraph.startswith("See :method:") and scene.paragraph.endswith("and :choice:`fog.depth`.")
    assert scene.scene.page == "gallery/3ds/one"
    keys = {gallery_scenes.key_of(role, name) for role, name in scene.named()}
    assert keys == {"FOG_COLOR", "TEXUNIT0_DIM", "b197.SET_BLEND", "902d.SET_OPERATION", "TEXUNIT1_DIM", ""}


def test_scenes_are_found_by_what_they_are_about() -> None:
    using = gallery_scenes.scenes_using()
    assert ("triangle", "3ds", "A triangle") in using["TEXENV0_SOURCE"]
    assert ("triangle", "switch", "A triangle") in using["b197.DRAW_VERTEX_ARRAY"]


def test_an_order_that_lacks_a_scene_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery_scenes, "GALLERY", tmp_path)
    (tmp_path / "3ds").mkdir()
    (tmp_path / "3ds" / "one.py").touch()
    for text, wrong in (("", "one"), ("one two", "two"), ("one one", "one")):
        (tmp_path / "3ds" / "order.txt").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=f"once: {wrong}"):
            gallery_scenes.order("3ds")


def test_names_that_are_not_public_are_found() -> None:
    text = "import numpy as np\nimport os.path\nimport pocketgpu.lanes\nfrom pocketgpu.builder import Buffer, nothing\n"
    assert foreign(ast.parse(text + "np._x")) == ["pocketgpu.lanes", "pocketgpu.builder.nothing", "_x"]


# -- pages ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs code as sphinx-gallery would, and gives the lines of the pictures that it writes."""
    path = tmp_path / "3ds" / "one.py"
    path.parent.mkdir()
    path.write_text(SCENE, encoding="utf-8")
    made = iter(str(tmp_path / f"glr_{number:03}.png") for number in range(1, 9))
    variables = {"src_file": str(path), "image_path_iterator": SimpleNamespace(next=lambda: next(made))}

    def run(code: Any) -> str:
        gallery.renew_folder({}, "one")
        gallery.own_folder(code)
        return gallery.scrape(None, variables, {"src_dir": str(tmp_path)})

    yield run
    gallery.own_folder.leave()


def frames(count: int) -> list[Image.Image]:
    return [Image.new("RGB", (50, 20), (40 * number, 0, 9)) for number in range(count)]


def test_pictures_become_those_of_the_page(site: Any, tmp_path: Path) -> None:
    here = Path.cwd()
    text = site(lambda: frames(1)[0].save("one.png"))
    assert Path.cwd() == here and gallery.own_folder.folder is None
    assert text.splitlines()[2:5] == [
        ".. image:: /glr_002.png", "   :alt: A title: picture", "   :class: scene-picture",
    ]  # fmt: skip
    with Image.open(tmp_path / "glr_001.webp") as small, Image.open(tmp_path / "glr_002.png") as kept:
        assert small.size == gallery.THUMBNAIL and kept.mode == "P"
        assert kept.convert("RGB").tobytes() == frames(1)[0].tobytes()


@pytest.mark.parametrize("suffix", gallery.PICTURES)
def test_moving_pictures_stay_and_get_a_still_one(site: Any, tmp_path: Path, suffix: str) -> None:
    first, *rest = frames(3)
    text = site(lambda: first.save(f"one{suffix}", save_all=True, append_images=rest, duration=50, loop=0))
    assert f"/glr_002{suffix}" in text and "scene-picture moving" in text
    assert "/glr_003.png" in text and "scene-picture still" in text
    with Image.open(tmp_path / f"glr_002{suffix}") as moving:
        assert moving.n_frames == 3


def test_a_scene_without_a_picture_is_an_error(site: Any) -> None:
    with pytest.raises(ValueError, match="no picture"):
        site(lambda: None)
    with pytest.raises(ValueError, match=r"wrote notes\.txt"):
        site(lambda: Path("notes.txt").touch())


def test_pictures_with_many_colours_or_holes_are_kept_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    for channels in (3, 4):
        pixels = rng.integers(0, 256, (40, 40, channels), np.uint8)
        gallery.save_small(Image.fromarray(pixels), tmp_path / "a.png")
        with Image.open(tmp_path / "a.png") as kept:
            assert (np.asarray(kept) == pixels).all()


def test_a_narrow_picture_is_cut_off_in_the_overview() -> None:
    left, right = Image.new("RGB", (1000, 100), (9, 9, 9)), Image.new("RGB", (300, 100), (200, 0, 0))
    left.paste(right, (700, 0))
    small = np.asarray(gallery.thumbnail(left))
    assert small.shape[:2] == gallery.THUMBNAIL[::-1]
    assert not (small == (200, 0, 0)).all(axis=2).any(), "1.7 of what fits is cut off at 59 in 100 of the width"
    whole = gallery.thumbnail(Image.new("RGB", (400, 240), (1, 2, 3)))
    assert whole.getcolors() == [(360 * 216, (1, 2, 3))]


PAGE = """
.. only:: html

    .. note::
        :class: sphx-glr-download-link-note

        :ref:`Go to the end <sphx_glr_download_x>`
        to download the full example code.

.. rst-class:: sphx-glr-example-title

One
===

A sentence.

.. GENERATED FROM PYTHON SOURCE LINES 8-9

CODE

.. pictures-begin

PICTURE

.. pictures-end

PRINTED

.. GENERATED FROM PYTHON SOURCE LINES 11-12

PARAGRAPH

**Estimated memory usage:**  0 MB


.. _sphx_glr_download_x:

.. only:: html

  FOOTER
"""


def test_the_order_of_a_page() -> None:
    page = gallery.arranged(PAGE, "one")
    words = re.findall(r"A sentence|PICTURE|CODE|PRINTED|PARAGRAPH|one\.py|note|memory|FOOTER|Go to", page)
    assert words == ["A sentence", "PICTURE", "CODE", "PRINTED", "PARAGRAPH", "one.py"]


def test_an_overview_shows_the_sentences() -> None:
    card = '<div class="sphx-glr-thumbcontainer" tooltip="Says &quot;a&quot;.">\n\n  :doc:`/x`\n\n'
    card += '  <div class="sphx-glr-thumbnail-title">X</div>\n</div>\n'
    tags = ".. raw:: html\n\n  <div id='sg-tag-list' class='sphx-glr-tag-list'></div>\n\n"
    page = gallery.overview(tags + card + card)
    assert page.count('<div class="sphx-glr-thumbnail-text">Says &quot;a&quot;.</div>') == 2
    assert "tooltip" not in page and "sg-tag-list" not in page


def test_the_front_page_shows_scenes_of_both_consoles() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    (names,) = re.findall(r":::\{gallery-strip\}\n(.*?)\n:::", page, re.DOTALL)
    assert {scene.console for scene in gallery.chosen(names.split())} == set(gallery_scenes.CONSOLES)
    with pytest.raises(ValueError, match="no scene of the gallery: 3ds/none"):
        gallery.chosen(["3ds/none"])


def test_pages_of_scenes_that_are_no_more_go(tmp_path: Path) -> None:
    folder = tmp_path / "gallery" / "3ds"
    (folder / "images" / "thumb").mkdir(parents=True)
    kept = {"index.rst", "triangle.rst", "triangle.py", "images/sphx_glr_old_one_001.png"}
    gone = {"old.rst", "old.py", "old.py.md5", "images/sphx_glr_old_002.png", "images/thumb/sphx_glr_old_thumb.webp"}
    for name in kept | gone:
        (folder / name).touch()
    gallery.prune(tmp_path)
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")} == kept


def test_the_extension_connects_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "_add_strip", lambda app: None)  # the tests have no docutils
    connected: dict[str, Any] = {}
    gallery.setup(SimpleNamespace(connect=connected.__setitem__, srcdir=str(tmp_path)))
    texts = [PAGE]
    connected["source-read"](None, "gallery/3ds/one", texts)
    assert texts[0].index("PICTURE") < texts[0].index("CODE")
    texts = [PAGE]
    connected["source-read"](None, "guides/one", texts)
    assert texts == [PAGE]
    scripts = [SimpleNamespace(filename="_static/sg-tags.js"), SimpleNamespace(filename="_static/a.js")]
    context = {"script_files": scripts}
    connected["html-page-context"](None, "", "", context, None)
    assert [one.filename for one in context["script_files"]] == ["_static/a.js"]
