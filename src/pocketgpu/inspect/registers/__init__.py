"""Registers and methods that explain themselves: found by name or address, told bit by bit."""
