"""The widget as Python and its page have it: traits, requests, the answer, the picture that is kept, its machine."""

from __future__ import annotations

import io
import json
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

import pocketgpu
from pocketgpu.builder import CaptureBuilder
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.inspect.model.inspection import Inspection

if TYPE_CHECKING:
    from support.widgets import Page

    from pocketgpu.notebook import Viewer

DATA = Path(pocketgpu.__file__).parent / "data"
SAMPLES = [DATA / "sample.ctf.xz", DATA / "sample_switch.mxcap.zip"]
WIDGET = "application/vnd.jupyter.widget-view+json"
Made = Callable[..., "tuple[Viewer, Page]"]
both = pytest.mark.parametrize("sample", SAMPLES, ids=["3DS", "Switch"])


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Made]:
    """Makes a widget and its page; the arguments are those of `Viewer`. The script of the page is not needed here."""
    pytest.importorskip("anywidget")
    from support.widgets import Page, without_page

    from pocketgpu.notebook import Viewer

    without_page(monkeypatch, tmp_path)
    widgets: list[Viewer] = []

    def make(*arguments: Any, **options: Any) -> tuple[Viewer, Page]:
        widgets.append(Viewer(*arguments, **options))
        return widgets[-1], Page(widgets[-1])

    yield make
    for one in widgets:
        one.close()
    wait_until(lambda: machines() == 0)  # else it takes the processor from other tests


@pytest.fixture(scope="module")
def inspected() -> Callable[[Path], Inspection]:
    """An inspection of each sample, one for all tests."""
    found: dict[Path, Inspection] = {}

    def of(path: Path) -> Inspection:
        if path not in found:
            found[path] = pocketgpu.debug(path)
        return found[path]

    return of


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def machines() -> int:
    """How many machines of widgets there are."""
    return sum(one.name == "pocketgpu-view" for one in threading.enumerate())


# requests


def requests_of(run: Inspection) -> list[tuple[str, dict[str, str]]]:
    """What the two panels ask, and requests that are wrong."""
    draw = str(run.draws(0)[-1].address)
    screen = next(iter(run.seek("f0").screens))
    pixel = f"f0/{screen}/px20,30"
    other = {"at": draw, "of": "depth"}
    return [
        ("capture", {}), ("events", {"frame": "0"}), ("event", {"at": "f0/e0"}),
        ("look", {"at": "f0", "of": ""}), ("look", {"at": draw, "of": "target"}), ("pictures", {"at": draw}),
        ("picture", other), ("picture", {**other, "before": "1"}), ("picture", {**other, "form": "png"}),
        ("numbers", other), ("overdraw", {"at": draw, "over": "pass"}), ("mesh", {"at": draw}),
        ("pixel", {"at": draw, "of": "target", "x": "8", "y": "9"}), ("why", {"at": "f0"}), ("why", {"at": draw}),
        ("why", {"at": pixel}), ("findings", {"frame": "0"}), ("page", {"at": draw}),
        ("why", {"at": "f0/d9999"}), ("why", {"at": "<script>"}), ("why", {}), ("events", {"frame": "9" * 40}),
        ("picture", {"at": "f0", "of": "nothing"}), ("why", {"at": "f0", "turn": "-1"}),
        ("why", {"at": "f0", "side": "b"}),
    ]  # fmt: skip


@both
def test_each_request_has_the_bytes_that_the_server_answers(
    made: Made, sample: Path, inspected: Callable[[Path], Inspection], tmp_path: Path
) -> None:
    pytest.importorskip("starlette")
    from support.view_desk import client_of, on_desk

    _, page = made(sample)
    compared = 0
    with client_of(on_desk(pocketgpu.debug(sample)), tmp_path, sample.name) as client:
        for turn, (path, query) in enumerate(requests_of(inspected(sample)), 1):
            whole = {"tab": "t", "panel": "p", "turn": str(turn), **query}
            head, data = page.ask(path, **whole)
            answer = client.get(f"/api/{path}", params=whole)
            assert head["status"] == answer.status_code, (path, query)
            assert head["status"] == (200 if compared < 18 else 400), (path, query)
            assert head["type"] == answer.headers["content-type"]
            for name, value in head["headers"].items():
                assert answer.headers[name] == value
            if path == "capture":  # the server of this test has another version
                assert json.loads(data) | {"version": "1.2"} == answer.json()
            else:
                assert data == answer.content, (path, query)
            compared += 1
    assert compared == 25


