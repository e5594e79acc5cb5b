"""The stages of a fragment as text: one or a few lines for each, with operands and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def lines_of(name: str, part: dict[str, Any]) -> Iterator[str]:
    """The lines of a stage."""
    if name.endswith(" test"):
        passed = "passes" if part["passed"] else "FAILS"
        known = part["incoming"] is not None
        compared = f"{part['incoming']} {part['function']} {part['stored']}" if known else part["function"]
        yield f"{name}: {compared} {passed}"
    elif name.startswith("combiner"):
        for which in ("rgb", "alpha"):
            one = part[which]
            operands = ", ".join(f"{o['source']}.{o['operand']}={_short(o['value'])}" for o in one["operands"])
            scale = "" if one["scale"] in ("1", "x1", "times 1") else f" scale {one['scale']}"
            yield f"{name} {which}: {one['operation']}({operands}){scale} = {_short(one['result'])}"
    elif name == "blend" and "source_factors" in part:
        for which, channels in (("rgb", slice(0, 3)), ("alpha", slice(3, 4))):
            one, values = part[which], {key: part[key][channels] for key in ("source", "target", "result")}
            yield (
                f"blend {which}: {one['equation']}({values['source']} x {one['source_factor']}, "
                f"{values['target']} x {one['target_factor']}) = {values['result']}"
            )
    elif name == "blend":
        yield f"logic operation {part['logic_operation']}: {part['source']} on {part['target']} = {part['result']}"
    elif name == "write mask":
        masked = [key for key, on in part.items() if not on]
        if masked:
            yield f"not written: {', '.join(masked)}"
    elif name.startswith("texture") and "texels" in part:
        yield f"{name}: {part.get('format')} {part.get('size')} at {part.get('address')}, " + ", ".join(
            f"{key} {_short(part[key])}" for key in ("s", "t", "face", "lod") if key in part
        )
        for texel in part["texels"]:
            width, height = texel["level_size"]
            yield f"    texel ({texel['x']}, {texel['y']}) of {width}x{height}: {texel['hex']}"
        yield f"    gives {part['hex']}"
    elif name == "lighting":
        yield f"lighting: normal {_short(part['normal'])}, view {_short(part['view'])}"
        for light in part["lights"]:
            terms = ", ".join(f"{key} {_short(value)}" for key, value in light.items() if key not in ("slot", "light"))
            yield f"    light {light['light']}: {terms}"
        for table, values in part.get("luts", {}).items():
            yield f"    table {table}: {_short(values)}"
        yield "    gives " + ", ".join(f"{key} {part[key]}" for key in ("primary", "secondary") if key in part)
    else:
        yield f"{name}: " + ", ".join(f"{key} {_short(value)}" for key, value in part.items())


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return "[" + ", ".join(_short(one) for one in value) + "]"
    if isinstance(value, dict):
        return "(" + ", ".join(f"{key} {_short(one)}" for key, one in value.items()) + ")"
    return str(value)


__all__ = ["lines_of"]
