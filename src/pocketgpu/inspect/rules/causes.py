"""Why a frame looks wrong: the rules of `pocketgpu check`, applied to this frame, ranked by what they do to a picture.

WEIGHTS lists the rules that can be the cause. A rule that is not listed is about speed, about other consoles, or about
something that sound programs do as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.causes import Cause, FrameCauses
from pocketgpu.inspect.rules.checker import check
from pocketgpu.inspect.rules.registry import RULES

if TYPE_CHECKING:
    from pocketgpu.inspect.model.inspection import Inspection

WEIGHTS: Final = {
    # Nothing runs, or nothing is where it is looked for.
    "shader.endless": 100, "shader.no-end": 95, "list.endless": 100, "list.unmapped": 100, "gx.refused": 90,
    "transfer.hang": 95, "transfer.formats": 95, "target.unmapped": 95, "texture.unmapped": 85, "vertex.unmapped": 85,
    "display.unmapped": 95, "transfer.unmapped": 90, "outputs.position": 95, "target.overlap": 85,
    "switch.deadlock": 100, "switch.hang": 100, "switch.fault": 95, "switch.unmapped": 90, "switch.illegal": 90,
    "switch.no-program": 95, "switch.no-target": 90, "switch.raster-off": 90, "switch.target-overlap": 85,
    # Registers that keep everything of a draw away.
    "scissor.empty": 92, "draw.never-passes": 92, "draw.culled": 90, "viewport.outside": 60, "uniform.nan": 88,
    "switch.scissor-empty": 92, "switch.never-passes": 92, "switch.cull-both": 92, "switch.viewport-empty": 92,
    "switch.viewport-number": 92, "switch.viewport-outside": 90, "switch.sample-mask": 90, "switch.writes-nothing": 60,
    "switch.culled": 90, "switch.blend-nothing": 60, "switch.shown-never-written": 85,
    "switch.vertex-nan": 90, "switch.target-input": 85, "switch.two-uses": 65,
    # What programs read.
    "uniform.unset": 80, "vertex.input-unfed": 75, "vertex.unloaded": 70,
    "switch.unbound-constants": 88, "switch.constants-small": 80, "switch.stream-off": 80,
    "switch.constants-unset": 79, "switch.vertex-stride": 74, "switch.vertex-align": 60,
    "switch.texture-invalid": 80, "switch.never-written": 70, "switch.index-limit": 75, "switch.vertex-limit": 75,
    "texture.unit-off": 70, "lighting.off": 70, "texture.format": 78, "memory.never-written": 65,
    "memory.two-uses": 65, "vertex.stride": 70, "vertex.attributes": 60,
    # How the picture comes to the screen.
    "display.stride": 86, "display.format": 86, "transfer.mismatch": 84, "transfer.crop": 82, "transfer.flags": 80,
    "transfer.size": 80, "transfer.never-written": 84,
}  # fmt: skip
"""How likely a finding of a rule spoils the picture, by id, 1 to 100."""


def frame_causes(run: Inspection, address: Address) -> FrameCauses:
    """What is wrong in a frame.

    :raises UsageError: there is no such frame.
    """
    draws = len(run.draws(address.frame))
    rules = [one for one in RULES if one.id in WEIGHTS]
    report = check(run.capture, rules, frame=address.frame)
    found = []
    for finding in report.findings:
        at = finding.at.partition(",")[0] or str(address)
        times = f" (and {finding.count - 1} more like it)" if finding.count > 1 else ""
        more = f"pocketgpu why CAPTURE {at}" if "/d" in at else f"pocketgpu events CAPTURE {at}"
        found.append(Cause(at, f"{finding.message}{times}", finding.rule.id, WEIGHTS[finding.rule.id], more))
    found.sort(key=lambda cause: -cause.weight)
    return FrameCauses(address, found, draws)


__all__ = ["WEIGHTS", "frame_causes"]
