"""Ten questions of a stranger: each is answered by a section that three links from the front page lead to.

`support/ten_questions.tsv` has them: the question, the texts of the links on the way, from the front page on, the
heading of the section, and words that it must have. The test follows the links in the sources, and in the built
site where POCKETGPU_SITE says where it is: `make docs` does.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.site_walk import Built, Link, Site, Sources, target

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "support" / "ten_questions.tsv"
MOST_LINKS = 3
SITE = os.environ.get("POCKETGPU_SITE", "")
"""A site that is as new as the sources: one of earlier sources has other links."""


@dataclass(frozen=True)
class Question:
    text: str
    way: tuple[str, ...]
    section: str
    words: tuple[str, ...]


def questions() -> list[Question]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Question(one["question"], tuple(one["way"].split(" > ")), one["section"], tuple(one["words"].split("; ")))
            for one in rows]  # fmt: skip


def wrong(site: Site, question: Question) -> str:
    """Where the way to an answer ends, or ""."""
    page = "index"
    for text in question.way:
        found = {link.page for link in site.links(page) if link.text == text} - {page}  # its own contents lead nowhere
        if len(found) != 1:
            return f"{page} has {len(found)} pages under the link {text!r}"
        (page,) = found
    section = site.section(page, question.section)
    if section is None:
        return f"{page} has no section {question.section!r}"
    lacking = [word for word in question.words if word not in section]
    return f"{page}, {question.section}: nothing about {', '.join(lacking)}" if lacking else ""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return Sources(ROOT / "docs", tmp_path_factory.mktemp("generated"))


@pytest.mark.parametrize("question", questions(), ids=lambda one: one.text)
def test_the_sources_answer(question: Question, sources: Sources) -> None:
    assert wrong(sources, question) == ""


@pytest.mark.skipif(not SITE, reason="POCKETGPU_SITE names no built site")
@pytest.mark.parametrize("question", questions(), ids=lambda one: one.text)
def test_the_site_answers(question: Question) -> None:
    assert wrong(Built(Path(SITE)), question) == ""


def test_there_are_ten_questions_of_few_links() -> None:
    found = questions()
    assert len({one.text for one in found}) == len(found) >= 10
    assert [one.text for one in found if not 1 <= len(one.way) <= MOST_LINKS or not all(one.words)] == []


MARKDOWN = """# Front

[One `page`](a/one.md#part) and {doc}`another <a/two>` and <a href="a/one.html">a <b>third</b></a>, ![no](a/x.png).

```python
[code](a/no.md)
```

```{toctree}
a/two
```

Text with [a link](a/two.md), after a list.

```{toctree}
:hidden:

a/two
Own title <a/one>
```
"""
HTML = """<h1>Front<a class="headerlink" href="#x">¶</a></h1><p>Text <a href="a/one.html#part">One <code>page</code></a>
<h2>Inner</h2><p>blue</p><script>red</script><h2>Next</h2><p>green</p>"""


def test_links_and_sections_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "index.md").write_text(MARKDOWN, encoding="utf-8")
    parts = ("# One", "## Part", "```sh\n# code\n```", "blue", "### Deep", "red", "## Other", "green")
    (tmp_path / "a" / "one.md").write_text("\n\n".join(parts))
    (tmp_path / "a" / "two.md").write_text("# The two\n\n[up](../index.md)\n")
    (tmp_path / "index.html").write_text(HTML, encoding="utf-8")
    site, built = Sources(tmp_path, tmp_path / "made"), Built(tmp_path)
    assert site.links("index") == [
        Link("One page", "a/one", "part"), Link("a link", "a/two"), Link("another", "a/two"), Link("a third", "a/one"),
        Link("The two", "a/two"), Link("The two", "a/two"), Link("Own title", "a/one"),
    ]  # fmt: skip
    assert site.links("a/two") == [Link("up", "index")] and target("a/two", "../b/c.html") == "b/c"
    assert site.section("a/one", "Part") == "Part sh # code blue Deep red" and site.section("a/one", "None") is None
    assert built.links("index") == [Link("One page", "a/one", "part")]
    assert built.section("index", "Inner") == "Inner blue" and "red" not in str(built.section("index", "Front"))


def test_a_way_that_ends_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Front\n\n[a](one.md) [b](two.md)\n", encoding="utf-8")
    (tmp_path / "one.md").write_text("# One\n\nblue\n", encoding="utf-8")
    site = Sources(tmp_path, tmp_path / "made")
    assert wrong(site, Question("?", ("a",), "One", ("blue",))) == ""
    assert wrong(site, Question("?", ("a",), "One", ("blue", "red"))) == "one, One: nothing about red"
    assert wrong(site, Question("?", ("b",), "Two", ("blue",))) == "two has no section 'Two'"
    assert wrong(site, Question("?", ("c",), "One", ("blue",))) == "index has 0 pages under the link 'c'"
