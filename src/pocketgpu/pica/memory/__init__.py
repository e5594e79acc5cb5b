"""What guest bytes of a 3DS mean: memory by regions, pixel formats, and surfaces as arrays and pictures."""
