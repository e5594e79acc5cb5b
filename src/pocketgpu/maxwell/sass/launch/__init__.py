"""Launches: the warps of a block, the blocks of a grid, and threads of the host for them."""
