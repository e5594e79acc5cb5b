"""Made-up answers about meshes, overdraw, numbers of pixels, findings and costs; see fake_server.py.

A mesh has four vertices and two triangles: the first is drawn, the second culled. Its window is the whole target.
"""

from __future__ import annotations

import json
import struct
from typing import Any

Given = dict[str, str]


def packed(header: dict[str, Any], arrays: list[tuple[str, str, str, int, list[float]]]) -> bytes:
    """A header and arrays, each as (of, name, type, components, numbers)."""
    described, data = [], b""
    for of, name, kind, components, numbers in arrays:
        described.append({"of": of, "name": name, "type": kind, "components": components, "offset": len(data)})
        data += struct.pack(f"<{len(numbers)}{({'f32': 'f', 'i32': 'i', 'u32': 'I'})[kind]}", *numbers)
    text = json.dumps({**header, "arrays": described}).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + data


def answers(width: int, height: int, markup: str, many: int) -> dict[str, Any]:
    """The answers by the names of their requests. width, height: of the target. markup: a text that must stay text."""

    def mesh(given: Given) -> bytes:
        corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
        positions = [part for x, y in corners for part in (x, y, -0.5, 1.0)]
        inputs = [part for x, y in corners for part in (10 * x, 10 * y, 3.0, 1.0)]
        window = [width / 2, 0, 0, width / 2, 0, -height / 2, 0, height / 2, 0, 0, 0, 1]
        size = {"width": width, "height": height, "matrix": window}
        header = {
            "address": given["at"], "title": f"draw {markup}", "topology": "triangles",
            "vertices": {"count": 4, "all": 9}, "triangles": {"count": 2, "all": 2}, "emitted": None,
            "inputs": [{"register": "v0", "format": f"3 x f32 {markup}", "type": "f32", "address": "0x20000000",
                        "stride": 12, "per": "vertex"}],
            "fates": [{"verdict": "drawn", "reason": "", "register": "", "count": 1},
                      {"verdict": "culled", "reason": f"it turns {markup}", "register": "CULL", "count": 1}],
            "targets": [{"name": name, **size} for name in ("target", "depth")], "depths": [-1, 0],
        }  # fmt: skip
        return packed(header, [
            ("vertices", "number", "i32", 1, [7, 8, 9, 10]), ("inputs", "v0", "f32", 4, inputs),
            ("outputs", "position", "f32", 4, positions), ("outputs", "color", "f32", 4, [1.0] * 16),
            ("triangles", "corners", "u32", 3, [0, 1, 2, 0, 2, 3]), ("triangles", "fate", "u32", 1, [0, 1]),
            ("triangles", "primitive", "i32", 1, [0, 1]),
        ])  # fmt: skip

    def primitive(given: Given) -> Any:
        """Every pixel belongs to the second primitive."""
        place = "/".join(given["at"].split("/")[:2])
        vertices = [{"address": f"{place}/v{n}", "number": 7 + n} for n in (0, 2, 3)]
        return {"primitive": {"address": f"{place}/t1", "vertices": vertices, "programs": []}}

    def overdraw(given: Given) -> bytes:
        most = {"draw": 1, "pass": 3, "frame": 40}[given["over"]]
        counts = [most if n < 5 else min(1, most - 1) if n < 9 else 0 for n in range(width * height)]
        header = {
            "address": given["at"], "over": given["over"], "draws": most, "left": 0, "fragments": sum(counts),
            "pixels": sum(map(bool, counts)), "most": most, "width": width, "height": height,
        }  # fmt: skip
        return packed(header, [("pixels", "fragments", "u32", 1, counts)])

    def numbers(given: Given) -> bytes:
        values = [n / (width * height) for n in range(width * height)]
        header = {"name": given["of"], "width": width, "height": height}
        return packed(header, [("pixels", "depth", "f32", 1, values)])

    def findings(given: Given) -> Any:
        def found(address: str, severity: str, n: int) -> dict[str, Any]:
            return {
                "address": f"f{given['frame']}{address}", "at": address, "rule": f"rule.{n}", "severity": severity,
                "confidence": "documented", "message": f"finding {n} {markup}", "title": f"title {n}",
                "explanation": f"because {n}", "hint": f"do {n}", "source": "a test", "count": n,
            }  # fmt: skip

        return {"frame": int(given["frame"]), "ready": True, "findings": [
            found("/d1", "warning", 1), found("/d1", "note", 2), found("/d4", "error", 3), found("", "note", 4),
        ]}  # fmt: skip

    def costs(given: Given) -> bytes:
        frame = int(given["frame"])
        events = list(range(many)) if frame == 1 else [2, 3, 4, 6, 7, 8]
        draws = range(len(events))
        return packed({"frame": frame}, [
            ("draws", "event", "u32", 1, events), ("draws", "vertices", "u32", 1, [3 * n for n in draws]),
            ("draws", "primitives", "u32", 1, list(draws)), ("draws", "fragments", "u32", 1, [1000 * n for n in draws]),
        ])  # fmt: skip

    return {
        "mesh": mesh, "primitive": primitive, "overdraw": overdraw, "numbers": numbers, "findings": findings,
        "costs": costs,
    }  # fmt: skip
