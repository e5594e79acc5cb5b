"""Starts the debug adapter, for clients that can only start one program with one argument."""

from __future__ import annotations

import sys

from pocketgpu.cli import main

if __name__ == "__main__":
    sys.exit(main(["dap"]))
