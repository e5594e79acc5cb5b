"""The vertex side of a draw: attribute fetch and vertex programs."""
