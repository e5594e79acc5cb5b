"""Each stage of a draw's funnel is held to a slow model, for all topologies, tests, formats of depth and sides."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from support.switch_model import (
    COMPARE,
    FORMATS,
    OPERATIONS,
    RESTART,
    SIZE,
    STENCILS,
    STEPS,
    Box,
    Counts,
    Drawn,
    Face,
    Model,
    Registers,
    Vertex,
    look,
    square,
)

from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.stage import Stage
from pocketgpu.inspect.model.why import Why
from pocketgpu.inspect.switch.inspection import SwitchInspection

TOPOLOGIES = ["TRIANGLES", "TRIANGLE_STRIP", "TRIANGLE_FAN", "QUADS", "QUAD_STRIP", "POLYGON"]
SPLIT = ("QUADS", "QUAD_STRIP", "POLYGON")
DEPTHS = [0.0, 0.25, 0.5, 0.5 + 2**-19, 0.75, 1.0]
"""Two of them are one step of 16 bits, and two of 24."""


def funnel(run: SwitchInspection, place: str) -> Funnel:
    found = run.why(place)
    assert isinstance(found, Funnel) and found.proved, str(found)
    return found


def stages(found: Funnel) -> dict[str, Stage]:
    return {stage.name: stage for stage in found.stages}


def held(found: Funnel, drawn: Drawn, counts: Counts, format: str | None = None) -> None:
    """Every stage of a funnel has the numbers of the model."""
    told = stages(found)
    noun = "triangles" if drawn.topology in SPLIT else "primitives"
    said = (drawn, counts, str(found))

    def stage(name: str) -> tuple[int, dict[str, int]]:
        one = told[name]
        lost = Counter[str]()
        for loss in one.lost:
            lost[loss.reason] += loss.count
        if not one.source:
            assert one.came - one.passed == sum(lost.values()), (name, said)
        return one.passed, lost

    def lost(**counted: int) -> list[int]:
        return sorted(count for count in counted.values() if count)

    assert told["primitives"].passed == counts.primitives, said
    passed, reasons = stage(noun)
    assert passed == counts.triangles and not reasons, said
    passed, reasons = stage(f"{noun} in the clip volume")
    inside = counts.triangles - counts.broken - sum(counts.planes.values())
    assert passed == inside, said
    beyond = {name.partition(" ")[2]: count for name, count in reasons.items()}
    broken = sum(beyond.pop(f"NaN or infinity in {its} positions", 0) for its in ("its", "their"))
    assert broken == counts.broken, said
    assert beyond == counts.planes, said
    passed, reasons = stage(f"{noun} that show")
    assert passed == inside - counts.culled - counts.flat, said
    assert sorted(reasons.values()) == lost(culled=counts.culled, flat=counts.flat), said
    passed, reasons = stage("shapes")
    assert passed == counts.shapes, said
    assert sum(reasons.values()) == inside - counts.culled - counts.flat - counts.shapes, said
    passed, reasons = stage("pixels that shapes cover")
    assert passed == counts.covered and sum(reasons.values()) == counts.cut, said
    if passed or counts.shapes:
        assert told["samples of colour target 0 that changed"].passed == counts.changed, said
        tested = [stage.passed for name, stage in told.items() if name.startswith("samples that pass")]
        assert (tested or [counts.covered])[0] == counts.passed, said
        if "samples of depth target that changed" in told:
            assert told["samples of depth target that changed"].passed == counts.depth_changed, said
    if counts.changed:
        assert found.because.startswith(f"{counts.changed} sample"), said
    elif not counts.depth_changed:
        assert found.because.startswith("nothing: "), said


def colours(chance: random.Random) -> tuple[float, ...]:
    return tuple(chance.choice([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]) for _ in range(4))


def vertices(chance: random.Random, count: int, topology: str) -> list[Vertex]:
    """Vertices whose depth and colour are those of their primitive, as all of a run are alike."""
    reach = SIZE * STEPS

    def corner() -> tuple[int, int]:
        return chance.randrange(-reach // 4, reach * 5 // 4), chance.randrange(-reach // 4, reach * 5 // 4)

    if topology == "TRIANGLES":
        found = []
        for _ in range(count // 3):
            z, colour = chance.choice(DEPTHS), colours(chance)
            found += [Vertex(*corner(), z, colour) for _ in range(3)]
        return found
    z, colour = chance.choice(DEPTHS), colours(chance)
    if topology not in SPLIT:
        return [Vertex(*corner(), z, colour) for _ in range(count)]
    # Rectangles, so that it does not matter along which diagonal they are split.
    found = []
    x, y, right, bottom = (*corner(), *corner())
    if topology == "QUAD_STRIP":
        for n in range(count // 2):
            at = x + (right - x) * n // (count // 2)
            found += [Vertex(at, y, z, colour), Vertex(at, bottom, z, colour)]
        return found
    for _ in range(count // 4 if topology == "QUADS" else 1):
        x, y, right, bottom = (*corner(), *corner())
        found += [Vertex(*at, z, colour) for at in ((x, y), (right, y), (right, bottom), (x, bottom))]
    return found


def boxed(chance: random.Random) -> Box:
    x, y = chance.randrange(SIZE), chance.randrange(SIZE)
    return x, y, chance.randint(x, SIZE + 4), chance.randint(y, SIZE + 4)


def cases(chance: random.Random, topology: str) -> Iterator[Drawn]:
    for _ in range(3):
        made = vertices(chance, chance.randint(3, 12) if topology != "QUADS" else 8, topology)
        indices = None
        if chance.random() < 0.6:
            order = [*range(len(made))]
            if topology in ("TRIANGLE_STRIP", "TRIANGLE_FAN"):
                for _ in range(chance.randint(1, 2)):
                    order.insert(chance.randrange(len(order) + 1), RESTART)
                order += order[: chance.randrange(len(order))]
            indices = tuple(order)
        if chance.random() < 0.2 and topology not in SPLIT:
            n = chance.randrange(len(made))
            made[n] = Vertex(0, 0, broken=True)
        tests = Registers(
            scissors=(chance.choice([None, boxed(chance)]),), front=chance.choice(["CW", "CCW"]),
            cull=chance.choice([None, None, "FRONT", "BACK", "FRONT_AND_BACK"]),
        )  # fmt: skip
        yield Drawn(topology, tuple(made), tests, indices)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_each_stage_of_random_draws(topology: str) -> None:
    """Directions of strips, restarts, culling, scissors, corners that are no numbers, places outside of the view."""
    chance = random.Random(topology)
    for _ in range(3):
        draws = list(cases(chance, topology))
        run, model = look(draws), Model(None)
        for n, drawn in enumerate(draws):
            held(funnel(run, f"f0/d{n}"), drawn, model.draw(drawn))


@pytest.mark.parametrize("format", FORMATS)
def test_depth_in_all_formats_and_comparisons(format: str) -> None:
    """Each function, against depths that one format can tell apart and another cannot."""
    chance = random.Random(format)
    draws = []
    for function in COMPARE:
        made: list[Vertex] = []
        for _ in range(3):
            x, y = chance.randrange(20), chance.randrange(20)
            size = chance.randint(1, 12), chance.randint(1, 12)
            made += square(x, y, *size, chance.choice(DEPTHS), colour=colours(chance))
        tests = Registers(depth=function, write=chance.random() < 0.7)
        draws.append(Drawn("TRIANGLES", tuple(made), tests))
    run, model = look(draws, format, 0.5), Model(format, 0.5)
    for n, drawn in enumerate(draws):
        held(funnel(run, f"f0/d{n}"), drawn, model.draw(drawn), format)


@pytest.mark.parametrize("format", STENCILS)
def test_stencil_of_both_sides(format: str) -> None:
    """Functions, references, masks and operations of front and back, with a depth test between them."""
    chance = random.Random(format)

    def face() -> Face:
        functions, operations = list(COMPARE), list(OPERATIONS)
        return Face(
            chance.choice(functions), chance.randrange(256), chance.choice([255, 15, 240]), chance.choice([255, 60]),
            *(chance.choice(operations) for _ in range(3)),
        )  # fmt: skip

    draws = []
    for _ in range(10):
        made: list[Vertex] = []
        for turned in (False, True, chance.random() < 0.5):
            x, y = chance.randrange(16), chance.randrange(16)
            size = chance.randint(4, 16), chance.randint(4, 16)
            made += square(x, y, *size, chance.choice(DEPTHS), turned, colour=colours(chance))
        sides = face(), chance.choice([None, face()])
        depth, front = chance.choice([None, "LEQUAL", "GREATER"]), chance.choice(["CW", "CCW"])
        tests = Registers(stencil=sides, depth=depth, front=front)
        draws.append(Drawn("TRIANGLES", tuple(made), tests))
    run, model = look(draws, format, 0.5, 7), Model(format, 0.5, 7)
    for n, drawn in enumerate(draws):
        held(funnel(run, f"f0/d{n}"), drawn, model.draw(drawn), format)


def test_alpha_in_all_comparisons_with_and_without_depth() -> None:
    draws = []
    for depth in (None, "LEQUAL"):
        for function in COMPARE:
            made = []
            for n, alpha in enumerate((0.2, 0.4, 0.6)):
                made += square(3 + 2 * n, 2, 9, 8, colour=(1, n / 4, 0, alpha))
            draws.append(Drawn("TRIANGLES", tuple(made), Registers(alpha=(function, 0.4), depth=depth)))
    for format in (None, "Z24S8"):
        run, model = look(draws, format), Model(format)
        for n, drawn in enumerate(draws):
            held(funnel(run, f"f0/d{n}"), drawn, model.draw(drawn), format)


def test_fates_of_single_pixels() -> None:
    """Fragments on one pixel, rejected for different reasons: each names the test that it met first, with the values
    of that test."""
    chance = random.Random(7)
    seen: set[str] = set()
    for format in ("Z16", "Z24S8", "ZF32_X24S8"):
        draws = []
        for _ in range(5):
            made: list[Vertex] = []
            for _ in range(5):
                colour = (chance.choice([0.0, 1.0]), 0.5, chance.random(), chance.choice([0.2, 0.6]))
                made += square(chance.randrange(6), chance.randrange(6), 12, 12, chance.choice(DEPTHS),
                               chance.random() < 0.5, colour=colour)  # fmt: skip
            functions = "LESS", "EQUAL", "NOTEQUAL"
            one, other = (
                Face(chance.choice(functions), chance.randrange(4), 3, 255, "INCR", "DECRSAT", "REPLACE")
                for _ in range(2)
            )
            tests = Registers(
                depth=chance.choice(list(COMPARE)), write=chance.random() < 0.5, kills=chance.random() < 0.5,
                alpha=chance.choice([None, ("GREATER", 0.5)]), stencil=chance.choice([None, (one, None), (one, other)]),
            )  # fmt: skip
            draws.append(Drawn("TRIANGLES", tuple(made), tests))
        run, model = look(draws, format, 0.5, 1), Model(format, 0.5, 1)
        for n, drawn in enumerate(draws):
            held(funnel(run, f"f0/d{n}"), drawn, model.draw(drawn), format)
            for at in chance.sample(sorted(model.fates), 2):
                found = run.why(f"f0/d{n}/px{at[0]},{at[1]}")
                assert isinstance(found, Why) and found.proved
                fates = [fragment.fate for fragment in found.fragments][-len(model.fates[at]) :]
                for mine, theirs in zip(model.fates[at], fates, strict=True):
                    killed = mine.endswith("instruction ") and theirs.startswith(mine)
                    assert killed or theirs == mine, (drawn, at, theirs)
                    seen.add(theirs.partition(",")[0])
    assert seen >= {f"rejected: {name}" for name in ("alpha test", "stencil test", "depth test", "discard")}


def test_viewports_that_vertices_choose() -> None:
    """Each viewport has its scissor; the names are those of the viewport."""
    scissors = ((0, 0, 10, 32), (4, 0, 4, 32), None, (0, 20, 32, 21))
    made = [v for n in range(4) for v in square(3, 3, 24, 24, colour=(n / 4, 1, 0, 1), extra=float(n))]
    alone = [tuple(square(3, 3, 24, 24, extra=float(n))) for n in range(4)]
    draws = [Drawn("TRIANGLES", each, Registers(scissors, viewports=True)) for each in (tuple(made), *alone)]
    run, model = look(draws), Model(None)
    for n, drawn in enumerate(draws):
        held(funnel(run, f"f0/d{n}"), drawn, model.draw(drawn))
    told = stages(funnel(run, "f0/d0"))
    assert {loss.register for loss in told["shapes"].lost} == {"SET_SCISSOR_HORIZONTAL(1)"}
    cut = {loss.register: loss.count for loss in told["pixels that shapes cover"].lost}
    assert cut == {
        "SET_SCISSOR_HORIZONTAL(0), SET_SCISSOR_VERTICAL(0)": 24 * 24 - 7 * 24,
        "SET_SCISSOR_HORIZONTAL(3), SET_SCISSOR_VERTICAL(3)": 24 * 24 - 24,
    }
    assert "SET_SCISSOR_HORIZONTAL(1)" in funnel(run, "f0/d2").because


def test_user_clip_planes() -> None:
    made = [v for distance in (-1.0, 0.0, 2.0) for v in square(1, 1, 9, 9, extra=distance)]
    nothing = square(1, 1, 9, 9, extra=float("nan"))
    draws = [Drawn("TRIANGLES", tuple(each), Registers(planes=True)) for each in (made, nothing)]
    run, model = look(draws), Model(None)
    for n, drawn in enumerate(draws):
        held(funnel(run, f"f0/d{n}"), drawn, model.draw(drawn))
    assert "outside of user clip plane 0 (SET_USER_CLIP_ENABLE)" in funnel(run, "f0/d1").because


def test_instances_are_draws_of_their_own() -> None:
    moves = ((0, 0), (20, 3), (40, 0), (-3, -4))
    drawn = Drawn("TRIANGLES", tuple(square(2, 2, 8, 8)), Registers(scissors=((0, 0, 25, 32),)), moves=moves)
    run, model = look([drawn]), Model(None)
    for n, move in enumerate(moves):
        held(funnel(run, f"f0/d{n}"), drawn, model.draw(drawn, move))


def test_a_quad_is_one_primitive_of_two_triangles() -> None:
    """Its halves have one number; a half without area is told apart from one that a scissor takes."""
    bow = [Vertex(x * STEPS, y * STEPS) for x, y in ((2, 2), (2, 9), (9, 9), (2, 2))]
    whole = [Vertex(x * STEPS, y * STEPS) for x, y in ((20, 20), (20, 28), (28, 28), (28, 20))]
    drawn = Drawn("QUADS", (*bow, *whole))
    run, model = look([drawn]), Model(None)
    held(funnel(run, "f0/d0"), drawn, model.draw(drawn))
    for n, shapes, flat in ((0, 1, 1), (1, 2, 0)):
        told = stages(funnel(run, f"f0/d0/t{n}"))
        assert (told["primitives"].passed, told["triangles"].passed, told["shapes"].passed) == (1, 2, shapes)
        assert told["shapes"].lost == [] and sum(loss.count for loss in told["triangles that show"].lost) == flat


@pytest.mark.parametrize("format", FORMATS)
def test_what_a_stage_counts_is_told(format: str) -> None:
    """"of" stands only between two numbers of the same things."""
    drawn = Drawn("TRIANGLE_STRIP", tuple(square(1, 1, 9, 9)[:4]), Registers(scissors=((0, 0, 5, 5),), depth="LEQUAL"))
    found = funnel(look([drawn], format), "f0/d0")
    lines = str(found).splitlines()
    counted = Model(format).draw(drawn)
    assert f"  pixels that shapes cover: {counted.covered} of {counted.covered + counted.cut}" in lines
    assert "  vertices shaded: 4 (from vertices: 4)" in lines and "  shapes: 2 (from primitives that show: 2)" in lines
    assert all(stage.came >= stage.passed for stage in found.stages if not stage.source)


def test_which_of_two_reasons_is_named() -> None:
    """A fragment that fails both depth and alpha, beside others of its block that pass depth: the test that comes
    first is named. Without writes of depth that is depth, with them it is alpha."""
    half = Drawn("TRIANGLES", tuple(square(0, 0, 4, 32, 0.25)), Registers(depth="ALWAYS"))
    for write, name in ((False, "depth test"), (True, "alpha test")):
        tests = Registers(depth="LESS", write=write, alpha=("GREATER", 0.5))
        drawn = Drawn("TRIANGLES", tuple(square(0, 0, 16, 16, 0.5, colour=(1, 1, 1, 0.2))), tests)
        run, model = look([half, drawn], "Z24S8", 1.0), Model("Z24S8", 1.0)
        model.draw(half)
        held(funnel(run, "f0/d1"), drawn, model.draw(drawn), "Z24S8")
        for at, told in (((3, 2), name), ((4, 2), "alpha test")):
            found = run.why(f"f0/d1/px{at[0]},{at[1]}")
            assert isinstance(found, Why)
            assert [found.fragments[-1].fate] == model.fates[at][-1:] and told in found.fragments[-1].fate
            assert told in found.conclusion[1]  # of the last fragment that was not written
    # Whatever comes first is also named if neither can ever pass.
    for stencil, register in ((None, "SET_DEPTH_FUNC"), ((Face("ALWAYS", 1, passes="INCR"), None), "SET_ALPHA_FUNC")):
        tests = Registers(depth="NEVER", alpha=("NEVER", 0.5), stencil=stencil)
        found = funnel(look([Drawn("TRIANGLES", tuple(square(0, 0, 9, 9)), tests)], "Z24S8"), "f0/d0")
        assert f"which never passes ({register} OGL_NEVER)" in found.because, found.because


def test_every_comparison_is_shown() -> None:
    """Depth, stencil and alpha below, at and above what they are compared with: the text of each that fails."""
    for test in ("depth", "stencil", "alpha"):
        draws = []
        for function in COMPARE:
            made: list[Vertex] = []
            for value in (0.25, 0.5, 0.75):
                made += square(4, 4, 6, 6, value if test == "depth" else 0.5, colour=(1, 1, 1, value))
            tests = {
                "depth": Registers(depth=function, write=False), "alpha": Registers(alpha=(function, 0.5)),
                "stencil": Registers(stencil=(Face(function, 6, passes="INCR", fail="INCR"), None)),
            }[test]  # fmt: skip
            draws.append(Drawn("TRIANGLES", tuple(made), tests))
        run, model = look(draws, "Z24S8", 0.5, 5), Model("Z24S8", 0.5, 5)
        for n, drawn in enumerate(draws):
            model.draw(drawn)
            found = run.why(f"f0/d{n}/px6,6")
            assert isinstance(found, Why)
            assert [one.fate for one in found.fragments][-3:] == model.fates[6, 6], (test, n)
