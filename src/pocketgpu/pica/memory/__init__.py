"""The 3DS's guest memory: memory regions, pixel formats, and surfaces as arrays and pictures."""
