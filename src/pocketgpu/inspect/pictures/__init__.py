"""Comparison of pictures, with its findings as data and as a page; pictures of raw bytes."""
