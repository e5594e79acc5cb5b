"""
Shadow maps
===========

A ball and a ring of blocks throw shadows on a floor; beside it the same with no bias, and with far too much of it.
"""
