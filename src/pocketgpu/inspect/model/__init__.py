"""Answers: what the debugger tells, the same types for both consoles. Nothing here knows a console."""
