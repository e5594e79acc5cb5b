"""Strict mode: rules for what works here and may not on a console, grouped by topic, and what they look at.

`registry.py` lists them, `checker.py` runs a capture once and asks them, `n3ds/` and `switch/` have the rules of a
console with the record (`record.py`) that its run leaves for them. A rule is registered where it is written.
"""
