"""What a scene is, and what can be seen of it."""
