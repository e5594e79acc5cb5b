"""Primitives of the 3DS: the geometry shader stage, then assembly, clipping, the viewport and triangle set-up."""
