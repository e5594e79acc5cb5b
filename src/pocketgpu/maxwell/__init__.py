"""The GPU of the Nintendo Switch (GM20B, Tegra X1): channels, memory and engines, with shading and compute."""
