"""Source texts of a capture's programs, which somebody names, as a capture has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.inspect.stepping.program_text import ProgramTexts


class TakesTexts:
    """What an inspection knows of source texts."""

    capture: Capture
    texts: ProgramTexts | None = None
    """Texts of programs, see `use_texts`."""

    def use_texts(self, paths: Sequence[str]) -> None:
        """Name the texts that the capture's shader programs were assembled from (picasso's `.v.pica` and `.g.pica`, or
        a `.shbin` for names only). Traces then have their lines, labels and names of registers, where a program is that
        of a text word for word; the listing of a trace says where it is not (`note`).

        :raises UsageError: programs of this console are not assembled from such texts.
        """
        raise UsageError(f"programs of a {self.capture.console} are not made of such texts", location="texts")


__all__ = ["TakesTexts"]
