"""Rasterisation: from shapes to blocks of pixels."""
