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


def test_a_name_shows_all_that_is_known(capsys: Any) -> None:
    """Question, values, evidence with kind and place, certainty, reason, and how to settle it, in that order."""
    assert main(["switches", "shader.max_infinity"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    parts = (
        "shader.max_infinity = smaller (default) | result", "The result of MAX", "smaller (default):",
        "measured: 3ds-gpu-tests, 2015-08:", "https://github.com/aroulin/3ds-gpu-tests", "emulator: Azahar", "result:",
        "measured: 3dbrew", "certainty: undecided", "why smaller:", "to settle it: a test on a 3DS",
    )  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert main(["switches", "transfer.contract"]) == 0
    assert "to settle it" not in capsys.readouterr().out, "it is measured"


def test_evidence_of_a_file_is_counted_and_shown(tmp_path: Path, capsys: Any) -> None:
    answers = tmp_path / "answers.tsv"
    head = "choice\tvalue\tkind\twho\twhat\twhere\tdate\n"
    answers.write_text(head + "shader.max_infinity\tresult\tmeasured\tconsole\tasked\tNew 3DS\t2026-11-29\n")
    assert main(["switches", "shader.max_infinity", "--evidence", str(answers), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["switches"]
    assert (found["decided"], found["certainty"], found["evidence"][-1]["who"]) == ("result", "departs", "console")
    assert main(["switches", "shader.max_infinity", "--evidence", str(answers)]) == 0
    text = capsys.readouterr().out
    assert "measured: console, 2026-11-29: asked" in text and "the evidence decides result" in text
    answers.write_text("nothing\n")
    assert main(["switches", "--evidence", str(answers)]) == 2
    assert "no table of evidence" in capsys.readouterr().err
    assert main(["switches", "--evidence", str(tmp_path / "nowhere")]) == 2
    assert "cannot be read" in capsys.readouterr().err
