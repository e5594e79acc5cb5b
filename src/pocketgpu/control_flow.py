"""Control-flow graphs of shader programs, for both consoles: basic blocks, edges, and their graphviz form."""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge out of a block. to: number of the target block. when: the condition as text, "" without one.

    kind: "next", "jump", "stack" (to an address from a stack), "loop" (the next round), "indirect" or "call".
    """

    to: int
    kind: str
    when: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions `first` to `last`, executed in a row. hangs: the unit can get stuck at its end."""

    first: int
    last: int
    edges: tuple[Edge, ...]
    hangs: bool = False


_STYLES = {
    "next": "",
    "jump": "color=blue",
    "stack": "color=darkgreen",
    "loop": "color=blue, style=bold",
    "indirect": "color=purple",
    "call": "style=dashed",
}


def dot(name: str, blocks: Sequence[Block], lines: Sequence[Sequence[str]], starts: Sequence[str]) -> str:
    """The graph in the language of graphviz. lines, starts: text and heading of each block."""

    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"')

    rows = [f'digraph "{quoted(name)}" {{', '  node [shape=box, fontname="monospace", fontsize=10];']
    for number, (block, start, text) in enumerate(zip(blocks, starts, lines, strict=True)):
        body = "".join(f"{quoted(line)}\\l" for line in (f"{start}:", *text))
        style = ", color=red" if block.hangs else ""
        rows.append(f'  b{number} [label="{body}"{style}];')
    for number, block in enumerate(blocks):
        for edge in block.edges:
            label = f'label="{quoted(edge.when)}", fontsize=9' if edge.when else ""
            style = ", ".join(part for part in (_STYLES[edge.kind], label) if part)
            rows.append(f"  b{number} -> b{edge.to}{f' [{style}]' if style else ''};")
    return "\n".join([*rows, "}"]) + "\n"
