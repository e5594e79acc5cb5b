"""Grids of threads: launches of the compute class, and kernels that a Python program launches itself."""
