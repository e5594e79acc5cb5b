"""Golden hashes of pictures, and pictures kept for whoever looks into a failure.

Where a golden is a picture, the fixture `assert_frame` compares; this is for what is more than a screen. `pytest
--update-goldens` rewrites the hashes; look at the pictures before you keep them.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FAILURES = ROOT / "build" / "failures"


def updating() -> bool:
    """Whether goldens are to be written instead of compared with."""
    return os.environ.get("POCKETGPU_UPDATE_GOLDENS") == "1"


def digest(data: bytes | np.ndarray) -> str:
    """SHA-256 of bytes, or of an array's."""
    return hashlib.sha256(data if isinstance(data, bytes) else data.tobytes()).hexdigest()


def keep(name: str, pixels: np.ndarray) -> str:
    """Write a picture for whoever looks into the failure; returns where it lies."""
    from PIL import Image

    FAILURES.mkdir(parents=True, exist_ok=True)
    path = FAILURES / f"{name}.png"
    Image.fromarray(pixels).save(path)
    return str(path)


def read(path: Path) -> dict[str, Any]:
    """Goldens of a file; none where it does not exist."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def write(path: Path, goldens: dict[str, Any]) -> None:
    path.write_text(json.dumps(goldens, indent=2) + "\n", encoding="utf-8")
