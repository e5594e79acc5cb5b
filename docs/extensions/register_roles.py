"""Roles for links to registers, methods, fields, choices and rules, for RST and for Markdown:

    :register:`TEXENV_UPDATE_BUFFER`  :method:`SET_BLEND`  :method:`902D.SET_OPERATION`
    :field:`TEXUNIT0_DIM.width`  :choice:`texture.levels`  :rule:`target.sizes`

    {register}`TEXENV_UPDATE_BUFFER`  {method}`the blend method <SET_BLEND>`

The text may be any name that `pocketgpu regs` knows. A name that it does not know is a warning, which fails the build.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from reference_pages.names import ROLES, RULES_PAGE, anchor_of
from sphinx.addnodes import pending_xref
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole
from sphinx.util.nodes import make_refnode

LOGGER = logging.getLogger(__name__)
RULE = "pocketgpu-rule"
"""The kind of a reference to a rule: the page of rules has plain anchors, which Sphinx does not collect."""


class Link(ReferenceRole):
    """A link whose text is a name; with a title, that is shown instead."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        text = nodes.literal(self.rawtext, self.title, classes=[self.name])
        if self.has_explicit_title:
            text = nodes.inline(self.rawtext, self.title, classes=[self.name])
        try:
            target = anchor_of(self.name, self.target)
        except LookupError as error:
            LOGGER.warning("%s: %s", self.name, error, location=self.get_location(), type="pocketgpu")
            return [text], []
        kind = {"reftype": RULE} if self.name == "rule" else {"refdomain": "std", "reftype": "ref"}
        link = pending_xref(
            self.rawtext, text, **kind, reftarget=target, refexplicit=True, refwarn=True, refdoc=self.env.docname
        )
        self.set_source_info(link)
        return [link], []


def to_rule(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve a link to a rule, if the page of rules is part of the site."""
    if node["reftype"] != RULE or RULES_PAGE not in env.found_docs:
        return None
    return make_refnode(app.builder, node["refdoc"], RULES_PAGE, node["reftarget"], content)


def setup(app: Any) -> dict[str, bool]:
    """The extension of Sphinx."""
    for name in ROLES:
        app.add_role(name, Link())
    app.connect("missing-reference", to_rule)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
