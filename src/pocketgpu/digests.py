"""BLAKE2b as `hashlib` has it, but without loading OpenSSL, which a command that renders one frame does not need."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # a Python that is built in another way
    from hashlib import blake2b

__all__ = ["blake2b"]
