"""What general fragment code reads of a state: words of packets, and records of texture units. See any_state.py."""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.pica_enums import FOG_MODE, FRAGMENT_MODE, SEMANTIC, TEXTURE_TYPE, UNIT2_COORDINATES
from pocketgpu.pica.core.registers import State, register_id
from pocketgpu.pica.fragment.state import KEY_IDS, FragmentState
from pocketgpu.pica.texture.units import SHADOW_TYPES

TEXCOORD_SLOTS = tuple(SEMANTIC.number(f"TEXCOORD{n}_U") for n in range(3))
PROCEDURAL = 3
_KEYS = [int(number) for number in KEY_IDS]


def texcoord_slot(state: State, unit: int) -> int:
    """Slot of the first texture coordinate that a unit uses."""
    if unit == PROCEDURAL:
        return TEXCOORD_SLOTS[state("TEXUNIT_CONFIG.unit3_coordinates")]
    shared = unit == 2 and state("TEXUNIT_CONFIG.unit2_coordinates") == UNIT2_COORDINATES.TEXCOORD1
    return TEXCOORD_SLOTS[1 if shared else unit]


def is_rare(state: FragmentState) -> bool:
    """Whether a state needs the general code that has everything."""
    get = state.registers
    kind = get("TEXUNIT0_PARAM.type") if 0 in state.units else TEXTURE_TYPE.FLAT
    plain = get("COLOR_OPERATION.fragment_mode") == FRAGMENT_MODE.DEFAULT
    plain = plain and get("TEXENV_UPDATE_BUFFER.fog_mode") in (FOG_MODE.OFF, FOG_MODE.FOG)
    plain = plain and not get("FRAMEBUFFER_BLOCK32.enable")
    return not plain or kind in SHADOW_TYPES


def general_words(state: FragmentState) -> list[int]:
    """The words of PACKET.STATE, as signed 32-bit numbers."""
    words = dict(state.words)
    return np.array([words.get(number, 0) for number in _KEYS], np.uint32).view(np.int32).tolist()


def unit_settings(state: FragmentState, unit: int, power_of_two: bool) -> list[int]:
    """A UNIT record (layout.py) of a unit that the state samples."""
    get, name = state.registers, f"TEXUNIT{unit}"
    return [
        1, get(f"{name}_PARAM.type") if unit == 0 else TEXTURE_TYPE.FLAT, get(f"{name}_PARAM.wrap_s"),
        get(f"{name}_PARAM.wrap_t"), get(f"{name}_PARAM.mag_filter"), get(f"{name}_PARAM.min_filter"),
        get(f"{name}_PARAM.mip_filter"), get(f"{name}_LOD.max_level"), int(power_of_two), texcoord_slot(get, unit),
        register_id(f"{name}_BORDER_COLOR"),
    ]  # fmt: skip