@both
def test_a_request_of_a_panel_takes_the_place_of_the_one_before(made: Made, sample: Path) -> None:
    from support.widgets import error_of

    viewer, page = made(sample)
    first_begun, go_on = threading.Event(), threading.Event()

    def long(desk: object) -> None:
        first_begun.set()
        assert go_on.wait(60)

    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(viewer._machine.answer, long)
        assert first_begun.wait(60)
        old, new = (page.begin("events", frame="0", tab="t", panel="p", turn=turn) for turn in ("1", "2"))
        other = page.begin("events", frame="0", tab="t", panel="q", turn="3")
        dropped = page.begin("events", frame="0", tab="t", panel="r", turn="4")
        page.say({"kind": "drop", "id": dropped})
        assert error_of(page.reply(old))[0] == 409
        go_on.set()
        waits.result()
    assert page.reply(new)[0]["status"] == page.reply(other)[0]["status"] == 200
    page.ask("capture")
    assert dropped not in [content["id"] for content, _ in page.said("reply")]


def test_only_so_many_requests_wait(made: Made) -> None:
    from support.widgets import error_of

    from pocketgpu.notebook.widget_messages import MOST_OPEN

    viewer, page = made(SAMPLES[0])
    go_on = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(viewer._machine.answer, lambda desk: go_on.wait(60))
        asked = [page.begin("capture") for _ in range(MOST_OPEN + 3)]
        # The machine's thread refuses first: it lets fewer wait.
        assert error_of(page.reply(asked[-1]))[0] == 503
        go_on.set()
        waits.result()
    statuses = [page.reply(number)[0]["status"] for number in asked]
    assert set(statuses) == {200, 503} and statuses[0] == 200


BAD: list[Any] = [
    None, 7, "ask", [], {}, {"kind": "ask"}, {"kind": "ask", "id": "7"}, {"kind": "ask", "id": True},
    {"kind": "ask", "id": -1}, {"kind": "ask", "id": 1 << 60}, {"kind": "ask", "id": 1.5},
    {"kind": "ask", "id": 901}, {"kind": "ask", "id": 902, "path": "why"},
    {"kind": "ask", "id": 903, "path": ["why"], "query": {}},
    {"kind": "ask", "id": 904, "path": "why", "query": "at=f0"},
    {"kind": "ask", "id": 905, "path": "why", "query": {"at": 0}},
    {"kind": "ask", "id": 906, "path": "why", "query": {"at": {"x": None}}},
    {"kind": "ask", "id": 907, "path": "nothing", "query": {}},
    {"kind": "ask", "id": 908, "path": "../why", "query": {}},
    {"kind": "ask", "id": 909, "path": "note", "query": {"at": "f0", "text": "x"}},
    {"kind": "ask", "id": 910, "path": "why", "query": {"at": "f" * 5000}},
    {"kind": "ask", "id": 911, "path": "why", "query": {"at": "f" + "9" * 400}},
    {"kind": "ask", "id": 912, "path": "memory", "query": {"at": "f0", "address": "f" * 16, "size": "999999999"}},
    {"kind": "ask", "id": 913, "path": "picture", "query": {"at": "f999999999", "of": "target", "most": "999999999"}},
    {"kind": "ask", "id": 914, "path": "pixel", "query": {"at": "f0", "of": "target", "x": "9" * 9, "y": "9" * 9}},
    {"kind": "tell", "id": 915}, {"kind": ["ask"], "id": 916}, {"kind": "shown"}, {"kind": "gone", "view": 7},
    {"kind": "shown", "view": "v" * 5000},
]  # fmt: skip


