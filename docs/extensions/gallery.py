"""The gallery of the site: sphinx-gallery runs the scenes, and this module says how their pages look.

A page has the title, the sentence, the picture, the code, what it prints, and the paragraph. Each scene runs in an
empty folder of its own, and the pictures that it leaves there are those of its page.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gallery_scenes import CONSOLES, Scene, Source, order, plain, sources
from PIL import Image

PICTURES = (".png", ".gif", ".webp")
"""Suffixes of what a scene may write. Moving pictures stay as they are, others are made small."""
THUMBNAIL = (360, 216)
"""Pixels of the pictures of the overview."""
GROUND = (24, 24, 27)
"""Around pictures of the overview that have another shape; `pocketgpu.pictures.beside` has the same."""
NARROW = 1.7
"""A picture that leaves more of the overview's free is enlarged by this, and its right or lower end cut off."""
BEGIN, END = ".. pictures-begin", ".. pictures-end"
"""Comments around the pictures, by which `arranged` finds them."""
GENERATED = ".. GENERATED FROM PYTHON SOURCE LINES"
DOWNLOADS = ".. _sphx_glr_download_"
CARD = re.compile(
    r'(<div class="sphx-glr-thumbcontainer") tooltip="(.*?)"(>.*?<div class="sphx-glr-thumbnail-)title">.*?</div>',
    re.DOTALL,
)
MOST_COLORS = 256


class OwnFolder:
    """Runs the code of a scene in a folder of its own. sphinx-gallery calls it where it would measure memory."""

    folder: Path | None = None

    def __call__(self, run: Callable[[], Any]) -> tuple[float, Any]:
        if self.folder is None:
            return 0.0, run()
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            return 0.0, run()
        finally:
            os.chdir(before)

    def renew(self, conf: dict[str, Any], scene: str) -> None:
        """Begin with an empty folder."""
        self.leave()
        self.folder = Path(tempfile.mkdtemp(prefix="scene-"))

    def leave(self) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder)
            self.folder = None


own_folder = OwnFolder()


def renew_folder(conf: dict[str, Any], scene: str) -> None:
    """Called before each scene."""
    own_folder.renew(conf, scene)


class Listed:
    """The order of scenes in a folder: that of its `order.txt`."""

    def __init__(self, folder: str) -> None:
        self.names = order(Path(folder).name) if (Path(folder) / "order.txt").exists() else []

    def __call__(self, file: str) -> int:
        return self.names.index(Path(file).stem)


