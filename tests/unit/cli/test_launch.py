"""`pocketgpu launch`: sound launches exit with 0, what threads do wrong is told with its place and exits with 1."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.fuzz import load

from pocketgpu.cli import main

HEAD = """\
.kernel k
.param a ptr
.param b ptr
.param skip s32
S2R R0, SR_CTAID.X
S2R R1, SR_TID.X
XMAD R0, R0, c[0x0][0x8], R1
IADD R0, R0, c[0x0][skip]
SHL R1, R0, 0x2
IADD R2.CC, R1, c[0x0][a]
SHR R3, R1, 0x1f
IADD.X R3, R3, c[0x0][a+4]
"""
STORE = HEAD + "STG.E [R2], R0\nEXIT\n"
LINE = 13


def launched(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    assert main(["launch", *map(str, words)]) == code
    out, err = capsys.readouterr()
    assert bool(err) == (code > 1)
    return out if code <= 1 else err


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("k.sass")
    path.write_text(STORE)
    return path


def test_a_sound_launch_ends_with_0(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """64 threads fill 256 bytes to the very end."""
    words = (kernel, "--block", 64, "--arg", "zeros:256>a.bin", "--arg", "zeros:4", "--arg", "s32:0")
    out = launched(capsys, *words)
    assert "fault" not in out and "a.bin written" in out
    assert np.fromfile("a.bin", np.uint32).tolist() == list(range(64))
    data = json.loads(launched(capsys, *words, "--json"))
    assert (data["fault_count"], data["faults"], data["warnings"], data["hung"]) == (0, [], [], False)


@pytest.mark.parametrize("skip, said, first, offset", [
    (1, "just beyond the end", 63, 256), (30, "just beyond the end", 34, 256),
    (-3, "12 bytes before the start", 0, -12),
    (-40, "160 bytes before the start", 0, -160),
])  # fmt: skip
def test_what_goes_astray_is_told(
    kernel: Path, capsys: pytest.CaptureFixture[str], skip: int, said: str, first: int, offset: int
) -> None:
    words = (
        kernel, "--block", 64, "--arg", "zeros:256>a.bin", "--arg", "zeros:256>b.bin", "--arg", f"s32:{skip}",
    )  # fmt: skip
    count = min(abs(skip), 64)
    out = launched(capsys, *words, code=1)
    assert all(len(line) <= 80 for line in out.splitlines())
    text = " ".join(out.split())
    noun = "1 fault" if count == 1 else f"{count} faults"
    place = f"k+0x0058, {kernel}, line {LINE}: STG.E [R2], R0 block (0, 0, 0), thread ({first}, 0, 0)"
    assert f" {noun} {place}: " in text
    assert f"{said} of argument 0 (a), which has 256 bytes" in text
    assert ("more of this instruction" in out) == (count > 1)
    written = np.fromfile("a.bin", np.int32)
    wanted = [n if 0 <= n - skip < 64 else 0 for n in range(64)]
    assert written.tolist() == wanted and not np.fromfile("b.bin", np.int32).any()
    data = json.loads(launched(capsys, *words, "--json", code=1))
    assert data["fault_count"] == count and len(data["faults"]) == min(count, 32)
    fault = data["faults"][0]
    start = int(fault["buffer"]["address"], 0)
    assert fault["buffer"] == {
        "name": "argument 0 (a)", "argument": 0, "address": f"{start:#x}", "bytes": 256, "offset": offset,
    }  # fmt: skip
    assert fault["address"] == f"{start + offset:#x}" and fault["bytes"] == 4
    assert fault["instruction"] == {
        "number": 8, "offset": "0x0058", "text": "STG.E [R2], R0", "file": str(kernel), "line": LINE,
    }  # fmt: skip
    assert (fault["kernel"], fault["kind"], fault["access"]) == ("k", "unmapped", "store")
    assert [(one["block"], one["thread"]) for one in data["faults"]] == [
        ([0, 0, 0], [first + n, 0, 0]) for n in range(min(count, 32))
    ]


@pytest.mark.parametrize("times", [2, 5])
def test_an_index_that_is_scaled_again_lands_in_no_other_array(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], times: int
) -> None:
    size = 3 << 20
    path = tmp_path / "k.sass"
    path.write_text(STORE.replace("SHL R1, R0, 0x2", f"IADD R1, RZ, c[0x0][skip]\nXMAD R1, R0, {4 * times:#x}, R1"))
    # The last threads of a full array, with their offset times 2 and 5.
    skip = times * (size - 4) - 63 * 4 * times
    files = [tmp_path / name for name in ("a.bin", "b.bin", "c.bin")]
    words = [f"zeros:{size}>{file}" for file in files[:2]]
    path.write_text(path.read_text().replace("IADD R0, R0, c[0x0][skip]\n", ""))
    out = launched(capsys, path, "--block", 64, "--arg", words[0], "--arg", words[1], "--arg", f"s32:{skip}", code=1)
    assert "64 faults" in out and "argument 0 (a)" in out
    assert not any(np.fromfile(file, np.uint8).any() for file in files[:2])


def test_many_faults_are_counted(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel.write_text(HEAD + "LDG.E R4, [R2]\nSTG.E [R2], R4\nEXIT\n")
    words = (kernel, "--grid", 40, "--block", 64, "--arg", "zeros:256", "--arg", "zeros:4", "--arg", "s32:0")
    data = json.loads(launched(capsys, *words, "--json", code=1))
    assert data["fault_count"] == 2 * 39 * 64
    kept = data["faults"]
    assert 32 <= len(kept) <= 1000 and {tuple(one["block"]) for one in kept} <= {(n, 0, 0) for n in range(1, 40)}
    order = [(one["block"][0], one["thread"][0], one["instruction"]["number"]) for one in kept]
    assert order == sorted(order) and len({number for _, _, number in order}) == 2
    out = launched(capsys, *words, code=1)
    assert out.startswith("k: ") and "\n4992 faults\n" in out and "    and at least " in out
    assert f"  these are the first {len(kept)}; {4992 - len(kept)} more were counted" in out
    assert [line.split(": ")[1] for line in out.splitlines() if "+0x" in line] == ["LDG.E R4, [R2]", "STG.E [R2], R4"]


def test_arguments_of_a_cubin_are_named_as_they_were_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cubin"
    text = "S2R R0, SR_TID.X\nSHL R0, R0, 0x4\nIADD R2.CC, R0, c[0x0][0x140]\nIADD.X R3, RZ, c[0x0][0x144]\n"
    path.write_bytes(load("sass").cubin(text + "STG.E.128 [R2], R4\nSTG.E [R2+0x1], R4\nEXIT"))
    out = launched(capsys, path, "--block", 3, "--arg", "zeros:40>" + str(tmp_path / "o"), code=1)
    text = " ".join(out.split())
    assert "argument 0 (zeros:40), which has 40 bytes; the last 8 bytes beyond its end" in text
    assert ", line" not in text and "4 faults" in text
    assert "is no multiple of 4, at offset 1 of argument 0 (zeros:40), which has 40 bytes and 2 more" in text


def test_a_launch_that_does_not_end_is_a_finding(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its two warps wait at different barriers."""
    text = "S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 0x20, PT\n@P0 BAR.SYNC 0x0\n@!P0 BAR.SYNC 0x1\nEXIT\n"
    kernel.write_text(f".kernel k\n{text}")
    out = launched(capsys, kernel, "--block", 64, code=1)
    assert "hangs: k: warps wait at barrier 0" in out and "hangs: k: warps wait at barrier 1" in out
    data = json.loads(launched(capsys, kernel, "--block", 64, "--json", code=1))
    assert data["hung"] is True and data["fault_count"] == 0


def test_bad_input_is_an_error(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--arg", "zeros:4", "--arg", "zeros:4", "--arg")
    assert "argument 2 of k: skip is s32, and float32 does not fit" in launched(capsys, kernel, *words, "f32:1", code=2)
    assert "They are a (ptr), b (ptr), skip (s32)." in launched(capsys, kernel, "--arg", "zeros:4", code=2)
    assert "only bare code takes directives" in launched(capsys, kernel, "--header", kernel, *words, "s32:1", code=2)
    kernel.write_text(STORE.replace("STG.E", "  STG.EE"))
    assert f"at: {kernel}, line {LINE}, column 6\n" in launched(capsys, kernel, *words, "s32:1", code=2)
    kernel.write_bytes(b"\0" * 40)
    assert "40 bytes are no code" in launched(capsys, kernel, code=3)
    assert "cannot read" in launched(capsys, kernel.with_name("none"), code=3)


def test_several_kernels_need_a_name(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel.write_text(".kernel one\nEXIT\n.kernel two\n.param x u32\nEXIT\n")
    assert "The file has: one, two." in launched(capsys, kernel, code=2)
    assert launched(capsys, kernel, "--kernel", "two", "--arg", "u32:1").startswith("two: 1 instruction of warps in ")
