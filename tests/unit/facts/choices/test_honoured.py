"""Every choice of the registry is one that a machine's code asks for."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.facts.choices import CHOICES, choose, departures, parse

MACHINES = [Path(pocketgpu.__file__).parent / room for room in ("pica", "maxwell", "guests")]


def names_in(path: Path) -> set[str]:
    """Names of choices that stand as strings in a module, docstrings left aside."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in CHOICES
    }


def test_the_machine_reads_every_switch_of_the_registry() -> None:
    read = set().union(*(names_in(path) for room in MACHINES for path in room.rglob("*.py")))
    assert sorted(set(CHOICES) - read) == [], "nothing in the machine reads these"


def test_every_value_of_a_switch_can_be_chosen() -> None:
    for name, choice in CHOICES.items():
        for value in choice.values:
            assert parse(f"{name}={value}") == (name, value)
            assert choose({name: value})[name] == value


def test_departures_are_what_differs_from_the_default() -> None:
    chosen = choose({"list.jump_value": "non-zero", "blend.min_max": "plain", "blend.factor_15": "one"})
    assert departures(chosen, "list", "blend.factor_15") == (("list.jump_value", "non-zero"),)
    assert departures(chosen, "blend") == (("blend.min_max", "plain"),)
    assert departures(choose(), *{name.partition(".")[0] for name in CHOICES}) == ()


def test_the_list_shows_all_of_them(capsys: Any) -> None:
    assert main(["switches", "--json"]) == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)["switches"]] == list(CHOICES)
