"""The switches that can be set are those that the machine's code asks for; setting another is refused with a reason."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.facts.switches import HONOURED, SWITCHES, check, choose, parse

MACHINE = Path(pocketgpu.__file__).parent / "pica"
UNBUILT = sorted(set(SWITCHES) - HONOURED)


def names_in(path: Path) -> set[str]:
    """Names of switches that stand as strings in a module, docstrings left aside."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in SWITCHES
    }


def test_the_machine_reads_exactly_the_honoured_switches() -> None:
    read = set().union(*(names_in(path) for path in MACHINE.rglob("*.py")))
    assert sorted(read - HONOURED) == [], "the machine reads these: add them to HONOURED in facts/switches.py"
    assert sorted(HONOURED - read) == [], "nothing in the machine reads these: take them out of HONOURED"
    assert set(SWITCHES) >= HONOURED


def test_every_value_of_an_honoured_switch_can_be_chosen() -> None:
    for name in HONOURED:
        for value in SWITCHES[name].values:
            assert parse(f"{name}={value}") == (name, value)
            assert choose({name: value})[name] == value


@pytest.mark.parametrize("name", UNBUILT[:3])
def test_another_switch_keeps_its_default(name: str) -> None:
    switch = SWITCHES[name]
    check(name, switch.default)
    with pytest.raises(ValueError, match=f"'{name}' is not built yet: this version always does '{switch.default}'"):
        check(name, switch.alternatives[0])
    with pytest.raises(UsageError, match="not built yet"):
        pocketgpu.N3DS(switches={name: switch.alternatives[0]})


@pytest.mark.skipif(not UNBUILT, reason="every switch is built")
def test_the_command_line_refuses_what_would_change_nothing(tmp_path: Path, capsys: Any) -> None:
    name = UNBUILT[0]
    words = ["render", "x.ctf", "--out", str(tmp_path), "--set", f"{name}={SWITCHES[name].alternatives[0]}"]
    assert main(words) == 2
    assert "not built yet" in capsys.readouterr().err


def test_the_list_shows_what_can_be_set_and_the_rest_on_request(capsys: Any) -> None:
    def listed(*words: str) -> dict[str, bool]:
        assert main(["switches", "--json", *words]) == 0
        return {entry["name"]: entry["honoured"] for entry in json.loads(capsys.readouterr().out)["switches"]}

    assert listed() == dict.fromkeys([name for name in SWITCHES if name in HONOURED], True)
    assert listed("--all") == {name: name in HONOURED for name in SWITCHES}
    if UNBUILT:
        assert main(["switches"]) == 0
        assert f"{len(UNBUILT)} more doubts" in capsys.readouterr().out
        assert main(["switches", "--all"]) == 0
        text = capsys.readouterr().out
        assert text.count("(only the default is built)") == len(UNBUILT) and "more doubts" not in text
