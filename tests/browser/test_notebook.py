"""The widget in a real JupyterLab: cells run, pixels of the picture are clicked, and Python hears of it.

JupyterLab takes some seconds to start and the kernel some more, so one notebook goes through all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from browser import browsing, jupyter
from browser.browsing import Browser
from browser.jupyter import Lab, Notebook, write

import pocketgpu
from pocketgpu.inspect.address import Address

pytestmark = pytest.mark.skipif(
    bool(browsing.missing() or jupyter.missing()), reason=browsing.missing() or jupyter.missing()
)
PIXELS = {"3DS": (120, 100), "Switch": (640, 400)}
CELLS = (
    "from pocketgpu.notebook import Viewer\n"
    f"gpu3ds = Viewer({browsing.sample('3DS')!r}, height=460)\nheard = []\n"
    "gpu3ds.observe(lambda change: heard.append(change['new']), 'address')\ngpu3ds",
    f"switch = Viewer({browsing.sample('Switch')!r}, height=460)\nswitch",
    "print(heard, gpu3ds.answer().because, switch.address, switch.answer().because, sep='|')",
    "gpu3ds.address = 'f0/d5'\ngpu3ds",
    "gpu3ds.panels = ['why']; gpu3ds.height = 300",
    "switch.close()",
    "import threading\nprint([one.name for one in threading.enumerate()].count('pocketgpu-view'))",
)
IN = """([widget, panel, call]) => {
    const root = document.querySelectorAll("pg-notebook")[widget]?.shadowRoot;
    const element = root?.querySelector(panel);
    return element ? new Function("element", "root", `return ${call}`)(element, root) : null;
}"""
"""An expression about a panel of a widget: `element`, or the root of its shadow."""
DIGEST = """async widget => {
    const view = document.querySelectorAll("pg-notebook")[widget].shadowRoot.querySelector("pg-picture").view;
    const canvas = view.renderRoot.querySelector(".source");
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const digest = await crypto.subtle.digest("SHA-256", data.filter((_, at) => at % 4 !== 3));
    return [...new Uint8Array(digest)].map(byte => byte.toString(16).padStart(2, "0")).join("");
}"""


class Widget:
    """One of the places where widgets are shown, counted from the top."""

    def __init__(self, page: Any, number: int) -> None:
        self.page, self.number = page, number
        self.box = page.locator("pg-notebook").nth(number)

    def of(self, panel: str, call: str) -> Any:
        return self.page.evaluate(IN, [self.number, panel, call])

    def wait(self, panel: str, call: str) -> None:
        self.page.wait_for_function(IN, arg=[self.number, panel, call])

    def at_rest(self, address: str) -> None:
        """Wait until both panels show an address."""
        place = str(Address.parse(address).place)
        self.wait("pg-picture", f"element.place === {place!r} && element.present && element.latest.state === 'idle'")
        self.wait("pg-why", f"element.asked === {address!r} && element.answer && element.latest.state === 'idle'")

    def click_pixel(self, x: int, y: int) -> None:
        left, top = self.of("pg-picture", f"element.view.pointOf({x}, {y})")
        self.box.locator("pg-canvas").click(position={"x": left, "y": top})

    @property
    def address(self) -> str:
        return str(self.box.locator(".go input").input_value())

    def because(self) -> str:
        return " ".join(self.box.locator(".because").inner_text().split())

    def go(self, address: str) -> None:
        """Type an address."""
        field = self.box.locator(".go input")
        field.fill(address)
        field.press("Enter")

    def digest(self) -> str:
        """The SHA-256 of the picture's bytes, without alpha."""
        return str(self.page.evaluate(DIGEST, self.number))


