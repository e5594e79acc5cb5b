"""What is known about the hardware, as tables and nothing else.

Behaviour lives elsewhere and reads these tables; they import nothing from the rest of the package, so that a
fact can be corrected in one place and checked without running a machine.
"""
