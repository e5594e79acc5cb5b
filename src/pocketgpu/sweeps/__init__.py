"""Sweeps: one kind of work on thousands of captures, on many processes and machines.

`sweep.py` runs one, `captures` finds what is swept, `task` and `rows` say what goes to workers and comes back. `child/`
is the process that does the work, `works/` the work, `engine/` the distribution by Dask, `store` the folder of results.
"""
