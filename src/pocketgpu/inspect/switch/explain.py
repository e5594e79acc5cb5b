"""The explanation of a watched fragment: tests with both operands, blending, textures, its fate."""

from __future__ import annotations

from typing import Any

from pocketgpu.errors import PocketGPUError
from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.facts.maxwell.headers import numbers_of
from pocketgpu.inspect.model.references import Reference
from pocketgpu.inspect.model.stage import Stage
from pocketgpu.inspect.model.why import Fragment
from pocketgpu.inspect.switch import fragment_stages
from pocketgpu.inspect.switch.fragment_stages import TextureSample
from pocketgpu.inspect.switch.fragments import ProbedFragment
from pocketgpu.inspect.switch.lane_trace import as_float
from pocketgpu.inspect.switch.primitives.causes import unchanging
from pocketgpu.inspect.switch.recorder import Recorder
from pocketgpu.inspect.switch.resources import bank_of, part_name, texture_name
from pocketgpu.inspect.switch.surfaces import Surface
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.maxwell.engines.threed.draws import STAGES, Draw
from pocketgpu.maxwell.formats.components import ABSENT, FLOAT32
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.graphics.draw.plans import PIXEL
from pocketgpu.maxwell.graphics.output.blend import FACTORS, LOGIC_OPERATIONS, OPERATIONS
from pocketgpu.maxwell.graphics.output.keys import BLEND, COMPARISONS, LOGIC, NO_BOUNDS, NO_TEST, DiscardKey
from pocketgpu.maxwell.graphics.records import RASTER
from pocketgpu.maxwell.sampling.records import V_HANDLE
from pocketgpu.maxwell.sampling.store import HEADER_BYTES
from pocketgpu.maxwell.sass.thread_memory.work import BANK_SIZE, LAUNCH

_SIGNS = {
    "never": "never", "less": "<", "equal": "=", "lequal": "<=", "greater": ">", "notequal": "!=", "gequal": ">=",
    "always": "always",
}  # fmt: skip
CHANGES_NOTHING = "written, which changes nothing"
"""A fate begins with it if the fragment passed everything."""


