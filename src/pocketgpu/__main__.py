"""`python -m pocketgpu` is the same as the `pocketgpu` command."""

from __future__ import annotations

import sys

from pocketgpu.cli import main

if __name__ == "__main__":
    sys.exit(main())
