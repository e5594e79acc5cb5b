"""Do the quick tests notice when the code is wrong? Fifty small faults, one after the other, in a copy of the tree.

    python tools/mutations.py run [--only 3,17] [--results FILE]   what `make quick` catches; a line for each fault
    python tools/mutations.py check                                each fault can still be made
    python tools/mutations.py choose [--seed N]                    draw new faults into mutations.json

The faults are drawn at random, a number for each room: a comparison that is off by one or reversed, a constant that is
one more, plus for minus, a branch that is taken when it should not be. Docstrings, annotations, messages and what is
only shown to people (`__repr__`) are left alone. A fault is kept as text, old and new, and found by it, so it survives
when a file moves. No fault is left out because it changes nothing that can be seen: such faults count as missed.

A run copies the tree (without .git) and the cache of compiled code into a temporary folder, so nothing here changes.
Recordings of other programs are used where POCKETGPU_RECORDINGS names them. Tests that fail, crash or need more than
`--limit` seconds have caught the fault. The files that are nearest to its module go first; those for the other console
are left out, as no import leads there. `--only` and `--nearest` are for a first look.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src") / "pocketgpu"
TABLE = Path(__file__).resolve().with_suffix(".json")
SEED = 15

# Room -> folders and files of it, and how many faults it gets.
ROOMS: dict[str, tuple[tuple[str, ...], int]] = {
    "lanes": (("lanes", "arena.py", "control_flow.py", "struct_words.py", "workers.py"), 2),
    "facts": (("facts",), 2),
    "pica front": (("pica/front", "pica/core", "pica/n3ds.py"), 2),
    "pica vertex": (("pica/vertex", "pica/primitives"), 2),
    "pica fragment": (("pica/fragment",), 3),
    "pica texture": (("pica/texture",), 2),
    "pica display": (("pica/display", "pica/pdc"), 2),
    "pica external": (("pica/external", "pica/engines", "pica/memory"), 1),
    "pica gsp": (("pica/gsp",), 1),
    "pica shader": (("pica/shader",), 2),
    "maxwell host": (("maxwell/host", "maxwell/display", "maxwell/gm20b.py"), 1),
    "maxwell mme": (("maxwell/mme",), 1),
    "maxwell memory": (("maxwell/memory",), 2),
    "maxwell engines": (("maxwell/engines", "maxwell/compute"), 3),
    "maxwell graphics": (("maxwell/graphics",), 5),
    "maxwell sass": (("maxwell/sass",), 4),
    "maxwell sampling": (("maxwell/sampling",), 2),
    "maxwell textures": (("maxwell/textures", "maxwell/formats"), 2),
    "capture": (("capture/formats", "capture/driver"), 1),
    "pgc": (("capture/pgc", "capture/formats/pgc"), 2),
    "builder": (("builder",), 1),
    "inspect 3DS": (("inspect/n3ds",), 1),
    "inspect Switch": (("inspect/switch",), 1),
    "decode": (("inspect/decode", "inspect/registers", "inspect/shaders"), 1),
    "rules": (("inspect/rules",), 1),
    "stepping": (("inspect/stepping", "inspect/model"), 1),
    "diff": (("inspect/diff", "inspect/pictures"), 1),
    "cli": (("cli",), 1),
}

# Names of folders and files that are about one console, and those about the other one.
N3DS_ONLY = {"pica", "n3ds", "n3ds.py", "gsp.py", "test_gsp.py"}
SWITCH_ONLY = {"maxwell", "switch", "switch.py", "test_switch_sample.py"}
OTHERS = ((N3DS_ONLY, SWITCH_ONLY), (SWITCH_ONLY, N3DS_ONLY))

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

    def there(self, root: Path) -> Path | None:
        """The file that has its text now, if there is one."""
        for path in [root / PACKAGE / self.file, *sorted((root / PACKAGE).rglob("*.py"))]:
            if path.is_file() and path.read_text(encoding="utf-8").count(self.old) == 1:
                return path
        return None

    def place(self, root: Path) -> Path:
        """The file that has its text now."""
        path = self.there(root)
        if path is None:
            raise SystemExit(f"{self.room}: nothing has this text any more, draw another fault:\n{self.old}")
        return path

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
    usable = segment.count("\n") == new.count("\n") and segment != new
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


def run_tests(tree: Path, tests: list[str], limit: int, **more: str) -> tuple[str, str]:
    """("caught" or "missed" or "no end", the first test that failed). limit: seconds of processor time."""
    command = [sys.executable, "-m", "pytest", "--quick", "-x", "-q", "-p", "no:cacheprovider", *tests]
    paths = {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree / 'tools'}", "PYTHONPYCACHEPREFIX": str(tree / "bytecode")}
    environment = {**os.environ, "POCKETGPU_CACHE": str(tree / "cache"), **paths, **more}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh", *command], cwd=tree, env=environment,
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    first = failed[0].split(" - ")[0].partition(" ")[2] if failed else ""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "no end", ""
    if done.returncode and not failed:
        first = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or [""])[-1]
    return ("caught" if done.returncode else "missed"), first[:150]


def listed(tree: Path) -> list[str]:
    """Files of the quick list."""
    lines = (line.split("#")[0].split() for line in (tree / "tests" / "quick.txt").read_text().splitlines())
    return [f"tests/{words[0]}" for words in lines if words]


def that_can_see(tree: Path, path: Path) -> list[str]:
    """Files of tests for a fault in a module, the nearest first, without those for the other console."""
    place = path.relative_to(tree / PACKAGE)
    module = f"pocketgpu.{place.with_suffix('').as_posix().replace('/', '.')}"
    others = next((other for own, other in OTHERS if own.intersection(place.parts)), set())

    def distance(name: str) -> tuple[int, int]:
        text = (tree / name).read_text(encoding="utf-8")
        near = len(Path(os.path.commonpath([name, (Path("tests") / "unit" / place).as_posix()])).parts)
        return -near, -10 * text.count(f"{module} ") - text.count(f"{module.rpartition('.')[0]}.")

    return sorted((name for name in listed(tree) if not others.intersection(Path(name).parts)), key=distance)


def run(faults: list[tuple[int, Fault]], limit: int, results: Path, nearest: int) -> None:
    """Make one fault after the other and run the tests; a line of `results` for each."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copied(tree)
        cache = Path(os.environ.get("POCKETGPU_CACHE") or Path.home() / ".cache" / "pocketgpu" / "kernels")
        if cache.is_dir():
            shutil.copytree(cache, tree / "cache")
        (tree / "cache").mkdir(mode=0o700, exist_ok=True)
        (tree / "cache").chmod(0o700)
        verdict, by = ("missed", "") if nearest else run_tests(tree, [], limit)
        if verdict != "missed":
            raise SystemExit(f"the tests fail without any fault: {by}")
        for number, fault in faults:
            path = fault.place(tree)
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
            verdict, by = run_tests(tree, that_can_see(tree, path)[: nearest or None], limit)
            path.write_text(text, encoding="utf-8")
            where = path.relative_to(tree / PACKAGE).as_posix()
            with results.open("a", encoding="utf-8") as file:
                print(number, fault.room, verdict, where, fault.difference(), by, sep="\t", file=file)
            print(f"{number:2} {fault.room:17} {verdict:7} {where}: {fault.difference()}\n   by {by}", flush=True)


