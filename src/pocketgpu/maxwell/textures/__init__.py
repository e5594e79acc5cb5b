"""Textures of the Tegra X1: decoders of compressed formats."""
