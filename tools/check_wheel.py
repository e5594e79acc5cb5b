"""Check the wheel in dist/: built once more from the same tree it is the same bytes, it is small enough, it has the
files of the report that are no Python, and of the built pages, and a sweep with it alone writes a report that lacks
nothing.

    python tools/check_wheel.py [dist/pocketgpu-0.1.0-py3-none-any.whl]

The last step of `make wheel`. Code made ahead of time is not compiled again: `make_kernels.py --check` does that.
"""

from __future__ import annotations

import argparse
import compileall
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "src/pocketgpu/sweeps/report/assets"
PAGES = {"view": ("index.html", "THIRD-PARTY.txt"), "notebook": ("widget.js", "THIRD-PARTY.txt")}
"""Rooms with a page that Node.js builds, and files of it. The tree may have no page, but then it has none of them."""
SAMPLES = ("sample.ctf.xz", "sample_switch.mxcap.zip")
MEGABYTE = 1_000_000
MOST_PACKED, MOST_INSTALLED = 15 * MEGABYTE, 60 * MEGABYTE
"""Bytes of the wheel, and of what pip installs of it: without dependencies, with Python's byte code."""


def built(folder: Path) -> Path:
    """A wheel of this tree."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    (found,) = folder.glob("*.whl")
    return found


def difference(one: Path, other: Path) -> str:
    """What differs between two wheels; "" if they are the same bytes."""
    if one.read_bytes() == other.read_bytes():
        return ""
    contents = []
    for path in (one, other):
        with zipfile.ZipFile(path) as archive:
            contents.append({info.filename: archive.read(info) for info in archive.infolist()})
    names = [name for name in contents[0] | contents[1] if contents[0].get(name) != contents[1].get(name)]
    return f"files differ: {', '.join(names)}" if names else "the files are the same, their archive is not"


def lacking(wheel: Path) -> list[str]:
    """Files of the report's page that the wheel does not have."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = [path.relative_to(ROOT / "src").as_posix() for path in ASSETS.iterdir()]
    return sorted(name for name in wanted if name not in names)


def lacking_pages(wheel: Path) -> list[str]:
    """Files of the built pages that the wheel does not have; none if nothing was built."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    built = [path for room in PAGES for path in (ROOT / f"src/pocketgpu/{room}/page").rglob("*") if path.is_file()]
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in built}
    if wanted:
        wanted |= {f"pocketgpu/{room}/page/{name}" for room, files in PAGES.items() for name in files}
    return sorted(wanted - names)


def broken_report(wheel: Path) -> str:
    """What is wrong with the report of a sweep by the files of the wheel alone; "" if nothing is."""
    with tempfile.TemporaryDirectory() as place:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(Path(place, "site"))
        samples = [str(Path(place, "site", "pocketgpu", "data", name)) for name in SAMPLES]
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pocketgpu", "sweep", *samples, "--do", "info", "--out", "out"], cwd=place,
            env={**os.environ, "PYTHONPATH": str(Path(place, "site"))}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        page = Path(place, "out", "report", "index.html")
        if done.returncode or not page.is_file():
            return done.stderr.strip() or "it is missing"
        named = re.findall(r'(?:src|href|data-script)="([^"]+)"', page.read_text(encoding="utf-8"))
        gone = [name for name in named if not (page.parent / name).is_file()]
        return f"{', '.join(gone)} missing" if gone or not named else ""


def installed_bytes(wheel: Path) -> int:
    """Bytes of all files that pip makes of a wheel."""
    with tempfile.TemporaryDirectory() as place:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(place)
        compileall.compile_dir(place, quiet=2)
        return sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", nargs="?", type=Path)
    wheel = parser.parse_args().wheel or max(ROOT.glob("dist/*.whl"), key=lambda path: path.stat().st_mtime)
    with tempfile.TemporaryDirectory() as place:
        different = difference(wheel, built(Path(place)))
    packed, installed = wheel.stat().st_size, installed_bytes(wheel)
    kernels = 0
    with zipfile.ZipFile(wheel) as archive:
        kernels = sum(info.file_size for info in archive.infolist() if info.filename.endswith(".kernels"))
    for what, size, most in (("wheel", packed, MOST_PACKED), ("installed", installed, MOST_INSTALLED)):
        print(f"{what}: {size / MEGABYTE:.1f} MB, at most {most / MEGABYTE:.0f} MB")
    print(f"of it code made ahead of time: {kernels / MEGABYTE:.1f} MB")
    print(f"built again: {different or 'the same bytes'}")
    missing = lacking(wheel)
    print(f"of the report: {', '.join(missing) + ' missing' if missing else 'all files'}")
    pages = lacking_pages(wheel)
    print(f"of the pages: {', '.join(pages) + ' missing' if pages else 'all files'}")
    broken = broken_report(wheel)
    print(f"a report by it: {broken or 'whole'}")
    return int(bool(different or missing or pages or broken) or packed > MOST_PACKED or installed > MOST_INSTALLED)


if __name__ == "__main__":
    sys.exit(main())
