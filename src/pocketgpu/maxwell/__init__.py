"""The GPU of the Nintendo Switch (GM20B, Tegra X1) as far as its channels, memory and data-moving engines go."""
