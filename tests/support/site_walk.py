"""The pages of the site with their links and sections, from the sources or from the built HTML.

    site = Sources(ROOT / "docs", folder)      # or Built(Path("build/docs"))
    site.links("index")                        # [Link("My screen is black", "guides/black-screen", "")]
    site.section("guides/stepping", "From Python")

A page is named by its path without an ending. Pages that the build generates are generated into a folder.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Protocol

PLAIN_PAGES = (".md", ".rst")


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


# -- sources -----------------------------------------------------------------------------------------------------------
class Sources:
    """The pages of a folder of Markdown. made: a folder for the pages that the build generates from the package."""

    def __init__(self, folder: Path, made: Path) -> None:
        self.folder, self._made = folder, made

    @cached_property
    def made(self) -> Path:
        """The generated pages, which every `generate_*.py` with a function `generate(folder)` writes."""
        for path in sorted(self.folder.glob("generate_*.py")):
            generate: Callable[[Path], object] | None = runpy.run_path(str(path)).get("generate")
            if generate is not None:
                (folder := self._made / path.stem).mkdir(parents=True, exist_ok=True)
                generate(folder)
        return self._made

    def text(self, page: str) -> str:
        """The source of a page; "" if there is none."""
        for ending in PLAIN_PAGES:
            if (path := self.folder / f"{page}{ending}").is_file():
                return path.read_text(encoding="utf-8")
        name = page.rpartition("/")[2]
        for ending in PLAIN_PAGES if "generated" in page else ():
            for path in self.made.rglob(f"{name}{ending}"):
                return path.read_text(encoding="utf-8")
        return ""

    def title(self, page: str) -> str:
        found = re.search(r"^# (.*)$", self.text(page), re.MULTILINE)
        return plain(found[1]) if found else ""

    def links(self, page: str) -> list[Link]:
        text = re.sub(r"^( *)```(?!\{toctree).*?^\1```$", "", self.text(page), flags=re.DOTALL | re.MULTILINE)
        return [*self._written(page, text), *self._listed(page, text)]

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

    def _listed(self, page: str, text: str) -> Iterator[Link]:
        """Entries of lists of pages, which the site shows beside every page."""
        for body in re.findall(r"^`{3,}\{toctree\}\n(.*?)^`{3,}$", text, re.DOTALL | re.MULTILINE):
            for line in body.splitlines():
                named = re.fullmatch(r"(.+?) <(.+)>", line.strip())
                entry = named[2] if named else line.strip()
                if not entry or entry.startswith(":"):
                    continue
                for one in self._entries(target(page, entry)):
                    yield Link(plain(named[1]) if named else self.title(one), one)

    def _entries(self, name: str) -> list[str]:
        """The pages of an entry, which may have a star in it."""
        if "*" not in name:
            return [name]
        folder, _, pattern = name.rpartition("/")
        places = [self.folder / folder] if "generated" not in folder else list(self.made.iterdir())
        found = {path.stem for place in places for ending in PLAIN_PAGES for path in place.glob(f"{pattern}{ending}")}
        return [f"{folder}/{one}" for one in sorted(found)]

    def section(self, page: str, heading: str) -> str | None:
        """The text under a heading of a page, with its subsections; None if there is no such heading."""
        found = re.split(r"^(#+) (.*)$", self.text(page), flags=re.MULTILINE)
        parts = list(zip(found[1::3], found[2::3], found[3::3], strict=True))
        for at, (marks, title, _) in enumerate(parts):
            if plain(title) == heading:
                end = next((n for n, one in enumerate(parts) if n > at and len(one[0]) <= len(marks)), len(parts))
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

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._link is not None:
            self.links.append((" ".join("".join(self._link).split()), self._href))
            self._link = None
        elif tag in ("a", "script", "style"):
            self._quiet = max(0, self._quiet - 1)
        elif re.fullmatch("h[1-6]", tag):
            self._heading = 0

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
