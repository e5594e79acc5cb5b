"""Do the tests notice when the code is wrong? Fifty small faults, one after the other, in a copy of the tree.

    python tools/mutations.py run [--only 3,17] [--tests ARGUMENT ...]   what `make quick` catches, or other tests
    python tools/mutations.py check                                      each fault can still be made
    python tools/mutations.py choose [--seed N]                          draw other faults, into mutations.json

The faults are drawn at random, a number for each room: a comparison that is off by one or reversed, a constant that is
one more, plus for minus, a branch that is taken when it should not be. Docstrings, annotations, messages and what is
only shown to people (`__repr__`) are left alone. A fault is kept as text, old and new, and found by it, so it survives
when a file moves. A fault without any visible effect proves nothing: `EQUIVALENT` names those that were
drawn and left out, with the reason.

A run copies the tree (without .git) and the cache of compiled code into a temporary folder, so nothing here changes.
Tests that fail, crash or do not end within `--timeout` seconds have caught the fault. To save time, files of
tests that import the module with the fault go first, and all of them only follow if those find nothing.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src") / "pocketgpu"
TABLE = Path(__file__).resolve().with_suffix(".json")
QUICK = ["--quick", "-n", "2"]
NEAREST = 8
"""Files of tests that are tried first: those that name the module with the fault."""
SEED = 15

# Room -> folders and files of it, and how many faults it gets.
ROOMS: dict[str, tuple[tuple[str, ...], int]] = {
    "lanes": (("lanes",), 2),
    "facts": (("facts",), 2),
    "pica front": (("pica/front", "pica/core", "pica/n3ds.py"), 2),
    "pica vertex": (("pica/vertex",), 2),
    "pica fragment": (("pica/fragment",), 3),
    "pica texture": (("pica/texture",), 2),
    "pica display": (("pica/display", "pica/pdc"), 2),
    "pica external": (("pica/external",), 1),
    "pica gsp": (("pica/gsp",), 1),
    "pica shader": (("pica/shader",), 2),
    "maxwell host": (("maxwell/host", "maxwell/gm20b.py"), 1),
    "maxwell mme": (("maxwell/mme",), 1),
    "maxwell memory": (("maxwell/memory",), 2),
    "maxwell engines": (("maxwell/engines",), 3),
    "maxwell graphics": (("maxwell/graphics",), 5),
    "maxwell sass": (("maxwell/sass",), 4),
    "maxwell sampling": (("maxwell/sampling",), 2),
    "maxwell textures": (("maxwell/textures", "maxwell/formats"), 2),
    "capture": (("capture/formats", "capture/replay.py", "capture/driver"), 1),
    "pgc": (("capture/pgc", "capture/formats/pgc"), 2),
    "builder": (("builder",), 1),
    "inspect 3DS": (("inspect/n3ds",), 1),
    "inspect Switch": (("inspect/switch",), 1),
    "decode": (("inspect/decode",), 1),
    "rules": (("inspect/rules",), 1),
    "stepping": (("inspect/stepping",), 1),
    "diff": (("inspect/diff",), 1),
    "cli": (("cli",), 1),
}

# Old text -> why the fault has no visible effect.
EQUIVALENT: dict[str, str] = {}

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>",
    ast.RShift: "<<",
}  # fmt: skip
FOR_PEOPLE = {"__repr__", "__str__", "_repr_html_", "_repr_png_"}


@dataclass(frozen=True)
class Fault:
    """A fault of a room: `old` occurs once in one file of the package, `file` when it was drawn, and becomes `new`."""

    room: str
    file: str
    kind: str
    old: str
    new: str

    def place(self, root: Path) -> Path:
        """The file that has its text now."""
        for path in [root / PACKAGE / self.file, *sorted((root / PACKAGE).rglob("*.py"))]:
            if path.is_file() and path.read_text(encoding="utf-8").count(self.old) == 1:
                return path
        raise SystemExit(f"{self.room}: nothing has this text any more, draw another fault:\n{self.old}")

    def difference(self) -> str:
        """The line that changes, as it is and as it becomes."""
        pairs = zip(self.old.splitlines(), self.new.splitlines(), strict=True)
        return "; ".join(f"{a.strip()}  ->  {b.strip()}" for a, b in pairs if a != b)


# Drawing


def places(tree: ast.Module, tables: bool) -> Iterator[ast.AST]:
    """Nodes that may be changed: of function bodies, and of tables at the top of modules."""
    for node in tree.body if tables else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            yield from inside(node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in FOR_PEOPLE:
            for statement in node.body:
                yield from inside(statement)


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without text, messages, annotations and inner functions (which are separate)."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from inside(child)


def is_text(node: ast.AST) -> bool:
    """Whether it is text or a sequence written out, which cannot be subtracted."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)


