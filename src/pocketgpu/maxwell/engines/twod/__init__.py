"""The 2D engine, class 902D."""
