"""Do the tests of a room notice when its code is wrong? 150 small faults, one after the other, in a copy of the tree.

    make mutants                                      all rooms
    python tools/mutants.py run --room "inspect 3DS"  one room (part of the name is enough)
    python tools/mutants.py run --only 3,17           some faults
    python tools/mutants.py check                     list the faults
    python tools/mutants.py choose                    draw others for those that cannot be made any more
    python tools/mutants.py rooms                     rooms, their files and their tests
    python tools/mutants.py reasons                   faults that no test can or does notice, and why

`tools/mutations.py` asks how much the quick tests notice. This one asks the tests of the room that has the fault, all
of them if need be, and of each room at least 90 % of the faults must be caught; if not, it ends with 1.

The faults are in mutants.json. They were drawn at random, by a fixed seed, a number for each room: those of
mutations.py (comparisons, operators, constants, branches), and these:

    names    two neighbours of a table change places: values of a dict, texts of a tuple or list
    words    two values of a text that the program shows change places: f"{a} of {b}" becomes f"{b} of {a}"
    swap     the first two arguments of a call change places, if both are names, or both are constants
    dropped  a branch is never taken
    row      in a table (*.tsv) a number of one line is one more

A fault is kept as text, old and new. One that changes nothing that can be seen has a reason that begins with
"equivalent:"; it is listed, but not counted. Any other reason says why no test notices the fault; it counts as missed.

The test that caught a fault before goes first (`--keep` notes it in the table). Then the nearest tests: those with the
name of its module, then those of its folder, then the files that mention it. The four nearest files run alone, before
the others are even collected; of both, quick tests (`--quick`) go before all tests. A test that fails has caught the
fault if it passes without it, which is tried once for each such test. A test that takes more than `--hang` seconds has
caught it as well. Times are those of the processor.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from mutations import PACKAGE, ROOT, Change, Fault, as_fault, changed, copied, listed, negated

TABLE = Path(__file__).resolve().with_suffix(".json")
SEED = 16
LEAST = 0.9
"""Share of the faults of each room that must be caught."""
EQUIVALENT = "equivalent:"
NEAR = 4
"""How many files of tests are tried before the others are collected."""
NO_TESTS = 5
"""What pytest ends with if there was nothing to run."""
SHOWN = ("inspect", "cli")
"""Rooms whose texts are answers."""


@dataclass(frozen=True)
class Room:
    """folders: of the package. count: faults. tests: folders and files below tests/, the nearest first."""

    folders: tuple[str, ...]
    count: int
    tests: tuple[str, ...]


PIXELS_3DS = ("pictures/test_zoo.py", "conformance/test_cmd*.py")
PIXELS_SWITCH = ("conformance/test_b197*.py", "pictures/test_zoo_switch.py")
ROOMS: dict[str, Room] = {
    "lanes": Room(
        ("lanes", "arena.py", "control_flow.py", "struct_words.py", "workers.py"), 5,
        ("unit/lanes", "unit/maxwell/sass/semantics", "unit/pica/shader"),
    ),
    "facts": Room(("facts",), 7, ("unit/facts", "conformance", "unit/cli/test_regs*.py", "unit/maxwell/sass/isa")),
    "builder": Room(("builder",), 5, ("unit/builder", "unit/promises", "pictures/test_zoo*.py")),
    "capture": Room(("capture",), 8, ("unit/capture", "pictures/test_gx_equals_ctf.py", "unit/cli")),
    "pica front": Room(
        ("pica/front", "pica/core", "pica/n3ds.py", "pica/external", "pica/engines", "pica/memory", "pica/gsp"), 9,
        ("unit/pica/front", "unit/pica/core", "unit/pica/external", "unit/pica/engines", "unit/pica/memory",
         "unit/pica/gsp", "unit/pica/test_*.py", "conformance/test_ext*.py", "conformance/test_gsp*.py",
         "conformance/test_cmd*.py", "unit/inspect/rules"),
    ),
    "pica vertex": Room(
        ("pica/vertex", "pica/primitives", "pica/shader"), 10,
        ("unit/pica/vertex", "unit/pica/primitives", "unit/pica/shader", *PIXELS_3DS, "unit/inspect/stepping"),
    ),
    "pica fragment": Room(
        ("pica/fragment", "pica/texture"), 10, ("unit/pica/fragment", "unit/pica/texture", *PIXELS_3DS)
    ),
    "pica display": Room(
        ("pica/display", "pica/pdc"), 5, ("unit/pica/display", "unit/pica/pdc", "conformance/test_ext*.py")
    ),
    "maxwell host": Room(
        ("maxwell/host", "maxwell/mme", "maxwell/memory", "maxwell/display", "maxwell/gm20b.py"), 10,
        ("unit/maxwell/host", "unit/maxwell/mme", "unit/maxwell/memory", "unit/maxwell/display", "unit/maxwell/engines",
         "unit/maxwell/test_*.py", "conformance/test_channel*.py", "conformance/test_b*.py"),
    ),
    "maxwell engines": Room(
        ("maxwell/engines", "maxwell/compute"), 7,
        ("unit/maxwell/engines", "unit/maxwell/compute", "conformance/test_b*.py", "unit/maxwell/sass/launch"),
    ),
    "maxwell graphics": Room(("maxwell/graphics",), 10, ("unit/maxwell/graphics", *PIXELS_SWITCH)),
    "maxwell sass": Room(
        ("maxwell/sass",), 10,
        ("unit/maxwell/sass", "unit/maxwell/compute", "unit/maxwell/graphics/programs", "unit/cli/test_shader*.py"),
    ),
    "maxwell sampling": Room(
        ("maxwell/sampling", "maxwell/textures", "maxwell/formats"), 7,
        ("unit/maxwell/sampling", "unit/maxwell/textures", "unit/maxwell/formats", "unit/maxwell/sass/launch",
         *PIXELS_SWITCH),
    ),
    "inspect 3DS": Room(
        ("inspect/n3ds",), 12, ("unit/inspect", "unit/cli/test_texts.py", "unit/promises", "unit/cli")
    ),
    "inspect Switch": Room(
        ("inspect/switch",), 10, ("unit/inspect", "unit/cli/test_texts.py", "unit/promises", "unit/cli")
    ),
    "rules": Room(("inspect/rules",), 8, ("unit/inspect/rules", "unit/inspect", "unit/cli/test_texts.py")),
    "decode and diff": Room(
        ("inspect/decode", "inspect/diff", "inspect/model", "inspect/pictures", "inspect/registers", "inspect/shaders",
         "inspect/stepping"), 10,
        ("unit/inspect", "unit/cli", "unit/promises"),
    ),
    "cli": Room(("cli",), 7, ("unit/cli", "unit/promises", "unit/test_*.py")),
}  # fmt: skip


@dataclass(frozen=True)
class Mutant(Fault):
    """A fault with the reason why it is not noticed ("" if it is, or if nobody has looked), and the test that caught it
    before, which is tried first."""

    reason: str = ""
    by: str = ""

    @property
    def equivalent(self) -> bool:
        return self.reason.startswith(EQUIVALENT)


# Drawing


@cache
def lines_of(source: str) -> list[str]:
    return source.splitlines()


def swapped(kind: str, one: ast.expr, other: ast.expr, source: str) -> Iterator[Change]:
    """The change that lets two parts of a line change places; none if they are equal or on several lines."""
    if not one.lineno == one.end_lineno == other.lineno == other.end_lineno:
        return
    line = lines_of(source)[one.lineno - 1].encode()
    a, b, c, d = one.col_offset, int(one.end_col_offset or 0), other.col_offset, int(other.end_col_offset or 0)
    if line[a:b] != line[c:d]:
        both = ast.copy_location(ast.Constant(0), one)
        both.end_col_offset = d
        yield Change(kind, both, (line[c:d] + line[b:c] + line[a:b]).decode())


def is_name(node: ast.AST) -> bool:
    """Whether it is a text, a symbol (COMPARE.LESS) or a number, as tables have them."""
    return isinstance(node, ast.Constant | ast.Attribute)


def table_changes(node: ast.AST, source: str) -> Iterator[Change]:
    """Neighbours of a table that change places."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.Dict):
        parts = node.values
    elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load):
        parts = [part for part in node.elts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    for one, other in itertools.pairwise(parts):
        if is_name(one) and is_name(other):
            yield from swapped("names", one, other, source)


_HOLE = re.compile(r"\{([A-Za-z_][^{}!:]*)\}")


def word_changes(node: ast.AST, source: str) -> Iterator[Change]:
    """Two neighbouring values of a shown text that change places."""
    text = ast.get_source_segment(source, node) if isinstance(node, ast.JoinedStr) else None
    if text is None or "\n" in text or not isinstance(node, ast.expr):
        return
    holes = list(_HOLE.finditer(text))
    for one, other in itertools.pairwise(holes):
        if one.group(0) != other.group(0):
            new = other.group(0) + text[one.end() : other.start()] + one.group(0)
            yield Change("words", node, text[: one.start()] + new + text[other.end() :])


SIMPLE = ast.Name | ast.Attribute | ast.Subscript | ast.Constant
EITHER_WAY = frozenset(("max", "min", "isinstance", "zip", "Struct", "range", "hasattr", "issubset", "array_equal"))
"""Functions whose arguments may change places, or where that only ends in a TypeError."""


def other_changes(node: ast.AST, source: str) -> Iterator[Change]:
    """Arguments that change places, branches that are never taken."""
    if isinstance(node, ast.Call) and len(node.args) > 1 and ast.unparse(node.func).split(".")[-1] not in EITHER_WAY:
        one, other = node.args[:2]
        like = type(one) is type(other) and type(getattr(one, "value", 0)) is type(getattr(other, "value", 0))
        if like and not {"k", "self"} & {ast.unparse(one), ast.unparse(other)} and isinstance(one, SIMPLE):
            yield from swapped("swap", one, other, source)
    if isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.dump(node.test):
        yield Change("dropped", node.test, f"False and ({ast.get_source_segment(source, node.test)})")


def everywhere(node: ast.AST, shown: bool) -> Iterator[ast.AST]:
    """A node and what is in it, without docstrings, annotations and messages of exceptions.

    shown: texts are answers, so they count too, outside of exceptions.
    """
    if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom):
        return
    if not shown and isinstance(node, ast.JoinedStr):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
        return
    if isinstance(node, ast.FunctionDef) and node.name == "__repr__":
        return
    yield node
    if isinstance(node, ast.JoinedStr):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from everywhere(child, shown)


