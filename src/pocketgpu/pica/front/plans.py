"""What a draw's registers mean for all packets that share them: state, target, textures, prepared words of the head.

This depends on nothing but those words, the choices and where memory is. So it is kept for all machines of the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import accumulate

import numpy as np

from pocketgpu.events import EventKind
from pocketgpu.facts.pica_enums import GEOMETRY_STAGE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import PACKET, UNIT_SIZE
from pocketgpu.pica.core.registers import StaticRegisters, select_fields
from pocketgpu.pica.core.registers import field as register_field
from pocketgpu.pica.fragment.general_words import general_words, unit_settings
from pocketgpu.pica.fragment.state import KEY_IDS, KEY_MASKS, FragmentState, normalise
from pocketgpu.pica.front import draw_target
from pocketgpu.pica.front.draw_target import DrawTarget, make_target
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.texture.cache import UNIT_IDS, TextureCache, TextureSource
from pocketgpu.pica.texture.units import LEVELS

TARGET_IDS, _TARGET_MASKS = select_fields(draw_target.FIELDS)
_PROGRAM_IDS, _PROGRAM_MASKS = select_fields(
    [
        *(f"{unit}_ENTRYPOINT.{half}" for unit in ("VSH", "GSH") for half in ("entry", "end")),
        "GSH_MISC0.mode",
        "GEOSTAGE_CONFIG.mode",
    ]
)
# What the packets of a group share: masked register words, and the versions of the program's banks.
GROUP_IDS = np.concatenate([KEY_IDS, TARGET_IDS, _PROGRAM_IDS, UNIT_IDS])
GROUP_MASKS = np.concatenate([KEY_MASKS, _TARGET_MASKS, _PROGRAM_MASKS, np.full(len(UNIT_IDS), 0xFFFFFFFF, np.uint32)])
_NUMBERS: list[int] = GROUP_IDS.tolist()
_KEY, TARGET_PART = slice(0, len(KEY_IDS)), slice(len(KEY_IDS), len(KEY_IDS) + len(TARGET_IDS))
"""Parts of these words: the fragment state's, the target's."""
PREPARED = slice(PACKET.COLOR // 4, PACKET.size // 4)
"""Words of a packet's head that are filled in before it runs."""
TEXTURES_AT = PACKET.TEXTURES // 4 - PREPARED.start
"""Where the arena offsets of the textures are among them."""
_STAGE, _GEOMETRY_MODE = (register_field(name) for name in ("GEOSTAGE_CONFIG.mode", "GSH_MISC0.mode"))
_MOST = 4096
_kept: dict[tuple[bytes, int, tuple[tuple[str, str], ...]], PreparedDraw] = {}


@dataclass
class PreparedDraw:
    """What equal packets share. target: None if they are skipped. powers: of each texture unit, whether its sizes are
    powers of two. geometry: mode of the geometry shader, None without one. textures: by unit, and the arena `ranges`
    that they are read from. words: the head's words `PREPARED`; the texture offsets are left to the machine."""

    events: list[tuple[EventKind, str, str]]
    state: FragmentState
    target: DrawTarget | None = None
    powers: tuple[bool, ...] = ()
    geometry: int | None = None
    textures: dict[int, TextureSource] = field(default_factory=dict)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    words: np.ndarray = field(default_factory=lambda: np.zeros(PREPARED.stop - PREPARED.start, np.int32))


def prepare(
    row: bytes, memory: GuestMemory, textures: TextureCache, choices: tuple[tuple[str, str], ...]
) -> PreparedDraw:
    """What the words of a group (of GROUP_IDS, masked by GROUP_MASKS) mean; not to be changed. choices: those that are
    not the default."""
    key = (row, memory.guest_end, choices)
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= _MOST:
            _kept.clear()
        found = _kept[key] = _prepare(np.frombuffer(row, np.uint32), memory, textures, choices)
    return found


def _prepare(
    row: np.ndarray, memory: GuestMemory, textures: TextureCache, choices: tuple[tuple[str, str], ...]
) -> PreparedDraw:
    state = normalise(row[_KEY], choices)
    registers = StaticRegisters(dict(zip(TARGET_IDS.tolist(), row[TARGET_PART].tolist(), strict=True)))
    target = make_target(memory, registers)
    events: list[tuple[EventKind, str, str]] = [("warning", id, message) for id, message in state.missing]
    if isinstance(target, str):
        return PreparedDraw([*events, ("fault", "draw.left-out", target)], state)
    draw = PreparedDraw(events, state, target)
    words = dict(zip(_NUMBERS, row.tolist(), strict=True))  # those of textures come last, and are whole
    if _STAGE.field.raw(words[_STAGE.register.offset]) == GEOMETRY_STAGE.ON:
        draw.geometry = _GEOMETRY_MODE.field.raw(words[_GEOMETRY_MODE.register.offset])

    def put(name: str, values: Sequence[int], at: int = 0) -> None:
        start = int(getattr(PACKET, name)) // 4 - PREPARED.start + at
        draw.words[start : start + len(values)] = values

    put("COLOR", (target.color[0], target.depth[0], target.width, target.height))
    put("RECT", target.rect)
    put("TEXTURES", (memory.guard_offset,) * 3)
    powers = [True, True, True]
    for unit in state.units:
        source = textures.describe(words, unit)
        if source is None:
            message = f"the texture of unit {unit} leaves memory or has no size; it is black"
            draw.events.append(("fault", "texture.unmapped", message))
            continue
        draw.textures[unit] = source
        draw.ranges += source.ranges
        powers[unit] = source.power_of_two
        sizes = source.level_words
        put("LEVELS", list(accumulate(sizes[:-1], initial=0)), LEVELS * unit)
        put("FACES", [sum(sizes)], unit)
        put("TOP_LEVELS", [source.levels - 1], unit)
    put("STATE", general_words(state))
    for unit in state.units:
        put("UNITS", unit_settings(state, unit, powers[unit]), unit * UNIT_SIZE // 4)
    draw.powers = tuple(powers)
    return draw
