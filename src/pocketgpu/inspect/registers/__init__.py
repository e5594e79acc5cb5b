"""Explanations of registers and methods: found by name or address, described bit by bit."""
