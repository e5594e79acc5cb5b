"""The viewer's server: a page in the browser asks it about a capture, and it asks `inspect`.

    pocketgpu view scene.pgc

`machine_thread.py` runs one question after the other on the thread that has the machine; `questions.py` answers them as
plain data and pixels; `gate.py` decides which requests are heard; `routes.py` puts them together; `serve.py` starts all
that. docs/formats/view.md has the requests. The page itself is in `viewer/`, and its built files are in `page/`.

Needs the extra `view` (Starlette and uvicorn).
"""