def python_changes(source: str, shown: bool) -> list[Change]:
    """All that can be changed in a module."""
    found: list[Change] = []
    for node in everywhere(ast.parse(source), shown):
        branch, simple = negated(node, source), changed(node, source)
        if branch is not None:
            found.append(Change("branch", *branch))
        if simple is not None and isinstance(node, ast.expr):
            found.append(Change(simple[0], node, simple[1]))
        found += [*table_changes(node, source), *word_changes(node, source), *other_changes(node, source)]
    return found


_NUMBER = re.compile(r"(?<![\w.-])(0x[0-9a-f]+|0[0-9a-f]+|[0-9]+)(?![\w.])")


def row_fault(room: str, path: Path, r: random.Random) -> Mutant | None:
    """A number of a table that is one more; of the columns before the text only."""
    source = path.read_text(encoding="utf-8")
    lines = [line for line in source.splitlines(keepends=True) if not line.startswith("#")]
    for _ in range(20):
        line = r.choice(lines)
        head = "\t".join(line.split("\t")[:3])
        numbers = list(_NUMBER.finditer(head))
        if not numbers or source.count(line) != 1:
            continue
        one = r.choice(numbers)
        text = one.group(0)
        prefix, digits = ("0x", text[2:]) if text.startswith("0x") else ("", text)
        base = 16 if prefix or digits.startswith("0") else 10  # ids of methods: 02d0
        more = f"{int(digits, base) + 1:{'x' if base == 16 else 'd'}}".rjust(len(digits), "0")
        new = line[: one.start()] + prefix + more + line[one.end() :]
        return Mutant(room, path.relative_to(ROOT / PACKAGE).as_posix(), "row", line, new)
    return None


