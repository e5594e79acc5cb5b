"""Rules for 3DS captures: `watch.py` runs a capture, `record.py` has the result, most other files have rules.

`draws.py` and `memory_map.py` are parts of `watch.py`.
"""
