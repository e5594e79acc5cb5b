"""Scenes that are described once, and drawn twice: by our Switch, and by OpenGL on Mesa's llvmpipe."""
