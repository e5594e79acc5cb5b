"""Instructions that only stages of graphics have: attributes, interpolation, samples."""
