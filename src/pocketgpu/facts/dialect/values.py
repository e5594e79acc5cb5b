"""Values of a field: each number has a symbol for code, and a text for readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from pocketgpu.facts.dialect.certainty import Certainty

T = TypeVar("T")


class Named(NamedTuple):
    """One value. `source` and `certainty` are empty if they are those of the register."""

    number: int
    symbol: str
    text: str
    source: str = ""
    certainty: Certainty | None = None


class Values(Mapping[int, str]):
    """An enumeration: a mapping from number to text, whose symbols are attributes.

        COMPARE = PICA.field("STENCIL_TEST.function").values
        COMPARE.LESS                # 4
        COMPARE[4]                  # "less"
        COMPARE.number("LESS")      # the same as COMPARE.LESS; for symbols that are not Python names
        COMPARE.symbol(4)           # "LESS"

    The values are made at the first use. An unknown symbol raises AttributeError (`number`: KeyError) with the existing
    symbols.
    """

    name: str

    def __init__(self, name: str, make: Callable[[], Iterable[Named]]) -> None:
        self.name = name
        self._make = make
        self._texts: dict[int, str] | None = None
        self._all: list[Named] = []
        self._named: dict[int, Named] = {}
        self._numbers: dict[str, int] = {}

    @classmethod
    def of(cls, name: str, values: Iterable[Named]) -> Values:
        """Values that exist already."""
        return cls(name, lambda: values)

    def _load(self) -> dict[int, str]:
        texts = self._texts
        if texts is None:
            texts = {}
            self._all = list(self._make())
            for value in self._all:
                if self._numbers.setdefault(value.symbol, value.number) != value.number:
                    raise ValueError(f"values {self.name}: two have the symbol {value.symbol}")
                before = texts.get(value.number)
                # The texts of several symbols for one number are joined.
                texts[value.number] = value.text if before is None else f"{before}|{value.text}"
                self._named.setdefault(value.number, value)
            self._texts = texts
            # Instance attributes: symbols are then found without a call. No existing method has a name in capitals.
            vars(self).update(self._numbers)
        return texts

    def __getattr__(self, symbol: str) -> int:
        if symbol.startswith("__"):
            raise AttributeError(symbol)
        try:
            return self.number(symbol)
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def number(self, symbol: str) -> int:
        """The number of a symbol. Raises KeyError."""
        self._load()
        found = self._numbers.get(symbol)
        if found is None:
            raise KeyError(f"{self.name} has no value {symbol} (it has: {', '.join(self._numbers)})")
        return found

    def symbol(self, number: int) -> str:
        """The (first) symbol of a number. Raises KeyError."""
        self._load()
        return self._named[number].symbol

    def numbers(self, *symbols: str) -> frozenset[int]:
        """The numbers of several symbols."""
        return frozenset(self.number(symbol) for symbol in symbols)

    def in_order(self, cases: Mapping[str, T], otherwise: T | None = None) -> list[T]:
        """The cases of the symbols, as a list by number. otherwise: for numbers without a symbol.

        Raises KeyError for an unknown symbol or one without a case; ValueError for a number without one.
        """
        chosen = {self.number(symbol): case for symbol, case in cases.items()}
        for symbol, number in self.symbols.items():
            if number not in chosen:
                raise KeyError(f"{self.name}: no case for {symbol}")
        found = [chosen.get(number, otherwise) for number in range(max(chosen) + 1)]
        listed = [case for case in found if case is not None]
        if len(listed) != len(found):
            raise ValueError(f"{self.name}: a number before {max(chosen)} has no case")
        return listed

    @property
    def symbols(self) -> Mapping[str, int]:
        """Symbol to number, for all symbols."""
        self._load()
        return self._numbers

    def all(self) -> list[Named]:
        """All values in table order; several may have the same number."""
        self._load()
        return self._all

    def named(self, number: int) -> Named:
        """Everything about a number. Raises KeyError."""
        self._load()
        return self._named[number]

    def __getitem__(self, number: int) -> str:
        return self._load()[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())

    def __contains__(self, number: object) -> bool:
        return number in self._load()

    def __repr__(self) -> str:
        return f"Values({self.name})"
