"""`pocketgpu shader step`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import recordings
from support.kernel_cases import NAMES, Case

from pocketgpu.cli import main
from pocketgpu.maxwell.sass.assembler import assemble as assemble_maxwell

TEXT = "rsq r1.x, -v0.x\nmul r0, r1.x, v1\nmov o0, r0\nend\n"


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "program.asm"
    path.write_text(TEXT)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["shader", "step", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_steps_of_a_vertex(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, source, "v0=4", "v1=1,2")
    lines = out.splitlines()
    assert code == 0 and lines[0] == "program.asm, one vertex: 4 steps" and lines[1].split()[:2] == ["step", "address"]
    assert lines[3].split()[0] == "1" and "v1.xyzw 1 2 0 1" in lines[3]
    assert lines[-1].startswith("first NaN: r1.x became nan: step 0")
    code, out, _ = run(capsys, source, "--from", "1", "--to", "2")
    assert code == 0 and len(out.splitlines()) == 5 and "... 1 more" in out


def test_as_data_and_the_first_nan(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, source, "v0=4", "--json")
    trace = json.loads(out)["trace"]
    assert code == 0 and trace["steps"][0]["text"] == "rsq r1.x, -v0.x"
    assert trace["steps"][0]["writes"][0]["new"]["float"] is None
    assert trace["hits"] == {"0x0": 1, "0x1": 1, "0x2": 1, "0x3": 1}
    code, out, _ = run(capsys, source, "v0=4", "--nan")
    assert code == 1 and out.startswith("r1.x became nan: step 0 at 0x0000, rsq r1.x, -v0.x of v0.x = 4")
    code, out, _ = run(capsys, source, "v0=-4", "--nan")
    assert code == 0 and out == "no NaN appears in 4 steps\n"
    code, out, _ = run(capsys, source, "v0=nan", "--nan")
    assert code == 0 and "v0.x was read as nan: step 0" in out
    code, out, _ = run(capsys, source, "v0=4", "--nan", "--json")
    assert code == 1 and json.loads(out)["trace"]["first_nan"]["value"]["register"] == "r1.x"


def test_what_does_not_fit_is_refused(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, text in (
        ((source, "--grid", "2"), "this is for kernels of the Switch"), ((source, "v16=1"), "no register v16"),
        ((str(tmp_path / "none"),), "cannot read the file"), ((source, "--arg", "u32:5"), "--arg"),
    ):  # fmt: skip
        code, _, err = run(capsys, *words)
        assert code in (2, 3) and text in err and "Traceback" not in err
    (tmp_path / "endless.asm").write_text("here:\njmpu !b0, here\nend\n")
    code, out, _ = run(capsys, str(tmp_path / "endless.asm"), "--most", "10")
    assert code == 0 and "cut: 10 steps are kept" in out


def test_steps_of_a_kernel_that_was_written_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "S2R R0, SR_TID.X\n\nMOV R2, c[0x0][0x140]\nMOV R3, c[0x0][0x144]\nSTG.E [R2], R0\nEXIT\n"
    for name, contents in (("k.sass", text), ("k.txt", f" .kernel k // one\n{text}")):
        (tmp_path / name).write_text(contents)
        first = 1 + contents.count(" .kernel")
        code, out, err = run(capsys, str(tmp_path / name), "--arg", "zeros:4", "--at", "b0/t5")
        assert code == 0, err
        lines = [words[2] for row in out.splitlines()[2:] if (words := row.split())[0].isdigit()]
        assert lines == [str(first + n) for n in (0, 2, 3, 4, 5)] and "R0 0x00000005" in out
        assert "   line   " in out.splitlines()[1]
        code, out, err = run(capsys, str(tmp_path / name), "--arg", "zeros:4", "--json")
        assert [step["line"] for step in json.loads(out)["trace"]["steps"]] == [first + n for n in (0, 2, 3, 4, 5)]
    (tmp_path / "k.bin").write_bytes(assemble_maxwell(text).code)
    code, out, err = run(capsys, str(tmp_path / "k.bin"), "--arg", "zeros:4", "--at", "b0/t5")
    assert code == 0 and "   line   " not in out and "R0 0x00000005" in out
    code, _, err = run(capsys, str(tmp_path / "k.bin"))
    assert code == 3 and "neither text nor code of a kind known here" in err
    (tmp_path / "bad.sass").write_text("EXIT\n  FADD R1, R2, P7 // one\n")
    code, _, err = run(capsys, str(tmp_path / "bad.sass"))
    assert code == 2 and f"{tmp_path / 'bad.sass'}, line 2, column 16" in err


@pytest.mark.skipif("reduction" not in NAMES, reason=recordings.REASON)
def test_steps_of_a_thread(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("reduction")
    arguments: list[Any] = []
    for n, value in enumerate(case.arguments()):
        if isinstance(value, np.ndarray):
            (tmp_path / f"{n}.bin").write_bytes(value.tobytes())
            arguments += ["--arg", f"in:{tmp_path / f'{n}.bin'}"]
        else:
            arguments += ["--arg", f"{'su'[value.dtype.kind == 'u']}32:{value}"]
    sizes = [",".join(map(str, case.about[name])) for name in ("grid", "block")]
    words = [str(case.folder / "kernel.cubin"), "--grid", sizes[0], "--block", sizes[1], *arguments]
    words += ["--kernel", case.about["kernel"]]
    code, out, err = run(capsys, *words, "--at", "b1/t40,0,0", "--from", "2", "--to", "4")
    assert code == 0, err
    assert out.splitlines()[0].startswith("reduction, block 1,0,0, thread 40,0,0:") and "R0 0x00000001" in out
    code, out, err = run(capsys, *words, "--at", "b1")
    assert code == 2 and "names no thread" in err
    code, out, err = run(capsys, *words, "--at", "b100/t0")
    assert code == 2 and "there is no block 100" in err
    code, out, err = run(capsys, *words, "v0=1")
    assert code == 2 and "--arg" in err