def changed(node: ast.AST, source: str) -> tuple[str, str] | None:
    """(kind, text that replaces the node's text), or None if nothing in it can be changed."""

    def text(part: ast.AST) -> str:
        return str(ast.get_source_segment(source, part))

    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        return "comparison", f"({text(node.left)}) {COMPARISONS[type(node.ops[0])]} ({text(node.comparators[0])})"
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not (is_text(node.left) or is_text(node.right)):
        return "operator", f"({text(node.left)}) {OPERATORS[type(node.op)]} ({text(node.right)})"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return "constant", str(not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return "constant", str(node.value + 1)
    if isinstance(node, ast.BoolOp):
        other = "or" if isinstance(node.op, ast.And) else "and"
        return "branch", f" {other} ".join(f"({text(value)})" for value in node.values)
    return None


def negated(node: ast.AST, source: str) -> tuple[ast.expr, str] | None:
    """A branch that goes the other way: its test, and the text that replaces it."""
    if isinstance(node, ast.If | ast.IfExp | ast.While) and "TYPE_CHECKING" not in ast.dump(node.test):
        return node.test, f"not ({ast.get_source_segment(source, node.test)})"
    return None


@dataclass(frozen=True)
class Change:
    """Something that can be changed in a file: a node and the text that replaces it."""

    kind: str
    node: ast.expr
    text: str


def changes_of(source: str, facts: bool) -> list[Change]:
    """All that can be changed in a file. facts: also in its tables."""
    found: list[Change] = []
    for node in places(ast.parse(source), facts):
        branch, other = negated(node, source), changed(node, source)
        if branch is not None:
            found.append(Change("branch", *branch))
        if other is not None and isinstance(node, ast.expr):
            found.append(Change(other[0], node, other[1]))
    return found


def as_fault(room: str, path: Path, change: Change) -> Fault | None:
    """The fault as old and new text: whole lines, with lines before them until they occur in the file once."""
    source = path.read_text(encoding="utf-8")
    first, last = change.node.lineno - 1, int(change.node.end_lineno or 0)
    lines = source.splitlines(keepends=True)
    head = lines[first].encode()[: change.node.col_offset].decode()
    tail = lines[last - 1].encode()[change.node.end_col_offset :].decode()
    segment, new = "".join(lines[first:last]), head + change.text + tail
    begin = first
    while begin > 0 and source.count("".join(lines[begin:last])) > 1:
        begin -= 1
    before = "".join(lines[begin:first])
    try:
        ast.parse(source.replace(before + segment, before + new, 1))
    except SyntaxError:
        return None
    usable = segment.count("\n") == new.count("\n") and segment != new and before + segment not in EQUIVALENT
    name = path.relative_to(ROOT / PACKAGE).as_posix()
    return Fault(room, name, change.kind, before + segment, before + new) if usable else None


def drawn(room: str, path: Path, r: random.Random) -> Fault | None:
    """A random fault in a file: first the kind, then the place."""
    source = path.read_text(encoding="utf-8")
    offered = changes_of(source, "facts" in path.parts)
    kinds = sorted({change.kind for change in offered})
    for _ in range(20 if kinds else 0):
        kind = r.choice(kinds)
        fault = as_fault(room, path, r.choice([change for change in offered if change.kind == kind]))
        if fault is not None:
            return fault
    return None


def choose(seed: int) -> list[Fault]:
    """A number of random faults in each room; no file twice in a room."""
    chosen: list[Fault] = []
    for room, (folders, count) in ROOMS.items():
        r = random.Random(f"{seed} {room}")
        paths = [ROOT / PACKAGE / folder for folder in folders]
        files = sorted(file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py")))
        files = [file for file in files if len(file.read_text(encoding="utf-8").splitlines()) > 30]
        r.shuffle(files)
        found = [fault for fault in (drawn(room, file, r) for file in files[: count + 6]) if fault is not None]
        if len(found) < count:
            raise SystemExit(f"{room}: only {len(found)} of {count} faults found")
        chosen += found[:count]
    return chosen


# Running


def copied(target: Path) -> None:
    """The tree as it is, without what git ignores."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def run_tests(tree: Path, tests: list[str], timeout: int) -> tuple[str, str]:
    """("caught" or "missed" or "no end", the first test that failed)."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "POCKETGPU_CACHE": str(tree / "cache"), "PYTHONPATH": str(tree / "src")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=timeout,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "no end", ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == 5 or (done.returncode and not failed and "error" in done.stderr.lower()[:200]):
        print(done.stdout[-500:], done.stderr[-500:])
    return ("caught" if done.returncode else "missed"), (failed[0][:150] if failed else "")


def nearest(tree: Path, path: Path) -> list[str]:
    """Files of the quick tests that import a module, or something of its folder."""
    module = path.relative_to(tree / "src").with_suffix("").as_posix().replace("/", ".")
    folder = module.rpartition(".")[0]
    scores: dict[str, int] = {}
    for line in (tree / "tests" / "quick.txt").read_text(encoding="utf-8").splitlines():
        name = line.split("#")[0].split()[0] if line.split("#")[0].split() else ""
        if name and (tree / "tests" / name).is_file():
            text = (tree / "tests" / name).read_text(encoding="utf-8")
            scores[f"tests/{name}"] = 10 * text.count(f"{module} ") + text.count(f"{folder}.")
    best = sorted(scores, key=lambda name: -scores[name])[:NEAREST]
    return [name for name in best if scores[name]]


def run(faults: list[tuple[int, Fault]], tests: list[str], timeout: int) -> int:
    """Make one fault after the other and run the tests; returns how many were missed."""
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copied(tree)
        cache = Path(os.environ.get("POCKETGPU_CACHE") or Path.home() / ".cache" / "pocketgpu" / "kernels")
        if cache.is_dir():
            shutil.copytree(cache, tree / "cache")
        (tree / "cache").mkdir(mode=0o700, exist_ok=True)
        (tree / "cache").chmod(0o700)
        verdict, first = run_tests(tree, tests, timeout)
        if verdict != "missed":
            raise SystemExit(f"the tests fail without any fault: {first}")
        for number, fault in faults:
            path = fault.place(tree)
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
            started = time.perf_counter()
            near = nearest(tree, path)
            verdict, first = run_tests(tree, ["--quick", *near], timeout) if near and tests == QUICK else ("missed", "")
            if verdict == "missed":
                verdict, first = run_tests(tree, tests, timeout)
            path.write_text(text, encoding="utf-8")
            if verdict == "missed":
                missed.append(number)
            seconds = time.perf_counter() - started
            where = path.relative_to(tree / PACKAGE).as_posix()
            print(f"{number:2} {fault.room:17} {verdict:7} {seconds:5.0f} s  {where}: {fault.difference()}", flush=True)
            if first:
                print(f"   by {first}", flush=True)
    print(f"{len(faults) - len(missed)} of {len(faults)} caught; missed: {missed or 'none'}")
    return len(missed)


def table() -> list[Fault]:
    return [Fault(**row) for row in json.loads(TABLE.read_text(encoding="utf-8"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "check", "choose"])
    parser.add_argument("--only", help="numbers of faults, with commas")
    parser.add_argument("--tests", nargs="+", default=QUICK, help="what pytest is given")
    parser.add_argument("--timeout", type=int, default=900, help="seconds for one run of the tests")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    if options.what == "choose":
        rows = [asdict(fault) for fault in choose(options.seed)]
        TABLE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    numbered = list(enumerate(table()))
    if options.only:
        wanted = {int(number) for number in options.only.split(",")}
        numbered = [(number, fault) for number, fault in numbered if number in wanted]
    if options.what == "run":
        sys.exit(bool(run(numbered, options.tests, options.timeout)))
    for number, fault in numbered:
        where = fault.place(ROOT).relative_to(ROOT / PACKAGE).as_posix()
        print(f"{number:2} {fault.room:17} {fault.kind:10} {where}: {fault.difference()}")


if __name__ == "__main__":
    main()
