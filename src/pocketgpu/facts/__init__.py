"""Facts about the hardware, as tables and nothing else.

The behaviour is elsewhere and reads these tables. They import nothing from the rest of the package, so a fact can be
corrected in one place and checked without running a machine.
"""
