"""Texts as Markdown."""

from __future__ import annotations

import re


def escape(text: str) -> str:
    """Text for a table cell or paragraph: what Markdown would read as markup is taken literally."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)
