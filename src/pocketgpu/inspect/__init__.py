"""Questions about registers, captures and this installation, answered as data.

The command line, the documentation and other clients print what the modules here return. None of these modules
computes a picture, and no room below imports them.
"""
