"""Every answer shows itself: a text, a short line at a prompt, HTML or a picture in a notebook; on both consoles."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.displayed import MOST_LETTERS, Displayed
from pocketgpu.inspect import model
from pocketgpu.inspect.frames.frame_graph import frame_graph
from pocketgpu.inspect.inspection import Inspection, examine
from pocketgpu.inspect.model.causes import Cause
from pocketgpu.inspect.model.colour_flow import FlowValue
from pocketgpu.inspect.model.forcing import Override
from pocketgpu.inspect.model.queued import Queued
from pocketgpu.inspect.model.references import Link, Reference
from pocketgpu.inspect.model.stale import Stale
from pocketgpu.inspect.model.vertices import IndexBuffer
from pocketgpu.inspect.rules.checker import check
from pocketgpu.late_dataclass import fields_repr

DATA = Path(__file__).resolve().parents[2] / "promises" / "data"
SCENES = {"3ds": DATA / "scene_3ds.pgc", "switch": DATA / "scene_switch.pgc"}
TEXEL = Reference(0, "", "unit0", "unit0", 3, 4)
NO_ANSWERS = {
    "Displayed", "Inspection", "Forcing", "TakesTexts",  # what answers are made with
    "Bytes", "Counts", "Textured",  # protocols
    "BytesAt",  # what events are asked about
    "Found", "RuleSet",  # what rules are written with
    "CostCounter", "CoverCounts", "FateTable",  # answers under construction
}  # fmt: skip


def answer_types() -> set[type]:
    """All public classes of inspect/model that are answers or parts of them."""
    modules = [importlib.import_module(f"{model.__name__}.{one.name}") for one in pkgutil.iter_modules(model.__path__)]
    found = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    own = {one for one in found if one.__module__.startswith(f"{model.__name__}.")}
    return {one for one in own if one.__name__ not in NO_ANSWERS and not one.__name__.startswith("_")}


def asked(run: Inspection) -> Iterator[Any]:
    pixels = {"3DS": "f0/px200,160", "Switch": "f0/px16,20"}
    yield from (run.why(pixels[run.capture.console]), run.why("f0/d1"))
    yield from (run.why(f"{event.address}/b0,0,0/t0,0,0") for event in run.events(0) if event.kind == "launch")


def parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """Answers inside of a value, itself included."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Displayed):
        yield value
    if is_dataclass(value):
        inside = [getattr(value, one.name) for one in fields(value)]
    elif isinstance(value, Mapping):
        inside = [*value.keys(), *value.values()]
    else:
        inside = list(value) if isinstance(value, list | tuple) else []
    for one in inside:
        yield from parts(one, seen)


@pytest.fixture(scope="module")
def shown() -> list[Any]:
    """Everything of both consoles, each object once."""
    found: list[Any] = []
    for path in SCENES.values():
        capture = pocketgpu.open(path)
        run = pocketgpu.debug(capture)
        report = check(capture)
        found += [report, *report.rules, examine(capture), *run.all_events(), *run.passes(0), *asked(run)]
        graph = frame_graph(run, 0)
        found += [graph, *graph.nodes, *graph.edges]
        found += [event.words for event in run.all_events()]
        moment = run.seek("f0/d1")
        found += [moment, *moment.pictures.values(), *(one.addresses for one in moment.pictures.values())]
        found += [moment.summary, moment.textures, moment.programs, moment.constants, moment.index_buffer]
        found += [moment.vertex_buffers, moment.vertices, moment.mesh(), moment.changes("reset")]
        found += [texture.facts for texture in moment.textures.values()]
        found += [part for texture in moment.textures.values() for part in texture.parts]
        found += [moment.memory_formats, run.contacts(0x18000000, 4, "f0/d1"), *run.why("f0/d1").links()]
        found += [IndexBuffer(0x20000000, "u16", np.zeros(3, np.uint16)), Link(1, run.event("f0/d1").address, TEXEL)]
        found += [run.word_of(one, "f0/d1") for one in ("FACECULLING_CONFIG", "SET_DEPTH_FUNC")]
        found += [run.overdraw("f0/d1"), run.costs(0)]
        found += [Queued(run.event("f0/d1"), None), Stale("f0/d1", "texture", "texture unit 0", 0x18000000, 64)]
        found += [run.programs_at("f0/d1"), run.colour_flow("f0/d1"), FlowValue("1, 2, 3", "#010203")]
        found += [*run.forcing.search("DEPTH", 4), Override.parse("BLEND_COLOR.r=1@f0/d1")]
        found += [run.why("f0"), Cause("f0/d0", "the scissor keeps nothing", "scissor.empty", 90, "pocketgpu why")]
    return found


def test_every_answer_type_has_a_text_a_line_and_a_form_for_notebooks() -> None:
    types = answer_types()
    assert len(types) > 25
    for one in types:
        assert one.__str__ is not object.__str__, one
        assert hasattr(one, "_repr_html_") or hasattr(one, "_repr_png_"), one
        assert one.__repr__ is not object.__repr__, one
        assert one.__repr__ is not fields_repr, f"{one}: its line would be too long"


def test_answers_of_both_consoles_show_themselves(shown: list[Any]) -> None:
    seen: set[int] = set()
    objects = [part for one in shown for part in parts(one, seen)]
    types = {base for one in objects for base in type(one).__mro__}
    moments = [one for one in shown if type(one).__name__.endswith("Moment")]
    assert len(moments) == 2
    missing = {one.__name__ for one in answer_types() - types - {base for one in moments for base in type(one).__mro__}}
    assert missing == set()
    for one in [*objects, *moments]:
        assert str(one).strip() and not str(one).startswith("<pocketgpu"), type(one)
        line = repr(one)
        assert line.startswith("<") and "\n" not in line and len(line) <= MOST_LETTERS + 60, line
        html = one._repr_html_() if hasattr(one, "_repr_html_") else None
        picture = one._repr_png_() if hasattr(one, "_repr_png_") else None
        assert html or picture, type(one)
        assert picture is None or picture.startswith(b"\x89PNG"), type(one)


def test_a_line_at_a_prompt_is_cut() -> None:
    class Long(Displayed):
        def __str__(self) -> str:
            return "x" * 1000 + "\nmore & more"

    assert repr(Long()) == f"<Long {'x' * (MOST_LETTERS - 3)}...>"
    assert Long()._repr_html_().endswith("more &amp; more</pre>")
