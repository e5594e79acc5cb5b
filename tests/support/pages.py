"""The pages' examples: what of a page is run, which files stand for those that it names, and why something cannot run.

A block of a page is run, or the line above it says why not:

    <!-- not run: another system -->

A block that shows a file is written under its name:  `<!-- file: fill.mme -->`
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from support.black_screen_causes import save_n3ds, save_switch
from support.fuzz import load
from support.made import is_made

from pocketgpu.cli import main
from pocketgpu.cli.app import COMMANDS, app
from pocketgpu.maxwell.sass.assembler import assemble as assemble_maxwell
from pocketgpu.pica.shader.assembler import assemble as assemble_pica
from pocketgpu.pica.shader.shbin import shbin_of, write_shbin

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "src" / "pocketgpu" / "data"
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if not is_made(path)),
]

REASONS = ("another system", "a network service", "a console", "the test suite itself")
"""Why an example of a page cannot run in a test. There are no others."""

RUN = ("python", "console", "sh", "indented")
SHOWN = ("json", "text")
"""Kinds of blocks that are data: JSON is parsed, and a text has no command in it."""
ELSEWHERE = {
    ("docs/guides/recorder.md", "c"): "tests/recorder/test_examples.py",
    ("docs/guides/recorder.md", "sh"): "tests/recorder/test_examples.py",
    ("docs/guides/editor-language.md", "lua"): "tests/unit/editor/lsp/test_neovim.py",
    ("docs/guides/editor.md", "elisp"): "tests/unit/editor/dap/test_clients.py",
    ("docs/guides/ci.md", "sh"): "tests/unit/test_ci_guide.py",
} | {
    (f"docs/reference/{path.name}", "python"): "tests/unit/promises/test_reference_examples.py"
    for path in (ROOT / "docs" / "reference").glob("python*.md")
}
"""Blocks that another test runs."""
ENDS_WITH = {
    "run crash.elf": 1,
    "sweep our-captures --do render --out before": 1,
    "sweep our-captures --do check": 1,
    "diff scene.ctf.xz other.ctf.xz": 1,
    "diff scene.ctf.xz --switch-b": 1,
    "diff scene.ctf.xz --frame 0 --force-b": 1,
    "launch squares.sass --grid 2 --block 32 --arg zeros:160 --arg u32:50": 1,
}
"""Exit codes other than 0, by the words that a command begins with."""


# -- stand-ins ---------------------------------------------------------------------------------------------------------
def _copy(name: str) -> Callable[[Path], None]:
    return lambda path: shutil.copy(DATA / name, path) and None


def _kernel(path: Path) -> None:
    text = "S2R R0, SR_TID.X\nMOV R2, c[0x0][0x140]\nMOV R3, c[0x0][0x144]\nSTG.E [R2], R0\nEXIT"
    path.write_bytes(load("sass").cubin(text))


def _vertex(path: Path) -> None:
    done = assemble_pica(".out o0 position\nmain:\nmul o0, c8, v0\nend\n")
    path.write_bytes(write_shbin(shbin_of([done])))


def _log(path: Path) -> None:
    """A log of five frames, in each of which the top screen gets a framebuffer."""
    import lzma

    ranges = [{"virt": 0x1F000000, "phys": 0x18000000, "size": 0x600000}]
    entry = [0, 0x1F000000, 0x1F000000, 720, 0x80341, 0, 0]
    swap = {"type": "swap", "screen": 0, "info": entry, "registers": _swap_registers()}
    memory = {"type": "memory", "phys": 0x18000000, "offset": 0, "size": 64}
    events = [memory, *[swap, {"type": "frame"}] * 5]
    log = {"format": "gx-log", "version": 1, "virt_to_phys": ranges, "events": events}
    path.write_bytes(lzma.compress(json.dumps(log).encode()))
    path.with_name("scene.mem.bin").write_bytes(bytes(64))


def _swap_registers() -> list[list[int]]:
    from pocketgpu.facts.external import EXTERNAL

    values = {"PDC0_ADDRESS_A0": 0x18000000, "PDC0_ADDRESS_A1": 0x18000000, "PDC0_STRIDE": 720, "PDC0_FORMAT": 0x80341}
    return [[EXTERNAL[name].address, value] for name, value in values.items()]


def _converted(path: Path) -> None:
    assert run(f"convert {shlex.quote(str(DATA / 'sample.ctf.xz'))} {shlex.quote(str(path))} --packing zstd")[0] == 0


def _memory(address: int, size: int) -> Callable[[Path], None]:
    """A dump of the sample after its first frame."""
    line = f"dump {shlex.quote(str(DATA / 'sample.ctf.xz'))} --at f0 --memory {address}:{size} --out "
    return lambda path: run(line + shlex.quote(str(path))) and None


def _made_by(page: str) -> Callable[[Path], None]:
    """What the Python of a page writes under the file's name."""

    def make(path: Path) -> None:
        if not path.is_file():
            text = (ROOT / page).read_text(encoding="utf-8")
            shown = [block.text for block in blocks(text) if block.kind == "python"]
            with contextlib.chdir(path.parent), contextlib.redirect_stdout(io.StringIO()):
                place_stand_ins("scene.mxcap.zip", path.parent)
                names: dict[str, object] = {"__name__": "__guide__"}
                for one in shown:
                    exec(one, names)

    return make


