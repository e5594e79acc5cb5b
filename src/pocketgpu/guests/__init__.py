"""Programs of the consoles, run without a console.

`processor.py` is the interface of what executes a program, `recorded.py` plays a recorded one. `timeline.py`,
`threads.py`, `objects.py`, `handles.py` and `memory.py` are what the kernels of both consoles have in common; `n3ds/`
has the supervisor calls and services of the 3DS.
"""
