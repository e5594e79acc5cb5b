"""The compute class, B1C0."""
