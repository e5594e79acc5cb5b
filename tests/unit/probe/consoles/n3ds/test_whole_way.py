"""The whole way of a 3DS: files are made, our own machine runs the probe with some values, and the answers are judged.
Every choice that has a scene and can be asked is told rightly, under every value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from support import probing

from pocketgpu.facts.choices import CHOICES, DEFAULTS
from pocketgpu.probe.judging import judge, judge_files, read_file
from pocketgpu.probe.making import choices_with_scenes
from pocketgpu.probe.scenes import SCENES

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

# By name, as all scenes would have to be made to ask them.
NEEDS_TIME = {
    "display.dma_size_3", "display.interleave", "display.latch", "display.sync_bits", "display.vstart",
    "external.core_reads", "external.status",
}  # fmt: skip
"""Scenes whose difference needs units that take time: programs run here on a machine whose units take none."""
NEW_MODEL = {"external.hardware_id"}
ASKED = [name for name in choices_with_scenes("3DS") if name not in NEEDS_TIME | NEW_MODEL]
DISTURBED = {"shader.loop_ends", "texture.shadow_filter", "gsp.untranslatable"}
"""Scenes that other choices change, too: their values are tried without those."""


def test_scenes_that_are_left_out_need_another_machine() -> None:
    for name in choices_with_scenes("3DS"):
        made = SCENES[name].made
        assert (made.timed, made.new_model) == (name in NEEDS_TIME, name in NEW_MODEL), name


def rounds() -> list[dict[str, str]]:
    """The values of each run: none, the second values of all choices, then the third ones, and so on."""
    others = {name: [value for value in CHOICES[name].values if value != DEFAULTS[name]] for name in ASKED}
    usual = [name for name in ASKED if name not in DISTURBED]
    most = max(map(len, others.values()))
    found: list[dict[str, str]] = [{}]
    for names in (usual, sorted(DISTURBED)):
        found += [{name: others[name][turn] for name in names if turn < len(others[name])} for turn in range(most)]
    return [found[0], *filter(None, found[1:])]


ROUNDS = rounds()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A card with the files of all choices."""
    return probing.card(tmp_path_factory.mktemp("whole"), ASKED)


@cache
def ran(whole: Path, number: int) -> Path:
    """A card with the answers of a run under the values of a round."""
    values = ROUNDS[number]
    folder = probing.part(whole, whole.with_name(f"{whole.name}-run{number}"), list(values) or ASKED)
    probing.ran(folder, values)
    return folder


def wrong(folder: Path, values: dict[str, str], choices: list[str]) -> Iterator[str]:
    for name in choices:
        verdict = judge(*read_file(probing.answer(folder, name)))
        wanted = values.get(name, DEFAULTS[name])
        if verdict.agree != (wanted,):
            yield f"{name} was {wanted}: {verdict}"


def test_every_value_of_every_choice_has_its_run() -> None:
    tried = Counter(name for values in ROUNDS for name in values or ASKED)
    assert tried == {name: len(CHOICES[name].values) for name in ASKED}


@pytest.mark.parametrize("number", range(len(ROUNDS)))
def test_each_value_is_told(whole: Path, number: int) -> None:
    """Of the default values, or of one further value of many choices."""
    folder, values = ran(whole, number), ROUNDS[number]
    assert not list(wrong(folder, values, list(values) or ASKED))


def test_the_answers_show_what_the_console_showed(whole: Path) -> None:
    """An answer is a capture: it replays to the digests that the program computed in C."""
    import pocketgpu
    from pocketgpu.capture import pgc

    folder = ran(whole, 0)
    for name in ("test.stencil_write", "transfer.contract", "fill.tail_24"):
        path = probing.answer(folder, name)
        (found,) = pgc.check(pocketgpu.open(path))
        assert found.expected and found.same, name


def test_values_that_hide_others_are_taken_in(tmp_path: Path) -> None:
    """With one stack for everything both values of another choice leave the same. Judged by the defaults, one of
    them would seem to be told."""
    choices = ["shader.loop_ends", "shader.stacks"]
    folder = probing.card(tmp_path / "card", choices)
    probing.ran(folder, {"shader.stacks": "single", "shader.loop_ends": "one"})
    paths = [probing.answer(folder, name) for name in choices]
    assert judge(*read_file(paths[0])).agree == ("all",)
    loops, stacks = judge_files(paths)
    assert stacks.agree == ("single",) and stacks.tells
    assert loops.agree == ("one", "all") and not loops.tells and loops.silent
