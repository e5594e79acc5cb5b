"""The registers that shape the code of fragment lighting: which tables take part, their inputs, bump and shadow maps.

`normal_form` reduces them to what can change a draw, so that draws that light alike have one code.
"""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.facts.pica_enums import BUMP_MODE, FRESNEL, LIGHT_LAYER, LIGHT_LUT_INPUT, TEXENV_SOURCE
from pocketgpu.pica.core.registers import State

SELECTED = ("d0", "d1", "sp", "fr", "rb", "rg", "rr")
"""The tables that can be disabled and that have a selectable input: all but the distance tables."""
_LAYERS = {
    "CONFIG0": "d0 rr sp", "CONFIG1": "fr rr sp", "CONFIG2": "d0 d1 rr", "CONFIG3": "d0 d1 fr",
    "CONFIG4": "d0 d1 rr rg rb sp", "CONFIG5": "d0 fr rr rg rb sp", "CONFIG6": "d0 d1 fr rr sp",
}  # fmt: skip
LAYERS = {LIGHT_LAYER.number(symbol): tables.split() for symbol, tables in _LAYERS.items()}
"""Tables of each LIGHTING_CONFIG0.layer; CONFIG7 and unknown codes have all."""
NOTHING = max(LIGHT_LUT_INPUT) + 1
"""The input of a table with an unknown code: any code after the last valid one."""

_SHARED = (
    "shadow", "fresnel", "shadow_primary", "shadow_secondary", "shadow_invert", "shadow_alpha", "bump_unit",
    "shadow_unit", "clamp_highlights", "bump_mode", "bump_keep_z",
)  # fmt: skip


def off_field(table: str) -> str:
    """The field that disables a table."""
    return f"LIGHTING_CONFIG1.{'spot' if table == 'sp' else table}_off"


FIELDS = (
    "LIGHTING_ENABLE0.enable",
    "LIGHTING_ENABLE1.disable",
    *(f"LIGHTING_CONFIG0.{name}" for name in (*_SHARED, "layer")),
    *(off_field(name) for name in SELECTED if name != "sp"),
    *(f"LIGHTING_LUTINPUT_{part}.{name}" for part in ("ABS", "SELECT") for name in SELECTED),
)
"""Register fields that can affect the code of lit fragments."""


def normal_form(get: State, used: set[int], choices: Mapping[str, str]) -> dict[str, int]:
    """The fields of FIELDS that affect the code of a draw whose combiners read the sources `used`; others are 0.

    LIGHTING_ENABLE0.enable is set if the draw is lit. A table is used unless its bit of LIGHTING_CONFIG1 is set,
    whatever the layer; the bits of tables without effect on a colour are set too.
    """
    primary, secondary = TEXENV_SOURCE.FRAGMENT_PRIMARY in used, TEXENV_SOURCE.FRAGMENT_SECONDARY in used
    if get("LIGHTING_ENABLE1.disable") or not (primary or secondary):
        return {}
    shared = {name: get(f"LIGHTING_CONFIG0.{name}") for name in _SHARED}
    tables = set(LAYERS.get(get("LIGHTING_CONFIG0.layer"), SELECTED))
    # A choice: bits 20 and 22 may be exchanged.
    other = {"rr": "rb", "rb": "rr"} if choices["lighting.off_bits"] == "rr-rg-rb" else {}
    tables -= {name for name in SELECTED if name != "sp" and get(off_field(other.get(name, name)))}
    if not secondary:
        tables -= {"d0", "d1", "rr", "rg", "rb"}
        shared["clamp_highlights"] = 0
    shared["fresnel"] &= (FRESNEL.PRIMARY_ALPHA if primary else 0) | (FRESNEL.SECONDARY_ALPHA if secondary else 0)
    shared["shadow_primary"] &= int(primary)
    shared["shadow_secondary"] &= int(secondary)
    shared["shadow_alpha"] &= int(shared["shadow"] and shared["fresnel"] > 0)
    if not shared["fresnel"]:
        tables -= {"fr"}
    elif "fr" not in tables and not shared["shadow_alpha"]:
        shared["fresnel"] = 0
    if not (shared["shadow"] and (shared["shadow_primary"] or shared["shadow_secondary"] or shared["shadow_alpha"])):
        shared |= {name: 0 for name in _SHARED if name.startswith("shadow")}
    selects = {name: get(f"LIGHTING_LUTINPUT_SELECT.{name}") for name in SELECTED if name in tables}
    for name, code in selects.items():
        layer = get("LIGHTING_CONFIG0.layer")
        if code >= NOTHING or (code == LIGHT_LUT_INPUT.CP and layer != LIGHT_LAYER.CONFIG7):
            selects[name] = NOTHING
    tangent = LIGHT_LUT_INPUT.CP in selects.values()
    if shared["bump_mode"] != BUMP_MODE.BUMP_MAP and not (shared["bump_mode"] == BUMP_MODE.TANGENT_MAP and tangent):
        shared["bump_mode"] = shared["bump_unit"] = 0
    if shared["bump_mode"] != BUMP_MODE.BUMP_MAP:
        shared["bump_keep_z"] = 0

    form = {f"LIGHTING_CONFIG0.{name}": value for name, value in shared.items()} | {"LIGHTING_ENABLE0.enable": 1}
    for name in SELECTED:
        if name in tables:
            form[f"LIGHTING_LUTINPUT_SELECT.{name}"] = selects[name]
            form[f"LIGHTING_LUTINPUT_ABS.{name}"] = get(f"LIGHTING_LUTINPUT_ABS.{name}")
        else:
            form[off_field(name)] = 0xFF if name == "sp" else 1
    return form


def units_read(form: Mapping[str, int]) -> set[int]:
    """Combiner sources that lighting itself reads: the bump map and the shadow."""
    get = lambda name: form.get(f"LIGHTING_CONFIG0.{name}", 0)
    pairs = (("bump_mode", "bump_unit"), ("shadow", "shadow_unit"))
    return {TEXENV_SOURCE.TEXTURE0 + get(unit) for enable, unit in pairs if get(enable)}


__all__ = ["FIELDS", "LAYERS", "NOTHING", "SELECTED", "normal_form", "off_field", "units_read"]
