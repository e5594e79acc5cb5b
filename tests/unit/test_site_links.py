"""Links of the site's pages to registers, methods, fields, choices and rules: the names that lead somewhere."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from support.site import DOCS, importable, site_module

from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.lookup import BLOCKS
from pocketgpu.facts.maxwell import CLASSES
from pocketgpu.inspect.rules.registry import RULES


@pytest.fixture(scope="module")
def names() -> Any:
    """The module `docs/reference_pages/names.py`."""
    return site_module("reference_pages.names")


@pytest.mark.parametrize(
    "role, text, anchor",
    [
        ("register", "TEXENV_UPDATE_BUFFER", "register-texenv-update-buffer"),
        ("register", "GPUREG_TEXENV_UPDATE_BUFFER", "register-texenv-update-buffer"),
        ("register", "PPF_FLAGS", "register-ppf-flags"),
        ("method", "SET_BLEND", "method-b197-set-blend"),
        ("method", "NVB197_SET_BLEND", "method-b197-set-blend"),
        ("method", "902D.SET_OPERATION", "method-902d-set-operation"),
        ("method", "b0b5.LAUNCH_DMA", "method-b0b5-launch-dma"),
        ("method", "SET_COLOR_TARGET_A(3)", "method-b197-set-color-target-a"),
        ("method", "RenderTarget3Addr", "method-b197-set-color-target-a"),
        ("field", "TEXUNIT0_DIM.width", "register-texunit0-dim"),
        ("field", "CLEAR_SURFACE.R_ENABLE", "method-b197-clear-surface"),
        ("field", "b0b5.LAUNCH_DMA.DATA_TRANSFER_TYPE", "method-b0b5-launch-dma"),
        ("choice", "lighting.off_bits", "choice-lighting-off-bits"),
        ("rule", "target.pixel-size", "rule-target-pixel-size"),
    ],
)
def test_a_name_leads_to_its_place(names: Any, role: str, text: str, anchor: str) -> None:
    assert names.anchor_of(role, text) == anchor


@pytest.mark.parametrize(
    "role, text, message",
    [
        ("register", "SET_BLEND", "the 3DS has no register 'SET_BLEND'"),
        ("method", "TEXUNIT0_DIM", "class B197 has no method 'TEXUNIT0_DIM'"),
        ("method", "902D.SET_BLEND_STATE", "no class has the method '902D.SET_BLEND_STATE'"),
        ("method", "0000.SET_BLEND", "no class has the method '0000.SET_BLEND'"),
        ("field", "TEXUNIT0_DIM.depth", "TEXUNIT0_DIM has no field 'depth' (it has: height, width)"),
        ("field", "NOTHING.x", "class B197 has no method 'NOTHING'"),
        ("field", "width", "class B197 has no method ''"),
        ("choice", "fog.deep", "there is no choice 'fog.deep'"),
        ("rule", "target", "there is no rule 'target'"),
    ],
)
def test_an_unknown_name_is_told(names: Any, role: str, text: str, message: str) -> None:
    with pytest.raises(LookupError) as error:
        names.anchor_of(role, text)
    assert error.value.args[0] == message


def test_no_two_places_share_an_anchor(names: Any) -> None:
    registers = [one for block in BLOCKS for one in block] + [one for block in CLASSES.values() for one in block]
    anchors = [*map(names.anchor, registers), *map(names.choice, CHOICES), *(names.rule(rule.id) for rule in RULES)]
    assert len(anchors) > 2000 and len(anchors) == len(set(anchors))
    assert all(re.fullmatch(r"[a-z0-9-]+", one) for one in anchors)


def test_the_page_of_rules_has_an_anchor_for_each(names: Any) -> None:
    page = (DOCS / f"{names.RULES_PAGE}.md").read_text(encoding="utf-8")
    assert re.findall(r'<a id="([\w-]+)">', page) == [names.rule(rule.id) for rule in RULES]


PAGE = """A
=

:register:`GPUREG_TEXUNIT0_DIM` :method:`the blending <SET_BLEND>` :rule:`shader.no-end` :choice:`texture.levels`
"""
NAMED = """# B

{register}`TEXUNIT0_DIM` {field}`TEXUNIT0_DIM.width` {register}`NO_SUCH` {register}`PPF_FLAGS`

(register-texunit0-dim)=
## TEXUNIT0_DIM

(method-b197-set-blend)=
## SET_BLEND

(choice-texture-levels)=
## texture.levels
"""


def test_roles_become_links(tmp_path: Path) -> None:
    pytest.importorskip("myst_parser", reason="Sphinx is only where the site is built")
    sphinx = import_module("sphinx.application")
    pages = {"a.rst": PAGE, "b.md": NAMED, "guides/check.md": "# C\n", "index.md": "# D\n"}
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    warnings = (tmp_path / "warnings.txt").open("w+", encoding="utf-8")
    with importable():
        app = sphinx.Sphinx(
            tmp_path, None, tmp_path / "html", tmp_path / "trees", "html", status=None, warning=warnings,
            confoverrides={"extensions": ["myst_parser", "register_roles"]},
        )  # fmt: skip
        app.build()
    html = (tmp_path / "html" / "a.html").read_text(encoding="utf-8")
    assert re.findall(r'href="(\w*/?\w+\.html#[\w-]+)"', html) == [
        "b.html#register-texunit0-dim", "b.html#method-b197-set-blend",
        "guides/check.html#rule-shader-no-end", "b.html#choice-texture-levels",
    ]  # fmt: skip
    assert "the blending" in html
    assert len(re.findall(r'<a class="reference internal" href="[^"]*"><code [^>]*><span class="pre">', html)) == 3
    assert ">GPUREG_TEXUNIT0_DIM<" in html
    html = (tmp_path / "html" / "b.html").read_text(encoding="utf-8")
    assert html.count('href="#register-texunit0-dim"') >= 2
    warnings.seek(0)
    told = [line for line in warnings.read().splitlines() if "toctree" not in line and line]
    (unknown,) = [line for line in told if "NO_SUCH" in line]
    (lost,) = [line for line in told if line != unknown]
    assert "b.md:3" in lost and "reference target not found: register-ppf-flags" in lost, "its page is not there"
    assert "register: the 3DS has no register 'NO_SUCH'" in unknown and "b.md:3" in unknown
