"""Which language a document has."""

from __future__ import annotations

from typing import Final

from pocketgpu.editor.lsp.languages.mme import Mme
from pocketgpu.editor.lsp.languages.model import Language
from pocketgpu.editor.lsp.languages.pica import Pica
from pocketgpu.editor.lsp.languages.sass import Sass

LANGUAGES: Final[tuple[Language, ...]] = (Pica(), Sass(), Mme())


def language_of(identifier: str, path: str) -> Language | None:
    """The language of a document: that which the client names, else that of its file's name. None: it has none here."""
    for language in LANGUAGES:
        if language.name == identifier:
            return language
    for language in LANGUAGES:
        if path.lower().endswith(language.suffixes):
            return language
    return None


__all__ = ["LANGUAGES", "language_of"]