def table(path: Path) -> list[Fault]:
    return [Fault(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "check", "choose"])
    parser.add_argument("--only", help="numbers of faults, with commas")
    parser.add_argument("--limit", type=int, default=300, help="seconds of processor time for the tests of one fault")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutations.tsv", help="where verdicts go")
    parser.add_argument("--nearest", type=int, default=0, help="run only so many files of tests for a fault")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--table", type=Path, default=TABLE, help="the faults")
    options = parser.parse_args()
    if options.what == "choose":
        rows = [asdict(fault) for fault in choose(options.seed)]
        options.table.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    numbered = list(enumerate(table(options.table)))
    if options.only:
        wanted = {int(number) for number in options.only.split(",")}
        numbered = [(number, fault) for number, fault in numbered if number in wanted]
    if options.what == "run":
        options.results.parent.mkdir(parents=True, exist_ok=True)
        run(numbered, options.limit, options.results, options.nearest)
        verdicts = [line.split("\t")[2] for line in options.results.read_text(encoding="utf-8").splitlines()]
        print(f"{len(verdicts) - verdicts.count('missed')} of {len(verdicts)} in {options.results} are caught")
        return
    for number, fault in numbered:
        where = fault.place(ROOT).relative_to(ROOT / PACKAGE).as_posix()
        print(f"{number:2} {fault.room:17} {fault.kind:10} {where}: {fault.difference()}")


if __name__ == "__main__":
    main()
