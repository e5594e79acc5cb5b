"""Registers of the tests and writes at the end of the pipeline: `OutputState`.

Source: class header B197 for registers and numbers. There are OpenGL's numbers and Direct3D's; each is identified by
its name in the table of facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197
from pocketgpu.lanes import Kernel, late
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.formats.channels import (
    CHANNELS,
    NUMBER_FLOAT,
    NUMBER_INTEGER,
    NUMBER_UNORM,
    Channels,
    written_bits,
)
from pocketgpu.maxwell.formats.components import ABSENT, SRGB
from pocketgpu.maxwell.formats.samples import samples_of
from pocketgpu.maxwell.graphics.output.blend import FACTORS, LOGIC_OPERATIONS, OPERATIONS
from pocketgpu.maxwell.graphics.output.keys import (
    AS_IT_IS,
    BLEND,
    BOUNDS_FIRST,
    BOUNDS_WITH_DEPTH,
    COMPARISONS,
    COVERAGE,
    COVERAGE_DITHERED,
    LOGIC,
    NO_BOUNDS,
    NO_TEST,
    PLAIN,
    TO_SIGNED,
    TO_UNIT,
    ColorKey,
    TestKey,
    WriteKey,
)  # fmt: skip
from pocketgpu.maxwell.graphics.output.pixel_access import MAX_WIDE, gobs_of_block
from pocketgpu.maxwell.graphics.output.record_words import output_words
from pocketgpu.maxwell.graphics.output.records import COLOR, OUTPUT
from pocketgpu.maxwell.graphics.output.targets import Events, Target, colour_slots, colour_target, depth_target
from pocketgpu.maxwell.graphics.programs.headers import Header
from pocketgpu.maxwell.graphics.records import MAX_TARGETS, TARGET
from pocketgpu.maxwell.memory.blocklinear import GOB_HEIGHT

test = late("pocketgpu.maxwell.graphics.output.write_block", "test")
write = late("pocketgpu.maxwell.graphics.output.write_block", "write")
_FACE = ("STENCIL_FUNC_REF", "STENCIL_FUNC_MASK", "STENCIL_MASK")
LIVE_NAMES = {
    "ALPHA_REFERENCE": ("SET_ALPHA_REF",),
    "BOUNDS_LOW": ("SET_DEPTH_BOUNDS_MIN",),
    "BOUNDS_HIGH": ("SET_DEPTH_BOUNDS_MAX",),
    "STENCIL": (*(f"SET_{name}" for name in _FACE), *(f"SET_BACK_{name}" for name in _FACE)),
    "CONSTANT": tuple(f"SET_BLEND_CONST_{channel}" for channel in ("RED", "GREEN", "BLUE", "ALPHA")),
}
"""Words of OUTPUT that are plain copies of methods: when only these change, `OutputState.refresh` is enough."""

Code = tuple[Kernel, dict[str, Any]]
"""A kernel with its static values."""
_FOOTPRINTS = B197.values("SET_ALPHA_TO_COVERAGE_DITHER_CONTROL.DITHER_FOOTPRINT")
_RANGES = B197.values("SET_PS_SATURATE.CLAMP_RANGE0")
_SATURATIONS = {_RANGES.ZERO_TO_PLUS_ONE: TO_UNIT, _RANGES.MINUS_ONE_TO_PLUS_ONE: TO_SIGNED}
_COMPARISON_NAMES = {"LESSEQUAL": "lequal", "GREATEREQUAL": "gequal"}
_STENCIL_NAMES = ("KEEP", "ZERO", "REPLACE", "INCRSAT", "DECRSAT", "INVERT", "INCR", "DECR")
_BLEND_NAMES = {
    "FUNC_ADD": "add", "FUNC_SUBTRACT": "subtract", "FUNC_REVERSE_SUBTRACT": "reverse subtract",
    "REVSUBTRACT": "reverse subtract",
}  # fmt: skip
_FACTOR_PARTS = {
    "SRC_COLOR": "source color", "SRCCOLOR": "source color", "SRC_ALPHA": "source alpha", "SRCALPHA": "source alpha",
    "DST_ALPHA": "target alpha", "DESTALPHA": "target alpha", "DST_COLOR": "target color", "DESTCOLOR": "target color",
    "CONSTANT_COLOR": "constant color", "CONSTANT_ALPHA": "constant alpha", "BLENDFACTOR": "constant color",
    "SRC1COLOR": "second color", "SRC1ALPHA": "second alpha",
}  # fmt: skip
_FACTOR_NAMES = {"ZERO": "zero", "ONE": "one", "SRC_ALPHA_SATURATE": "alpha saturate", "SRCALPHASAT": "alpha saturate"}
_BOTH = {"BOTHSRCALPHA": "source alpha", "BOTHINVSRCALPHA": "1 - source alpha"}
"""Source factors that also set the target's, to 1 minus them."""


