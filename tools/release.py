"""Make what a release uploads, and check it as a user would install it. Nothing is uploaded, committed or tagged.

    python tools/release.py                 # or `make release`
    python tools/release.py --dry-run       # the same, but CHANGELOG.md stays as it is

The version is the one in src/pocketgpu/__init__.py: raise and commit it before. The release is refused if files are
not committed, if CHANGELOG.md has nothing under "Unreleased", or if that version has a section in it or a tag already.

1. `make wheel` builds the wheel and checks it (tools/check_wheel.py).
2. CHANGELOG.md: what stands under "Unreleased" becomes the section of the version, with today's date.
3. The sdist is built, and from its files a wheel, which must be the same bytes as that of `make wheel`.
4. The wheel is installed in an empty virtual environment: the command's help and version, both demos, a test with the
   pytest plugin that passes and one that fails.

If a step fails, CHANGELOG.md gets its old text back.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from time import monotonic

from check_wheel import MEGABYTE, difference

ROOT = Path(__file__).resolve().parents[1]
PLACE = "src/pocketgpu/__init__.py"
"""The one place of the version."""
UNRELEASED = "## Unreleased"

PICTURE_TESTS = """
def test_same(pocketgpu_render, assert_frame):
    assert_frame(pocketgpu_render(SAMPLE, frame=0, screen="top"), DEMO / "f0.top.png")


def test_other(pocketgpu_render, assert_frame):
    assert_frame(pocketgpu_render(SAMPLE, frame=0, screen="top"), DEMO / "f1.top.png")
"""
"""Tests of a user: the first passes, the second compares with the picture of another frame."""


class Refused(Exception):
    """Why there is no release, as text for its maker."""


# -- the version and the changes ---------------------------------------------------------------------------------------
def version_of(root: Path) -> str:
    """The version of a source tree.

    :raises Refused: the file does not have exactly one.
    """
    found = re.findall(r'^__version__ = "([^"]+)"$', (root / PLACE).read_text(encoding="utf-8"), re.MULTILINE)
    if len(found) != 1:
        raise Refused(f"{PLACE} has no one line with __version__")
    return str(found[0])


def released(changes: str, version: str, day: date) -> str:
    """The text of CHANGELOG.md with what stands under "Unreleased" under the version. An empty "Unreleased" remains.

    :raises Refused: there is nothing to release, or the version has a section.
    """
    if re.search(rf"^## {re.escape(version)}\b(?!\.)", changes, re.MULTILINE):
        raise Refused(f"CHANGELOG.md has a section of {version}: raise __version__ in {PLACE}, and commit it")
    parts = re.split(rf"^{UNRELEASED}\n", changes, flags=re.MULTILINE)
    if len(parts) != 2:
        raise Refused(f'CHANGELOG.md has no one line "{UNRELEASED}"')
    news, others, rest = parts[1].partition("\n## ")
    if not news.strip():
        raise Refused(f'nothing stands under "{UNRELEASED}" in CHANGELOG.md')
    return f"{parts[0]}{UNRELEASED}\n\n## {version} ({day.isoformat()})\n\n{news.strip()}\n{others}{rest}"


def environment() -> dict[str, str]:
    """The variables of this process without what points programs to another place.

    A hook of git sets GIT_DIR and GIT_INDEX_FILE, which would mean the repository of the hook. How far up git looks for
    a repository (GIT_CEILING_DIRECTORIES) remains.
    """
    other = ("PYTHONPATH", "VIRTUAL_ENV")
    return {
        name: value for name, value in os.environ.items()
        if name not in other and (not name.startswith("GIT_") or name == "GIT_CEILING_DIRECTORIES")
    }  # fmt: skip


def git(root: Path, *words: str) -> list[str]:
    """The lines that git prints about a source tree.

    :raises Refused: it fails.
    """
    done = subprocess.run(
        ["git", *words], cwd=root, env=environment(), capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise Refused(f"git cannot say what is committed: {done.stderr.strip()}")
    return done.stdout.splitlines()


def uncommitted(root: Path) -> list[str]:
    """Files that differ from the last commit, or that git does not know."""
    return [line[3:] for line in git(root, "status", "--porcelain")]


def prepared(root: Path, day: date) -> tuple[str, str]:
    """(version, new text of CHANGELOG.md) of the release of a source tree.

    :raises Refused: it is not ready.
    """
    if files := uncommitted(root):
        raise Refused(f"not committed: {', '.join(files)}")
    version = version_of(root)
    if git(root, "tag", "--list", f"v{version}"):
        raise Refused(f"there is a tag v{version}: raise __version__ in {PLACE}, and commit it")
    return version, released((root / "CHANGELOG.md").read_text(encoding="utf-8"), version, day)


# -- what is built -----------------------------------------------------------------------------------------------------
def ran(words: Sequence[str | Path], place: Path, expected: int = 0, **variables: str) -> str:
    """What a program prints.

    :raises Refused: it ends with another exit code.
    """
    done = subprocess.run(
        [str(word) for word in words], cwd=place, env={**environment(), **variables}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode != expected:
        line = " ".join(str(word) for word in words)
        raise Refused(f"{line} ended with exit code {done.returncode}, not {expected}:\n{done.stdout.strip()}")
    return done.stdout


def clear(version: str) -> None:
    """Delete what dist/ has of a version from before: an older wheel can have another name."""
    for old in [*ROOT.glob(f"dist/pocketgpu-{version}-*.whl"), *ROOT.glob(f"dist/pocketgpu-{version}.tar.gz")]:
        old.unlink()


def wheel_of(version: str) -> Path:
    """The wheel of a version in dist/.

    :raises Refused: there is none, or more than one.
    """
    found = sorted(ROOT.glob(f"dist/pocketgpu-{version}-*.whl"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise Refused(f"dist/ must have one wheel of {version}, and has {names}")
    return found[0]


def wheel_of_sdist(sdist: Path, folder: Path) -> Path:
    """A wheel built from the files of an sdist alone."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    ran([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "again"], source)
    (wheel,) = (folder / "again").glob("*.whl")
    return wheel


