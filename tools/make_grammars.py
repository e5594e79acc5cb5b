"""Make the grammars of the extension for VS Code, whose words come from the tables of instructions and directives.

    python tools/make_grammars.py           # write editors/vscode/syntaxes/*.tmLanguage.json
    python tools/make_grammars.py --check   # exit with 1 if a file is not what would be written
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "editors/vscode/syntaxes"
sys.path.insert(0, str(ROOT / "src"))

from pocketgpu.facts.maxwell.sass.operations import OPERATIONS  # noqa: E402
from pocketgpu.facts.shader_isa import COMPARE_NAMES, OPCODES  # noqa: E402
from pocketgpu.maxwell.mme.isa import FUNCTIONS, RESULTS  # noqa: E402
from pocketgpu.maxwell.mme.isa import OPERATIONS as EXPRESSIONS  # noqa: E402
from pocketgpu.maxwell.mme.text import DIRECTIVES as MME_DIRECTIVES  # noqa: E402
from pocketgpu.maxwell.mme.text import KEYWORDS  # noqa: E402
from pocketgpu.maxwell.sass.isa.directives import DIRECTIVES as SASS_DIRECTIVES  # noqa: E402
from pocketgpu.pica.shader.directives import CLOSERS, MIDDLES, OPENERS  # noqa: E402
from pocketgpu.pica.shader.directives import DIRECTIVES as PICA_DIRECTIVES  # noqa: E402
from pocketgpu.pica.shader.names import ADDRESSES, IDENTIFIER, INDICES, SETS  # noqa: E402

NUMBER = r"-?\b(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\b"


def words(names: Iterable[str]) -> str:
    """A pattern for whole words."""
    return rf"\b(?:{'|'.join(sorted(map(re.escape, names), key=lambda name: (-len(name), name)))})\b"


def directives(names: Iterable[str]) -> str:
    """A pattern for directives."""
    return rf"(?:{'|'.join(sorted(map(re.escape, names), key=lambda name: (-len(name), name)))})\b"


def grammar(name: str, title: str, suffixes: list[str], rules: list[tuple[str, str]]) -> dict[str, Any]:
    """A grammar of rules (scope, pattern), tried in their order."""
    patterns = [{"name": f"{scope}.pocketgpu.{name}", "match": pattern} for scope, pattern in rules]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": title, "scopeName": f"source.pocketgpu.{name}", "fileTypes": suffixes, "patterns": patterns,
    }  # fmt: skip


def grammars() -> dict[str, dict[str, Any]]:
    """All grammars by the names of their files."""
    blocks = {word for word in (*OPENERS, *CLOSERS, *MIDDLES) if not word.startswith(".")}
    indices = {*(name.partition(".")[0] for name in INDICES), *ADDRESSES}
    addresses = "|".join(sorted(indices, key=lambda name: (-len(name), name)))
    components = "".join(SETS)
    pica = grammar("pica", "3DS shader", ["pica"], [
        ("comment.line", r"(?:;|//).*$"),
        ("entity.name.function", rf"^\s*{IDENTIFIER}(?=\s*:)"),
        ("keyword.control.directive", directives(PICA_DIRECTIVES)),
        ("variable.parameter", rf"\b(?:[vrocbi]\d+|{addresses}|cmp)\b"),
        ("keyword.mnemonic", words({one.name.lower() for one in OPCODES.values()} | blocks)),
        ("constant.language", words(name.lower() for name in set(COMPARE_NAMES))),
        ("storage.modifier", rf"(?<=[\w\]])\.[{components}]{{1,4}}\b"),
        ("constant.numeric", NUMBER),
    ])  # fmt: skip
    sass = grammar("sass", "Switch kernel", ["sass"], [
        ("comment.line", r"//.*$"),
        ("comment.block", r"/\*.*?\*/|\(\*.*?\*\)"),
        ("meta.annotation", r"\[B[-0-5]{6}:[^\]]*\]"),
        ("entity.name.function", r"^\s*[.$\w]+(?=:)"),
        ("keyword.control.directive", directives(SASS_DIRECTIVES)),
        ("keyword.mnemonic", words(OPERATIONS)),
        ("constant.language", r"\bS[RM]_\w+(?:\.[XYZ])?"),
        ("variable.parameter", r"@!?P[0-6T]\b|\b(?:R(?:\d+|Z)|P[0-6T]|CC|PR)\b"),
        ("storage.modifier", r"(?<=\w)\.[A-Za-z]\w*"),
        ("constant.numeric", NUMBER),
    ])  # fmt: skip
    heads = {one.form.split()[0] for one in RESULTS} | set(KEYWORDS) | {"drop"}
    forms = {form.partition("(")[0] for one in EXPRESSIONS for form in one.forms if "(" in form}
    mme = grammar("mme", "macro of the Switch's GPU", ["mme"], [
        ("comment.line", r"(?:;|#|//).*$"),
        ("entity.name.function", r"^\s*[A-Za-z_]\w*(?=\s*:(?!\s*0x|\s*\d))"),
        ("keyword.control.directive", directives(MME_DIRECTIVES)),
        ("keyword.mnemonic", words(heads)),
        ("support.function", words({one.name for one in FUNCTIONS} | {form for form in forms if form.isidentifier()})),
        ("support.constant", r"@[A-Za-z_]\w*(?:\[\d+\])?"),
        ("variable.parameter", r"\br[0-7]\b"),
        ("constant.numeric", NUMBER),
    ])  # fmt: skip
    return {f"{name}.tmLanguage.json": one for name, one in (("pica", pica), ("sass", sass), ("mme", mme))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the files are up to date")
    check = parser.parse_args().check
    old = []
    for name, one in grammars().items():
        path, text = FOLDER / name, json.dumps(one, indent=2) + "\n"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            old.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    print(f"{'out of date' if check else 'written'}: {', '.join(old) or 'nothing'}")
    return int(check and bool(old))


if __name__ == "__main__":
    sys.exit(main())
