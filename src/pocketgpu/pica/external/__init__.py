"""The external registers: memory fill, the transfer engine, and the same units in emulated time."""
