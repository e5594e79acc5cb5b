"""Every choice of the registry is one that a machine's code asks for."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.cli.commands.switches import switches
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE, choose, departures, parse
from pocketgpu.facts.choices.certainty import Certainty, certainty

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


def test_the_list_has_heads_a_legend_and_filters(capsys: Any) -> None:
    assert main(["switches"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{len(CHOICES)} choices.")
    for sure in {str(certainty(choice)) for choice in CHOICES.values()}:
        (line,) = (line for line in text.split("\n\n")[0].splitlines() if f" [{sure}] " in line)
        assert int(line.split()[0]) == text.count(f"[{sure}]") - 1, "the legend counts what follows"
    heads = [line for line in text.splitlines() if line.startswith(("Choices of", "What programs"))]
    assert heads[0] == f"Choices of the 3DS: {len(OF_CONSOLE['3DS'])}" and len(heads) == 3
    wanted = ("--certainty", "one-emulator", "--certainty", "programs")
    assert main(["switches", "--console", "switch", *wanted, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["switches"]
    assert {one["name"] for one in found} == {
        name for name in OF_CONSOLE["Switch"] if str(certainty(CHOICES[name])) in ("one emulator", "programs")
    }
    assert main(["switches", "texture.filter", "--certainty", "undecided"]) == 0
    assert "no choice has such a" in capsys.readouterr().out


def test_every_certainty_can_be_asked_for() -> None:
    (option,) = (one for one in switches.params if one.name == "certainties")
    assert [str(one).replace(" ", "-") for one in Certainty] == [*option.to_info_dict()["type"]["choices"]]


def test_what_is_known_fits_a_terminal(tmp_path: Path, capsys: Any) -> None:
    """Only an address that is longer than a line makes a longer one: it can be copied whole."""
    answers = tmp_path / "answers.tsv"
    where = f"New 3DS, system 11.17, a long name of a place; answer {'0123456789ABCDEF' * 4}"
    head = "choice\tvalue\tkind\twho\twhat\twhere\tdate\n"
    answers.write_text(f"{head}test.order\talpha-first\tmeasured\tconsole\t\t{where}\t\n")
    assert main(["switches", *CHOICES, "--evidence", str(answers)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not [line for line in lines if len(line) > 80 and not line.strip().startswith("https://")]
    assert not [line for line in lines if len(line) > 80 and " " in line.strip()]


def test_a_certainty_does_not_say_its_word_twice(capsys: Any) -> None:
    for name in ("fill.null_start", "texture.filter", "transfer.contract"):
        assert main(["switches", name]) == 0
        (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("    certainty: "))
        assert "(" not in line


def test_the_ranks_that_decided_are_shown_where_there_are_several(capsys: Any) -> None:
    assert main(["switches", "list.end_match"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "documented: masked-bytes (GBATEK), any-value (3dbrew); none for any-byte" in text
    assert "emulators: masked-bytes (3Beans); none for any-value" in text
    assert "pocketgpu probe make DIR --choice list.end_match" in text


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
    text = " ".join(capsys.readouterr().out.split())
    assert "measured: console, 2026-11-29: asked" in text
    assert "certainty: departs: the evidence speaks for result (measured), the default is smaller" in text
    assert "to settle it" not in text, "a console has answered"
    answers.write_text(
        f"{answers.read_text()}shader.max_infinity\tsmaller\tmeasured\tconsole\tasked\tOld 3DS\t2026-11-29\n"
    )
    assert main(["switches", "shader.max_infinity", "--evidence", str(answers)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "the consoles disagree: New 3DS: result Old 3DS: smaller" in text
    answers.write_text("nothing\n")
    assert main(["switches", "--evidence", str(answers)]) == 2
    assert "no table of evidence" in capsys.readouterr().err
    assert main(["switches", "--evidence", str(tmp_path / "nowhere")]) == 2
    assert "cannot be read" in capsys.readouterr().err