def drawn(room: str, path: Path, r: random.Random) -> Mutant | None:
    """A random fault in a file: first the kind, then the place."""
    if path.suffix == ".tsv":
        return row_fault(room, path, r)
    source = path.read_text(encoding="utf-8")
    offered = python_changes(source, path.relative_to(ROOT / PACKAGE).parts[0] in SHOWN)
    kinds = sorted({change.kind for change in offered})
    for _ in range(20 if kinds else 0):
        kind = r.choice(kinds)
        fault = as_fault(room, path, r.choice([change for change in offered if change.kind == kind]))
        if fault is not None:
            return Mutant(**asdict(fault))
    return None


def files_of(room: Room, suffixes: tuple[str, ...]) -> list[Path]:
    """The files of a room that are long enough to have something to change."""
    paths = [ROOT / PACKAGE / folder for folder in room.folders]
    files = sorted(file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    return [f for f in files if f.suffix in suffixes and len(f.read_text(encoding="utf-8").splitlines()) > 30]


def choose(seed: int, kept: list[Mutant]) -> list[Mutant]:
    """The faults of all rooms: those that can still be made, and random ones for the rest; no file twice in a room."""
    chosen: list[Mutant] = []
    for name, room in ROOMS.items():
        mine = [one for one in kept if one.room == name and one.there(ROOT)][: room.count]
        r = random.Random(f"{seed} {name} {len(mine)}")
        files = files_of(room, (".py", ".tsv") if name == "facts" else (".py",))
        used = {one.file for one in mine}
        files = [file for file in files if file.relative_to(ROOT / PACKAGE).as_posix() not in used]
        r.shuffle(files)
        for file in files:
            if len(mine) == room.count:
                break
            found = drawn(name, file, r)
            if found is not None:
                mine.append(found)
        chosen += mine
    return chosen


# Running


def tests_of(tree: Path, room: Room, path: Path) -> list[str]:
    """Files of the room's tests, those that are nearest to a module first; of equally near ones, the short ones."""
    place = path.relative_to(tree / PACKAGE)
    module = f"pocketgpu.{place.with_suffix('').as_posix().replace('/', '.')}"
    found: list[str] = []
    for part in room.tests:
        folder = tree / "tests" / part
        files = folder.rglob("test_*.py") if folder.is_dir() else (tree / "tests").glob(part)
        found += [name for file in sorted(files) if (name := file.relative_to(tree).as_posix()) not in found]

    def distance(name: str) -> tuple[int, int, int, int]:
        file = tree / name
        text = file.read_text(encoding="utf-8")
        near = len(Path(os.path.commonpath([name, (Path("tests") / "unit" / place).as_posix()])).parts)
        same = file.stem == f"test_{place.stem}"
        return -int(same), -near, -min(text.count(f"{module} ") + text.count(place.stem), 3), len(text)

    return sorted(found, key=distance)


@dataclass(frozen=True)
class Verdict:
    """caught: by the test of that id, or by its hanging. whole: all tests of the room were run."""

    caught: bool
    by: str = ""
    whole: bool = True


class Runner:
    """Runs tests in a copy of the tree. limit: seconds of processor time for the tests of one fault. hang: seconds
    after which a test is taken for one that does not end."""

    def __init__(self, tree: Path, limit: int, hang: int) -> None:
        self.tree, self.limit, self.hang = tree, limit, hang
        self._sound: dict[str, bool] = {}
        paths = {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree / 'tools'}"}
        self._environment = {
            **os.environ, **paths, "POCKETGPU_CACHE": str(tree / "cache"),
            "PYTHONPYCACHEPREFIX": str(tree / "bytecode"), "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def pytest(self, tests: list[str], *options: str, limit: int | None = None) -> tuple[int, str]:
        """(exit status, id of the test that failed or hung, or a line that says what did)."""
        watch = ["-o", f"faulthandler_timeout={self.hang}", "-o", "faulthandler_exit_on_timeout=true"]
        command = [sys.executable, "-m", "pytest", "-x", "-v", "-p", "no:cacheprovider", *watch, *options, *tests]
        done = subprocess.run(
            ["/bin/sh", "-c", f'ulimit -t {limit or self.limit}; exec "$@"', "sh", *command], cwd=self.tree,
            env=self._environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return done.returncode, ""
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if failed:
            return done.returncode, failed[0].split(" - ")[0].partition(" ")[2]
        lines = [line for line in (*done.stdout.splitlines(), *done.stderr.splitlines()) if line.strip()]
        begun = [line for line in lines if "::" in line and not line.rstrip().endswith("%]")]
        return done.returncode, (begun or lines or [""])[-1].strip()

    def sound(self, test: str) -> bool:
        """Whether a test passes without any fault."""
        if test not in self._sound:
            self._sound[test] = self.pytest([test])[0] == 0
            if not self._sound[test]:
                print(f"   {test} fails without any fault", flush=True)
        return self._sound[test]

    def verdict(self, one: Mutant, path: Path) -> Verdict:
        """Make a fault, run quick tests and then all tests, and take it away again."""
        text, tests = path.read_text(encoding="utf-8"), tests_of(self.tree, ROOMS[one.room], path)
        quick = [name for name in tests if name in set(listed(self.tree))]
        stages: list[tuple[tuple[str, ...], list[str]]] = [
            (("--quick",), quick[:NEAR]), ((), tests[:NEAR]), (("--quick",), quick[NEAR:]), ((), tests[NEAR:]),
        ]  # fmt: skip
        if (self.tree / one.by.partition("::")[0]).is_file():
            stages.insert(0, ((), [one.by]))
        unsound: list[str] = []
        whole = True
        for options, names in stages:
            while names:
                path.write_text(text.replace(one.old, one.new, 1), encoding="utf-8")
                try:
                    status, by = self.pytest(names, *options, *(f"--deselect={one}" for one in unsound))
                finally:
                    path.write_text(text, encoding="utf-8")
                if status in (0, NO_TESTS):
                    break
                if status in (-signal.SIGXCPU, -signal.SIGKILL):
                    whole = False
                    break
                if "::" not in by or self.sound(by):
                    return Verdict(True, by)
                unsound.append(by)
        return Verdict(False, whole=whole)


def spent() -> float:
    """Seconds of processor time of the tests that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def run(chosen: list[tuple[int, Mutant]], limit: int, hang: int, results: Path, every: bool) -> dict[int, Verdict]:
    """Make one fault after the other; a line of `results` for each. every: also those that are known to change nothing.

    Returns the verdicts by the numbers of the faults.
    """
    verdicts: dict[int, Verdict] = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copied(tree)
        cache = Path(os.environ.get("POCKETGPU_CACHE") or Path.home() / ".cache" / "pocketgpu" / "kernels")
        if cache.is_dir():
            shutil.copytree(cache, tree / "cache")
        (tree / "cache").mkdir(mode=0o700, exist_ok=True)
        (tree / "cache").chmod(0o700)
        runner = Runner(tree, limit, hang)
        for number, one in chosen:
            path, begun = one.place(tree), spent()
            skipped = one.equivalent and not every
            found = Verdict(False) if skipped else runner.verdict(one, path)
            verdicts[number] = found
            word = "caught" if found.caught else "equivalent" if one.equivalent else "MISSED"
            taken = f"{spent() - begun:4.0f} s"
            print(f"{number:3} {one.room:16} {word:10} {taken}  {one.file}: {one.difference()}")
            print(f"      {found.by if found.caught else one.reason or 'no reason yet'}", flush=True)
            with results.open("a", encoding="utf-8") as file:
                row = (number, one.room, word, one.file, one.difference(), found.by, one.reason, found.whole)
                print(*row, sep="\t", file=file)
    return verdicts


def summary(verdicts: list[tuple[Mutant, Verdict]]) -> bool:
    """Print how many were caught in each room; whether these are enough everywhere."""
    enough = True
    for name in ROOMS:
        mine = [(one, found) for one, found in verdicts if one.room == name]
        counted = [(one, found) for one, found in mine if found.caught or not one.equivalent]
        if not mine:
            continue
        caught = sum(found.caught for _, found in counted)
        good = caught >= LEAST * len(counted)
        enough = enough and good
        same = f", {len(mine) - len(counted)} equivalent" if len(mine) > len(counted) else ""
        print(f"{name:18} {caught:3} of {len(counted):3} caught{same}{'' if good else '   TOO FEW'}")
    all_counted = [found for one, found in verdicts if found.caught or not one.equivalent]
    print(f"{'all':18} {sum(found.caught for found in all_counted):3} of {len(all_counted):3} caught")
    return enough


def table(path: Path) -> list[Mutant]:
    return [Mutant(**row) for row in json.loads(path.read_text(encoding="utf-8"))] if path.is_file() else []


def write(path: Path, faults: list[Mutant]) -> None:
    path.write_text(json.dumps([asdict(one) for one in faults], indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "check", "choose", "rooms", "reasons"])
    parser.add_argument("--room", default="", help="only rooms whose name has this")
    parser.add_argument("--only", help="numbers of faults, with commas")
    parser.add_argument("--keep", action="store_true", help="keep in the table which test caught a fault")
    parser.add_argument("--every", action="store_true", help="run faults that are known to change nothing, too")
    parser.add_argument("--limit", type=int, default=300, help="seconds of processor time for each run of tests")
    parser.add_argument("--hang", type=int, default=120, help="seconds after which a test is taken for endless")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutants.tsv", help="where verdicts go")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--table", type=Path, default=TABLE, help="the faults")
    options = parser.parse_args()
    if options.what == "choose":
        write(options.table, choose(options.seed, table(options.table)))
    faults = table(options.table)
    if gone := sum(one.there(ROOT) is None for one in faults):
        print(f"{gone} of {len(faults)} faults cannot be made any more: others are taken; `choose` keeps them")
        faults = choose(options.seed, faults)
    numbered = [(n, one) for n, one in enumerate(faults) if options.room.lower() in one.room.lower()]
    if options.only:
        found = dict(numbered)
        numbered = [(number, found[number]) for number in map(int, options.only.split(",")) if number in found]
    if options.what == "rooms":
        for name, room in ROOMS.items():
            print(f"{name}: {room.count} faults\n  {', '.join(room.folders)}\n  tests: {', '.join(room.tests)}")
    elif options.what == "run":
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text("", encoding="utf-8")
        verdicts = run(numbered, options.limit, options.hang, options.results, options.every)
        if options.keep:
            for number, found in verdicts.items():
                if found.caught and "::" in found.by:
                    faults[number] = replace(faults[number], by=found.by)
            write(options.table, faults)
        return 0 if summary([(faults[number], found) for number, found in verdicts.items()]) else 1
    for number, one in numbered if options.what in ("check", "choose", "reasons") else ():
        if options.what != "reasons" or one.reason:
            there = one.place(ROOT).relative_to(ROOT / PACKAGE).as_posix()
            print(f"{number:3} {one.room:16} {one.kind:10} {there}: {one.difference()}")
            print(f"      {one.reason}" if one.reason else "", end="\n" if one.reason else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
