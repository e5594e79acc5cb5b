"""Prose uses the words that a reader expects: `support/words.py` has the list of those that it avoids.

"Reads the word behind the header" fails, "a triangle behind the camera" is right. What is a quotation, or a name that
has to stay, is in the table QUOTED, which may only get shorter.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.house import ROOT
from support.words import BANNED, RIGHT, files, room, rooms, search

# Phrases with such a word that stay, by file.
QUOTED: dict[str, set[str]] = {
    # Light that comes from behind a surface.
    "tests/pictures/zoo/lights.py": {"from behind"},
    "tools/make_sample.py": {"lit from behind"},
    # Names of cells of the zoo, by which their golden hashes are kept.
    "tests/pictures/zoo/lists.py": {"behind FINALIZE"},
    "tests/pictures/zoo/shadows.py": {"soft behind it"},
    "tests/pictures/zoo_switch/stages.py": {"feedback behind tessellation"},
    "tests/pictures/zoo_switch/vertices.py": {"begins anew"},
}

# A sentence with each form that the list has to find.
EXAMPLES = {
    "behind": "the word behind the header",
    "no number(?! of)": "what is no number",
    "anew": "written anew",
    "beneath": "the row beneath",
    "for ever": "runs for ever",
    "nought": "nought follows",
    "aught": "if aught is left",
    "whereof": "the table whereof it speaks",
    "thereof": "a part thereof",
    "hitherto": "hitherto unknown",
    "lest": "lest it ends",
    "asunder": "put asunder",
    "spoilt": "memory is spoilt",
}
PHRASES = (
    "the parser loses its way",
    "lists that lost their way",
    "it tells of draws",
    "observers are told\n    # of draws",
    'say(f"they are told " f"of draws")',
    "what comes of it",
    "what came of them",
    "the switch memory.block_depth_base",
    "switches texture.filter",
    '"""Switches of the core',
    "Switches that shape the walk",
)


@pytest.mark.parametrize("name", sorted(rooms()))
def test_prose_uses_the_usual_words(name: str) -> None:
    found = []
    for path in rooms()[name]:
        place = path.relative_to(ROOT).as_posix()
        found += search(place, path.read_text(encoding="utf-8"), QUOTED.get(place, ()))
    assert not found, f"{len(found)} words to replace:\n  " + "\n  ".join(map(str, found))


def test_quotations_are_still_there() -> None:
    """An entry that nothing needs any more has to be deleted."""
    for place, phrases in QUOTED.items():
        text = (ROOT / place).read_text(encoding="utf-8")
        for phrase in phrases:
            others = phrases - {phrase}
            assert len([*search(place, text, others)]) > len([*search(place, text, phrases)]), f"{place}: {phrase}"


def test_all_prose_is_in_a_room() -> None:
    places = {path.relative_to(ROOT).as_posix() for path in files()}
    assert {"README.md", "docs/guides/check.md", "docs/formats/pgc.ksy"} <= places
    assert {"src/pocketgpu/facts/maxwell/b197.tsv", "tests/unit/test_docs.py"} <= places
    assert {"tests/conformance/rows.tsv", "recorder/pocketgpu_recorder.h"} <= places
    assert len(places) > 900
    assert room(ROOT / "src/pocketgpu/pica/front/draws.py") == "src/pocketgpu/pica"
    assert room(ROOT / "src/pocketgpu/errors.py") == "src/pocketgpu"
    assert room(ROOT / "tests/unit/pica/front/test_hangs.py") == "tests/unit/pica"


# the search itself


def found(text: str, place: str = "page.md", *allowed: str) -> int:
    return len([*search(place, text, allowed)])


def test_every_word_of_the_list_is_found() -> None:
    assert set(EXAMPLES) <= set(BANNED)
    for sentence in (*EXAMPLES.values(), *PHRASES):
        assert found(sentence) == 1, sentence
        assert found(sentence.replace(" ", "\n")) == 1, sentence
    for sentence in EXAMPLES.values():
        assert found(sentence.upper()) == 1, sentence
    for phrase in BANNED:
        assert any(found(text) for text in (*EXAMPLES.values(), *PHRASES)), phrase


def test_words_of_depth_and_quotations_are_right() -> None:
    for phrase in RIGHT:
        assert found(f"a triangle {phrase}") == 0
    assert found("a triangle behind the eye, and the word behind it") == 1
    assert found("the cell `behind FINALIZE`", "page.md", "behind FINALIZE") == 0
    assert found("three numbers of behindhand lessons, tell often; no numbers; the Switch's console") == 0


def test_only_comments_and_strings_of_python_count() -> None:
    assert found("behind = 1\nlest(behind)\n", "a.py") == 0
    assert found('behind = "no number"  # the bytes behind it\n', "a.py") == 2
    assert found('"""A word.\n\nThe one beneath.\n"""\n', "a.py") == 1
    assert found('text = f"{behind} lies behind {behind}"\n', "a.py") >= 1


def test_a_word_that_is_added_is_found(tmp_path: Path) -> None:
    (one,) = search("docs/page.md", "first line\nthe word behind the header\n")
    assert (one.place, one.line, one.text) == ("docs/page.md", 2, "the word behind the header")
    assert str(one) == "docs/page.md:2: the word behind the header  (better: after; past the end of)"
