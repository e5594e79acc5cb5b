"""The cases of other simulators' suites: those that fail are those that docs/shader-cases.md explains, no others."""

from __future__ import annotations

import fnmatch
import json
import lzma
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.choices import CHOICES
from pocketgpu.pica.shader import Outputs, Program

DOCS = Path(__file__).resolve().parents[4] / "docs" / "shader-cases.md"
ROW = re.compile(
    r"^\| (?P<case>\w+/[^|]+?) \| (?P<expected>[^|]+) \| (?P<ours>[^|]+) \| (?P<choice>[^|]+?) \| [^|]{20,} \|$"
)
TIERS = ("interpreter", "specialised")


@pytest.fixture(scope="module")
def cases(shared_dir: Path) -> list[dict[str, Any]]:
    path = shared_dir / "shader-cases" / "cases.json.xz"
    if not path.is_file():
        pytest.skip(f"no shader cases at {path}")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return list(json.load(file))


def explained() -> dict[str, tuple[str, str]]:
    """The disagreements that the page lists: case to (choice, value) that makes it pass. A name may end with a *."""
    rows = [match for line in DOCS.read_text(encoding="utf-8").splitlines() if (match := ROW.match(line))]
    return {row["case"]: (row["choice"].partition("=")[0], row["choice"].partition("=")[2]) for row in rows}


def run(case: dict[str, Any], choices: Mapping[str, str] | None = None, **options: Any) -> Outputs:
    inputs = np.zeros((1, 16, 4), np.float32)
    for i, vector in enumerate(case["inputs"]):
        inputs[0, i] = [float(x) for x in vector]
    uniforms = {int(i): [float(x) for x in vector] for i, vector in case["uniforms"].items()}
    program = Program(case["program"], case["swizzle"], case["entry_point"], switches=choices, **options)
    start = case["initial"]
    return program.run(inputs, uniforms, case["bool_uniforms"], case["int_uniforms"], start["cond"], start["addr"])


def meets(case: dict[str, Any], result: Outputs) -> bool:
    for name, wanted in case["expected"].items():
        if name == "emit":
            if any(int(result.emit[field][0]) != value for field, value in wanted.items()):
                return False
        elif name == "aL":
            if result.address[0, 2] != wanted:
                return False
        else:
            for component, value in wanted.items():
                got, value = float(result[0, int(name[1:]), "xyzw".index(component)]), float(value)
                close = abs(got - value) <= case["tolerance"] if np.isfinite(got) and np.isfinite(value) else False
                if not (got == value or close or (np.isnan(got) and np.isnan(value))):
                    return False
    return True


@pytest.mark.parametrize("tier", TIERS)
def test_exactly_the_explained_cases_disagree(cases: list[dict[str, Any]], tier: str) -> None:
    failed = sorted(case["name"] for case in cases if not meets(case, run(case, tier=tier)))
    names = [case["name"] for case in cases]
    listed = {name: fnmatch.filter(names, name) for name in explained()}
    assert all(listed.values()) and failed == sorted(name for found in listed.values() for name in found)


def test_the_named_choice_makes_each_of_them_pass(cases: list[dict[str, Any]]) -> None:
    table = explained()
    assert table
    for listed, (choice, value) in table.items():
        assert value in CHOICES[choice].alternatives
        for case in (case for case in cases if fnmatch.fnmatchcase(case["name"], listed)):
            for tier in TIERS:
                assert meets(case, run(case, tier=tier, choices={choice: value})), case["name"]


def test_disputed_cases_follow_their_choices(cases: list[dict[str, Any]]) -> None:
    nested = [case for case in cases if case["name"].startswith("azahar/Nested Loop/")]
    zeros = [case for case in cases if case["name"] in ("panda3ds/RCP/0", "panda3ds/RSQ/0")]
    assert len(nested) == 6 and len(zeros) == 2
    for case in nested:
        # What Azahar's interpreter gave is 3dbrew's rule of one loop at a time.
        one = run(case, tier="interpreter")
        observed = case["observed"]["azahar_interp"]
        assert one[0, 0].tolist() == observed["o0"] and one.address[0].tolist() == observed["addr"]
        assert meets(case, run(case, tier="interpreter", choices={"shader.stacks": "single"}))
    both = {"shader.loop_ends": "all", "shader.nested_loop_counter": "kept"}
    kept = [run(case, tier="interpreter", choices=both) for case in nested]
    assert sum(meets(case, result) for case, result in zip(nested, kept, strict=True)) < len(nested)
    for case in zeros:
        assert run(case, choices={"shader.reciprocal_zero": "signed"})[0, 0, 0] == -np.inf


def test_the_slow_evaluator_gives_the_same_bits(cases: list[dict[str, Any]]) -> None:
    for case in cases[::9]:
        for tier in TIERS:
            fast, slow = run(case, tier=tier), run(case, tier=tier, evaluator="numpy")
            assert (fast.view(np.uint32) == slow.view(np.uint32)).all(), case["name"]
            assert (fast.address == slow.address).all() and (fast.conditions == slow.conditions).all()


def test_emitted_triangles_are_those_recorded(cases: list[dict[str, Any]]) -> None:
    case = next(case for case in cases if case["name"] == "extra/EMIT/bank")
    emit = run(case).emit
    slots, triangles, turned = np.zeros((4, 16, 4), np.float32), [], 0
    for vertex, state in zip(emit.vertices[0], emit.states[0], strict=True):
        slots[state >> 2] = vertex
        if state & 2:
            triangles += [slots[i, :2].tolist() for i in range(3)]
            turned += int(state & 1)
    observed = case["observed"]["azahar_interp"]
    assert triangles == observed["emitted"] and turned == observed["winding_calls"]
