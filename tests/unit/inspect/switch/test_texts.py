"""Answers about one draw of some scenes of the Switch's zoo, and about a pixel of it, whole: kept in `texts/`.

The answers prove their values themselves; the texts keep everything else: places, counts, names, numbers. When a text
should change, write them again and read the difference:

    PYTHONPATH=tests python tests/unit/inspect/switch/test_texts.py
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from support.switch_inspect import look_into

from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.why import Why

TEXTS = Path(__file__).resolve().parent / "texts"

PIXELS = {
    "all_stages": "f0/d1/px36,12", "alpha_test": "f0/d2/px20,4", "depth_functions": "f0/d2/px4,4",
    "early_and_late": "f0/d12/px68,4", "format_rules": "f0/d9/px12,12", "images": "f0/d3/px4,4",
    "samples_4x4": "f0/d8/px68,4", "texture_kinds": "f0/d9/px108,4",
}  # fmt: skip
"""Scene -> a pixel that a draw in its middle has fragments on."""


def told(scene: str) -> str:
    """All that is said of a draw, its resources, and a pixel."""
    run = look_into(scene)
    place = PIXELS[scene]
    draw = place.rpartition("/")[0]
    moment = run.seek(draw)
    parts = [str(moment)]
    parts += [str(one) for one in moment.changes()]
    parts += [f"{name}: {one.digest}, {one.size}" for name, one in moment.programs.items()]
    parts += [str(one) for one in [*moment.textures.values(), *moment.buffers, *moment.vertex_buffers]]
    parts += [str(one) for one in [*moment.targets, *moment.vertices.attributes, moment.vertices, moment.index_buffer]]
    funnel, pixel = run.why(draw), run.why(place)
    assert isinstance(funnel, Funnel) and isinstance(pixel, Why) and pixel.proved
    parts += ["", str(funnel), "", str(pixel), "", *map(str, run.passes(0)), ""]
    data = [one.to_json() for one in (moment, funnel, pixel, moment.vertices, *run.events(0))]
    parts += [f"SHA-256 of all of it as data: {hashlib.sha256(json.dumps(data).encode()).hexdigest()}"]
    return "\n".join([*(line.rstrip() for part in parts for line in part.split("\n")), ""])


@pytest.mark.parametrize("scene", PIXELS)
def test_what_is_told_of_a_draw_is_what_was_told(scene: str) -> None:
    assert told(scene) == (TEXTS / f"{scene}.txt").read_text(encoding="utf-8")


def test_each_text_has_its_scene() -> None:
    assert sorted(path.stem for path in TEXTS.glob("*.txt")) == sorted(PIXELS)


if __name__ == "__main__":
    for name in PIXELS:
        (TEXTS / f"{name}.txt").write_text(told(name), encoding="utf-8")