def _shown_in(page: str, name: str) -> Callable[[Path], None]:
    """A file that a page shows."""

    def make(path: Path) -> None:
        (text,) = [one.text for one in blocks((ROOT / page).read_text(encoding="utf-8")) if one.file == name]
        path.write_text(text, encoding="utf-8")

    return make


def _squares(path: Path) -> None:
    _shown_in("docs/guides/kernels.md", "squares.sass")(path)
    path.write_bytes(assemble_maxwell(path.read_text(encoding="utf-8")).code)


def _captures(path: Path) -> None:
    """A folder of recordings, one of which is cut short."""
    path.mkdir(exist_ok=True)
    shutil.copy(DATA / "sample.ctf.xz", path / "city.ctf.xz")
    _converted(path / "scene.pgc")
    (path / "cut.pgc").write_bytes((path / "scene.pgc").read_bytes()[:5000])


def _answers(path: Path) -> None:
    """A folder of a memory card with the answer of a console."""
    from support.answers import file_of

    path.mkdir(parents=True)
    file_of(path, "test.stencil_write", "any", "3DS, a console of the tests")


STAND_INS: dict[str, Callable[[Path], None]] = {
    "scene.ctf.xz": _copy("sample.ctf.xz"),
    "app.3dsx": lambda path: shutil.copy(ROOT / "tests/guests/n3ds/console.elf", path) and None,
    "app.nro": lambda path: shutil.copy(ROOT / "tests/guests/switch/scene.nro", path) and None,
    "our-captures": _captures,
    "card/pocketgpu-probe": _answers,
    "quiet.elf": lambda path: shutil.copy(ROOT / "tests/guests/n3ds/compute.elf", path) and None,
    "black.ctf": save_n3ds,
    "black.mxcap.zip": save_switch,
    "crash.elf": lambda path: shutil.copy(ROOT / "tests/guests/n3ds/faults.elf", path) and None,
    "other.ctf.xz": lambda path: shutil.copy(ROOT / "tests/unit/promises/data/scene_3ds.pgc", path) and None,
    "scene.mxcap.zip": _copy("sample_switch.mxcap.zip"),
    "scene.pgc": _converted,
    "scene.gx.json.xz": _log,
    "fcram.bin": _memory(0x20000000, 0x400000),
    "vram.bin": _memory(0x18000000, 0x600000),
    "data.bin": lambda path: path.write_bytes(bytes(1024)) and None,
    "kernel.cubin": _kernel,
    "vertex.shbin": _vertex,
    "vertex.v.pica": lambda path: path.write_text(".out o0 position\nmain:\nmul o0, c8, v0\nend\n") and None,
    "vertex.g.pica": lambda path: path.write_text(
        ".gsh point c0\n.entry gmain\n.proc gmain\nsetemit 0\nmov o0, v0\nemit\nend\n.end\n"
    ) and None,
    "kernel.sass": lambda path: shutil.copy(ROOT / "tests/unit/cli/sources/kernel.sass", path) and None,
    "messages.nro": lambda path: shutil.copy(ROOT / "tests/guests/switch/system.nro", path) and None,
    "applets.nro": lambda path: shutil.copy(ROOT / "tests/guests/switch/applets.nro", path) and None,
    "keyboard.elf": lambda path: shutil.copy(ROOT / "tests/guests/n3ds/applets.elf", path) and None,
    "squares.sass": _shown_in("docs/guides/kernels.md", "squares.sass"),
    "squares.txt": _shown_in("docs/guides/kernels.md", "squares.txt"),
    "squares.bin": _squares,
    "fill.mme": lambda path: shutil.copy(ROOT / "tests/unit/cli/sources/macro.mme", path) and None,
    "triangle.mxcap.zip": _made_by("docs/guides/pushbuffers.md"),
    "weave.mxcap.zip": _made_by("docs/guides/pushbuffers.md"),
}
"""Files that pages name and that a reader has of their own -> what makes one of the shipped files."""


def place_stand_ins(text: str, folder: Path) -> None:
    """Make every stand-in that a text names in a folder."""
    for name, make in STAND_INS.items():
        if re.search(rf"(?<![\w.-]){re.escape(name)}(?!\w)", text):
            make(folder / name)


