"""An answer about a pixel as text: the cause first, then where the bytes came from, then every event in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pocketgpu.inspect.n3ds.explain import explain

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.why import Touch, Why

MOST_NAMES = 12
_TESTS = ("alpha_test", "stencil_test", "depth_test")


def lines_of(why: Why) -> Iterator[str]:
    """Lines of text."""
    color = "#" + "".join(f"{c:02x}" for c in why.color)
    yield f"{why.address} is {color}: {why.because}"
    yield from _cause(why)
    overlapping = why.overlapping
    if overlapping is not None:
        yield f"the colour and depth buffers of {overlapping.event.address} overlap: other pixels write here as well"
    elif why.proved:
        if any(touch.draw is not None for row in (why.touches, *why.more) for touch in row):
            yield "values end in the bytes that were drawn"
    else:
        yield "VALUES DO NOT END IN THE BYTES THAT WERE DRAWN"
    yield ""
    if why.shown is not None:
        shown = why.shown
        where = "nothing" if shown.bytes_ is None else f"memory {shown.bytes_}"
        yield f"{shown.screen} screen ({shown.x}, {shown.y}) shows {where}{f': {shown.reason}' if shown.reason else ''}"
    for link in why.links:
        places = ", ".join(
            f"({source.x}, {source.row}) at {source.bytes_.address:#010x}" if source.x is not None
            else str(source.bytes_) for source in link.sources
        )  # fmt: skip
        yield f"from {places}  by {link.event}"
    if why.place is not None:
        happened = "; what happened to it:" if why.touches else "; no event of the capture touched it"
        yield f"pixel at {why.place}, {why.final[::-1].hex()} at last{happened}"
    beside = [touch for touch in why.touches if touch.draw is not None and not touch.draw.fragments]
    for touch in why.touches:
        if touch not in beside:
            yield from _touch(touch)
    if beside:
        names = ", ".join(str(touch.event.address) for touch in beside[:MOST_NAMES])
        more = f" and {len(beside) - MOST_NAMES} more" if len(beside) > MOST_NAMES else ""
        yield f"no triangle of {names}{more} covers it"


def _cause(why: Why) -> Iterator[str]:
    """The second line: what made the colour, or what kept others away."""
    last = why.last
    if last is None or last.draw is None:
        return
    fragment = next(one for one in reversed(last.draw.fragments) if one.before[0] != one.after[0])
    parts = explain(last.draw, fragment)
    stage = next((n for n in range(5, -1, -1) if not parts.get(f"tev{n}", {"idle": True})["idle"]), None)
    if stage is None:
        yield "  the vertex colour, as no combiner stage changes it"
        return
    rgb = parts[f"tev{stage}"]["rgb"]
    operands = ", ".join(f"{one['source']}.{one['operand']} {one['value']}" for one in rgb["operands"])
    yield f"  combiner stage {stage}: {rgb['operation']} of {operands} gives {rgb['result']}"


def _touch(touch: Touch) -> Iterator[str]:
    yield f"{touch.event.address}  {touch.event.title}"
    if touch.draw is None:
        return
    for fragment in touch.draw.fragments:
        parts = explain(touch.draw, fragment)
        changed = f"{parts['before'][0]} to {parts['after'][0]}"
        yield f"    primitive {fragment.primitive}: {parts['result']}  ({changed})"
        for name, part in parts.items():
            if isinstance(part, dict) and not part.get("idle"):
                yield from (f"        {line}" for line in _section(name, part))
    if touch.depth_from is not None:
        yield f"    depth was last written by {touch.depth_from.address}"


def _section(name: str, part: dict[str, Any]) -> Iterator[str]:
    if name in _TESTS:
        passed = "passes" if part["passed"] else "FAILS"
        yield f"{name}: {part['incoming']} {part['function']} {part['stored']} {passed}"
    elif name.startswith("tev"):
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
    elif name == "write_mask":
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
