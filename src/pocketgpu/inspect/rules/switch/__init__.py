"""Rules for Switch captures: `watch.py` replays a capture, `record.py` has the result, other files have rules."""
