"""Requests `resources`, `texture`, `texel` and `table`: what an event is bound to, as pictures and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.elements import count_of, table, words
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.resources import ConstantBuffer, Texture, order_of
from pocketgpu.inspect.model.vertices import VertexBuffer
from pocketgpu.view.questions.asking import FORMS, Asked, Json, Question
from pocketgpu.view.questions.memory import known_bytes
from pocketgpu.view.questions.parameters import Parameters
from pocketgpu.view.questions.pictures import pixels_of

MOST_ROWS: Final = 1000
"""Most rows of a table in an answer."""
MOST_PARTS: Final = 512
"""Most levels, layers and slices that are listed of a texture."""
UNKNOWN_ROWS: Final = 1 << 16
"""Rows of a buffer if nothing says how many it has."""
ORDERS: Final = ("texels", "memory")
"""How a texture is shown: as programs see it, or in the order of addresses."""
WORD: Final = 4
VECTOR: Final = 16
"""Bytes of a row of constants: four words."""


def _texture_json(one: Texture) -> Json:
    facts = one.to_json()
    if facts["fault"]:
        return {**facts, "parts": [], "more": 0}
    parts = one.parts
    return {
        **facts, "parts": [part.to_json() for part in parts[:MOST_PARTS]], "more": max(0, len(parts) - MOST_PARTS),
    }  # fmt: skip


def _faulty(make: Callable[[], Any], faults: list[str]) -> Any:
    """What is made; None and its reason where it cannot be."""
    try:
        return make()
    except UsageError as error:
        faults.append(error.message)
        return None


def _resources(given: Parameters) -> Question:
    at = given.at()

    def question(run: Inspection) -> Json:
        moment = run.seek(at.place)
        found: dict[str, Any] = {"textures": [], "tables": [], "faults": [], "missing": moment.missing}
        if moment.missing:
            return found
        faults: list[str] = found["faults"]
        textures = _faulty(lambda: moment.textures, faults) or {}
        found["textures"] = [_texture_json(one) for one in textures.values()]
        for buffer in _faulty(lambda: moment.vertex_buffers, faults) or ():
            found["tables"].append({
                "of": f"vertices{buffer.number}", "group": "vertex buffers", "title": f"buffer {buffer.number}",
                "text": ", ".join(buffer.components), "address": f"{buffer.address:#x}", "rows": _rows(buffer, moment),
            })  # fmt: skip
        indices = _faulty(lambda: moment.index_buffer, faults)
        if indices is not None:
            found["tables"].append({
                "of": "indices", "group": "index buffer", "title": "indices", "text": str(indices),
                "address": f"{indices.address:#x}" if indices.address else None, "rows": len(indices.array),
            })  # fmt: skip
        for constant in _faulty(lambda: moment.constants, faults) or ():
            found["tables"].append({
                "of": _name(constant), "group": "constants", "title": f"{constant.group} c{constant.slot}",
                "text": str(constant), "address": f"{constant.address:#x}", "rows": -(-len(constant.data) // VECTOR),
            })  # fmt: skip
        for unit, program in (_faulty(lambda: moment.programs, faults) or {}).items():
            if program.uniforms:
                found["tables"].append({
                    "of": f"uniforms.{unit}", "group": "uniforms", "title": f"{unit} uniforms",
                    "text": f"{unit} program {program.digest}", "address": None, "rows": len(program.uniforms),
                })  # fmt: skip
        return found

    return question


def _rows(buffer: VertexBuffer, moment: Moment) -> int:
    known = count_of(buffer, moment.event)
    return UNKNOWN_ROWS if known is None else known


def _name(constant: ConstantBuffer) -> str:
    return f"constants.{constant.group}.{constant.slot}"


# -- textures ---------------------------------------------------------------------------------------------------------
def _texture_named(run: Inspection, at: Address, name: str) -> Texture:
    textures = {one.facts.name: one for one in run.seek(at.place).textures.values()}
    if name not in textures:
        hint = f"There are: {', '.join(textures)}." if textures else "There are none."
        raise UsageError(f"there is no texture called '{name}'", location=str(at), hint=hint)
    return textures[name]


def _texture(given: Parameters) -> Question:
    at, name, part = given.at(), given.text("of"), given.text("part")
    order, form = given.choice("order", ORDERS, "texels"), given.choice("form", FORMS, "rgba")

    def question(run: Inspection) -> Any:
        found = _texture_named(run, at, name)
        one = found.part(part)
        return pixels_of(found.stored(one) if order == "memory" else found.pixels(one), form)

    return question


def _texel(given: Parameters) -> Question:
    at, name, part, x, y = given.at(), given.text("of"), given.text("part"), given.number("x"), given.number("y")
    order = given.choice("order", ORDERS, "texels")

    def question(run: Inspection) -> Json:
        moment, found = run.seek(at.place), _texture_named(run, at, name)
        one = found.part(part)
        one.check(x, y)
        addresses = found.addresses(one)
        column, row = x, y
        if order == "memory":
            row, column = (int(n) for n in divmod(int(order_of(addresses)[y * one.width + x]), one.width))
        address, size = int(addresses[row, column]), found.texel_bytes
        data, known = known_bytes(moment, address, size)
        color = found.pixels(one)[row, column].tolist()
        return {
            "x": column, "y": row, "address": f"{address:#x}", "size": size, "data": data.hex(), "color": color,
            "value": found.sampled(one, column, row), **known,
        }  # fmt: skip

    return question


# -- tables -----------------------------------------------------------------------------------------------------------
def _table(given: Parameters) -> Question:
    at, of, first, count = given.at(), given.text("of"), given.number("first", 0), given.number("count", MOST_ROWS)
    if not 0 < count <= MOST_ROWS:
        raise UsageError(f"a table is asked for in pieces of 1 to {MOST_ROWS} rows", location="count")

    def question(run: Inspection) -> Json:
        moment = run.seek(at.place)
        kind, _, rest = of.partition(".")
        if of == "indices":
            return _indices(moment, first, count)
        if kind == "constants":
            return _constants(moment, of, first, count)
        if kind == "uniforms":
            return _uniforms(moment, rest, first, count)
        return _vertices(moment, of, first, count)

    return question


def _missing(of: str, known: Mapping[str, Any]) -> UsageError:
    hint = f"There are: {', '.join(known)}." if known else "There are none."
    return UsageError(f"there is no table called '{of}'", location="of", hint=hint)


def _vertices(moment: Moment, of: str, first: int, count: int) -> Json:
    buffers = {f"vertices{one.number}": one for one in moment.vertex_buffers}
    if of not in buffers:
        raise _missing(of, buffers)
    buffer = buffers[of]
    total = _rows(buffer, moment)
    shown = max(0, min(count, total - first))
    start = buffer.address + first * buffer.stride
    elements = buffer.elements or words(buffer.stride)
    used = max((one.at + one.size for one in elements), default=1)
    data, known = known_bytes(moment, start, (shown - 1) * buffer.stride + used) if shown else (b"", {})
    rows = table(elements, data, buffer.stride, shown) if elements else [[]] * shown
    columns = [{"group": one.name, "name": name} for one in elements for name in one.columns]
    places = [f"{start + n * buffer.stride:#x}" for n in range(shown)]
    return {"first": first, "total": total, "columns": columns, "rows": rows, "places": places, **known}


def _indices(moment: Moment, first: int, count: int) -> Json:
    found = moment.index_buffer
    if found is None:
        raise _missing("indices", {})
    values = found.array[first : first + count]
    size = found.array.itemsize
    places = [f"{found.address + (first + n) * size:#x}" if found.address else "" for n in range(len(values))]
    return {
        "first": first, "total": len(found.array), "columns": [{"group": found.type, "name": "index"}],
        "rows": [[one] for one in values.tolist()], "places": places,
    }  # fmt: skip


def _constants(moment: Moment, of: str, first: int, count: int) -> Json:
    buffers = {_name(one): one for one in moment.constants}
    if of not in buffers:
        raise _missing(of, buffers)
    found = buffers[of]
    held = found.words[VECTOR // WORD * first : VECTOR // WORD * (first + count)]
    total = -(-len(found.words) * WORD // VECTOR)
    whole = np.zeros(-(-len(held) // (VECTOR // WORD)) * (VECTOR // WORD), np.uint32)
    whole[: len(held)] = held
    vectors = whole.reshape(-1, VECTOR // WORD)
    rows = [
        [*(f"{word:08x}" for word in row), *numbers]
        for row, numbers in zip(vectors.tolist(), vectors.view(np.float32).tolist(), strict=True)
    ]
    columns = [{"group": group, "name": name} for group in ("words", "floats") for name in "xyzw"]
    places = [f"{found.address + VECTOR * (first + n):#x}" for n in range(len(rows))]
    names = [f"c[{found.slot:#x}][{VECTOR * (first + n):#x}]" for n in range(len(rows))]
    return {"first": first, "total": total, "columns": columns, "rows": rows, "places": places, "names": names}


def _uniforms(moment: Moment, unit: str, first: int, count: int) -> Json:
    programs = {name: one for name, one in moment.programs.items() if one.uniforms}
    if unit not in programs:
        raise _missing(f"uniforms.{unit}", {f"uniforms.{name}": one for name, one in programs.items()})
    uniforms = programs[unit].uniforms
    shown = list(uniforms.items())[first : first + count]
    width = max((len(values) for _, values in shown), default=0)
    columns = [{"group": "value", "name": name} for name in "xyzw"[:width]]
    rows = [[*values, *[""] * (width - len(values))] for _, values in shown]
    return {
        "first": first, "total": len(uniforms), "columns": columns, "rows": rows, "places": [""] * len(rows),
        "names": [name for name, _ in shown],
    }  # fmt: skip


ASKED: Final = {
    "resources": Asked(_resources), "texture": Asked(_texture), "texel": Asked(_texel), "table": Asked(_table),
}  # fmt: skip
