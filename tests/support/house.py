"""What the source says of itself: modules with their imports, names, functions. For the tests of the house's order.

A room is a folder of src/pocketgpu. Modules right in the package (errors.py, memory.py, ...) are a room each.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
PACKAGE = "pocketgpu"
Edge = tuple[str, str]


@dataclass(frozen=True)
class Module:
    """One module. name: dotted, without the package's own name; "" is the package itself."""

    path: Path

    @cached_property
    def place(self) -> str:
        """Its file inside of the package."""
        return self.path.relative_to(SOURCE / PACKAGE).as_posix()

    @cached_property
    def name(self) -> str:
        return self.place.removesuffix(".py").replace("/", ".").removesuffix("__init__").removesuffix(".")

    @cached_property
    def room(self) -> str:
        """Its folder; of a module right in the package its own name."""
        folder = Path(self.place).parent.as_posix()
        return self.place if folder == "." else folder

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, as `ast.walk` has them, in a third of the time."""
        found: list[ast.AST] = [self.tree]
        for node in found:  # it grows
            for value in vars(node).values():
                if isinstance(value, ast.AST):
                    found.append(value)
                elif isinstance(value, list):
                    found += [one for one in value if isinstance(one, ast.AST)]
        return found

    @cached_property
    def for_types(self) -> set[ast.AST]:
        """Nodes below `if TYPE_CHECKING:`."""
        found: set[ast.AST] = set()
        for node in self.nodes:
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                found.update(inner for statement in node.body for inner in ast.walk(statement))
        return found

    @cached_property
    def imports(self) -> list[tuple[str, str]]:
        """(module, name in it or "") of all that it imports of the package when it runs, also inside of functions."""
        found: list[tuple[str, str]] = []
        for node in self.nodes:
            if not isinstance(node, ast.Import | ast.ImportFrom) or node in self.for_types:
                continue
            if isinstance(node, ast.Import):
                found += ((alias.name, "") for alias in node.names)
            else:
                base = str(node.module or "")
                if node.level:
                    parts = self.name.split(".") if self.name else []
                    keep = len(parts) - node.level + (self.path.name == "__init__.py")
                    base = ".".join([PACKAGE, *parts[: max(keep, 0)], *([node.module] if node.module else [])])
                found += ((base, alias.name) for alias in node.names)
        return found


@cache
def modules() -> tuple[Module, ...]:
    return tuple(Module(path) for path in sorted((SOURCE / PACKAGE).rglob("*.py")))


@cache
def by_name() -> Mapping[str, Module]:
    return {f"{PACKAGE}.{module.name}".removesuffix("."): module for module in modules()}


@cache
def dependencies() -> tuple[tuple[Module, Module], ...]:
    """Pairs of modules: the first imports the second when it runs."""
    found: set[tuple[Module, Module]] = set()
    for module in modules():
        for base, name in module.imports:
            target = by_name().get(f"{base}.{name}") or by_name().get(base)
            if target is not None and target is not module:
                found.add((module, target))
    return tuple(sorted(found, key=lambda pair: (pair[0].place, pair[1].place)))


def forget() -> None:
    """Forget the modules: their trees take some hundred megabytes."""
    for kept in (modules, by_name, dependencies):
        kept.cache_clear()


def circles(edges: Iterable[Edge]) -> set[frozenset[str]]:
    """Nodes of a graph that can reach each other: each set is one or more circles that hang together."""
    after: dict[str, set[str]] = defaultdict(set)
    for one, other in edges:
        after[one].add(other)

    @cache
    def reached(start: str) -> frozenset[str]:
        found: set[str] = set()
        left = [start]
        while left:
            for node in after[left.pop()] - found:
                found.add(node)
                left.append(node)
        return frozenset(found)

    on_circles = [node for node in list(after) if node in reached(node)]
    return {frozenset(other for other in reached(node) if node in reached(other)) for node in on_circles}


# Names with an underscore

PUBLIC = re.compile(r"__\w+__|_repr_\w+_|_asdict|_replace|_fields|_fields_|_make|_exit|_getframe|_ctypes_|_")
"""Names with an underscore that are not private: of Python itself, of named tuples, of notebooks."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not PUBLIC.fullmatch(name)


def defined(module: Module) -> set[str]:
    """Private names that a module defines: functions, classes, variables, what is assigned on self or cls."""
    found: set[str] = set()
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            found.add(node.attr)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__slots__":
            found |= {one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)}
    return {name for name in found if is_private(name)}


def is_own(node: ast.expr) -> bool:
    """self, cls, super() or type(self)."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("super", "type")
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def foreign_privates() -> set[str]:
    """ "module: name" where a private name of another room is read, called, assigned or imported."""
    known: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        known[module.room] |= defined(module)
    found: set[str] = set()
    for module in modules():
        for node in module.nodes:
            if not isinstance(node, ast.Attribute) or is_own(node.value):
                continue
            if is_private(node.attr) and node.attr not in known[module.room]:
                found.add(f"{module.place}: {node.attr}")
        for base, name in module.imports:
            target = by_name().get(base)
            if is_private(name) and target is not None and target.room != module.room:
                found.add(f"{module.place}: {name}")
    return found


# Functions


def functions(module: Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """(qualified name, node) of every function."""

    def walk(node: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield ".".join((*path, child.name)), child
                yield from walk(child, (*path, child.name))
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, (*path, child.name))
            elif not isinstance(child, ast.expr):  # no function stands in an expression
                yield from walk(child, path)

    yield from walk(module.tree, ())


def has_reason(module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a comment "# long: reason" stands on the def line, or on the line above it or its decorators."""
    lines = module.text.splitlines()
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    end = node.body[0].lineno
    return any(re.search(r"#\s*long: \w", line) for line in lines[max(first - 2, 0) : end - 1])


# Consoles

CONSOLE_NAMES = {"3DS", "Switch", "3ds", "switch", "n3ds", "gm20b"}
CONSOLE_TYPES = {
    "ChannelLog", "GM20B", "GxLog", "N3DS", "N3DSDriver", "N3dsInspection", "PgcLog", "PgcTrace", "SwitchDriver",
    "SwitchInspection",
}  # fmt: skip


def console_tests() -> set[str]:
    """ "module: function" where code asks which console it is: a comparison with the name, or isinstance."""
    found: set[str] = set()
    for module in modules():
        asking = [node for node in module.nodes if asks_for_console(node)]
        if asking:
            owner: dict[ast.AST, str] = {}
            for name, function in functions(module):
                owner.update(dict.fromkeys(ast.walk(function), name))  # inner functions come later and win
            found |= {f"{module.place}: {owner.get(node, '(module)')}" for node in asking}
    return found


def asks_for_console(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(isinstance(side, ast.Constant) and side.value in CONSOLE_NAMES for side in sides)
    if isinstance(node, ast.MatchValue) and isinstance(node.value, ast.Constant):
        return node.value.value in CONSOLE_NAMES
    if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name):
        return node.cls.id in CONSOLE_TYPES
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        kinds = {inner.id for inner in ast.walk(node.args[1]) if isinstance(inner, ast.Name)}
        kinds |= {inner.attr for inner in ast.walk(node.args[1]) if isinstance(inner, ast.Attribute)}
        return bool(kinds & CONSOLE_TYPES)
    return False
