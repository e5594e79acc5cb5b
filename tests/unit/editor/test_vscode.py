"""The extension for VS Code: what its package contains, and its code with a stub of VS Code and the real program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.house import ROOT

import pocketgpu
from pocketgpu import UsageError
from pocketgpu.editor import vsix

EXTENSION = ROOT / "editors/vscode"
MODULES = EXTENSION / "node_modules/.package-lock.json"
needs_modules = pytest.mark.skipif(
    shutil.which("node") is None or not MODULES.exists(), reason="the modules of editors/vscode are not installed"
)


def node(*words: str, **environment: str) -> str:
    done = subprocess.run(
        ["node", *words], cwd=EXTENSION, env=os.environ | environment, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, made offline."""
    folder = tmp_path_factory.mktemp("vsix")
    node("node_modules/typescript/bin/tsc")
    node("scripts/build.mjs")
    node("scripts/package.mjs", str(folder), npm_config_offline="true", https_proxy="http://127.0.0.1:9")
    return folder / "pocketgpu.vsix"


@needs_modules
def test_the_package_has_what_it_must_and_no_more(package: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        names = {name.removeprefix("extension/") for name in archive.namelist() if name.startswith("extension/")}
        own = json.loads(archive.read("extension/package.json"))
        libraries = archive.read("extension/dist/THIRD-PARTY.txt").decode()
    assert own["version"] == pocketgpu.__version__
    fixed = {"package.json", "readme.md", "LICENSE.txt", "dist/extension.js", "dist/THIRD-PARTY.txt"}
    media = {"media/frame.css", "media/frame.js"}
    kinds = ("language.json", "tmLanguage.json")
    assert names == fixed | media | {f"syntaxes/{name}.{kind}" for name in ("pica", "sass", "mme") for kind in kinds}
    contributed = own["contributes"]
    for one in [*contributed["grammars"], *contributed["languages"]]:
        assert one.get("path", one.get("configuration")).removeprefix("./") in names
    assert {".sass", ".pica", ".v.pica", ".mme"} <= {s for one in contributed["languages"] for s in one["extensions"]}
    assert package.stat().st_size < 400_000
    for name in ("vscode-languageclient", "vscode-jsonrpc", "semver", "minimatch"):
        assert f"{name} " in libraries


@needs_modules
@pytest.mark.skipif(sys.platform == "win32", reason="the test starts programs as Unix does")
def test_its_code_with_the_real_program(package: Path, tmp_path: Path) -> None:
    pytest.importorskip("pygls", reason="pygls is not installed")
    with zipfile.ZipFile(package) as archive:
        (tmp_path / "extension.js").write_bytes(archive.read("extension/dist/extension.js"))
    said = node(
        "--test", "test/extension.test.mjs", POCKETGPU_BUNDLE=str(tmp_path / "extension.js"),
        POCKETGPU_COMMAND=json.dumps([sys.executable, "-m", "pocketgpu"]),
        POCKETGPU_CAPTURE=str(ROOT / "src/pocketgpu/data/sample.ctf.xz"),
        PYTHONPATH=os.pathsep.join([str(ROOT / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]),
    )  # fmt: skip
    assert "fail 0" in said and "skipped 0" in said


def test_the_grammars_have_the_words_of_the_tables() -> None:
    done = subprocess.run(
        [sys.executable, "tools/make_grammars.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}: run tools/make_grammars.py"


def test_its_version_has_one_place() -> None:
    """That of the Python package, which it gets when it is packed; its own file has a version that is none."""
    assert json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))["version"] == "0.0.0"


def test_it_is_written_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "made.vsix"
    monkeypatch.setattr(vsix, "EXTENSION", made)
    with pytest.raises(UsageError, match="has no extension for VS Code"):
        vsix.write_extension(str(tmp_path / "a.vsix"))
    made.write_bytes(b"PK..")
    assert vsix.write_extension(str(tmp_path / "a.vsix")) == 4
    assert (tmp_path / "a.vsix").read_bytes() == b"PK.."
    with pytest.raises(UsageError, match="cannot write"):
        vsix.write_extension(str(tmp_path / "none" / "a.vsix"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.vsix", "made.vsix"]