@both
def test_a_bad_message_is_answered_with_an_error(
    made: Made, sample: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from support.widgets import error_of

    _, page = made(sample)
    for message in BAD:
        count = len(page.said("reply"))
        page.say(message)
        wait_until(lambda count=count: len(page.said("reply")) > count)  # type: ignore[misc]
        head, data = page.said("reply")[-1][0], page.said("reply")[-1][1][0]
        number = message.get("id") if isinstance(message, dict) else None
        assert head["id"] == (number if isinstance(number, int) and 0 <= number < 1000 and number is not True else None)
        status, error = error_of((head, data))
        assert 400 <= status < 500 and len(error["message"]) < 3000
    assert caplog.records == []
    assert page.ask("capture")[0]["status"] == 200


def test_random_messages_do_no_harm(made: Made, caplog: pytest.LogCaptureFixture) -> None:
    """Neither an exception that the kernel would print, nor a widget that answers no more."""
    _, page = made(SAMPLES[0])
    rng = random.Random(7)
    words = ["kind", "ask", "drop", "shown", "gone", "id", "path", "query", "view", "why", "look", "picture", "at",
             "of", "f0", "f0/d3", "f0/d3/px1,2", "x", "turn", "tab", "panel", "\x00", "🙂", ""]  # fmt: skip

    def value(depth: int) -> Any:
        kind = rng.randrange(8 if depth else 5)
        if kind == 0:
            return rng.choice([None, True, False, -1, 0, 1, 1 << 53, 1 << 200, 1e308, float("nan")])
        if kind < 5:
            return rng.choice(words)
        if kind == 5:
            return [value(depth - 1) for _ in range(rng.randrange(4))]
        return {rng.choice(words): value(depth - 1) for _ in range(rng.randrange(5))}

    for number in range(2000):
        message = value(3)
        if number % 2:
            message = {
                "kind": rng.choice(["ask", "ask", "ask", "drop", "shown", "gone"]),
                "id": rng.choice([number, value(1)]),
                "path": rng.choice(["why", "look", "pixel", value(1)]), "view": value(1),
                "query": rng.choice([value(2), {rng.choice(words): rng.choice(words) for _ in range(4)}]),
            }  # fmt: skip
        page.say(message)
    page.count_from(1_000_000)
    assert page.ask("capture")[0]["status"] == 200
    statuses = {content["status"] for content, _ in page.said("reply")}
    assert {200, 400, 404} <= statuses and 500 not in statuses
    assert [record.getMessage() for record in caplog.records] == []


def test_a_fault_of_a_question_is_a_reply_and_a_line_in_the_log(
    made: Made, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from support.widgets import error_of

    _, page = made(SAMPLES[0])

    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    page.ask("capture")
    monkeypatch.setattr(Inspection, "answered", broken)
    with caplog.at_level(logging.ERROR):
        status, error = error_of(page.ask("why", at="f0"))
    assert status == 500 and "fault of pocketgpu" in error["hint"] and "oops" not in json.dumps(error)
    assert "ZeroDivisionError" in caplog.text


# traits


@both
def test_the_address_goes_both_ways(made: Made, sample: Path, inspected: Callable[[Path], Inspection]) -> None:
    viewer, page = made(sample, "f0/d3")
    heard: list[str] = []
    viewer.observe(lambda change: heard.append(change["new"]), "address")
    assert page.comm.sent == [] or page.states("address") == ["f0/d3"]
    viewer.address = "f1/px8,9"
    assert page.states("address")[-1] == "f1/px8,9"
    page.set(address="f0/d2")
    assert viewer.address == "f0/d2" and heard == ["f1/px8,9", "f0/d2"]
    answer = viewer.answer()
    assert answer.to_json() == inspected(sample).why("f0/d2").to_json()
    viewer.panels = ["why"]
    viewer.height = 200
    assert page.states("panels")[-1] == ["why"] and page.states("height")[-1] == 200


def test_what_the_page_may_not_set_stays_and_the_page_hears_of_it(made: Made) -> None:
    viewer, page = made(SAMPLES[0], "f0/d3")
    for name, value in [
        ("address", "nowhere"), ("address", 7), ("address", "f" + "9" * 40), ("panels", ["why", "shell"]),
        ("panels", []), ("panels", 3), ("panels", [["why"]]), ("height", 1 << 70), ("height", 1), ("height", "480"),
        ("height", None),
    ]:  # fmt: skip
        page.comm.sent.clear()
        page.set(**{name: value})
        wanted = {"address": "f0/d3", "panels": ["picture", "why"], "height": 480}
        assert getattr(viewer, name) == wanted[name] and page.states(name)[-1] == wanted[name], (name, value)
    script = viewer._esm
    page.set(_esm="alert(1)", _still=b"x", unknown=1)
    assert viewer._esm == script and viewer._still == b""
    page.set(address="nowhere", height=300)
    assert (viewer.address, viewer.height) == ("f0/d3", 300)


def test_wrong_arguments_say_what_is_wrong(made: Made, tmp_path: Path) -> None:
    sample = SAMPLES[0]
    (tmp_path / "text.pgc").write_text("no capture")
    for arguments, options, kind, words in [
        ((tmp_path / "text.pgc",), {}, CaptureError, "no capture"),
        ((tmp_path / "none.pgc",), {}, CaptureError, "none.pgc"),
        ((7,), {}, UsageError, "7 is no capture"), ((sample, "nowhere"), {}, UsageError, "nowhere"),
        ((sample, 7), {}, UsageError, "7 is no address"),
        ((sample,), {"panels": ("shell",)}, UsageError, "picture, why"),
        ((sample,), {"panels": ()}, UsageError, "shows nothing"),
        ((sample,), {"panels": None}, UsageError, "shows nothing"),
        ((sample,), {"height": 10}, UsageError, "height of 10"),
        ((sample,), {"height": "tall"}, UsageError, "'tall'"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=words):
            made(*arguments, **options)
    assert made(sample, panels="why")[0].panels == ["why"]
    viewer, _ = made(sample)
    with pytest.raises(UsageError):
        viewer.address = "nowhere"
    with pytest.raises(UsageError):
        viewer.height = 5
    with pytest.raises(UsageError, match="has no draw 999"):
        made(sample, "f0/d999")[0].answer()


def test_without_the_library_or_the_script_an_error_says_what_to_do(
    made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from pocketgpu import notebook
    from pocketgpu.notebook import widget

    monkeypatch.setattr(widget, "SCRIPT", tmp_path / "none.js")
    with pytest.raises(UsageError, match="make page"):
        made(SAMPLES[0])
    monkeypatch.setattr(notebook, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'pocketgpu\[notebook\]'"):
        notebook.Viewer  # noqa: B018
    with pytest.raises(AttributeError):
        notebook.Nothing  # noqa: B018


# the picture that is kept


@both
def test_a_notebook_without_a_kernel_has_the_picture(
    made: Made, sample: Path, inspected: Callable[[Path], Inspection], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pocketgpu.notebook import widget

    run = inspected(sample)
    draw = str(run.draws(0)[-1].address)
    screen = [*run.seek("f0").screens][-1]
    viewer, _ = made(sample)
    for at, name in [("f0", next(iter(run.seek("f0").screens))), (draw, "target"), (f"f0/{screen}/px3,4", screen)]:
        viewer.address = at
        data, _ = viewer._repr_mimebundle_()
        assert data["text/plain"] == f"<Viewer {sample.name} at {at}>" and data[WIDGET]["model_id"] == viewer.model_id
        shown = np.asarray(Image.open(io.BytesIO(data["image/png"])).convert("RGB"))
        assert np.array_equal(shown, run.seek(at).pictures[name].pixels[..., :3]), at
        assert bytes(viewer._still) == data["image/png"]
    monkeypatch.setattr(widget, "MOST_SIDE", 100)
    small = Image.open(io.BytesIO(viewer._repr_mimebundle_()[0]["image/png"]))
    assert 50 < max(small.size) <= 100
    viewer.address = "f0/d9999"
    assert "image/png" not in viewer._repr_mimebundle_()[0] and viewer._still == b""
    monkeypatch.setattr(widget, "MOST_WAIT", 0.0)
    viewer.address = "f1"
    assert "image/png" not in viewer._repr_mimebundle_()[0]


# machines


@both
def test_the_machine_is_there_while_the_widget_is_shown(made: Made, sample: Path) -> None:
    wait_until(lambda: machines() == 0)
    viewer, page = made(sample)
    assert machines() == 0
    for view in ("one", "two"):
        page.say({"kind": "shown", "view": view})
    assert len(page.said("here")) == 2
    assert page.ask("capture")[0]["status"] == 200 and machines() == 1
    page.say({"kind": "gone", "view": "one"})
    page.say({"kind": "gone", "view": "unknown"})
    assert page.ask("capture")[0]["status"] == 200 and machines() == 1
    page.say({"kind": "gone", "view": "two"})
    wait_until(lambda: machines() == 0)
    assert viewer.answer().because and machines() == 1
    viewer.close()
    wait_until(lambda: machines() == 0)
    assert viewer.comm is None


def test_only_so_many_views_are_known(made: Made) -> None:
    from pocketgpu.notebook.widget_messages import MOST_VIEWS

    _, page = made(SAMPLES[0])
    page.ask("capture")
    for number in range(MOST_VIEWS + 10):
        page.say({"kind": "shown", "view": f"v{number}"})
    for number in range(MOST_VIEWS + 9):
        page.say({"kind": "gone", "view": f"v{number}"})
    assert page.ask("capture")[0]["status"] == 200 and machines() == 1
    page.say({"kind": "gone", "view": f"v{MOST_VIEWS + 9}"})
    wait_until(lambda: machines() == 0)


def test_the_end_answers_who_waits(made: Made) -> None:
    viewer, page = made(SAMPLES[0])
    begun, go_on = threading.Event(), threading.Event()

    def long(desk: object) -> None:
        begun.set()
        assert go_on.wait(60)

    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(viewer._machine.answer, long)
        assert begun.wait(60)
        page.begin("why", at="f0")
        viewer.close()
        assert not waits.done()
        go_on.set()
        waits.result()
    wait_until(lambda: machines() == 0)
    page.say({"kind": "ask", "id": 1, "path": "capture", "query": {}})  # the page has not heard of it yet


def test_an_opened_capture_and_an_inspection_are_shown_as_they_are(
    made: Made, inspected: Callable[[Path], Inspection], tmp_path: Path
) -> None:
    capture = pocketgpu.open(SAMPLES[0])
    viewer, _ = made(capture, "f0/top/px200,120")
    assert viewer.capture is capture
    plain = viewer.answer()
    assert plain.to_json() == inspected(SAMPLES[0]).why("f0/top/px200,120").to_json()
    run = pocketgpu.debug(capture, overrides=["DEPTH_COLOR_MASK.red=0@f0/d7"])
    forced, _ = made(run, "f0/top/px200,120")
    assert forced.answer().to_json() == run.why("f0/top/px200,120").to_json() != plain.to_json()
    # With nothing to draw: the machine makes the first picture whether or not anybody looks, which for a sample takes
    # NumPy minutes, beside all tests that come after this one.
    made_up = CaptureBuilder()
    target = made_up.allocate(240 * 400 * 4, region="VRAM")
    made_up.clear(target, 240, 400, 0x112233FF).present("top", target).end_frame().save(tmp_path / "clear.ctf")
    numpy, _ = made(pocketgpu.debug(tmp_path / "clear.ctf", evaluator="numpy"), "f0")
    assert numpy._machine.answer(lambda desk: desk.side("a").evaluator) == "numpy"


def test_two_widgets_and_the_notebook_use_a_capture_at_once(
    made: Made, inspected: Callable[[Path], Inspection]
) -> None:
    """Each has a machine of its own."""
    capture, run = pocketgpu.open(SAMPLES[1]), inspected(SAMPLES[1])
    places = [f"f{frame}/d{draw}" for frame in (0, 1) for draw in (3, 20, 7)]
    causes = {at: run.why(at).because for at in places}
    pages = [made(capture)[1] for _ in range(2)]
    asked = [(page, page.begin("why", at=at), at) for at in places for page in pages]
    mine = pocketgpu.debug(capture)
    assert {at: mine.why(at).because for at in places} == causes
    for page, number, at in asked:
        assert json.loads(page.reply(number)[1])["because"] == causes[at]
