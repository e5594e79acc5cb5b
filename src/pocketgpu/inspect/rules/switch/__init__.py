"""Rules for captures of a Switch: `watch.py` replays one, `record.py` is what that leaves, other files are rules."""
