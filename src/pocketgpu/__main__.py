"""`python -m pocketgpu` is the same as the `pocketgpu` command."""

from __future__ import annotations

import sys

from pocketgpu.cli import run

if __name__ == "__main__":
    sys.exit(run())