CONF: dict[str, Any] = {
    "examples_dirs": ["../gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "subsection_order": ["../gallery/3ds", "../gallery/switch"],
    "within_subsection_order": "gallery.Listed",
    "image_scrapers": ("gallery.scrape",),
    "reset_modules": ("gallery.renew_folder",),
    "run_stale_examples": True,  # a scene that is as it was may draw something else with other code
    "show_memory": own_folder,
    "thumbnail_size": THUMBNAIL,
    "notebook_extensions": set(),
    "capture_repr": (),
    "css": (),
    "download_all_examples": False,
    "inspect_global_variables": False,
    "min_reported_time": float("inf"),  # times differ from build to build
    "show_signature": False,
    "write_computation_times": False,
}
"""What `sphinx_gallery_conf` is."""


# -- pictures ---------------------------------------------------------------------------------------------------------
def scrape(block: Any, variables: dict[str, Any], conf: dict[str, Any]) -> str:
    """Take the pictures that the code of a scene wrote, for its page. See "image scrapers" of sphinx-gallery. Their
    alternative text is short, as the sentence above them says what they show, and would be read out twice.

    :raises ValueError: there are none, or other files.
    """
    assert own_folder.folder is not None
    files = sorted(own_folder.folder.iterdir())
    source = Source(Path(variables["src_file"]))
    others = [file.name for file in files if file.suffix not in PICTURES]
    if others or not files:
        raise ValueError(f"{source.path} wrote {', '.join(others) or 'no picture'}")
    paths = variables["image_path_iterator"]
    with Image.open(files[0]) as first:
        thumbnail(first).save(Path(paths.next()).with_suffix(".webp"), quality=80, method=6)
    lines = [BEGIN, ""]
    for number, file in enumerate(files, 1):
        count = f" {number} of {len(files)}" if len(files) > 1 else ""
        lines += kept(file, paths, Path(conf["src_dir"]), f"{plain(source.title)}: picture{count}")
    own_folder.leave()
    return "\n".join([*lines, END, ""])


def kept(file: Path, paths: Any, site: Path, alternative: str) -> list[str]:
    """Keep a picture, and its first frame if it moves, which readers see who want nothing to move; the lines that show
    it."""
    target = Path(paths.next()).with_suffix(file.suffix)
    with Image.open(file) as image:
        if not getattr(image, "is_animated", False):
            save_small(image, target)
            return _image(target, site, alternative, "scene-picture")
        shutil.copy(file, target)
        still = Path(paths.next()).with_suffix(".png")
        save_small(image, still)
    moving = _image(target, site, alternative, "scene-picture", "moving")
    return moving + _image(still, site, alternative, "scene-picture", "still")


def _image(file: Path, site: Path, alternative: str, *classes: str) -> list[str]:
    address = "/" + file.relative_to(site).as_posix()
    return [f".. image:: {address}", f"   :alt: {alternative}", f"   :class: {' '.join(classes)}", ""]


def save_small(image: Image.Image, target: Path) -> None:
    """Write a picture without loss in few bytes: with a palette if it has few colours."""
    image = image.convert("RGBA" if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info else "RGB")
    if image.mode == "RGBA" and image.getextrema()[3] == (255, 255):  # type: ignore[index]
        image = image.convert("RGB")
    colors = image.getcolors(MOST_COLORS) if image.mode == "RGB" else None
    if colors:  # `quantize` mixes colours that are alike, even if there are few
        palette = np.array(sorted(color for _, color in colors), np.uint8)
        words = np.asarray(image) @ np.array([1 << 16, 1 << 8, 1])
        numbers = np.searchsorted(palette @ np.array([1 << 16, 1 << 8, 1]), words)
        image = Image.fromarray(numbers.astype(np.uint8)).convert("P")
        image.putpalette(palette.tobytes())
    image.save(target, optimize=True)


def thumbnail(image: Image.Image) -> Image.Image:
    """A picture for the overview. Long ones are cut off rather than shown as a narrow strip."""
    image = image.convert("RGB")
    ratios = [size / of for size, of in zip(THUMBNAIL, image.size, strict=True)]
    ratio = min(ratios) * (NARROW if max(ratios) > NARROW * min(ratios) else 1)
    size = tuple(max(1, round(of * ratio)) for of in image.size)
    small = image.resize(size, Image.Resampling.LANCZOS if ratio < 1 else Image.Resampling.NEAREST)
    sheet = Image.new("RGB", THUMBNAIL, GROUND)
    sheet.paste(small, tuple(max(0, (of - have) // 2) for of, have in zip(THUMBNAIL, size, strict=True)))
    return sheet


# -- pages ------------------------------------------------------------------------------------------------------------
def arranged(page: str, name: str) -> str:
    """The page of a scene in our order: pictures above the code, and one line to download it below."""
    page = re.sub(r"\.\. only:: html\n\n    \.\. note::\n(?: {4,}.*\n|\n)+", "", page, count=1)
    head, _, rest = page.partition(BEGIN)
    pictures, _, rest = rest.partition(END)
    title, _, code = head.partition(GENERATED)
    text = re.sub(r"\*\*Estimated memory usage:.*", "", rest.partition(DOWNLOADS)[0]).rstrip()
    below = f".. container:: scene-download\n\n   The code of this page: :download:`{name}.py`"
    return f"{title}{pictures}\n{GENERATED}{code}{text}\n\n{below}\n"


def overview(page: str) -> str:
    """An overview in our form: below each title the sentence, which sphinx-gallery has for a tooltip only."""
    page = re.sub(r"\.\. raw:: html\n\n +<div id='sg-tag-list'.*\n", "", page)
    return CARD.sub(r'\1\3text">\2</div>', page)


def _arrange(app: Any, page: str, texts: list[str]) -> None:
    if re.fullmatch(r"gallery/(\w+/)?index", page):
        texts[0] = overview(texts[0])
    elif re.fullmatch(r"gallery/\w+/\w+", page):
        texts[0] = arranged(texts[0], page.rpartition("/")[2])


def _without_scripts(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """sphinx-gallery's script for tags, which scenes don't have."""
    context["script_files"] = [one for one in context["script_files"] if not str(one.filename).endswith("sg-tags.js")]


def chosen(names: list[str]) -> list[Scene]:
    """Scenes by their names, such as `3ds/fog`.

    :raises ValueError: there is no such scene.
    """
    scenes = {f"{source.scene.console}/{source.scene.name}": source.scene for source in sources()}
    unknown = [name for name in names if name not in scenes]
    if unknown:
        raise ValueError(f"no scene of the gallery: {', '.join(unknown)}")
    return [scenes[name] for name in names]


def _add_strip(app: Any) -> None:
    """The directive `gallery-strip`: pictures of scenes that it names, each a link to its page. For the front page."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class Strip(SphinxDirective):
        has_content = True

        def run(self) -> list[nodes.Node]:
            row = nodes.container(classes=["gallery-strip"])
            for scene in chosen(list(self.content)):
                address = f"/gallery/{scene.console}/images/thumb/sphx_glr_{scene.name}_thumb.webp"
                image = nodes.image(uri=address, alt=f"{scene.title} ({CONSOLES[scene.console]})")
                row += nodes.reference("", "", image, refuri=f"{scene.page}.html", internal=True)
            return [row]

    app.add_directive("gallery-strip", Strip)


def prune(site: Path) -> None:
    """Remove pages of scenes that are no more; sphinx-gallery leaves them where an earlier build has put them."""
    for console in CONSOLES:
        for page in (site / "gallery" / console).glob("*.rst"):
            if page.stem not in ("index", *order(console)):
                pictures = page.parent.glob(f"images/**/sphx_glr_{page.stem}_[0-9t][0-9h][0-9u]*")  # 001, thumb
                for file in (*page.parent.glob(f"{page.stem}.*"), *pictures):
                    file.unlink()


def _end(app: Any, exception: Exception | None) -> None:
    own_folder.leave()


def setup(app: Any) -> dict[str, bool]:
    """The extension of Sphinx."""
    _add_strip(app)
    prune(Path(app.srcdir))
    app.connect("source-read", _arrange)
    app.connect("html-page-context", _without_scripts)
    app.connect("build-finished", _end)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
