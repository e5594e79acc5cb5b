"""Lines of code by room: without docstrings, comments, blank lines and tables of data.

    python tools/room_lines.py [REVISION] [--depth N] [--against REVISION]

Counts the modules of src/pocketgpu in the work tree, or in a revision of git. A room is a folder; modules beside the
folders are a room of their own, ".". --depth 2 counts inner folders separately. --against adds another revision's code.

What counts as a table: a statement at the top of a module or a class whose value is a literal (numbers, texts, lists,
tuples, dicts, and calls of names with such arguments, as rows of facts are written), over more than two lines. In
facts/ all statements at the top of a module count, and functions that only give rows: those that yield.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "src/pocketgpu"
TABLE_LINES = 3
"""A literal over so many lines is a table."""

Lines = set[int]
KINDS = ("code", "tables", "docstrings", "comments", "blank")


def span(node: ast.AST) -> Lines:
    return set(range(node.lineno, node.end_lineno + 1))  # type: ignore[attr-defined]


def docstrings(tree: ast.Module) -> Lines:
    """Lines of docstrings, and of strings below a name that explain it."""
    found: Lines = set()
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if isinstance(getattr(node, "body", []), list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                found |= span(statement) if isinstance(statement.value.value, str) else set()
    return found


def is_data(node: ast.expr) -> bool:
    """Whether an expression is written-out data: nothing in it decides or computes but signs, | and <<."""
    allowed = (
        ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Name, ast.Attribute, ast.Call, ast.keyword,
        ast.Starred, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.expr_context, ast.Subscript, ast.JoinedStr,
        ast.FormattedValue,
    )  # fmt: skip
    return all(isinstance(one, allowed) for one in ast.walk(node))


def tables(tree: ast.Module, facts: bool) -> Lines:
    found: Lines = set()
    if facts:
        code = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.If)
        for statement in tree.body:
            yields = any(isinstance(node, ast.Yield) for node in ast.walk(statement))
            if not isinstance(statement, code) or (yields and isinstance(statement, ast.FunctionDef)):
                found |= span(statement)
    blocks = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    for statement in (statement for block in blocks for statement in block):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            lines = span(statement)
            if len(lines) >= TABLE_LINES and is_data(statement.value):
                found |= lines
    return found


def count(text: str, facts: bool) -> Counter[str]:
    """Lines of one module by kind; each line has one kind. facts: it is a module of facts/."""
    tree = ast.parse(text)
    lines = text.splitlines()
    code: Lines = set()
    comments: Lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            code |= set(range(token.start[0], token.end[0] + 1))
    texts, data = docstrings(tree), tables(tree, facts)
    counts: Counter[str] = Counter()
    for number in range(1, len(lines) + 1):
        if number in texts:
            kind = "docstrings"
        elif number in code:
            kind = "tables" if number in data else "code"
        else:
            kind = "comments" if number in comments else "blank"
        counts[kind] += 1
    return counts


def modules(revision: str | None) -> Iterator[tuple[str, str]]:
    """(path inside the package, text) of every module."""
    if revision is None:
        for path in sorted((ROOT / PACKAGE).rglob("*.py")):
            yield path.relative_to(ROOT / PACKAGE).as_posix(), path.read_text(encoding="utf-8")
        return

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    for name in git("ls-tree", "-r", "--name-only", revision, PACKAGE).splitlines():
        if name.endswith(".py"):
            yield name.removeprefix(f"{PACKAGE}/"), git("show", f"{revision}:{name}")


def rooms(revision: str | None, depth: int) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for name, text in modules(revision):
        folder = "/".join(Path(name).parent.parts[:depth]) or "."
        counts = found.setdefault(folder, Counter())
        counts["modules"] += 1
        counts.update(count(text, name.startswith("facts/")))
    return found


def table(found: dict[str, Counter[str]], before: dict[str, Counter[str]] | None) -> Iterator[str]:
    columns = ("modules", *KINDS)
    head = [*columns, *(("code before", "more") if before is not None else ())]
    yield f"{'room':28}" + "".join(f"{name:>13}" for name in head)

    def row(name: str, counts: Counter[str], old: Counter[str]) -> str:
        values = [counts[column] for column in columns]
        values += [old["code"], counts["code"] - old["code"]] if before is not None else []
        return f"{name:28}" + "".join(f"{value:13}" for value in values)

    earlier = before or {}
    for name in sorted({*found, *earlier}):
        yield row(name, found.get(name, Counter()), earlier.get(name, Counter()))
    yield row("all", sum(found.values(), Counter()), sum(earlier.values(), Counter()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", help="a revision of git; without it the work tree")
    parser.add_argument("--depth", type=int, default=1, help="folders in folders that are told apart")
    parser.add_argument("--against", help="a revision to compare with")
    options = parser.parse_args()
    before = rooms(options.against, options.depth) if options.against else None
    sys.stdout.writelines(f"{line}\n" for line in table(rooms(options.revision, options.depth), before))


if __name__ == "__main__":
    main()
