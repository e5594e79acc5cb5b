"""Files with shader code, of both consoles."""
