"""The random programs of tests/fuzz/shader.py, one in a hundred of them, always the same ones."""

from __future__ import annotations

from types import ModuleType

import pytest
from support.fuzz import load


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    return load("shader")


def test_random_programs_end_and_agree(fuzz: ModuleType) -> None:
    counts = fuzz.run(1000, seed=1, specialised=10)
    assert counts["cases"] == 1000
    # The programs must go on reaching what they are about.
    assert 50 <= counts["hung"] <= 500 and counts["specialised"] == 10


def test_a_program_depends_on_its_number_alone(fuzz: ModuleType) -> None:
    assert fuzz.make(1, 7).code == fuzz.make(1, 7).code != fuzz.make(1, 8).code


def test_a_failure_names_its_program(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "difference", lambda *_: "something")
    with pytest.raises(AssertionError, match=r"seed 5, program 12: interpreter against .*: something"):
        fuzz.run(1, seed=5, first=12, specialised=1)
