"""The fragment side of a draw: raster, lighting, combiners, fog, tests and blending."""
