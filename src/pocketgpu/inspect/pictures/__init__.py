"""Comparison of pictures; pictures of raw bytes."""
