"""Completion for bash, which divides words at "=" and ":"; click's own class would complete only what follows these."""

from __future__ import annotations

import os

from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

_BREAKS = "=:"


@add_completion_class
class WholeWords(BashComplete):
    """Completes the line as it is typed, and gives bash the part of each word that it does not have yet."""

    name = "bash"
    source_template = BashComplete.source_template.replace(
        'COMP_WORDS="${COMP_WORDS[*]}"', 'COMP_LINE="${COMP_LINE:0:$COMP_POINT}"'
    )
    _typed = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the unfinished one, and that."""
        line = os.environ.get("COMP_LINE", "")
        words = split_arg_string(line)[1:]
        self._typed = words.pop() if words and not line[-1:].isspace() else ""
        return words, self._typed

    def format_completion(self, item: CompletionItem) -> str:
        """Kind and value of an item, without what bash takes for an earlier word."""
        known = max(self._typed.rfind(letter) for letter in _BREAKS) + 1
        value = item.value[known:] if item.value.startswith(self._typed[:known]) else item.value
        return f"{item.type},{value}"


__all__ = ["WholeWords"]
