"""What all parts of the 3D core share: the work area, registers as kernels see them, tiers of code, counters."""
