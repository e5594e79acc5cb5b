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
KIND = "pocketgpu"
"""The kind of these references. Sphinx's own kind would show a name as plain text."""


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
        link = pending_xref(
            self.rawtext, text, reftype=KIND, reftarget=target, refexplicit=True, refwarn=True, refdoc=self.env.docname
        )
        self.set_source_info(link)
        return [link], []


def resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    """The link to an anchor, if its page is part of the site. Sphinx does not know the anchors of rules."""
    if node["reftype"] != KIND:
        return None
    target = node["reftarget"]
    rules = (RULES_PAGE if target.startswith("rule-") and RULES_PAGE in env.found_docs else "", target)
    page, place = env.domains["std"].anonlabels.get(target, rules)
    return make_refnode(app.builder, node["refdoc"], page, place, content) if page else None


def setup(app: Any) -> dict[str, bool]:
    """The extension of Sphinx."""
    for name in ROLES:
        app.add_role(name, Link())
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
