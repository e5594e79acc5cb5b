"""`doctor` sees what is wrong and says so; `cache` touches nothing but its own files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketgpu.cli import main
from pocketgpu.inspect import health

KEY = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "kernels"
    monkeypatch.setenv("POCKETGPU_CACHE", str(place))
    return place


def test_doctor_finds_this_installation_well(capsys: Any) -> None:
    assert main(["doctor", "--json"]) == 0
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert list(checks) == ["pocketgpu", "python", "system", "packages", "compiler", "cache", "kernels", "self-test"]
    assert not any(check["state"] == "problem" for check in checks.values())
    assert checks["packages"]["versions"]["numpy"] == np.__version__
    assert checks["self-test"]["different"] == 0 and checks["compiler"]["cpu"]
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.endswith("all well\n")


def test_the_self_test_computes_something() -> None:
    numpy_, llvm = (health._run_probe(evaluator).view(np.uint32) for evaluator in ("numpy", "llvm"))
    assert len(np.unique(numpy_)) > 400 and np.array_equal(numpy_, llvm)


def test_a_disagreement_of_the_evaluators_is_found(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    honest = health._run_probe

    def wrong(evaluator: str) -> Any:
        result = honest(evaluator)
        if evaluator == "llvm":
            result[7] ^= 1
        return result

    monkeypatch.setattr(health, "_run_probe", wrong)
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "disagree in 1 of 2048 bytes" in text and "1 problem found" in text


def test_a_check_that_breaks_is_a_problem_and_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def broken() -> health.Check:
        raise OSError("llvmlite.so: cannot open shared object file")

    monkeypatch.setattr(health, "_compiler", broken)
    assert main(["doctor"]) == 1
    printed = capsys.readouterr()
    assert "problem  compiler   OSError: llvmlite.so" in printed.out and "Traceback" not in printed.err


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "PACKAGES", ("numpy", "no-such-package-at-all"))
    check = health._packages()
    assert check.state == "problem" and check.hint == "pip install no-such-package-at-all"


def test_cache_info_makes_no_folder(folder: Path, capsys: Any) -> None:
    assert main(["cache", "info", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)["cache"]
    assert state["folder"] == str(folder) and not state["exists"] and state["usable"] and state["entries"] == 0
    assert not folder.exists()
    assert main(["cache", "info"]) == 0
    assert "made when first needed" in capsys.readouterr().out


def test_cache_clear_removes_kernels_and_nothing_else(folder: Path, capsys: Any) -> None:
    folder.mkdir(mode=0o700)
    ours = [folder / f"{KEY}.o", folder / ".new-abc"]
    others = [folder / "main.o", folder / "notes.txt", folder / f"{KEY}.o.bak"]
    for path in (*ours, *others):
        path.write_bytes(bytes(10))
    assert main(["cache", "info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cache"]["usable"]
    assert main(["cache", "clear", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)["cache"]
    assert (state["removed"], state["removed_bytes"]) == (2, 20)
    assert sorted(folder.iterdir()) == sorted(others)
    assert main(["cache", "clear"]) == 0
    assert "removed 0 files" in capsys.readouterr().out


def test_a_cache_that_is_off(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("POCKETGPU_CACHE", "off")
    for word in ("info", "clear"):
        assert main(["cache", word]) == 0
        assert "off" in capsys.readouterr().out
    assert next(check for check in health.examine() if check.name == "cache").state == "note"


@pytest.mark.skipif(not hasattr(__import__("os"), "getuid"), reason="folders are private by other means there")
def test_a_folder_that_others_can_write_to_is_left_alone(folder: Path, capsys: Any) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    (folder / f"{KEY}.o").write_bytes(b"x")
    assert main(["cache", "clear"]) == 2
    assert "not ours to empty" in capsys.readouterr().err
    assert (folder / f"{KEY}.o").exists()
    assert main(["cache", "info"]) == 0
    assert "not used: others own it or can write to it" in capsys.readouterr().out
    assert health.clear_cache() == (0, 0)


def test_something_else_in_the_place_of_the_folder(folder: Path, capsys: Any) -> None:
    folder.write_text("a file")
    assert main(["cache", "info"]) == 0
    assert "not used: something else has its name" in capsys.readouterr().out


def test_cache_alone_shows_its_words(capsys: Any) -> None:
    assert main(["cache"]) == 2
    assert "clear" in capsys.readouterr().err
