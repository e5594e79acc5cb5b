"""Sweeps: one kind of work on thousands of captures, on many processes and machines.

`sweep.py` runs one, `captures.py` finds what is swept. `model/` has tasks and rows, `works/` the work, `child/` the
process that does it, `engine/` the distribution by Dask, `results/` the folder of results, `report/` the page about it.
"""
