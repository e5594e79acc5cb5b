"""Evidence for choices: the tables, the rule, and that every default follows from it or has a reason."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pocketgpu.facts.choices import CHOICES, OF_CONSOLE, certainty, evidence
from pocketgpu.facts.choices.certainty import RANKS, Certainty, decided, decision, reason
from pocketgpu.facts.choices.choice import Choice, named
from pocketgpu.facts.choices.evidence import COLUMNS, Evidence, Kind
from pocketgpu.facts.choices.registers import about_register, patterns
from pocketgpu.facts.choices.told import all_told, told
from pocketgpu.facts.lookup import BLOCKS
from pocketgpu.facts.maxwell import CLASSES
from pocketgpu.probe.making import choices_with_scenes

EACH = pytest.mark.parametrize("choice", CHOICES.values(), ids=lambda choice: choice.name)
STENCIL = CHOICES["test.stencil_write"]
HEAD = "\t".join(COLUMNS)


def row(value: str, kind: str, who: str, choice: str = "test.order", where: str = "") -> Evidence:
    return Evidence(choice, value, Kind(kind), evidence.sources()[who], "", where, "")


# -- the defaults -----------------------------------------------------------------------------------------------------


@EACH
def test_a_default_is_what_the_evidence_decides_or_has_a_reason(choice: Choice) -> None:
    """And there is no reason where there is nothing to explain."""
    departs = decided(choice) != choice.default
    assert departs == bool(reason(choice)), decision(choice)
    if choice.what_if:
        assert certainty.certainty(choice) is Certainty.NOT_DOUBTED
    assert reason(choice) == "" or reason(choice).endswith(".")


@EACH
def test_certainty_says_whether_the_default_departs(choice: Choice) -> None:
    found = decision(choice)
    sure = certainty.certainty(choice)
    assert (sure is Certainty.DEPARTS) == (bool(found.values) and choice.default not in found.values)
    if len(found.values) > 1 and sure is not Certainty.DEPARTS:
        assert sure in (Certainty.UNDECIDED, Certainty.GUESSED)


def test_what_was_measured_decides_against_the_wiki() -> None:
    """Programs and a measurement against one document: the case that the rule was written for."""
    kinds = {(one.value, one.kind) for one in evidence.of_choice(STENCIL.name)}
    assert {("any", Kind.MEASURED), ("any", Kind.PROGRAM), ("stencil", Kind.DOCUMENTED)} <= kinds
    found = decision(STENCIL)
    assert (found.value, found.certainty, found.against) == ("any", Certainty.MEASURED, Kind.DOCUMENTED)
    assert STENCIL.default == "any"


# -- the tables -------------------------------------------------------------------------------------------------------


def test_every_source_is_used_and_every_family_has_a_name() -> None:
    sources = evidence.sources()
    used = {one.who.name for choice in CHOICES.values() for one in evidence.of_choice(choice.name)}
    # A console's own answers come from outside.
    assert set(sources) - used <= {"console"}
    for name, source in sources.items():
        assert source.name == name and source.title and source.independent >= 1
        assert not source.newer or sources[source.newer].family == source.family
        assert source.url == "" or source.url.startswith("https://")


def test_no_row_stands_twice_and_the_order_is_that_of_the_choices() -> None:
    text = (Path(evidence.__file__).with_name("evidence.tsv")).read_text(encoding="utf-8")
    rows = evidence.read(text)
    assert len({str(one.to_dict()) for one in rows}) == len(rows) > 300
    assert [one.choice for one in rows] == sorted((one.choice for one in rows), key=[*CHOICES].index)
    assert evidence.write(rows) == text, "written as it is read"
    for one in rows:
        assert one.kind is not Kind.PICTURE, "pictures have their own table"
        if one.kind is Kind.MEASURED:
            assert one.where, f"a measurement without a place where it is told: {one}"


def test_names_of_bits_are_documents_and_hearsay_is_no_measurement() -> None:
    """A header that names a bit documents it; only a program that needs a value shows it. A test that
    nobody can find is no measurement."""
    for choice, value in (("display.sync_bits", "polarity"), ("guest.performance_mode", "docked")):
        kinds = {one.kind for one in evidence.of_choice(choice) if one.value == value}
        assert Kind.DOCUMENTED in kinds and Kind.PROGRAM not in kinds
    assert certainty.certainty(CHOICES["fill.null_start"]) is Certainty.GUESSED
    assert certainty.certainty(CHOICES["geometry.output_banks"]) is Certainty.PROGRAMS


def test_sources_give_the_kinds_that_they_can_know() -> None:
    sources = evidence.sources()
    assert sources["analogy"].kinds == sources["plain reading"].kinds == {Kind.GUESS}
    given = {(one.who.name, one.kind) for choice in CHOICES.values() for one in evidence.of_choice(choice.name)}
    for name, source in sources.items():
        unused = {kind for kind in source.kinds - {Kind.GUESS, Kind.PICTURE} if (name, kind) not in given}
        assert unused <= ({Kind.MEASURED} if name == "console" else set()), f"{name} never gives {unused}"
    with pytest.raises(ValueError, match="line 2: 'analogy' cannot give the kind 'measured'; its kinds are guess"):
        evidence.read(f"{HEAD}\ntest.order\talpha-first\tmeasured\tanalogy\t\t\t\n")


def test_pictures_name_recordings_and_figures() -> None:
    rows = [one for choice in CHOICES.values() for one in evidence.of_choice(choice.name) if one.kind is Kind.PICTURE]
    assert len(rows) >= 10
    for one in rows:
        assert one.where.startswith("recordings: ") and "pixels unlike its picture" in one.what
    ours = {(one.choice, one.value) for one in rows}
    assert ("texture.nearest", "truncate") in ours and ("combiner.vertex_color", "round") in ours


def test_registers_of_the_table_exist() -> None:
    names = {block.name: [one.name for one in block] for block in BLOCKS}
    names |= {block.name: [one.name for one in block] for block in CLASSES.values()}
    for choice, block, pattern in patterns():
        assert any(fnmatchcase(name, pattern) for name in names[block]), (choice, block, pattern)
        console = "3DS" if block in ("pica", "external", "lcd") else "Switch"
        assert choice in OF_CONSOLE[console]
    assert STENCIL in about_register("pica", "DEPTHBUFFER_WRITE")
    assert about_register("pica", "DEPTHBUFFER_READ") == about_register("b197", "DEPTHBUFFER_WRITE") == ()


# -- the rule ---------------------------------------------------------------------------------------------------------

FIRST, SECOND = "alpha-first", "depth-first"
QUESTION = named("test.order", "A question.", alpha_first="", depth_first="")


def decides(rows: Iterable[tuple[str, str, str]], monkeypatch: pytest.MonkeyPatch) -> tuple[str | None, Certainty]:
    monkeypatch.setattr(certainty, "of_choice", lambda name: tuple(row(*one) for one in rows))
    found = decision(QUESTION)
    return found.value, found.certainty


@pytest.mark.parametrize("rank", range(len(RANKS) - 1))
def test_one_source_of_a_rank_outweighs_all_below(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    strong, *_ = sorted(RANKS[rank])
    below = [kind for kinds in RANKS[rank + 1 :] for kind in kinds]
    rows = [(FIRST, str(strong), "GBATEK")]
    rows += [(SECOND, str(kind), who) for kind in below for who in ("3dbrew", "Azahar", "3Beans")]
    value, sure = decides(rows, monkeypatch)
    assert value == FIRST
    wanted = [Certainty.MEASURED, Certainty.PROGRAMS, Certainty.DOCUMENTED, Certainty.ONE_EMULATOR][rank]
    assert sure is wanted


@pytest.mark.parametrize(
    ("rows", "value", "sure"),
    [
        ([], None, Certainty.GUESSED),
        ([(FIRST, "guess", "analogy")], FIRST, Certainty.GUESSED),
        ([(FIRST, "guess", "analogy"), (SECOND, "guess", "plain reading")], None, Certainty.GUESSED),
        ([(SECOND, "emulator", "3Beans")], SECOND, Certainty.ONE_EMULATOR),
        # One family counts once, however many of it agree.
        ([(FIRST, "emulator", "Azahar"), (FIRST, "emulator", "Mikage"), (SECOND, "emulator", "3Beans")],
         None, Certainty.UNDECIDED),
        ([(FIRST, "emulator", "Azahar"), (FIRST, "emulator", "3Beans"), (SECOND, "emulator", "Panda3DS")],
         FIRST, Certainty.EMULATORS),
        # A picture is what an emulator does: it does not count beside a statement about the same one.
        ([(FIRST, "emulator", "Azahar"), (FIRST, "picture", "Azahar SW"), (SECOND, "emulator", "3Beans")],
         None, Certainty.UNDECIDED),
        # Equal documents: what comes next decides, and is how certain it is.
        ([(FIRST, "documented", "GBATEK"), (SECOND, "documented", "3dbrew"), (FIRST, "emulator", "3Beans")],
         FIRST, Certainty.ONE_EMULATOR),
        ([(FIRST, "documented", "GBATEK"), (SECOND, "documented", "3dbrew")], None, Certainty.UNDECIDED),
        # What a document said once counts only where it says nothing now.
        ([(FIRST, "documented", "3dbrew"), (SECOND, "documented", "3dbrew 2013")], FIRST, Certainty.DOCUMENTED),
        ([(FIRST, "emulator", "Azahar"), (SECOND, "documented", "3dbrew 2013")], SECOND, Certainty.DOCUMENTED),
        # One name for several emulators counts as several.
        ([(FIRST, "emulator", "Switch emulators"), (SECOND, "emulator", "a Switch emulator")],
         FIRST, Certainty.EMULATORS),
    ],
)  # fmt: skip
def test_the_rule(
    rows: list[tuple[str, str, str]], value: str | None, sure: Certainty, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert decides(rows, monkeypatch) == (value, sure)


def test_a_decision_has_the_steps_that_led_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(FIRST, "documented", "GBATEK"), (SECOND, "documented", "3dbrew"), (FIRST, "emulator", "3Beans")]
    monkeypatch.setattr(certainty, "of_choice", lambda name: tuple(row(*one) for one in rows))
    documents, emulators = decision(QUESTION).steps
    assert documents.left == (FIRST, SECOND) and emulators.left == (FIRST,)
    assert str(documents) == "documented: alpha-first (GBATEK), depth-first (3dbrew)"
    assert str(emulators) == "emulators: alpha-first (3Beans); none for depth-first"


def test_a_value_that_loses_in_a_rank_stays_out() -> None:
    """Two emulators for one value each; the third has a guess only, which then counts no more."""
    found = decision(CHOICES["transfer.linear_scale"])
    assert set(found.values) == {"as-tiled", "refuse"} and found.certainty is Certainty.UNDECIDED
    assert [set(step.left) for step in found.steps] == [{"as-tiled", "refuse"}]


def test_each_console_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several answers of one console are one source, and consoles that disagree leave the choice open."""
    old, new = "Old 3DS, 11.17", "New 3DS, 11.17"
    rows = [row(FIRST, "measured", "console", where=f"{old}; answer {number}") for number in range(3)]
    rows += [row(SECOND, "measured", "console", where=f"{new}; answer 9")]
    monkeypatch.setattr(certainty, "of_choice", lambda name: ())
    assert decision(QUESTION, rows).values == (FIRST, SECOND)
    rows += [row(SECOND, "measured", "console", where="New 3DS XL, 11.17; answer 10")]
    assert decision(QUESTION, rows).value == SECOND


