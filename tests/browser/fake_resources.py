"""Made-up answers about resources and memory: a texture with two levels, tables, and memory whose bytes count up."""

from __future__ import annotations

from typing import Any

SIDE = 16
ROWS = 2500
MAPPED = 0x18000000, 0x18600000
MARKUP = "<img src=x onerror=document.title='broken'>"


def _event(number: int) -> dict[str, str]:
    title = f"draw {number} {MARKUP}"
    return {"address": f"f0/d{number}", "event": f"f0/e{number + 2}", "kind": "draw", "title": title}


def _parts() -> list[dict[str, Any]]:
    return [
        {"name": "unit0" + (f".level{n}" if n else ""), "width": SIDE >> n, "height": SIDE >> n, "level": n, "layer": 0,
         "z": 0}
        for n in range(2)
    ]  # fmt: skip


def _resources(given: dict[str, str]) -> Any:
    if "/d" not in given["at"]:
        return {"textures": [], "tables": [], "faults": [], "missing": f"only draws have textures {MARKUP}"}
    texture = {
        "name": "unit0", "bound": "unit 0", "enabled": True, "kind": "2D", "format": f"RGBA8 {MARKUP}", "width": SIDE,
        "height": SIDE, "depth": 1, "layers": 1, "levels": 2, "address": "0x20001000", "settings": {"wrap_s": MARKUP},
        "fault": "", "parts": _parts(), "more": 0,
    }  # fmt: skip
    broken = {**texture, "name": "unit1", "bound": "unit 1", "fault": "no header", "parts": []}
    tables = [
        {"of": "vertices0", "group": "vertex buffers", "title": "buffer 0", "text": f"v0 {MARKUP}",
         "address": "0x20010000", "rows": ROWS},
        {"of": "uniforms.vertex", "group": "uniforms", "title": "vertex uniforms", "text": "program", "address": None,
         "rows": 2},
    ]  # fmt: skip
    return {"textures": [texture, broken], "tables": tables, "faults": [], "missing": ""}


def texture(part: str, order: str) -> bytes:
    """Bytes that depend on the part and the order; alpha is not 255."""
    side = SIDE >> ("level1" in part)
    start = 100 if order == "memory" else 0
    return bytes((n * 5 + start) & 0xFF for n in range(side * side * 4))


def _texel(given: dict[str, str]) -> Any:
    x, y = int(given["x"]), int(given["y"])
    side = SIDE >> ("level1" in given["part"])
    if given.get("order") == "memory":
        x, y = y, x
    return {"x": x, "y": y, "address": f"0x{0x20001000 + 4 * (y * side + x):x}", "size": 4, "data": "01020304",
            "color": [1, 2, 3, 4], "value": [0.5, 2, "nan", 0.8125], "mapped": []}  # fmt: skip


def _table(given: dict[str, str]) -> Any:
    first, count = int(given["first"]), int(given["count"])
    total = ROWS if given["of"] == "vertices0" else 2
    numbers = range(first, min(first + count, total))
    found: dict[str, Any] = {
        "first": first, "total": total, "columns": [{"group": "v0", "name": "x"}, {"group": "v0", "name": "y"}],
        "rows": [[n, n / 2] for n in numbers],
        "places": [f"0x{0x20010000 + 8 * n:x}" for n in numbers] if total == ROWS else [""] * len(numbers),
    }  # fmt: skip
    return found if total == ROWS else {**found, "names": [f"c{n} {MARKUP}" for n in numbers]}


def byte_at(address: int) -> int:
    """The byte of memory at an address."""
    return (address * 7 + (address >> 8)) & 0xFF


def _memory(given: dict[str, str]) -> Any:
    address, size = int(given["address"], 16), int(given["size"])
    assert 0 < size <= 1 << 16
    low, high = max(address, MAPPED[0]), min(address + size, MAPPED[1])
    return {
        "address": f"0x{address:x}", "size": size, "data": bytes(map(byte_at, range(address, address + size))).hex(),
        "mapped": [{"address": f"0x{low:x}", "size": high - low}] if high > low else [],
    }  # fmt: skip


def _formats(given: dict[str, str]) -> Any:
    return {
        "formats": [{"name": "RGBA8", "bits": 32}, {"name": "I8", "bits": 8}], "layouts": ["tiled", "linear"],
        "first": ["RGBA8", "tiled"], "event": _event(0), "writes": [{"address": "0x18000000", "size": 4096}],
        "reads": [{"address": "0x18010000", "size": 64}], "start": "0x18000000",
    }  # fmt: skip


def memory_picture(given: dict[str, str]) -> bytes:
    """Bytes that depend on everything that is asked."""
    start = int(given["address"], 16) + len(given["format"]) + len(given["layout"])
    size = 4 * int(given["width"]) * int(given["height"])
    return bytes((start + n) & 0xFF for n in range(size))


def _contacts(given: dict[str, str]) -> Any:
    changed = given["changed"] == "1"
    return {
        "place": {"address": given["address"], "size": int(given["size"])}, "written": _event(0 if changed else 1),
        "next": None if changed else _event(5), "reads": [_event(2)] * 20, "more": 7, "until": 3,
    }  # fmt: skip


ANSWERS: dict[str, Any] = {
    "resources": _resources, "texture": lambda given: texture(given["part"], given["order"]), "texel": _texel,
    "table": _table, "memory": _memory, "memory-formats": _formats, "memory-picture": memory_picture,
    "contacts": _contacts,
}  # fmt: skip
