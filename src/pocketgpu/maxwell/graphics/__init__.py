"""The drawing part of the 3D class: vertices, programs, primitives, pixels."""