def test_further_evidence_can_decide() -> None:
    """A console's answer decides what was undecided, and says nothing about other choices."""
    choice = CHOICES["transfer.average_bits"]
    assert certainty.certainty(choice) is Certainty.UNDECIDED
    answer = row("native", "measured", "console", choice.name)
    assert decided(choice, [answer]) == "native" and certainty.certainty(choice, [answer]) is Certainty.DEPARTS
    assert decided(CHOICES["test.order"], [answer]) == decided(CHOICES["test.order"])
    shown = told(choice, [answer])
    assert shown["evidence"][-1]["who"] == "console" and shown["decided"] == "native"


def test_all_of_it_is_plain_data() -> None:
    found = all_told()
    assert [one["name"] for one in found] == list(CHOICES)
    for one in found:
        assert {row["value"] for row in one["evidence"]} <= {value["value"] for value in one["values"]}
        assert (one["settles"] == "") == (one["decided_by"] == "measured" or one["certainty"] == "not doubted")


def test_what_asks_a_console_is_what_the_probe_can_ask() -> None:
    for console, names in OF_CONSOLE.items():
        have = {name for name in choices_with_scenes(console) if not CHOICES[name].what_if}
        assert {name for name in names if told(CHOICES[name])["asks"]} == have
    assert told(CHOICES["clear.raster_disabled"])["asks"] == (
        "pocketgpu probe make DIR --console switch --choice clear.raster_disabled"
    )


