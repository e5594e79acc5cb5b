"""From vertex streams and indices to shaded vertices and primitives."""
