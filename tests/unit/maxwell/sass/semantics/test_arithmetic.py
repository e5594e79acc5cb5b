"""Every form of an arithmetic instruction against a slow model: roundings, saturation, chains, NaN."""

from __future__ import annotations

from types import ModuleType

import pytest
from support.fuzz import load


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    return load("sass_arithmetic")


def test_every_form_gives_what_the_slow_model_gives(fuzz: ModuleType) -> None:
    forms = len(fuzz.ARITHMETIC)
    counts = fuzz.run(2 * forms, seed=5)
    operations = {form.op for form in fuzz.ARITHMETIC}
    assert forms > 250 and len(operations) > 60
    assert all(counts[f"of {op}"] >= 2 for op in operations)


PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_every_form_gives_what_the_slow_model_gives_once(fuzz: ModuleType, part: int) -> None:
    """A quarter of the forms in turn, each with one random word."""
    count = -(-len(fuzz.ARITHMETIC) // PARTS)
    counts = fuzz.run(count, seed=6, first=part * count)
    assert counts["cases"] == count and sum(name.startswith("of ") for name in counts) > 15


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_specialised_code_gives_the_same(fuzz: ModuleType, evaluator: str) -> None:
    # A stride through the forms, so that most operations come in a few programs.
    counts = fuzz.run(64, seed=5, evaluator=evaluator, tier="specialised", stride=11)
    assert sum(name.startswith("of ") for name in counts) > 25


def test_the_model_finds_what_is_wrong(fuzz: ModuleType) -> None:
    case = fuzz.make(fuzz.np.random.default_rng(1), fuzz.FORMS["IADD.R"])
    right = fuzz.expected(case)[None]
    wrong = right.copy()
    wrong[0, 3, case.form.fields["d"].get(case.word) % 12] ^= 1
    assert not fuzz.check([case], right)
    assert len(fuzz.check([case], wrong)) == 1