ALONE = """async ([script, still]) => {
    const {default: widget} = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
    const kept = new DataView(new Uint8Array(still).buffer);
    const state = {address: "f0", panels: ["picture", "why"], height: 300, _still: kept};
    const model = {get: name => state[name], set() {}, save_changes() {}, send() {}, on() {}, off() {}};
    const el = document.createElement("div");
    el.className = "alone";
    document.body.append(el);
    widget.render({model, el});
    const host = el.firstElementChild;
    await host?.updateComplete;
    const image = host?.shadowRoot.querySelector(".still img");
    await image?.decode();
    return [el.textContent, image ? [image.naturalWidth, image.naturalHeight] : null];
}"""
"""Show a widget to which nobody answers: its text outside of its shadow, and the size of the picture in it."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab") / "notebooks"
    folder.mkdir()
    write(folder / "widgets.ipynb", *CELLS)
    with jupyter.jupyter(folder) as found:
        yield found


@pytest.fixture
def notebook(lab: Lab, browser: Browser) -> Iterator[Notebook]:
    """The notebook in a fresh browser context; nothing may go wrong in it, and nothing leaves this computer. JupyterLab
    starts while the browser does."""
    url = lab.url
    context = browser.fresh(viewport={"width": 880, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(browsing.LIMIT)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" and "pg-" in said.text else None)
    page.on("request", lambda request: errors.append(request.url) if leaves(request.url, url) else None)
    try:
        yield Notebook(page, url, "widgets.ipynb")
    finally:
        context.close()
    assert errors == []


def leaves(address: str, url: str) -> bool:
    return not address.startswith((url, "blob:", "data:"))


def test_a_click_in_a_notebook_is_an_address_in_python(notebook: Notebook) -> None:
    notebook.run(0)
    notebook.run(1)
    one, other = (Widget(notebook.page, number) for number in (0, 1))
    answers = [clicked(widget, console) for widget, console in ((one, "3DS"), (other, "Switch"))]
    notebook.run(2)
    heard, because, *rest = notebook.printed(2).split("|")
    assert heard == f"['{one.address}']" and [" ".join(because.split()), " ".join(rest[1].split())] == answers
    assert rest[0] == other.address
    follow_a_link(notebook, one, other)
    move_from_python(notebook, one)
    close(notebook)
    keep_keys(notebook, one)
    have_the_colours_of_the_notebook(notebook, one)
    stand_without_a_kernel(notebook)
    lose_the_kernel(notebook, one)


def clicked(widget: Widget, console: str) -> str:
    """Click a pixel, and return why it has its colour."""
    run = pocketgpu.debug(browsing.sample(console))
    screen = next(iter(run.seek("f0").screens))
    widget.at_rest("f0")
    assert widget.digest() == sha256(run.seek("f0").pictures[screen].pixels[..., :3].tobytes()).hexdigest()
    x, y = PIXELS[console]
    place = widget.of("pg-picture", f"element.view.pointOf({x}, {y})")
    widget.box.locator("pg-canvas").hover(position={"x": 10, "y": 10})
    widget.click_pixel(x, y)
    assert widget.of("pg-picture", f"element.view.pointOf({x}, {y})") == place  # what is said of it moves nothing
    address = f"f0/{screen}/px{x},{y}"
    widget.at_rest(address)
    because = " ".join(run.why(address).because.split())
    assert widget.address == address and widget.because() == because
    assert widget.box.locator(".state").inner_text() == ""
    return because


def follow_a_link(notebook: Notebook, one: Widget, other: Widget) -> None:
    """A link of the answer selects what it names, and the document stays where it is."""
    place, elsewhere = notebook.page.url, other.address
    link = one.box.locator(".because a").first
    named = link.inner_text()
    link.click()
    one.at_rest(named)
    assert notebook.page.url == place and other.address == elsewhere


def move_from_python(notebook: Notebook, one: Widget) -> None:
    """All places that show the widget follow, and each other, too."""
    notebook.run(3)
    shown = [one, Widget(notebook.page, 2)]
    for widget in shown:
        widget.at_rest("f0/d5")
    shown[1].click_pixel(30, 40)
    one.wait("pg-why", "root.querySelector('.go input').value.startsWith('f0/d5/px')")
    assert one.address == shown[1].address
    notebook.run(4)
    for widget in shown:
        widget.wait("pg-why", "!root.querySelector('pg-picture') && root.host.clientHeight < 300")


def close(notebook: Notebook) -> None:
    """What is closed is gone, and so is its machine."""
    notebook.run(5)
    notebook.page.wait_for_function("document.querySelectorAll('pg-notebook').length === 2")
    notebook.run(6)
    assert notebook.printed(6) == "1"


def keep_keys(notebook: Notebook, one: Widget) -> None:
    """Jupyter's keys are not meant: 0 0 would restart the kernel."""
    one.box.locator(".scroll").focus()
    notebook.page.keyboard.press("0")
    notebook.page.keyboard.press("0")
    field = one.box.locator(".go input")
    field.fill("nowhere")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    one.go("f1/d2")
    one.wait("pg-why", "element.asked === 'f1/d2' && element.latest.state === 'idle'")
    one.box.get_by_role("button", name="Next draw").click()
    one.wait("pg-why", "element.asked === 'f1/d3' && element.latest.state === 'idle'")
    one.box.get_by_role("button", name="Previous draw").click()
    one.wait("pg-why", "element.asked === 'f1/d2' && element.latest.state === 'idle'")
    assert notebook.page.locator(".jp-Dialog").count() == 0


def have_the_colours_of_the_notebook(notebook: Notebook, one: Widget) -> None:
    """Of Jupyter's theme, whatever the system asks for."""
    page, ground = notebook.page, "getComputedStyle(element).backgroundColor"
    page.emulate_media(color_scheme="dark")
    assert one.of("pg-why", ground) == "rgb(255, 255, 255)"
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    one.wait("pg-why", f"{ground} === 'rgb(27, 30, 34)'")
    page.evaluate("delete document.body.dataset.jpThemeLight")
    page.emulate_media(color_scheme="light")
    one.wait("pg-why", f"{ground} === 'rgb(255, 255, 255)'")


def stand_without_a_kernel(notebook: Notebook) -> None:
    """A notebook on a site has nothing but what was saved: the widget shows the picture that it kept. Where another
    version of the script was loaded before, it says so."""
    page, script = notebook.page, jupyter.SCRIPT.read_text(encoding="utf-8")
    picture = pocketgpu.open(browsing.sample("3DS")).render(range(1))
    still = [*next(iter(picture)).top._repr_png_()]
    assert page.evaluate(ALONE, [script, still]) == ["", [400, 240]]
    page.get_by_text("no kernel answers").wait_for()
    build = re.search(r'build="([0-9a-f]{12})"', script)
    assert build is not None
    text, size = page.evaluate(ALONE, [script.replace(build[1], "0" * 12), still])
    assert "another version" in text and size is None
    page.evaluate("document.querySelectorAll('.alone').forEach(one => one.remove())")


def lose_the_kernel(notebook: Notebook, one: Widget) -> None:
    """Another kernel knows nothing of the widget."""
    notebook.restart()
    one.wait("pg-why", "root.querySelector('.state').textContent.includes('was restarted')")
    one.go("f1/d3")
    one.wait("pg-why", "element.renderRoot.textContent.includes('Run the cell again.')")
    notebook.run(0)
    again = Widget(notebook.page, 0)
    again.at_rest("f0")
    assert again.box.locator(".state").inner_text() == ""
