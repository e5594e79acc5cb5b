"""Names of registers, methods, choices and rules, and the anchors of their places on the site.

    anchor_of("register", "GPUREG_TEXENV_UPDATE_BUFFER")    register-texenv-update-buffer
    anchor_of("method", "902D.SET_OPERATION")               method-902d-set-operation

This needs no Sphinx, so that tests can use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.lookup import register_named
from pocketgpu.facts.maxwell import B197, CLASSES, Method
from pocketgpu.inspect.rules.registry import RULES

RULES_PAGE: Final = "guides/check"
"""The page that lists the rules."""
_RULE_IDS: Final = frozenset(rule.id for rule in RULES)


def anchor(register: Register) -> str:
    """The anchor of a register or a method; an element of an array has that of its array."""
    if isinstance(register, Method):
        return f"method-{register.block.name}-{dashed(register.name)}"
    return f"register-{dashed(register.name)}"


def dashed(name: str) -> str:
    """A name as a part of an anchor."""
    return re.sub(r"[._ ]", "-", name).lower()


def register(name: str) -> Register:
    """The 3DS register of that name or alias. LookupError for an unknown one."""
    found = register_named(name)
    if found is None:
        raise LookupError(f"the 3DS has no register {name!r}")
    return found


def method(name: str) -> Method:
    """The method of "SET_BLEND" (class B197), "902D.SET_OPERATION" or "NVB197_SET_BLEND". LookupError for others."""
    parts = re.fullmatch(r"(?:([0-9A-Fa-f]{4})\.|NV([0-9A-F]{4})_)?(.+)", name)
    number = parts and (parts[1] or parts[2])
    block = CLASSES.get(int(number, 16)) if number else B197
    found = block.get(parts[3]) if parts and block else None
    if found is None:
        raise LookupError(f"no class has the method {name!r}" if number else f"class B197 has no method {name!r}")
    return found


def owner_of_field(path: str) -> Register:
    """The register or method of "REGISTER.field". LookupError if it is unknown or has no such field."""
    name, _, field = path.rpartition(".")
    owner = register_named(name) or method(name)
    owner[field]
    return owner


def choice(name: str) -> str:
    """The anchor of a choice's page. LookupError for an unknown one."""
    if name not in CHOICES:
        raise LookupError(f"there is no choice {name!r}")
    return f"choice-{dashed(name)}"


def rule(id: str) -> str:
    """The anchor of a rule of `check` on the page of rules. LookupError for an unknown one."""
    if id not in _RULE_IDS:
        raise LookupError(f"there is no rule {id!r}")
    return f"rule-{dashed(id)}"


ROLES: Final[Mapping[str, Callable[[str], str]]] = {
    "register": lambda name: anchor(register(name)),
    "method": lambda name: anchor(method(name)),
    "field": lambda path: anchor(owner_of_field(path)),
    "choice": choice,
    "rule": rule,
}
"""The roles of links, and what makes an anchor of their text."""


def anchor_of(role: str, text: str) -> str:
    """The anchor that a link of a role leads to. LookupError, with what is unknown, if it leads nowhere."""
    try:
        return ROLES[role](text)
    except KeyError as error:  # a field: the message lists those that exist
        raise LookupError(str(error.args[0])) from None
