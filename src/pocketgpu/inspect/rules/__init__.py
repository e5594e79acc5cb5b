"""The rules of `pocketgpu check`: they find what works here and may not work on a console.

`registry.py` lists all rules. `checker.py` runs a capture once and applies them. `n3ds/` and `switch/` have the rules
of a console by topic, and the record of a run that they read (`record.py`). A rule is registered where it is written.
"""
