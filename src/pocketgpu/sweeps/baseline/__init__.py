"""Comparison of a sweep with an earlier one, its baseline: `compare` finds what changed (`changes` says of what kind),
`names` which captures belong together, `noise` which times are outside of their noise."""