def check_installed(wheel: Path, version: str, folder: Path) -> None:
    """Use a wheel as somebody who has only that and pip.

    :raises Refused: something of it does not work.
    """
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    program = python.with_name("pocketgpu")
    cache = {"POCKETGPU_CACHE": str(folder / "cache")}
    (folder / "cache").mkdir(mode=0o700)
    ran([sys.executable, "-m", "venv", folder / "venv"], folder)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    ran([*pip, wheel, "-r", ROOT / "requirements" / "run.txt"], folder)
    if "Examples" not in ran([program, "render", "--help"], folder, **cache):
        raise Refused("pocketgpu render --help shows no examples")
    if version not in (said := ran([program, "--version"], folder, **cache)):
        raise Refused(f"the installed version is {said.strip()}, not {version}")
    for console, picture in (("3ds", "f0.top.png"), ("switch", "f0.screen.png")):
        ran([program, "demo", "--console", console, "--out", f"demo-{console}"], folder, **cache)
        if not (folder / f"demo-{console}" / picture).is_file():
            raise Refused(f"pocketgpu demo --console {console} made no {picture}")
    ran([*pip, "-c", ROOT / "requirements" / "test.txt", "pytest"], folder)
    sample = ran([python, "-c", "import pocketgpu; print(pocketgpu.__path__[0])"], folder, **cache).strip()
    names = f"from pathlib import Path\n\nSAMPLE = Path({sample!r}, 'data', 'sample.ctf.xz')\n"
    names += "DEMO = Path(__file__).parent / 'demo-3ds'\n\n"
    (folder / "test_pictures.py").write_text(names + PICTURE_TESTS, encoding="utf-8")
    text = ran([python, "-m", "pytest", "--color=no", "test_pictures.py"], folder, expected=1, **cache)
    if "1 failed, 1 passed" not in text:
        raise Refused(f"one picture test had to pass and one to fail:\n{text}")


def build(version: str) -> list[Path]:
    """The wheel and the sdist of this tree, in dist/, checked.

    :raises Refused: something is wrong with them.
    """
    begun = monotonic()

    def step(what: str) -> None:
        print(f"{monotonic() - begun:5.0f} s  {what}", flush=True)

    step("make wheel")
    clear(version)
    ran([os.environ.get("MAKE", "make"), "wheel"], ROOT)
    wheel = wheel_of(version)
    step("the sdist, and a wheel of it")
    ran([sys.executable, "-m", "hatchling", "build", "-t", "sdist"], ROOT)
    sdist = ROOT / "dist" / f"pocketgpu-{version}.tar.gz"
    with tempfile.TemporaryDirectory() as place:
        if different := difference(wheel, wheel_of_sdist(sdist, Path(place))):
            raise Refused(f"the sdist builds another wheel: {different}")
    step("the wheel in an empty virtual environment")
    with tempfile.TemporaryDirectory() as place:
        check_installed(wheel, version, Path(place))
    step("done")
    return [wheel, sdist]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dry-run", action="store_true", help="leave CHANGELOG.md as it is")
    dry = parser.parse_args().dry_run
    changes = ROOT / "CHANGELOG.md"
    try:
        version, text = prepared(ROOT, datetime.now(UTC).date())
    except Refused as why:
        print(f"no release: {why}", file=sys.stderr)
        return 1
    old = changes.read_text(encoding="utf-8")
    try:
        changes.write_text(text, encoding="utf-8")
        built = build(version)
    except BaseException as why:
        changes.write_text(old, encoding="utf-8")
        if not isinstance(why, Refused):
            raise
        print(f"no release: {why}", file=sys.stderr)
        return 1
    if dry:
        changes.write_text(old, encoding="utf-8")
    for path in built:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / MEGABYTE:.1f} MB")
    print(f"CHANGELOG.md {'would have' if dry else 'has'} the section {version}. Nothing was uploaded. What is left:")
    print(f'  git commit -m "Release {version}" CHANGELOG.md && git tag -s v{version} && git push --follow-tags')
    print(f"  twine upload {' '.join(str(path.relative_to(ROOT)) for path in built)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