class Explainer:
    """Explains fragments of one draw. surface: the target that the pixel belongs to. before: how many ticks come before
    the draw, to find the writers of its textures."""

    def __init__(self, watch: Watch, recorder: Recorder, surface: Surface, before: int) -> None:
        self._watch, self._recorder, self._surface, self._before = watch, recorder, surface, before
        draw = recorder.traces[before].what
        assert isinstance(draw, Draw)
        self._state, self._bank = draw.state, bank_of(draw)

    def fragment(self, seen: ProbedFragment) -> Fragment:
        """A fragment with its stages and its fate."""
        tests, masked = self._tests(seen), self._mask(seen)
        written = any(seen.probes.get("write.cover", ()))
        name = self._surface.name
        before, after = ([raw.hex() for raw in side.get(name, ())] for side in (seen.before, seen.after))
        fate = self._fate(seen, tests, masked, written, before == after)
        found = Fragment(seen.primitive, fate, written, before, after, seen.front, seen.samples, seen.passed)
        inputs = {
            one.more["input"]: new for one in seen.instructions if "input" in one.more for _, new in one.writes.values()
        }
        if inputs:
            found.stages.append(fragment_stages.inputs(inputs))
        found.stages += [sample.stage() for sample in self._textures(seen)]
        if seen.instructions or seen.outputs:
            found.stages.append(fragment_stages.program(seen.instructions, seen.steps, seen.outputs))
        found.stages += [*tests, *self._blends(seen)]
        if masked:
            found.stages.append(fragment_stages.mask(masked))
        found.proved = seen.proved
        return found

    # -- its fate -----------------------------------------------------------------------------------------------------
    def _fate(self, seen: ProbedFragment, tests: list[Stage], masked: str, written: bool, same: bool) -> str:
        if written:
            return f"{CHANGES_NOTHING}{self._unchanging(seen, masked)}" if same else "written"
        failed = next((test for test in tests if not test.passed), None)
        if failed is not None:
            (loss,) = failed.lost
            return f"rejected: {failed.name}, {loss.reason}" + (f" [{loss.register}]" if loss.register else "")
        if not any(seen.probes.get("raster.allowed", [1])):
            return "rejected: window rectangles or a stipple leave the pixel out [SET_WINDOW_CLIP_ENABLE]"
        if not any(seen.probes.get("raster.covered", [1])):
            corner = f"X{seen.x & 1}_Y{seen.y & 1}"
            return f"rejected: the sample mask leaves it out [SET_SAMPLE_MASK_{corner}]"
        if "depth.cover" not in seen.probes and seen.probes.get("raster.depth") and not seen.instructions:
            depths = ", ".join(f"{z:.7g}" for z in seen.probes["raster.depth"])
            return f"rejected: depth {depths} is beyond the viewport's range [{self._range(seen)}]"
        if discards_of(seen).to_coverage:
            return "rejected: alpha to coverage leaves no sample [SET_ANTI_ALIAS_ALPHA_CONTROL]"
        return "rejected: nothing of it is written" + (f" ({masked})" if masked else " [SET_CT_WRITE]")

    def _unchanging(self, seen: ProbedFragment, masked: str) -> str:
        """Why a fragment that is written leaves what was there; "" if its colour is the same."""
        if masked:
            return f" ({masked})"
        kept = unchanging(self._state, seen.plan, self._surface.name)
        return f": blending leaves the {self._surface.name} as it is ({kept})" if kept else ""

    def _range(self, seen: ProbedFragment) -> str:
        """The registers that limit the depth of a fragment's viewport."""
        if self._state.field("SET_VIEWPORT_CLIP_CONTROL", "MIN_Z_ZERO_MAX_Z_ONE"):
            return "SET_VIEWPORT_CLIP_CONTROL"
        return ", ".join(f"SET_VIEWPORT_CLIP_{end}_Z({seen.viewport})" for end in ("MIN", "MAX"))

    # -- tests --------------------------------------------------------------------------------------------------------
    def _tests(self, seen: ProbedFragment) -> list[Stage]:
        """The tests in the order in which they happen. What fails early tests meets no later ones."""
        depths = [*self._stencil(seen), *self._depths(seen)]
        if not seen.plan.output.early:
            return [*self._discards(seen), *depths]
        return [*depths, *(self._discards(seen) if any(seen.probes.get("depth.left", [1])) else [])]

    def _discards(self, seen: ProbedFragment) -> list[Stage]:
        """What the program and the alpha test remove."""
        found = []
        probes, discards = seen.probes, discards_of(seen)
        if discards.kills and any(probes.get("discard.killed", ())):
            killer = next((one for one in reversed(seen.instructions) if "KIL" in one.text and one.executed), None)
            text = f"instruction {killer.number} ({killer.text})" if killer is not None else "the program stops it"
            found.append(fragment_stages.test("discard", text, False))
        if discards.alpha_function != NO_TEST and "discard.alpha" in probes:
            alpha, reference = probes["discard.alpha"][0], probes["discard.reference"][0]
            name = COMPARISONS[discards.alpha_function]
            kept = bool(probes["discard.kept"][0]) or bool(probes["discard.killed"][0])
            text = _compared(f"alpha {alpha:.7g}", name, f"{reference:.7g}")
            found.append(fragment_stages.test("alpha test", text, kept, "SET_ALPHA_FUNC, SET_ALPHA_REF"))
        if discards.masks and "discard.mask" in probes:
            mask = probes["discard.mask"][0] & (1 << discards.samples) - 1
            found.append(fragment_stages.test("sample mask", f"the program keeps {mask:#x}", bool(mask)))
        return found

    def _depths(self, seen: ProbedFragment) -> list[Stage]:
        """The tests against the stored depth, sample by sample."""
        found = []
        probes, key = seen.probes, seen.plan.output.test_key
        for n, (incoming, stored) in enumerate(
            zip(probes.get("depth.incoming", ()), probes.get("depth.stored", ()), strict=True)
        ):
            if not probes["depth.cover"][n]:
                continue
            within, near = probes["depth.within"][n], probes["depth.near"][n]
            if key.bounds != NO_BOUNDS:
                text = f"stored depth {self._depth(seen, stored)} is {'within' if within else 'outside of'} the bounds"
                asks = "SET_DEPTH_BOUNDS_MIN, SET_DEPTH_BOUNDS_MAX"
                found.append(fragment_stages.test("depth bounds", text, bool(within), asks))
            if key.depth_function != NO_TEST and key.z_type != ABSENT and within:
                text = _compared(
                    self._depth(seen, incoming), COMPARISONS[key.depth_function], f"stored {self._depth(seen, stored)}"
                )
                found.append(fragment_stages.test("depth test", text, bool(near), "SET_DEPTH_FUNC"))
        return found

    def _stencil(self, seen: ProbedFragment) -> list[Stage]:
        probes, key = seen.probes, seen.plan.output.test_key
        if not key.stencil_test:
            return []
        side = "front" if seen.front else "back"
        found = []
        names = ("stored", "reference", "compared", "fresh", "passes")
        rows = zip(*(probes.get(f"stencil.{name}", ()) for name in names), strict=True)
        for n, (stored, reference, compared, fresh, passes) in enumerate(rows):
            if not probes["depth.cover"][n]:
                continue
            function = COMPARISONS[getattr(key, f"{side}_function")]
            text = _compared(f"reference {reference & compared:#x}", function, f"stored {stored & compared:#x}")
            text += f" (mask {compared:#x}); stencil becomes {fresh:#x}"
            own = not seen.front and self._state.field("SET_TWO_SIDED_STENCIL_TEST", "ENABLE")
            register = "SET_BACK_STENCIL_FUNC" if own else "SET_STENCIL_FUNC"
            found.append(fragment_stages.test("stencil test", text, bool(passes), register))
        return found

    @staticmethod
    def _depth(seen: ProbedFragment, code: int) -> str:
        """A depth as a number, and as it is stored."""
        key = seen.plan.output.test_key
        if key.z_type == FLOAT32:
            return f"{as_float(code):.9g}"
        top = (1 << key.z_width) - 1
        return f"{(code & 0xFFFFFFFF) / top:.8f} ({code & 0xFFFFFFFF:#x})"

    # -- colours ------------------------------------------------------------------------------------------------------
    def _place(self, seen: ProbedFragment) -> int | None:
        """Which of the draw's colour outputs goes to the surface."""
        for n, target in enumerate(seen.plan.output.colours):
            if target.slot == self._surface.slot and self._surface.slot is not None:
                return n
        return None

    def _blends(self, seen: ProbedFragment) -> list[Stage]:
        place, probes = self._place(seen), seen.probes
        if place is None:
            return []
        keys = seen.plan.output.write_key.colors
        key = keys[place]
        written = [n for n, cover in enumerate(probes.get("write.cover", ())) if cover]
        if not written:
            return []
        if key.mode != BLEND:
            # The code names the source of each colour once, also for other targets.
            every = [tuple(probes[f"write.{c}"][n] for c in "rgba") for n in range(len(probes.get("write.a", ())))]
            source = every[min(place, len(every) - 1)] if every else (0.0,) * 4
            how = "stored as it is"
            if key.mode == LOGIC:
                how = f"logic operation {LOGIC_OPERATIONS[seen.plan.output.write_key.logic]}"
            registers = ["SET_LOGIC_OP_FUNC"] if key.mode == LOGIC else []
            return [fragment_stages.blend(how, source, (), source, registers)] if every else []
        blending = [n for n, one in enumerate(keys) if one.mode == BLEND]
        total = len(probes.get("blend.result.a", ()))
        each = total // max(len(blending), 1)
        first = blending.index(place) * each

        def get(name: str, n: int) -> tuple[float, ...]:
            return tuple(probes[f"blend.{name}.{c}"][n] for c in "rgba")

        equation = _equation(key)
        samples = [first + n for n in range(each) if n in written or n + place * each in written]
        return [
            fragment_stages.blend(
                equation, get("first", n), get("target", n), get("result", n), [f"SET_BLEND({self._surface.slot})"]
            )
            for n in (samples or [first])[:16]
        ]

    def _mask(self, seen: ProbedFragment) -> str:
        place = self._place(seen)
        if place is None:
            return ""
        format: PixelLayout = self._surface.format
        bits = sum(word << 32 * n for n, word in enumerate(seen.plan.output.write_key.colors[place].bits))
        masked = [c.name for c in format.components if c.name in "RGBA" and not bits >> c.lo & 1]
        single = self._state.field("SET_SINGLE_CT_WRITE_CONTROL", "ENABLE")
        number = 0 if single else self._surface.slot
        return f"channels {''.join(masked)} are masked [SET_CT_WRITE({number})]" if masked else ""

    # -- textures -----------------------------------------------------------------------------------------------------
    def _textures(self, seen: ProbedFragment) -> list[TextureSample]:
        found = []
        pools = self._watch.textures.pools
        memory = self._watch.machine.memory
        program = seen.plan.programs.get(PIXEL)
        for one in seen.instructions:
            if "texture" not in one.more or not one.executed or program is None:
                continue
            step = program.flow.steps[one.number]
            assert step.texture is not None
            handle = self._handle(one, step)
            coordinates = {f"R{n}": one.reads[f"R{n}"] for n in step.texture.sources if f"R{n}" in one.reads}
            result = {name: new for name, (_, new) in one.writes.items() if name[0] == "R"}
            sample = TextureSample(one.number, one.text, handle, "", coordinates, result, one.more.get("sample", {}))
            number, _ = numbers_of(handle)
            data, _ = memory.try_read(pools.headers + number * HEADER_BYTES, HEADER_BYTES)
            try:
                header = TextureHeader.parse(data)
            except PocketGPUError as error:
                sample.texture = f"no texture: {error.message}"
            else:
                size = "x".join(str(n) for n in (header.width, header.height))
                sample.texture = f"texture {number}, {size} {header.format.name} at {header.address:#x}"
                sample.written_by = self._writer(header.address)
                if step.texture.handle >= 0:
                    sample.reference = self._reference(header, step.texture.handle, sample.details)
            found.append(sample)
        return found

    def _reference(self, header: TextureHeader, word: int, details: dict[str, list[Any]]) -> Reference | None:
        """The first texel that was read, in the texture whose handle is a word of the bank for handles."""
        first = {name: int(details[name][0]) for name in ("level", "layer", "x", "y", "z") if details.get(name)}
        level = min(max(first.get("level", 0), 0), header.last_level - header.first_level)
        layer = min(max(first.get("layer", 0), 0), header.layers - 1)
        try:
            size = header.surface(level, layer)[0]
        except PocketGPUError:
            return None
        x, y, z = (first.get(name, 0) for name in "xyz")
        if "x" not in first or not (0 <= x < size.width and 0 <= y < size.height and 0 <= z < size.depth):
            return None
        name = texture_name(STAGES[PIXEL], self._bank, 4 * word)
        return Reference(0, "", name, part_name(name, header, level, layer, z if size.depth > 1 else None), x, y)

    def _handle(self, one: Any, step: Any) -> int:
        """The handle of a texture instruction: from a register, or a word of a constant bank."""
        if step.texture.handle < 0:
            return int(one.reads.get(f"R{step.texture.sources[V_HANDLE]}", 0))
        watch = self._watch
        launch = watch.words(int(watch.words(watch.raster, RASTER.size // 4)[RASTER.PROGRAM // 4]), LAUNCH.size // 4)
        bank = int(launch[LAUNCH.TEXTURE_BANK // 4])
        at = int(launch[LAUNCH.CONSTANTS // 4]) + bank * BANK_SIZE + 4 * step.texture.handle
        return int(watch.words(at, 1)[0]) & 0xFFFFFFFF

    def _writer(self, address: int) -> str:
        offset = self._watch.machine.memory.offset_of(address, 1)
        if offset is None:
            return ""
        for trace in reversed(self._recorder.traces[: self._before]):
            if any(at <= offset < at + size for at, size in trace.writes):
                return str(trace.event.address)
        return ""


def discards_of(seen: ProbedFragment) -> DiscardKey:
    """How samples are removed after the program."""
    output = seen.plan.output
    return output.test_key if output.test_key.discard_in_test else output.write_key


def _compared(left: str, name: str, right: str) -> str:
    """ "0.5 < stored 0.25", for functions that compare."""
    return f"{left} {_SIGNS[name]} {right}" if name not in ("never", "always") else f"{name} ({left}, {right})"


def _equation(key: Any) -> str:
    def one(part: str) -> str:
        operation = OPERATIONS[getattr(key, f"{part}_operation")]
        a, b = (FACTORS[getattr(key, f"{part}_{side}")] for side in ("source", "target"))
        if operation in ("min", "max"):
            return f"{operation}(source, target)"
        sign = {"add": "+", "subtract": "-"}.get(operation, "+")
        first, second = f"source * {a}", f"target * {b}"
        return f"{second} - {first}" if operation == "reverse subtract" else f"{first} {sign} {second}"

    colour, alpha = one("color"), one("alpha")
    return f"blend {colour}" + (f", alpha {alpha}" if alpha != colour else "")