def test_a_console_that_answered_leaves_nothing_to_settle_unless_others_disagree() -> None:
    choice = CHOICES["transfer.average_bits"]
    first = row("native", "measured", "console", choice.name, where="Old 3DS, 11.17; answer 1")
    second = row("8", "measured", "console", choice.name, where="New 3DS, 11.17; answer 2")
    assert told(choice)["settles"] == "a test on a 3DS" and told(choice)["consoles"] == []
    one, both = told(choice, [first]), told(choice, [first, second])
    assert (one["settles"], one["decided_by"]) == ("", "measured")
    assert both["settles"] == "a test on a 3DS" and both["certainty"] == "undecided"
    assert both["consoles"] == [
        {"console": "Old 3DS, 11.17", "values": ["native"]}, {"console": "New 3DS, 11.17", "values": ["8"]},
    ]  # fmt: skip


# -- tables from outside ----------------------------------------------------------------------------------------------


def test_a_table_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "answers.tsv"
    line = "test.order\talpha-first\tmeasured\tconsole\tstencil kept\tNew 3DS, 11.17\t2026-11-29"
    path.write_text(f"# a remark\n{HEAD}\n\n{line}\n", encoding="utf-8-sig")
    (found,) = evidence.parse(path)
    assert (found.kind, found.who.name, found.date) == (Kind.MEASURED, "console", "2026-11-29")
    assert str(found) == "measured, console (2026-11-29): stencil kept [New 3DS, 11.17]"
    assert evidence.write((found,)) == f"{HEAD}\n{line}\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "its first line must have the columns"),
        ("choice\tvalue\n", "its first line must have the columns"),
        (f"{HEAD}\ntest.order\n", "line 2: it has 1 cells instead of 7"),
        (f"{HEAD}\ntest.ordr\ta\tmeasured\tconsole\t\t\t\n", "line 2: There is no choice 'test.ordr'"),
        (f"{HEAD}\ntest.order\tsideways\tmeasured\tconsole\t\t\t\n", "has no value 'sideways'"),
        (f"{HEAD}\ntest.order\talpha-first\tseen\tconsole\t\t\t\n", "there is no kind 'seen'"),
        (f"{HEAD}\ntest.order\talpha-first\tmeasured\tnobody\t\tOld 3DS\t\n", "'nobody' is the source, of the kind"),
        (f"{HEAD}\ntest.order\talpha-first\tmeasured\tfincs\t\tOld 3DS\t\n", "evidence from outside is what was"),
        (f"{HEAD}\ntest.order\talpha-first\tguess\tconsole\t\tOld 3DS\t\n", "of the kind 'guess'"),
        (f"{HEAD}\ntest.order\talpha-first\tmeasured\tconsole\t\t; answer 9\t\n", "in the column 'where'"),
        (f"{HEAD}\ntest.order\talpha-first\tmeasured\tconsole\t\tOld 3DS\tyesterday\n", "'yesterday' is no date"),
        (f"{HEAD}\ntest.order\talpha-first\tmeasured\tconsole\t\x1b[31m\t\t\n", "control characters"),
        (f"{HEAD}\ntest.order\talpha-first\tmeasured\tconsole\t{'x' * 501}\t\t\n", "more than 500 letters"),
    ],
)
def test_other_tables_are_refused(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=says.replace("[", r"\[")):
        evidence.parse(path)


def test_files_that_are_no_text_or_too_long(tmp_path: Path) -> None:
    path = tmp_path / "answers.tsv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not text in UTF-8: byte 0"):
        evidence.parse(path)
    path.write_bytes(b"#" * (evidence.MOST_BYTES + 1))
    with pytest.raises(ValueError, match="more than 1,048,576 bytes"):
        evidence.parse(path)
    with pytest.raises(OSError, match="No such file"):
        evidence.parse(tmp_path / "nowhere")
