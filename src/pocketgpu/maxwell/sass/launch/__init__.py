"""Launches: blocks through their barriers, grids through slots and threads of the host."""
