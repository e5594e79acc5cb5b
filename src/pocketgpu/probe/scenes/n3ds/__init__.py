"""Scenes of the 3DS."""
