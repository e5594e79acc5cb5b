"""Inline-to-memory: class A140, and the same unit in B197 and B1C0."""