def _names(method: str) -> Mapping[int, str]:
    """The values of a method by name, without the prefix for OpenGL's or Direct3D's numbers."""
    found = B197.values(method).items()
    return {value: name.removeprefix("OGL_").removeprefix("D3D_") for value, name in found}


@cache
def _comparisons() -> Mapping[int, int]:
    found = _names("SET_DEPTH_FUNC").items()
    return {value: COMPARISONS.index(_COMPARISON_NAMES.get(name, name.lower())) for value, name in found}


@cache
def _stencil_operations() -> Mapping[int, int]:
    return {value: _STENCIL_NAMES.index(name) for value, name in _names("SET_STENCIL_OP_FAIL").items()}


@cache
def _blend_operations() -> Mapping[int, int]:
    found = _names("SET_BLEND_COLOR_OP").items()
    return {value: OPERATIONS.index(_BLEND_NAMES.get(name, name.lower())) for value, name in found}


@cache
def _logic_operations() -> Mapping[int, int]:
    found = _names("SET_LOGIC_OP_FUNC").items()
    return {value: LOGIC_OPERATIONS.index(name.lower().replace("_", " ")) for value, name in found}


def _factor(name: str) -> str:
    if name in _FACTOR_NAMES:
        return _FACTOR_NAMES[name]
    plain = name.removeprefix("ONE_MINUS_").removeprefix("INV")
    return ("" if plain == name else "1 - ") + _FACTOR_PARTS[plain]


@cache
def _factors() -> Mapping[int, tuple[int, int | None]]:
    """Number of a factor to its index, and that of the target's factor if it is set as well."""
    found: dict[int, tuple[int, int | None]] = {}
    for value, name in _names("SET_BLEND_COLOR_SOURCE_COEFF").items():
        factor = _BOTH.get(name) or _factor(name)
        other = "source alpha" if factor.startswith("1 - ") else "1 - source alpha"
        found[value] = FACTORS.index(factor), FACTORS.index(other) if name in _BOTH else None
    return found


