"""How the GPU of the 3DS behaves: one module for each unit of the chip. What it *is* stands in `pocketgpu.facts`."""
