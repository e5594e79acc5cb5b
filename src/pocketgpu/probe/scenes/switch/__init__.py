"""Scenes of the Switch."""
