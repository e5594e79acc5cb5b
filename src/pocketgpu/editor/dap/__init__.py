"""A debug adapter: editors step through shaders by the Debug Adapter Protocol.

    adapter = Adapter(send)                 # send: takes each message to the editor, a dict
    adapter.take(b'{"seq": 1, ...}')        # a message of the editor
    serve_streams(reading, writing)         # the same over streams

A trace is complete before the first stop, so a place in it is a number, and stepping back is as cheap as forward.
`protocol/` has messages, `requests.py` the table of requests, `handlers/` what they do, and `debuggee/` what is stepped
through and the state of a session.
"""

from __future__ import annotations

from pocketgpu.editor.dap.adapter import Adapter
from pocketgpu.editor.dap.serve import serve_port, serve_streams

__all__ = ["Adapter", "serve_port", "serve_streams"]