@cache
def _live(two_sided: bool) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.uint32]]:
    """For LIVE_NAMES: indices in OUTPUT, words of the registers and masks of their bits."""
    found = [
        (OUTPUT.offsets[word] // 4 + i, B197[name if two_sided else name.replace("_BACK_", "_")])
        for word, names in LIVE_NAMES.items()
        for i, name in enumerate(names)
    ]
    return (
        np.array([place for place, _ in found], np.intp),
        np.array([method.word for _, method in found], np.int64),
        np.array([method["V"].mask for _, method in found], np.uint32),
    )


@dataclass(frozen=True)
class _ProgramOutputs:
    """The relevant parts of the pixel program's header; without a program no colour is written."""

    targets: tuple[int, ...] = (0,) * MAX_TARGETS
    registers: tuple[int | None, ...] = (None,) * MAX_TARGETS
    many: bool = True
    kills: bool = False
    masks: bool = False
    depth: bool = False
    stores: bool = False


class _CheckedState:
    """Registers, and the errors found in them."""

    def __init__(self, state: State, events: Events) -> None:
        self.state, self.events = state, events

    def choice(self, table: Mapping[int, Any], name: str, index: int, otherwise: Any) -> Any:
        """The meaning of a number; an event if it has none."""
        value = self.state.word(name, index)
        found = table.get(value)
        if found is None:
            self.events.append(("draw.value", f"{name}: there is no {value:#x}"))
            return otherwise
        return found

    def on(self, name: str, field: str = "ENABLE", index: int = 0) -> bool:
        return bool(self.state.field(name, field, index))


@dataclass(frozen=True, eq=False)
class OutputState:
    """Tests and writes of a draw.

    test_key, write_key: their code. early: whether the tests come before the pixel program. tests, writes: whether
    there is anything to do. seen: whether any pixel can depend on the program. zeta: the depth target, if any test
    reads it; colours: the target of each COLOR record.
    words: the OUTPUT record (int32), except for the places of the targets and of the sRGB tables. events: (id, message)
    of features that are not emulated.
    """

    test_key: TestKey
    write_key: WriteKey
    early: bool
    tests: bool
    writes: bool
    seen: bool
    zeta: Target | None
    colours: tuple[Target, ...]
    words: NDArray[np.int32]
    events: tuple[tuple[str, str], ...]

    def codes(self, general: bool) -> tuple[Code, Code]:
        """The kernels of test and write, general or specialised, with their static values."""
        keys = (None, None) if general else (self.test_key, self.write_key)
        return (test, {"key": keys[0]}), (write, {"key": keys[1]})

    def record(self, srgb: int, zeta: int, colours: Sequence[int]) -> NDArray[np.int32]:
        """The words of OUTPUT with arena offsets: of `srgb_tables`, of the depth target, of each colour's."""
        words = self.words.copy()
        words[OUTPUT.SRGB // 4] = srgb
        words[(OUTPUT.ZETA + TARGET.BASE) // 4] = zeta
        for i, offset in enumerate(colours):
            words[(OUTPUT.COLOR + i * COLOR.size + TARGET.BASE) // 4] = offset
        return words

    def refresh(self, record: NDArray[np.int32], state: State) -> None:
        """Copy the methods of LIVE_NAMES into a record that was made for the same other registers."""
        places, sources, masks = _live(bool(state.field("SET_TWO_SIDED_STENCIL_TEST", "ENABLE")))
        record[places] = (state.values(sources) & masks).view(np.int32)

    @classmethod
    def of(cls, state: State, header: Header | None, choices: Mapping[str, str], layered: bool = False) -> OutputState:
        """From the registers and the header of the pixel program (None: there is none).

        :param layered: whether the draw may reach layers beyond the first.
        :raises UsageError: a target would not fit into the address space.
        """
        events: Events = []
        return _Maker(state, header, choices, layered, events).made()


class _Maker:
    def __init__(
        self, state: State, header: Header | None, choices: Mapping[str, str], layered: bool, events: Events
    ) -> None:
        self.state, self.choices, self.layered, self.events = state, choices, layered, events
        self.reader = _CheckedState(state, events)
        self.program = _ProgramOutputs()
        if header is not None:
            self.program = _ProgramOutputs(
                header.targets, header.target_registers, header.many_targets, header.kills,
                header.mask_register is not None, header.depth_register is not None, header.stores,
            )  # fmt: skip
        across, down = samples_of(state)
        self.grid = across.bit_length() - 1, down.bit_length() - 1
        self.samples = across * down

    def made(self) -> OutputState:
        on = self.reader.on
        if on("SET_ITERATED_BLEND"):
            self.events.append(("draw.iterated_blend", "SET_ITERATED_BLEND: blended with the fixed equation"))
        discards = self._discards()
        zeta, zeta_key = self._zeta()
        colours = self._colours()
        takes = bool(discards)
        changes = zeta_key["depth_write"] or zeta_key["stencil_test"]
        tested = zeta_key["depth_function"] != NO_TEST or zeta_key["bounds"] or zeta_key["stencil_test"]
        counted = on("SET_ZPASS_PIXEL_COUNT")
        early = on("SET_API_MANDATED_EARLY_Z")
        if not early and tested:
            # Early tests give the same result if failing samples would have no effect, and nothing is updated too
            # early.
            early = not (self.program.depth or self.program.stores or (takes and (changes or counted)))
        where: dict[str, Any] = {"samples": self.samples, "grid_x": self.grid[0], "grid_y": self.grid[1]}
        late_takes: dict[str, Any] = {**discards, "discard_in_test": 1} if takes and not early else {}
        early_takes: dict[str, Any] = {**discards, "discard_in_write": 1} if takes and early else {}
        test_key = TestKey(**where, **late_takes, **zeta_key)
        write_key = self._write_key(where | early_takes, tuple(key for _, key in colours))
        targets = tuple(target for target, _ in colours)
        words = output_words(test_key, write_key, zeta, targets, self.grid)
        found = OutputState(
            test_key, write_key, early, bool(tested or late_takes or counted), bool(colours),
            bool(colours or takes or self.program.depth), zeta, targets, words, tuple(self.events),
        )  # fmt: skip
        found.refresh(words, self.state)
        return found

    # -- samples removed by the program's outputs ---------------------------------------------------------------------
    def _discards(self) -> dict[str, int]:
        """Fields of DiscardKey that do not have their default."""
        state, on, program = self.state, self.reader.on, self.program
        found: dict[str, int] = {}
        if program.kills:
            found["kills"] = 1
        usage = "SET_PS_OUTPUT_SAMPLE_MASK_USAGE"
        multisampled = on("SET_ANTI_ALIAS_ENABLE", "V")
        if program.masks and on(usage) and (multisampled or not on(usage, "QUALIFY_BY_ANTI_ALIAS_ENABLE")):
            found["masks"] = 1
        first = program.registers[0]
        if first is None or not program.targets[0] >> 3 & 1:
            return found  # no alpha to test
        if on("SET_ALPHA_TEST"):
            function = self.reader.choice(_comparisons(), "SET_ALPHA_FUNC", 0, NO_TEST)
            if function < NO_TEST - 1:
                found |= {"alpha_function": function, "alpha_register": first + 3}
        override = "SET_ALPHA_TO_COVERAGE_OVERRIDE"
        qualified = multisampled or not on(override, "QUALIFY_BY_ANTI_ALIAS_ENABLE")
        qualified &= not (on(override, "QUALIFY_BY_PS_SAMPLE_MASK_OUTPUT") and program.masks)
        if on("SET_ANTI_ALIAS_ALPHA_CONTROL", "ALPHA_TO_COVERAGE") and qualified:
            dithered = state.field("SET_ALPHA_TO_COVERAGE_DITHER_CONTROL", "DITHER_FOOTPRINT") == _FOOTPRINTS.PIXELS_2X2
            found |= {"to_coverage": COVERAGE_DITHERED if dithered else COVERAGE, "alpha_register": first + 3}
        return found

    # -- depth and stencil --------------------------------------------------------------------------------------------
    def _zeta(self) -> tuple[Target | None, dict[str, Any]]:
        """The depth target and fields of TestKey."""
        state, reader, on = self.state, self.reader, self.reader.on
        key: dict[str, Any] = {"depth_function": NO_TEST, "depth_write": 0, "bounds": NO_BOUNDS, "stencil_test": 0}
        target = depth_target(state, self.layered, self.events)
        if target is None:
            return None, key
        depth, stencil = Channels.of_depth(target.format).channels
        if depth.type != ABSENT and on("SET_DEPTH_TEST"):
            key["depth_function"] = reader.choice(_comparisons(), "SET_DEPTH_FUNC", 0, NO_TEST)
            key["depth_write"] = int(on("SET_DEPTH_WRITE") and not on("SET_ZT_READ_ONLY", "ENABLE_Z"))
            if key["depth_function"] == COMPARISONS.index("never"):
                key["depth_write"] = 0
            if key["depth_function"] == COMPARISONS.index("always") and not key["depth_write"]:
                key["depth_function"] = NO_TEST
        if depth.type != ABSENT and on("SET_DEPTH_BOUNDS_TEST"):
            key["bounds"] = BOUNDS_FIRST if self.choices["output.depth_bounds"] == "first" else BOUNDS_WITH_DEPTH
        if stencil.type != ABSENT and on("SET_STENCIL_TEST"):
            key |= {"stencil_test": 1, "s_word": stencil.word, "s_low": stencil.low} | self._stencil()
        if key["depth_function"] == NO_TEST and not key["bounds"] and not key["stencil_test"]:
            return None, key
        key |= {"bytes": target.format.bytes, "wide": self._is_wide(target), "z_type": depth.type}
        if depth.type != ABSENT:
            key |= {"z_low": depth.low, "z_width": depth.width}
        return target, key

    def _stencil(self) -> dict[str, int]:
        """Functions and operations of both faces."""
        key = {}
        for face, prefix in (("front", "SET_"), ("back", self._back)):
            key[f"{face}_function"] = self.reader.choice(_comparisons(), f"{prefix}STENCIL_FUNC", 0, NO_TEST - 1)
            if self.reader.on("SET_ZT_READ_ONLY", "ENABLE_STENCIL"):
                continue  # only KEEP
            for name, method in (("fail", "FAIL"), ("depth_fail", "ZFAIL"), ("pass", "ZPASS")):
                key[f"{face}_{name}"] = self.reader.choice(_stencil_operations(), f"{prefix}STENCIL_OP_{method}", 0, 0)
        return key

    @property
    def _back(self) -> str:
        """The prefix of the registers of back faces."""
        return "SET_BACK_" if self.reader.on("SET_TWO_SIDED_STENCIL_TEST") else "SET_"

    # -- colours ------------------------------------------------------------------------------------------------------
    def _is_wide(self, target: Target) -> bool:
        """Whether a target's blocks of pixels are whole GOBs or parts of one, and small enough."""
        words, bytes = dict(target.words), target.format.bytes
        across, down = gobs_of_block(bytes, self.grid)
        rows = -(-target.height // (GOB_HEIGHT << words["BLOCK_HEIGHT"])) << words["BLOCK_HEIGHT"]
        whole = words["GOBS"] % across == 0 and rows % down == 0
        return words["PITCH"] == 0 and whole and bytes * self.samples <= MAX_WIDE

    def _routes(self) -> list[tuple[int, int]]:
        """(output of the program, slot) of each colour."""
        slots = colour_slots(self.state)
        if self.program.many and self.state.field("SET_CT_MRT_ENABLE"):
            return list(enumerate(slots))
        return [(0, slot) for slot in slots]

    def _colours(self) -> list[tuple[Target, ColorKey]]:
        found: list[tuple[Target, ColorKey]] = []
        seen: set[int] = set()
        for number, (out, slot) in enumerate(self._routes()):
            register = self.program.registers[out]
            if slot in seen or register is None:
                continue  # what the program does not write stays unchanged
            seen.add(slot)
            target = colour_target(self.state, slot, self.layered, self.events)
            if target is None or not self._aligned(target):
                continue
            place = slot if self.choices["output.blend_index"] == "target" else number
            key = self._color_key(target, out, register, place)
            if any(key.bits):
                found.append((target, key))
        return found

    def _aligned(self, target: Target) -> bool:
        """Whether rows of a linear target begin at multiples of its words."""
        pitch, word = dict(target.words)["PITCH"], min(target.format.bytes, 4)
        if pitch % word:
            self.events.append(("draw.pitch", f"{target.name}: rows of {pitch} bytes in words of {word}: left out"))
        return pitch % word == 0

    def _color_key(self, target: Target, out: int, register: int, place: int) -> ColorKey:
        """place: index of the blend state and colour mask."""
        state, on = self.state, self.reader.on
        channels = Channels.of(target.format, srgb=on("SET_SRGB_WRITE"))
        single = on("SET_SINGLE_CT_WRITE_CONTROL")
        write = lambda c: on("SET_CT_WRITE", f"{c}_ENABLE", 0 if single else place)
        written = written_bits(target.format, {c for c in CHANNELS if write(c)})
        bits = tuple(written >> 32 * i & 0xFFFFFFFF for i in range(4))
        saturate = AS_IT_IS
        if channels.numbers != NUMBER_INTEGER and on("SET_PS_SATURATE", f"OUTPUT{out}"):
            saturate = _SATURATIONS[state.field("SET_PS_SATURATE", f"CLAMP_RANGE{out}")]
        if channels.numbers == NUMBER_UNORM and saturate == TO_UNIT:
            saturate = AS_IT_IS  # the format does it
        covers = int(on("SET_COVERAGE_TO_COLOR") and state.field("SET_COVERAGE_TO_COLOR", "CT_SELECT") == place)
        if covers and channels.numbers != NUMBER_INTEGER:
            self.events.append(("draw.coverage", f"{target.name}: coverage goes to integers only; left out"))
            covers = 0
        mode = PLAIN
        encoded = any(channel.type == SRGB for channel in channels.channels)
        if on("SET_LOGIC_OP"):
            mode = PLAIN if channels.numbers == NUMBER_FLOAT or encoded else LOGIC
        elif on("SET_BLEND", index=place) and channels.numbers != NUMBER_INTEGER:
            mode = BLEND
        equation = self._equation(place) if mode == BLEND else {}
        linear = bool(dict(target.words)["PITCH"])
        return ColorKey(
            channels, bits, self._is_wide(target), linear, register, self.program.targets[out], saturate,
            covers, BLEND if equation else PLAIN if mode == BLEND else mode, **equation,
        )  # fmt: skip

    def _equation(self, place: int) -> dict[str, int]:
        """Fields of ColorKey for blending; none if blending just stores the source."""
        each = self.reader.on("SET_BLEND_STATE_PER_TARGET")
        prefix, index = ("SET_BLEND_PER_TARGET_", place) if each else ("SET_BLEND_", 0)
        separate = self.reader.on(f"{prefix}SEPARATE_FOR_ALPHA", index=index)
        separate |= self.choices["output.alpha_equation"] == "always"
        key: dict[str, int] = {}
        for part in ("COLOR", "ALPHA"):
            of = f"{prefix}{part if separate else 'COLOR'}_"
            low = part.lower()
            operation = self.reader.choice(_blend_operations(), f"{of}OP", index, 0)
            one, zero = (FACTORS.index(name) for name in ("one", "zero"))
            source, both = self.reader.choice(_factors(), f"{of}SOURCE_COEFF", index, (one, None))
            target, _ = self.reader.choice(_factors(), f"{of}DEST_COEFF", index, (zero, None))
            if operation in (OPERATIONS.index("min"), OPERATIONS.index("max")):
                source = target = zero  # they are ignored
            key |= {f"{low}_operation": operation, f"{low}_source": source}
            key[f"{low}_target"] = target if both is None else both
        copies = ColorKey(Channels(4, (), 0, 0), ())
        return {} if all(getattr(copies, name) == value for name, value in key.items()) else key

    def _write_key(self, common: dict[str, Any], colors: tuple[ColorKey, ...]) -> WriteKey:
        state, on = self.state, self.reader.on
        modes = {color.mode for color in colors}
        logic = 0
        if LOGIC in modes:
            logic = self.reader.choice(_logic_operations(), "SET_LOGIC_OP_FUNC", 0, LOGIC_OPERATIONS.index("copy"))
        second = {}
        if any(FACTORS[factor].endswith(("second color", "second alpha")) for c in colors for factor in c.factors):
            second = {"second_source": self.program.registers[1] or 0, "second_written": self.program.targets[1]}
        left_out = 0
        if on("SET_SAMPLE_MASK", "COLOR_TARGET_ENABLE"):
            left_out = ~state.field("SET_COLOR_TARGET_SAMPLE_MASK") & ((1 << self.samples) - 1)
        return WriteKey(
            **common, left_out=left_out, to_one=int(on("SET_ANTI_ALIAS_ALPHA_CONTROL", "ALPHA_TO_ONE")), logic=logic,
            zero_wins=int(BLEND in modes and on("SET_BLEND_FLOAT_OPTION", "ZERO_TIMES_ANYTHING_IS_ZERO")),
            **second,
            colors=colors,
        )  # fmt: skip
