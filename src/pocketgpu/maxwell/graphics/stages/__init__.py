"""Stages between the vertex program and raster: tessellation, geometry, transform feedback."""
