"""Parts of pages: text folds by its indentation, and nothing of a capture becomes markup."""

from __future__ import annotations

from html.parser import HTMLParser

from pocketgpu.inspect.pages import html

MARKUP = "</details><script>alert(1)</script><img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """The elements of a page, and whether they close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.stack: list[str] = []
        self.depths: dict[str, int] = {}
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "img", "rect", "circle"):
            self.stack.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(data)
            self.depths[data] = self.stack.count("details")


def test_a_line_owns_the_deeper_ones_after_it() -> None:
    # The bar before the lines of a source says the same as spaces.
    lines = ["a", "  b", "  | c", "      d", "e", "", "  f"]
    found = Tags(html.folded(lines, 100))
    assert found.texts == ["a", "b", "c", "d", "e", "f"]
    assert {name: found.depths[name] for name in "abcdef"} == {"a": 1, "b": 2, "c": 3, "d": 3, "e": 1, "f": 1}


def test_only_what_was_asked_for_is_unfolded() -> None:
    lines = ["top", "  f0/d1  a draw", "    its fragment", "      a stage", "  f0/d10  another", "    its fragment"]
    found = html.folded(lines, 100, "f0/d1")
    opened = [part.split("<summary>")[1].split("</summary>")[0] for part in found.split("<details open>")[1:]]
    assert opened == ["top", "f0/d1  a draw", "its fragment"]
    assert found.count("<details>") == 1


def test_a_deep_text_needs_no_deep_stack_and_long_ones_are_cut() -> None:
    deep = [" " * depth + "x" for depth in range(5000)]
    assert Tags(html.folded(deep, 5000)).tags.count("details") == 4999
    cut = Tags(html.folded(["x"] * 30, 10))
    assert cut.texts == ["x"] * 10 + ["20 lines more, left out here"]
    rows = Tags(html.table(("n",), [(n,) for n in range(5)], 3))
    assert rows.texts[-1] == "2 rows more, left out here"


def test_texts_stay_texts() -> None:
    parts = [
        html.folded([MARKUP, f"  {MARKUP}"], 10, MARKUP), html.figure(MARKUP, b"png", (4, 4), (1, 2)),
        html.table((MARKUP,), [(MARKUP,)], 10), html.pairs([(MARKUP, MARKUP)]), html.details(MARKUP, []),
    ]  # fmt: skip
    found = Tags(html.document(MARKUP, [html.section(MARKUP, parts)]))
    assert "script" not in found.tags and found.tags.count("img") == 1
    assert "default-src 'none'" in html.document("x", [])
    assert "\x1b" not in html.text("\x1b[31m")
