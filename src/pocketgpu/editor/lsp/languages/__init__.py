"""The three languages behind one description."""
