"""The random programs of tests/fuzz/shader.py, one in a hundred of them, always the same ones."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).resolve().parents[3] / "fuzz" / "shader.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_shader", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_shader"] = module  # its dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


def test_random_programs_end_and_agree(fuzz: ModuleType) -> None:
    summary = fuzz.run(1000, 10, seed=1)
    assert summary.programs == 1000
    # The programs must go on reaching what they are about.
    assert 50 <= summary.hung <= 500 and summary.specialised == 10


def test_a_program_depends_on_its_number_alone(fuzz: ModuleType) -> None:
    assert fuzz.make(1, 7).code == fuzz.make(1, 7).code != fuzz.make(1, 8).code


def test_a_failure_names_its_program(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "difference", lambda *_: "something")
    with pytest.raises(AssertionError, match=r"seed 5, program 12: interpreter against .*: something"):
        fuzz.run(1, 1, seed=5, first=12)
