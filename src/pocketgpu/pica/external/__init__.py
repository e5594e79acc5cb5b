"""The external registers, and the same registers in emulated time."""
