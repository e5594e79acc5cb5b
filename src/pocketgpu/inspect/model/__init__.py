"""The debugger's answers: the same types for both consoles. Nothing here depends on a console."""
