"""Rules for captures of a 3DS: `watch.py` runs one, `record.py` is what the run leaves, most other files are rules.

Beside those, `draws.py` and `memory_map.py` are what `watch.py` is made of, and `one_draw.py` asks rules
about one draw.
"""
