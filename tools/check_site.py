"""Checks the built site: links, other hosts and size; and in a browser what readers see.

    python tools/check_site.py build/docs [--pages 20] [--no-browser]

Of all pages: every link inside of the site leads to a page and a place on it, every picture, script and style sheet is
there, none comes from another host, and the site is below 60 MB. Of some pages, in Chromium at two widths, light and
dark: axe-core finds nothing serious (contrast, alternative texts, names of controls), no page scrolls sideways or asks
another host. For that it needs playwright, Chromium, and axe-core in `viewer/node_modules`. The exit code is 1 if
anything is wrong.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 60_000_000
AXE = ROOT / "viewer" / "node_modules" / "axe-core" / "axe.min.js"
LOOKS = ((1400, "light"), (400, "dark"))
"""Widths and schemes in which pages are looked at: both of either."""
GRAVE = ("serious", "critical")
ALWAYS = ("index.html", "search.html", "gallery/index.html", "for/homebrew.html")
MOST_PAGE = 1_500_000
"""Larger pages are not looked at: axe-core takes a minute for each. They have the same parts as smaller ones."""
LOADS = {
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "script": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
}
LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "manifest", "shortcut icon"}


class Link(NamedTuple):
    """Something that a page points to. loaded: the browser fetches it by itself."""

    target: str
    loaded: bool


class Page(HTMLParser):
    """What a page points to, and which places it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[Link] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(Link(values["href"], False))
        elif tag == "link" and "href" in values:
            loaded = values.get("rel", "").lower() in LOADING_LINKS
            self.links += [Link(values["href"], True)] if loaded else []
        for name in LOADS.get(tag, ()):
            targets = values.get(name, "").split(",") if name == "srcset" else [values.get(name, "")]
            self.links += [Link(words[0], True) for target in targets if (words := target.split())]
        self.links += [Link(target, True) for target in styled(values.get("style", ""))]


def styled(text: str) -> list[str]:
    """What a style sheet loads."""
    return re.findall(r"""(?:url\(|@import\s+)\s*["']?([^"')\s;]+)""", text)


def broken(site: Path) -> Iterator[str]:
    """What is wrong with the links of all pages and style sheets."""
    pages = {path.relative_to(site).as_posix(): path for path in sorted(site.rglob("*.html"))}
    places: dict[str, set[str]] = {}
    links: dict[str, list[Link]] = {}
    for name, path in pages.items():
        page = Page(path.read_text(encoding="utf-8"))
        places[name], links[name] = page.places, page.links
    for path in sorted(site.rglob("*.css")):
        targets = styled(path.read_text(encoding="utf-8"))
        links[path.relative_to(site).as_posix()] = [Link(target, True) for target in targets]
    for name, found in links.items():
        for link in dict.fromkeys(found):
            if wrong := problem(site, name, link, places):
                yield f"{name}: {link.target} {wrong}"


def problem(site: Path, page: str, link: Link, places: dict[str, set[str]]) -> str:
    """What is wrong with a link; empty if nothing is."""
    parts = urlsplit(link.target)
    if parts.scheme in ("data", "mailto", "javascript"):
        return ""
    if parts.scheme or parts.netloc:
        return "is loaded from another host" if link.loaded else ""
    path = unquote(parts.path)
    name = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    name += "/index.html" if path.endswith("/") else ""
    if not (site / name).is_file():
        return "is not there"
    if parts.fragment and name in places and unquote(parts.fragment) not in places[name]:
        return "has no such place"
    return ""


def size_of(site: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in site.rglob("*") if path.is_file())


# -- in a browser -----------------------------------------------------------------------------------------------------
def chosen(site: Path, count: int) -> list[str]:
    """Pages to look at: some always, then from each folder by turns those in the middle of its order by size."""
    sizes = {path.relative_to(site).as_posix(): path.stat().st_size for path in sorted(site.rglob("*.html"))}
    always = [name for name in ALWAYS if name in sizes]
    folders: dict[str, list[str]] = {}
    for name, size in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
        if size <= MOST_PAGE and not name.startswith("_"):
            folders.setdefault(name.rpartition("/")[0], []).append(name)
    middles = [names[len(names) // 2 :] + names[: len(names) // 2] for _, names in sorted(folders.items())]
    others = [name for turn in zip_longest(*middles) for name in turn if name and name not in always]
    return [*always, *others][:count]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of the site on this computer."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def lacking() -> str:
    """Why pages can't be looked at here; empty if they can."""
    sys.path.append(str(ROOT / "tests"))
    from browser.browsing import without_browser

    return without_browser() or ("" if AXE.is_file() else "axe-core is not installed: npm ci in viewer/")


def seen(site: Path, pages: Iterable[str], looks: Iterable[tuple[int, str]] = LOOKS) -> Iterator[str]:
    """What is wrong with pages as readers see them."""
    from browser.browsing import chromium

    with served(site) as base, chromium() as browser:
        for width, scheme in looks:
            lent = browser.page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            asked: list[str] = []
            lent.page.on("request", lambda request, asked=asked: asked.append(request.url))
            for name in pages:
                asked.clear()
                for wrong in look(lent.page, base + name, width):
                    yield f"{name} ({width} pixels, {scheme}): {wrong}"
                yield from (f"{name} asks {url}" for url in asked if not url.startswith((base, "data:", "blob:")))
            lent.context.close()


def look(page: Any, address: str, width: int) -> Iterator[str]:
    """What is wrong with one page."""
    page.goto(address, wait_until="load")
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
        yield f"is {wide} pixels wide"
    page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    for one in found["violations"]:
        if one["impact"] in GRAVE:
            where = [" ".join(map(str, node["target"])) for node in one["nodes"]]
            more = f" and {len(where) - 3} more" if len(where) > 3 else ""
            yield f"{one['id']}: {one['help']}: {', '.join(where[:3])}{more}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path, help="the folder of the built site")
    parser.add_argument("--pages", type=int, default=20, help="how many pages to look at in a browser")
    parser.add_argument("--no-browser", action="store_true", help="look at none")
    options = parser.parse_args()
    wrong = list(broken(options.site))
    size = size_of(options.site)
    if size > MOST_BYTES:
        wrong.append(f"the site has {size} bytes, more than {MOST_BYTES}")
    pages: list[str] = []
    why_not = "left out" if options.no_browser else lacking()
    if not why_not:
        pages = chosen(options.site, options.pages)
        wrong += seen(options.site, pages)
    print(*wrong, sep="\n")
    looks = f"not looked at in a browser: {why_not}" if why_not else f"{len(pages)} pages looked at in a browser"
    print(f"{len(wrong)} problems; {size / 1e6:.1f} MB; {looks}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
