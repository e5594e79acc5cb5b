"""Pixel formats and texture headers."""
