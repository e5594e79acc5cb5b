"""The behaviour of the 3DS's GPU, PICA200: a room for each unit of the chip. Its facts are in `pocketgpu.facts`."""
