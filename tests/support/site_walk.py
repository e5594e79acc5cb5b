"""The pages of the site with their links and sections, from the sources or from the built HTML.

    site = Sources(ROOT / "docs", folder)      # or Built(Path("build/docs"))
    site.links("index")                        # [Link("My screen is black", "guides/black-screen", "")]
    site.section("guides/stepping", "From Python")

A page is named by its path without an ending. Pages that the build generates are generated into a folder.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Protocol

import pytest

PLAIN_PAGES = (".md", ".rst")
MADE = {"reference/generated": ("generate_registers", "generate_schemas"), "way": ("generate_way",)}
"""Folders of the site with pages that the build generates -> the modules of `docs/` with a function `generate(folder)`
that writes them."""


@dataclass(frozen=True)
class Link:
    """A link of a page: what it says, the page that it leads to, and the anchor there, or ""."""

    text: str
    page: str
    anchor: str = ""


class Site(Protocol):
    def links(self, page: str) -> list[Link]: ...

    def section(self, page: str, heading: str) -> str | None: ...


def plain(text: str) -> str:
    """A text without marks of Markdown and HTML, its spaces made one each."""
    text = re.sub(r"<[^>]+>", "", text)
    return " ".join(re.sub(r"[`*\\]", "", text).split())


def target(page: str, link: str) -> str:
    """The page that a link of another page leads to."""
    name = link if link.startswith("/") else str(PurePosixPath(page).parent / link)
    parts: list[str] = []
    for part in PurePosixPath(name.lstrip("/")).parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in (".", "/"):
            parts.append(part)
    return re.sub(r"\.(md|rst|html|ipynb)$", "", "/".join(parts))


def parted(text: str) -> tuple[str, list[list[str]]]:
    """The text of a page without blocks of code, and the lines of its lists of pages."""
    prose: list[str] = []
    lists: list[list[str]] = []
    fence, into = "", prose
    for line in text.splitlines():
        marks = re.match(r" *(`{3,})", line)
        if fence and marks and line.strip() == fence:
            fence = ""
        elif not fence and marks:
            fence, into = marks[1], []
            if "{toctree}" in line:
                lists.append(into)
        else:
            (into if fence else prose).append(line)
    return "\n".join(prose), lists


def sections(text: str) -> list[tuple[int, str, str]]:
    """(level, heading, text) of each section of a page, without those inside of it. Lines of code are no headings."""
    found: list[tuple[int, str, list[str]]] = []
    fence = ""
    for line in text.splitlines():
        marks = re.match(r" *(`{3,})", line)
        if marks and not fence:
            fence = marks[1]
        elif marks and line.strip() == fence:
            fence = ""
        if not fence and (heading := re.fullmatch(r"(#+) (.*)", line)):
            found.append((len(heading[1]), plain(heading[2]), []))
        elif found:
            found[-1][2].append(line)
    return [(level, title, "\n".join(lines)) for level, title, lines in found]


# -- sources -----------------------------------------------------------------------------------------------------------
class Sources:
    """The pages of a folder of Markdown. made: a folder for the pages that the build generates from the package."""

    def __init__(self, folder: Path, made: Path) -> None:
        self.folder, self._made = folder, made

    def made(self, folder: str) -> Path:
        """The pages that the build generates into a folder of the site, generated elsewhere at the first call."""
        place = self._made / folder
        if place.is_dir():
            return place
        place.mkdir(parents=True)
        for name in MADE.get(folder, ()):
            with pytest.MonkeyPatch.context() as patch:
                for path in (self.folder / "extensions", self.folder):
                    patch.syspath_prepend(str(path))
                runpy.run_path(str(self.folder / f"{name}.py"))["generate"](place)
        return place

    def text(self, page: str) -> str:
        """The source of a page; "" if there is none."""
        folder, _, name = page.rpartition("/")
        for place in (self.folder / folder, *([self.made(folder)] if folder in MADE else [])):
            for ending in PLAIN_PAGES:
                if (path := place / f"{name}{ending}").is_file():
                    return path.read_text(encoding="utf-8")
        return ""

    def title(self, page: str) -> str:
        return next((title for level, title, _ in sections(self.text(page)) if level == 1), "")

    def links(self, page: str) -> list[Link]:
        prose, lists = parted(self.text(page))
        return [*self._written(page, prose), *(link for one in lists for link in self._listed(page, one))]

    def _written(self, page: str, text: str) -> Iterator[Link]:
        """Links in the text: of Markdown, of the role `doc`, and of HTML."""
        for words, link in re.findall(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", text):
            name, _, anchor = link.partition("#")
            if "://" not in link:
                yield Link(plain(words), target(page, name) if name else page, anchor)
        for words, link in re.findall(r"\{doc\}`([^`<]+?) *<([^>`]+)>`", text):
            yield Link(plain(words), target(page, link))
        for link in re.findall(r"\{doc\}`([^`<]+)`", text):
            yield Link(self.title(target(page, link)), target(page, link))
        for link, words in re.findall(r'<a [^>]*href="([^"#:]+)[^"]*"[^>]*>(.*?)</a>', text, re.DOTALL):
            yield Link(plain(words), target(page, link))

    def _listed(self, page: str, lines: list[str]) -> Iterator[Link]:
        """Entries of a list of pages, which the site shows beside every page."""
        for line in lines:
            named = re.fullmatch(r"(.+?) <(.+)>", line.strip())
            entry = named[2] if named else line.strip()
            if entry and not entry.startswith(":"):
                for one in self._entries(target(page, entry)):
                    yield Link(plain(named[1]) if named else self.title(one), one)

    def _entries(self, name: str) -> list[str]:
        """The pages of an entry, which may have a star in it."""
        if "*" not in name:
            return [name]
        folder, _, pattern = name.rpartition("/")
        places = [self.folder / folder, *([self.made(folder)] if folder in MADE else [])]
        found = {path.stem for place in places for ending in PLAIN_PAGES for path in place.glob(f"{pattern}{ending}")}
        return [f"{folder}/{one}" for one in sorted(found)]

    def section(self, page: str, heading: str) -> str | None:
        """The text under a heading of a page, with its subsections; None if there is no such heading."""
        parts = sections(self.text(page))
        for at, (level, title, _) in enumerate(parts):
            if title == heading:
                end = next((n for n, one in enumerate(parts) if n > at and one[0] <= level), len(parts))
                return plain("\n".join(f"{one[1]}\n{one[2]}" for one in parts[at:end]))
        return None


# -- the built site ----------------------------------------------------------------------------------------------------
class _Page(HTMLParser):
    """Links and sections of a page of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[tuple[str, str]] = []
        self.parts: list[tuple[int, str, list[str]]] = [(0, "", [])]
        self._link: list[str] | None = None
        self._href, self._heading, self._quiet = "", 0, 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a" and "headerlink" not in (values.get("class") or ""):
            self._href, self._link = values.get("href") or "", []
        elif tag == "a":
            self._quiet += 1
        elif re.fullmatch("h[1-6]", tag):
            self._heading = int(tag[1])
            self.parts.append((self._heading, "", []))
        elif tag in ("script", "style"):
            self._quiet += 1
        self._space(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._link is not None:
            self.links.append((" ".join("".join(self._link).split()), self._href))
            self._link = None
        elif tag in ("a", "script", "style"):
            self._quiet = max(0, self._quiet - 1)
        elif re.fullmatch("h[1-6]", tag):
            self._heading = 0
        self._space(tag)

    def _space(self, tag: str) -> None:
        """Parts of a page are not one word."""
        if re.fullmatch("p|h[1-6]|li|t[rdh]|div|pre|section|dt|dd|br", tag):
            self.parts[-1][2].append(" ")

    def handle_data(self, data: str) -> None:
        if self._quiet:
            return
        if self._link is not None:
            self._link.append(data)
        level, title, texts = self.parts[-1]
        if self._heading:
            self.parts[-1] = (level, title + data, texts)
        texts.append(data)


class Built:
    """The pages of a built site."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _page(self, page: str) -> _Page:
        return _Page((self.folder / f"{page}.html").read_text(encoding="utf-8"))

    def links(self, page: str) -> list[Link]:
        found = []
        for text, href in self._page(page).links:
            name, _, anchor = href.partition("#")
            if "://" not in href and not href.startswith("mailto:"):
                found.append(Link(text, target(page, name) if name else page, anchor))
        return found

    def section(self, page: str, heading: str) -> str | None:
        parts = self._page(page).parts
        for at, (level, title, _) in enumerate(parts):
            if " ".join(title.split()) == heading:
                end = next((n for n, one in enumerate(parts) if n > at and one[0] <= level), len(parts))
                return " ".join(" ".join("".join(one[2]) for one in parts[at:end]).split())
        return None
