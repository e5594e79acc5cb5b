"""`pocketgpu decode` as a user types it."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

import pytest

from pocketgpu.cli import main
from pocketgpu.inspect.decode import parse_listing


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def scene(sample_path: Path) -> str:
    if not sample_path.is_file():
        pytest.skip("the sample is not built")
    return str(sample_path)


def test_a_recording(scene: str) -> None:
    code, out, _ = run("decode", scene)
    assert code == 0 and len(parse_listing(out)) > 10
    code, some, _ = run("decode", scene, "f1/d0..d2")
    assert code == 0 and len(some) < len(out) and "f1/d3" not in some and "f1/d2" in some


def test_the_sample_of_the_switch(sample_path: Path) -> None:
    path = sample_path.with_name("sample_switch.mxcap.zip")
    if not path.is_file():
        pytest.skip("the sample is not built")
    code, out, _ = run("decode", str(path), "f0", "--macros")
    assert code == 0 and "->" in out and "GPFIFO" in out
    assert "->" not in run("decode", str(path), "f0")[1]


def test_filters(scene: str) -> None:
    code, out, _ = run("decode", scene, "f0", "--filter", "TEXENV0_*", "--changed")
    assert code == 0
    body = [line for line in out.splitlines() if not line.startswith(("#", "=="))]
    assert body and all("TEXENV0_" in line for line in body)


@pytest.mark.parametrize(
    "name",
    ["SET_SCISSOR_HORIZONTAL", "SET_SCISSOR_HORIZONTAL(0)", "SET_SCISSOR_HORIZONTAL[0]", "set_scissor_horizontal.xmax"],
)
def test_a_method_of_an_array_by_its_name(shared_dir: Path, name: str) -> None:
    """Without an element the name used to match nothing, and nothing said so."""
    capture = str(shared_dir / "captures" / "switch" / "ex03_cube_320x180.mxcap.zip")
    code, out, _ = run("decode", capture, "f0", "--filter", name)
    body = [line for line in out.splitlines() if not line.startswith(("#", "=="))]
    assert code == 0 and len(body) == 1 and "SET_SCISSOR_HORIZONTAL(0)" in body[0] and "XMAX=320" in body[0]


def test_sets_of_letters(scene: str) -> None:
    _, out, _ = run("decode", scene, "--filter", "TEXENV[01]_SOURCE")
    assert "TEXENV0_SOURCE" in out and "TEXENV1_SOURCE" in out and "TEXENV2_SOURCE" not in out


def test_json_lines(scene: str) -> None:
    code, out, _ = run("decode", scene, "f0/d0", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and found[0]["schema"] == "pocketgpu.decode" and {line["at"] for line in found[1:]} == {"f0/d0"}


def test_raw_words(tmp_path: Path) -> None:
    dump = tmp_path / "dump.bin"
    dump.write_bytes(bytes(8) + b"\x02\0\0\0\x40\0\x0f\0" + b"\xff" * 9)
    code, out, _ = run("decode", str(dump), "--as", "pica", "--base", "0x18000000", "--offset", "8")
    assert code == 0 and "FACECULLING_CONFIG" in out and "(garbage)" in out and "0x18000000" in out
    code, out, _ = run("decode", str(dump), "--as", "pica", "--offset", "8", "--no-garbage")
    assert code == 0 and "FACECULLING_CONFIG" in out and "garbage" not in out
    code, out, _ = run("decode", str(dump), "--as", "pica", "--words", "--strict")
    assert code == 0 and "(garbage)" not in out
    for kind in ("pushbuffer", "gx"):
        assert run("decode", str(dump), "--as", kind)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["f9"], 2, "no word belongs to this place"),
        (["x"], 2, "no part of an address"),
        (["--filter", "NOTHING"], 2, "no register 'NOTHING'"),
        (["--base", "0x1000"], 2, "--base is for raw words"),
        (["--as", "pica", "--base", "0x1001"], 2, "no word can be at 0x1001"),
        (["--as", "pica", "--base", "x"], 2, "not a number"),
        (["--as", "pica", "--offset", "99999999"], 2, "the file has"),
        (["--as", "gpu"], 2, "gpu"),
    ],
)
def test_mistakes(scene: str, arguments: list[str], code: int, said: str) -> None:
    found, _, err = run("decode", scene, *arguments)
    assert found == code and said in err and "Traceback" not in err


def test_what_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    code, _, err = run("decode", str(tmp_path / "notes.txt"))
    assert code == 3 and "--as pica" in err
    assert run("decode", str(tmp_path / "missing"))[0] == 3


def test_help_loads_no_decoder() -> None:
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", "import sys; from pocketgpu.cli import main; main(['--help']);"
         "sys.exit('numpy' in sys.modules or 'pocketgpu.inspect' in sys.modules)"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and b"decode" in done.stdout
