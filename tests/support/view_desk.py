"""A desk of the viewer with one inspection on it, and questions to its server."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.machine_thread import MachineThread
from pocketgpu.view.questions.desk import MAIN, Desk, desk_of
from pocketgpu.view.questions.notes_file import Notes
from pocketgpu.view.routes import Routes

TYPES = {"f32": "<f4", "i32": "<i4", "u32": "<u4"}
Arrays = dict[tuple[str, str], np.ndarray]


def on_desk(run: Inspection) -> MachineThread[Desk]:
    """A machine's thread whose desk has one inspection."""
    return MachineThread[Desk](lambda: desk_of((MAIN, nullcontext(run))))


def client_of(machine: MachineThread[Desk], page: Path, name: str = "c") -> TestClient:
    """A client of a server about what lies on a desk. page: the folder of the page; notes lie beside it."""
    return TestClient(Routes(machine, name, "1.2", page, Notes(page.parent, name)).app)


def ask(client: TestClient, path: str, **query: Any) -> Any:
    """The answer to a request: data, or the response if it is something else."""
    answer = client.get(f"/api/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json() if answer.headers["content-type"] == "application/json" else answer


def refused(client: TestClient, path: str, **query: Any) -> dict[str, Any]:
    """The error that a request is answered with."""
    answer = client.get(f"/api/{path}", params=query)
    assert answer.status_code == 400 and answer.headers["content-type"] == "application/json", answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) == {"message", "location", "hint"}
    return error


def unpack(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of an answer."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    body = data[4 + -(-length // 4) * 4 :]
    described = header.pop("arrays")
    ends = [one["offset"] for one in described[1:]] + [len(body)]
    arrays: Arrays = {}
    for one, end in zip(described, ends, strict=True):
        numbers = np.frombuffer(body[one["offset"] : end], TYPES[one["type"]])
        if "rows" in one:
            lengths, values = numbers.reshape(2, -1)
            numbers = np.repeat(values, lengths.view("<u4"))
            assert len(numbers) == one["rows"] * one["components"]
        arrays[one["of"], one["name"]] = numbers.reshape(-1, one["components"])
    return header, arrays