# -- reading -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Block:
    """An example of a page. kind: the language of a fence, "indented", or "inline" for a command in a sentence.
    reason: why it is not run. file: the name of the file that it shows."""

    kind: str
    text: str
    line: int
    reason: str = ""
    file: str = ""


_NOTE = re.compile(r"<!-- (not run|file): (.*?) -->")


def blocks(page: str) -> list[Block]:
    """The examples of a page, in order."""
    found: list[Block] = []
    lines = page.splitlines()
    note = {"not run": "", "file": ""}
    at, plain, in_list = 0, [], False

    def end_of_text() -> None:
        text = "\n".join(line for _, line in plain)
        for match in re.finditer(r"`([^`]+)`", text):
            found.append(Block("inline", " ".join(match[1].split()), plain[0][0] + text[: match.start()].count("\n")))
        plain.clear()

    while at < len(lines):
        line, start = lines[at], at
        at += 1
        if fence := re.match(r"( *)```(\{[\w-]+\}(?= |$)|\S*$)", line):
            end_of_text()
            while at < len(lines) and lines[at].strip() != "```":
                at += 1
            inner = [one[len(fence[1]) :] for one in lines[start + 1 : at]]
            found.append(Block(fence[2], "\n".join(inner) + "\n", start + 2, note["not run"], note["file"]))
            note = {"not run": "", "file": ""}
            at += 1
        elif line.startswith("    ") and not in_list and (not start or not lines[start - 1].strip()):
            end_of_text()
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            inner = [one[4:] for one in lines[start:at]]
            text = "\n".join(inner).rstrip() + "\n"
            found.append(Block("indented", text, start + 1, note["not run"], note["file"]))
            note = {"not run": "", "file": ""}
        elif told := _NOTE.fullmatch(line.strip()):
            note[told[1]] = told[2]
        else:
            if line.strip():
                in_list = bool(re.match(r" *([-*]|\d+\.) ", line)) or (in_list and line.startswith(" "))
            plain.append((start + 1, line))
    end_of_text()
    return found


def commands(text: str) -> Iterator[str]:
    """The commands of a block for a shell: comments are left out, continued lines joined."""
    for line in text.replace("\\\n", " ").splitlines():
        words = re.sub(r"(^|\s)#.*$", "", line).removeprefix("$ ").strip()
        if words:
            yield words


_PLACEHOLDER = r"\W*(?:CAPTURE|SHELL|NAME|VALUE|FILE|TEXT|FOLDER|ADDRESS|OPCODE|IN|OUT|DIR)(?:\.pgc|=VALUE)?\W*"


_SERVES = ("view", "lsp")
"""Commands that run until they are interrupted."""


def inline_command(text: str) -> str | None:
    """The words after `pocketgpu` of a command in a sentence that can be run as it stands; None for others: names of
    commands, and lines with placeholders (CAPTURE, NAME=VALUE, an ellipsis)."""
    words = text.split()
    given = words[:1] == ["pocketgpu"]
    words = words[given:]
    if not words or words[0] not in COMMANDS or words[0] in _SERVES or "…" in text or "..." in text.replace("...'", ""):
        return None
    group = app.get_command(click.Context(app), words[0])
    name = 2 if isinstance(group, click.Group) else 1
    rest = words[name:]
    if all(word.startswith("-") for word in rest) or any(re.fullmatch(_PLACEHOLDER, word) for word in rest):
        return None
    return " ".join(words)


# -- running -----------------------------------------------------------------------------------------------------------
def run(command: str) -> tuple[int, str, str]:
    """Exit code, output and errors of the words after `pocketgpu`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(shlex.split(command))
    return code, out.getvalue(), err.getvalue()


def expected_code(command: str) -> int:
    """The exit code that a command should have."""
    return next((code for words, code in ENDS_WITH.items() if command.startswith(words)), 0)


def unknown(path: str, block: Block) -> str:
    """What is wrong with a block that nothing runs, or ""."""
    if block.kind == "inline" or (path, block.kind) in ELSEWHERE or block.kind.startswith("{"):
        return ""
    if block.reason:
        return "" if block.reason in REASONS else f"{block.reason!r} is no reason of the list"
    if block.kind == "json":
        _ = [json.loads(one) for one in ([block.text] if block.text.startswith("{\n") else block.text.splitlines())]
        return ""
    if block.kind == "text" or block.file:
        named = re.search(r"^(\$ |pocketgpu |>>> )", block.text, re.MULTILINE)
        return "" if named is None else f"a text with a command: {named[0]}"
    return "" if block.kind in RUN else f"nothing runs a block of kind {block.kind!r}"


__all__ = ["ENDS_WITH", "PAGES", "REASONS", "STAND_INS", "Block", "blocks", "commands", "inline_command", "run"]
