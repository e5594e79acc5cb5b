"""What if a register held another value from an event on: overrides, and which registers can have one.

    one = Override.parse("DEPTH_COLOR_MASK.depth_function=always@f0/d3")
    run = pocketgpu.debug("scene.ctf.xz", overrides=[one])
    run.seek("f0/d3").target.image.save("what_if.png")

Each console's inspection has a `Forcing`, which knows its registers and the order of its commands.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Self

from pocketgpu.displayed import Displayed
from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import Field, Register
from pocketgpu.forced import ForcedWord, Start
from pocketgpu.inspect.model.address import Address
from pocketgpu.late_dataclass import dataclass

FORM = "REGISTER=VALUE@ADDRESS or REGISTER.FIELD=VALUE@ADDRESS, such as DEPTH_COLOR_MASK.depth_function=always@f0/d3."
MOST_NAMES = 40
"""Names of values that a hint lists."""
_WORD = 1 << 32
"""Values of a word."""
_FLOATS = ("f16", "f20", "f24", "f31", "f32", "ieee32")
"""Types of fields that take fractions, besides those of fixed point."""


@dataclass(frozen=True, repr=False)
class Override(Displayed):
    """A register, or one of its fields, with the value that it has from a place on.

    place: an event, a draw or a pass, or a frame, which means from its start on. value: as text: a number, or the name
    of a value of an enumeration. field: "" for the whole word.
    """

    register: str
    value: str
    place: Address
    field: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse REGISTER.FIELD=VALUE@ADDRESS.

        :raises UsageError: the text is none.
        """
        what, at, place = text.rpartition("@")
        name, equals, value = what.partition("=")
        register, dot, field = name.strip().partition(".")
        if not (at and equals and register and value.strip()) or (dot and not field):
            raise UsageError(f"'{text}' does not say what a register holds from where on", hint=FORM)
        return cls(register, value.strip(), Address.parse(place).place, field)

    def __str__(self) -> str:
        return f"{self.register}{'.' if self.field else ''}{self.field}={self.value}@{self.place}"


@dataclass(frozen=True, repr=False)
class Forcible(Displayed):
    """A register that may have an override, or why it may not. refusal: in a sentence; "" if it may."""

    name: str
    register: Register
    refusal: str

    def __str__(self) -> str:
        return f"{self.name}: {self.refusal}" if self.refusal else self.name


class Forcing(ABC):
    """The registers of a run that can have an override, and the order of its commands."""

    @abstractmethod
    def names(self) -> Iterable[str]:
        """All registers that programs know."""

    @abstractmethod
    def register(self, name: str) -> tuple[Register, int] | None:
        """A register by name, with its number for the machine; None if there is none."""

    @abstractmethod
    def refusal(self, name: str, register: Register, number: int) -> str:
        """Why a register cannot have an override, in a sentence; "" if it can."""

    @abstractmethod
    def start(self, place: Address) -> Start:
        """A place in the order of commands.

        :raises UsageError: there is no such event.
        """

    def word(self, override: Override) -> ForcedWord:
        """What the machine is told.

        :raises UsageError: there is no such register, field, value or place, or the register has effects by itself.
        """
        found = self._named(override.register)
        register, number = found
        refusal = self.refusal(override.register, register, number)
        if refusal:
            raise UsageError(
                f"{override.register} cannot be forced: {refusal}", location=str(override),
                hint="Registers that only hold state can, such as those of tests, blending and viewports.",
            )  # fmt: skip
        mask, value = _bits(override, register)
        return ForcedWord(number, mask, value, self.start(override.place))

    def search(self, text: str, most: int) -> list[Forcible]:
        """Registers whose names hold all words of a text: those that can be forced first."""
        words = text.upper().split()
        found = []
        for name in self.names():
            if all(word in name.upper() for word in words):
                register, number = self._named(name)
                found.append(Forcible(name, register, self.refusal(name, register, number)))
                if len(found) >= most:
                    break
        return sorted(found, key=lambda one: bool(one.refusal))

    def _named(self, name: str) -> tuple[Register, int]:
        found = self.register(name)
        if found is None:
            first = next(iter(name.upper().replace("(", "_").split("_")), "")
            near = [one for one in self.names() if first and first in one.upper()][:8]
            hint = f"There are: {', '.join(near)}." if near else "'pocketgpu regs' finds registers."
            raise UsageError(f"there is no register {name}", location=name, hint=hint)
        return found


def _bits(override: Override, register: Register) -> tuple[int, int]:
    """Mask and value in place."""
    text = override.value
    if override.field:
        field = next((one for one in register.fields if one.name.lower() == override.field.lower()), None)
        if field is None:
            names = ", ".join(one.name for one in register.fields) or "none"
            raise UsageError(
                f"{override.register} has no field {override.field}", location=str(override), hint=f"It has: {names}."
            )
        return field.mask, _encoded(override, field, text)
    number = _number(text)
    if number is None and len(register.fields) == 1:
        (field,) = register.fields
        return field.mask, _encoded(override, field, text)
    if number is None or not 0 <= number < _WORD:
        raise UsageError(
            f"'{text}' is not a word of 32 bits", location=str(override), hint="Such as 0x3f800000; or name a field."
        )
    return _WORD - 1, number


def _encoded(override: Override, field: Field, text: str) -> int:
    """The bits of a field in place."""
    number = named_value(field, text)
    if number is not None:
        return field.encode(number)
    value: float | None = _number(text)
    if value is None and (field.type in _FLOATS or "fixed" in field.type):
        try:
            value = float(text)
        except ValueError:
            value = None
    if value is None:
        names = list(names_of(field))
        hint = f"There are: {', '.join(names[:MOST_NAMES])}." if names else f"The field has the type {field.type}."
        raise UsageError(f"'{text}' is no value of {field.name}", location=str(override), hint=hint)
    try:
        return field.encode(value)
    except ValueError as error:
        raise UsageError(str(error), location=str(override)) from None


def names_of(field: Field) -> Iterator[str]:
    """Names of the values of a field, as an override takes them."""
    if field.type == "bool":
        yield from ("no", "yes")
    for number, text in (field.enum or {}).items():
        yield text or str(number)


def named_value(field: Field, text: str) -> int | None:
    """The number of a named value; None if it has no such name. Symbols of code are names as well."""
    wanted = text.strip().lower()
    if field.type == "bool":
        return {"no": 0, "yes": 1, "false": 0, "true": 1, "off": 0, "on": 1}.get(wanted)
    for number, name in (field.enum or {}).items():
        symbol = field.values.symbol(number) if hasattr(field.enum, "symbol") else ""
        if wanted in (name.lower(), symbol.lower(), *name.lower().split("|")):
            return number
    return None


def _number(text: str) -> int | None:
    """A whole number, decimal or with 0x."""
    try:
        return int(text, 16 if text.lower().startswith("0x") else 10)
    except ValueError:
        return None


__all__ = ["FORM", "Forcible", "Forcing", "Override", "named_value", "names_of"]
