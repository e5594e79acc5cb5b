"""Instructions that only stages of graphics have."""
