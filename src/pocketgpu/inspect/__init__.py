"""Questions about registers, captures and this installation, answered as data.

The command line, the documentation and other clients print what the modules here return; none of them computes a
picture. Nothing below this room knows of it.
"""
