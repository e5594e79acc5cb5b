"""Inline-to-memory: class A140, and the same unit inside of B197 and B1C0."""
