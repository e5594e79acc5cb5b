"""What the server knows of each language, as one description."""
