"""Grids of threads: launches of the compute class, and cubin kernels that a Python program launches."""
