"""The pure model of a display mode: clocks, counters, interrupts and status of register words."""

from __future__ import annotations

import random

import pytest

from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.external_init import INITS, TOP_MODES, InitSet
from pocketgpu.pica.pdc import Beat, DisplayMode, display_mode

LINE = 24 * 451
FRAME = LINE * 414
FORMATS = (0x80340, 0x80300, 0x80320)


def words_of(values: InitSet) -> dict[str, int]:
    return {register.name: word for at, word in values.values.items() if (register := EXTERNAL.at(at)) is not None}


def ids(mode: DisplayMode, severity: str = "warning") -> list[str]:
    return [problem.id for problem in mode.problems if problem.severity == severity]


def test_the_usual_refresh_rates() -> None:
    top, bottom = display_mode("top"), display_mode("bottom")
    for mode in (top, bottom):
        assert mode.refresh == pytest.approx(59.8312249, abs=1e-6)
        assert mode.line_rate == pytest.approx(24770.127, abs=1e-3)
        assert mode.pixel_clock == pytest.approx(268111856 / 24)
        assert (mode.line_cycles, mode.frame_cycles) == (LINE, FRAME) == (10824, 4481136)
        assert ids(mode) == []
    slow = display_mode("top", {"VTOTAL": 494})
    assert slow.refresh == pytest.approx(50.040660858, abs=1e-8)
    # Twice the lines at twice the clock.
    for values, form in ((INITS["top-wide"], 0x80300), (INITS["top-stereo"], 0x80320)):
        mode = display_mode("top", {**words_of(values), "FORMAT": form})
        assert (mode.lines, mode.divider) == (828, 12)
        assert mode.frame_cycles == FRAME
        assert ids(mode) == []


def test_the_modes_of_the_system_software() -> None:
    pairs = zip((INITS[name] for name in TOP_MODES), FORMATS, strict=True)
    modes = [display_mode("top", {**words_of(values), "FORMAT": form}) for values, form in pairs]
    assert [mode.gsp_mode for mode in modes] == [0, 1, 2]
    assert [mode.stereo for mode in modes] == [False, False, True]
    assert [mode.panel_lines for mode in modes] == [400, 800, 800]
    assert display_mode("top", {"FORMAT": 0x60}).gsp_mode is None
    assert not display_mode("top", {"FORMAT": 0x60}).stereo
    assert display_mode("bottom").panel_lines == 320


def spans(mode: DisplayMode) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]:
    return tuple([(s.name, s.start, s.length) for s in part] for part in (mode.horizontal, mode.vertical))  # type: ignore[return-value]


def test_the_scan_of_both_screens() -> None:
    assert spans(display_mode("top")) == (
        [("sync", 0, 207), ("back porch", 207, 2), ("picture", 209, 240), ("front porch", 449, 2)],
        [("sync", 402, 13), ("back porch", 1, 1), ("picture", 2, 400)],
    )
    assert spans(display_mode("bottom", words_of(INITS["bottom"]))) == (
        [("sync", 205, 2), ("back porch", 207, 2), ("picture", 209, 240), ("front porch", 449, 207)],
        [("sync", 79, 1), ("back porch", 80, 2), ("picture", 82, 320), ("front porch", 402, 91)],
    )


def test_modes_are_latched_in_the_documented_order() -> None:
    words = {"HBL": 215, "HPICTURE": 430 << 16 | 220, "HSTART": 220, "HBR": 430, "HFP": 440}
    mode = display_mode("top", words)
    order = ["sync", "back porch", "border", "picture", "end border", "front porch"]
    assert [span.name for span in mode.horizontal] == order
    assert [mode.at_clock(h) for h in (0, 206, 207, 214, 215, 219, 220, 429, 430, 439, 440, 450)] == [
        *("sync", "sync", "back porch", "back porch", "border", "border", "picture", "picture"),
        *("end border", "end border", "front porch", "front porch"),
    ]  # fmt: skip
    # Of two at the same count the later one wins.
    assert display_mode("top", {**words, "HBL": 220}).at_clock(220) == "picture"
    assert display_mode("top", {**words, "HFP": 430}).at_clock(430) == "front porch"


def test_a_border_before_the_back_porch_starts_with_it() -> None:
    for hbl in (100, 3, 207):
        mode = display_mode("bottom", {"HBL": hbl})
        assert [s.name for s in mode.horizontal] == ["sync", "border", "picture", "front porch"]
        assert mode.at_clock(207) == "border"
        assert "no-pixels" not in ids(mode)


def test_only_the_back_porch_ends_a_sync_pulse() -> None:
    mode = display_mode("top", {"VSYNC": 300, "VBLANK": 410})
    assert [(s.name, s.start, s.length) for s in mode.vertical] == [
        ("sync", 300, 115),
        ("back porch", 1, 1),
        ("picture", 2, 298),
    ]


def test_a_sync_pulse_past_the_end_never_comes() -> None:
    mode = display_mode("top", {"HTOTAL": 300, "HSYNC": 310, "HBP": 320, "VSYNC": 500})
    assert not mode.hsync_runs and not mode.vsync_runs
    assert {span.name for span in mode.horizontal} & {"sync"} == set()


def test_every_clock_and_line_has_one_mode() -> None:
    r = random.Random(5)
    for _ in range(300):
        words = {name: r.randrange(500) for name in ("HFP", "HSYNC", "HBP", "HBL", "VSYNC", "VBP", "VTOP", "VBLANK")}
        words |= {"HTOTAL": r.randrange(300, 500), "VTOTAL": r.randrange(300, 500)}
        words |= {name: r.randrange(500) << 16 | r.randrange(500) for name in ("HPICTURE", "VPICTURE")}
        mode = display_mode(r.choice(("top", "bottom")), words)
        for part, total in ((mode.horizontal, mode.clocks), (mode.vertical, mode.lines)):
            covered = [count for s in part for count in ((s.start + n) % total for n in range(s.length))]
            assert sorted(covered) == list(range(total))


# -- time -------------------------------------------------------------------------------------------------------------


def test_counters_count_clocks_and_lines() -> None:
    mode = display_mode("top")
    assert mode.position(0) == (0, 0)
    assert mode.position(23) == (0, 0)
    assert mode.position(24) == (1, 0)
    assert mode.position(LINE - 1) == (450, 0)
    assert mode.position(LINE) == (0, 1)
    assert mode.position(FRAME - 1) == (450, 413)
    assert mode.position(FRAME) == (0, 0)


def test_lines_may_step_inside_of_a_line() -> None:
    mode = display_mode("top", {"VCLOCK": 100})
    assert mode.position(99 * 24) == (99, 413)
    assert mode.position(100 * 24) == (100, 0)
    assert mode.position(LINE + 99 * 24) == (99, 0)
    assert mode.position(LINE + 100 * 24) == (100, 1)
    never = display_mode("top", {"VCLOCK": 451})
    assert never.position(10 * LINE) == (0, 0)
    assert never.beat("v_irq") is None
    assert "past-total" in ids(never)


@pytest.mark.parametrize("seed", range(30))
def test_beats_are_when_the_counters_are_there(seed: int) -> None:
    """Against counters that are looked at clock by clock."""
    r = random.Random(seed)
    htotal, vtotal = r.randrange(4, 30), r.randrange(4, 20)
    (h0, h1), (v0, v1) = (sorted(r.sample(range(limit), 2)) for limit in (htotal, vtotal))
    mode = display_mode(
        r.choice(("top", "bottom")),
        {
            "HTOTAL": htotal, "VTOTAL": vtotal, "HIRQ": h1 << 16 | h0, "VIRQ": v1 << 16 | v0,
            "VCLOCK": r.choice((0, 0, r.randrange(htotal + 1))),
            "LATCH": r.randrange(vtotal + 1) << 16 | r.randrange(htotal + 1),
            "FORMAT": r.choice(FORMATS),
        },
    )  # fmt: skip
    d = mode.divider
    seen: dict[str, list[int]] = {"h_irq": [], "v_irq": [], "latch": []}
    for clock in range(3 * mode.clocks * mode.lines):
        h, v = mode.position(clock * d)
        if h == h0:
            seen["h_irq"].append(clock * d)
        if h == 0 and v == v0:
            seen["v_irq"].append(clock * d)
        if (h, v) == mode.latch:
            seen["latch"].append(clock * d)
    for name, times in seen.items():
        beat = mode.beat(name)
        assert beat is not None
        found, at = [], -1
        while (at := beat.next(at)) < 3 * mode.frame_cycles:
            found.append(at)
        assert found == times, name
        for _ in range(10):
            a, b = sorted(r.sample(range(3 * mode.frame_cycles), 2))
            assert beat.count(a, b) == sum(a < time <= b for time in times)


def test_a_beat_counts_across_its_offset() -> None:
    beat = Beat(10, 3)
    assert [beat.next(at) for at in (-8, -7, 2, 3, 12, 13)] == [-7, 3, 3, 13, 13, 23]
    assert (beat.count(3, 13), beat.count(2, 3), beat.count(3, 3), beat.count(-8, 23)) == (1, 1, 0, 4)


def test_vblank_comes_at_clock_0_of_its_line() -> None:
    assert display_mode("top").beat("v_irq") == Beat(FRAME, 402 * LINE)
    assert display_mode("bottom").beat("v_irq") == Beat(FRAME, 404 * LINE)
    assert 402 * LINE == 4351248


@pytest.mark.parametrize("vclock", [0, 1, 2, 100, 450])
def test_vblank_waits_for_a_count_that_steps_inside_of_a_line(vclock: int) -> None:
    """At HCount 0 the line still has the count before, however early the count steps."""
    mode = display_mode("top", {"VCLOCK": vclock})
    place = (403 if vclock else 402) * LINE
    assert mode.beat("v_irq") == Beat(FRAME, place)
    assert mode.position(place) == (0, 402)
    assert mode.position(place - 24)[1] == (402 if vclock else 401)


def test_limits_of_the_interrupts() -> None:
    def fires(low: int, high: int) -> bool:
        return display_mode("top", {"HIRQ": high << 16 | low}).h_irq_fires

    assert fires(100, 101)
    assert not fires(101, 100) and not fires(100, 100)
    assert not fires(100, 450) and fires(100, 449)
    assert not fires(450, 453)
    # What system software sets: it never comes, and nobody complains, because it is masked.
    top = display_mode("top")
    assert top.beat("h_irq") is None and "h-irq" in ids(top, "note")
    assert "h-irq" in ids(display_mode("top", {"CONTROL": 0x10001}))
    assert "h-irq" not in ids(display_mode("top", {"HIRQ": 453 << 16 | 450, "CONTROL": 0x10001}))
    assert "v-irq" in ids(display_mode("top", {"VIRQ": 500 << 16 | 400, "CONTROL": 0x10001}))


def test_the_latch_may_go_with_vblank() -> None:
    assert display_mode("top").beat("latch") == Beat(FRAME, 0)
    assert display_mode("top", {"LATCH": 7 << 16 | 9}).beat("latch") == Beat(FRAME, 7 * LINE + 9 * 24)
    assert display_mode("top", {"LATCH": 500 << 16}).beat("latch") is None
    mode = display_mode("top", {}, {"display.latch": "vblank"})
    assert mode.beat("latch") == mode.beat("v_irq")


def test_the_status_word() -> None:
    mode = display_mode("top", {"LATCH": 5 << 16 | 300})

    def bits(v: int, h: int) -> set[str]:
        word = mode.status(v * LINE + h * 24)
        return {name for name, on in EXTERNAL["PDC0_STATUS"].decode(word).items() if on}

    assert bits(100, 100) == {"v_picture", "hsync", "hblank"}
    assert bits(100, 208) == {"v_picture", "hblank"}
    assert bits(100, 300) == {"v_picture", "h_picture"}
    assert bits(100, 449) == {"v_picture", "hblank", "h_irq_area"}
    assert bits(402, 300) == {"v_irq_area", "vsync", "vblank", "h_picture"}
    assert bits(406, 300) == {"vsync", "vblank", "h_picture"}
    assert bits(1, 300) == {"vblank", "h_picture"}
    assert "latch" not in bits(5, 299) and "latch" in bits(5, 300) and "latch" not in bits(6, 300)
    assert mode.status(0, error=True) == mode.status(0) | 1 << 15


# -- problems ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, id, reason",
    [
        ({"HBP": 0}, "no-hsync", "HBP 0 is not above HSYNC 0"),
        ({"VBP": 402}, "no-vsync", "both 402"),
        ({"HSTART": 208}, "h-order", "HPICTURE start has to come before HSTART"),
        ({"HBR": 440}, "h-order", "HPICTURE end has to come before HBR"),
        ({"HFP": 440}, "h-order", "HBR has to come before HFP"),
        ({"HBL": 210}, "no-pixels", "HBL 210 is above the start of HPICTURE 209"),
        ({"HTOTAL": 300}, "past-total", "HFP 449 is past HTOTAL 300"),
        ({"VSYNC": 450}, "past-total", "VSYNC 450 is past VTOTAL 413"),
        ({"HBP": 20, "HBL": 21, "HPICTURE": 440 << 16 | 21, "HSTART": 21}, "blanking", "23 clocks"),
        ({"VSTART": 451}, "v-start", "runs on past its end, 1 line of memory skipped"),
        ({"VSTART": 1}, "v-start", "cuts off the first line"),
        ({"VSTART": 12}, "v-start", "down by 10 lines"),
        ({"VBLANK": 300}, "v-blank", "two lines are repeated"),
        ({"VBLANK": 2}, "v-blank", "has to be above"),
        ({"VSYNC": 300}, "v-sync", "not renewed"),
        ({"VSYNC": 2}, "v-sync", "has to be above"),
        ({"VBP": 20}, "v-back-porch", "up by 18 lines"),
        ({"VBP": 401}, "v-back-porch", "loses sync"),
        ({"FORMAT": 0x80320}, "line-count", "FORMAT is for 800 lines, the timing sends 400"),
    ],
)
def test_what_the_documents_warn_of(words: dict[str, int], id: str, reason: str) -> None:
    mode = display_mode("top", words)
    assert any(p.id == id and p.severity == "warning" and reason in p.text for p in mode.problems), mode.problems


@pytest.mark.parametrize(
    "words, id",
    [
        ({"STRIDE": 722}, "stride"), ({"FORMAT": 0x45}, "format"), ({"FORMAT": 0x60}, "line-mode"),
        ({"FORMAT": 0x340}, "dma-size"), ({"CONTROL": 1}, "output"), ({}, "back-porch"), ({}, "front-porch"),
    ],
)  # fmt: skip
def test_what_is_only_noted(words: dict[str, int], id: str) -> None:
    assert id in ids(display_mode("top", words), "note")


def pair(low: int, high: int) -> int:
    return high << 16 | low


ON = 0x10001
"""CONTROL: everything on, no interrupt masked."""

LIMITS = [
    *((name, 450, 451, f"{name} 451 is past HTOTAL 450") for name in ("HSTART", "HBR", "HFP", "HSYNC", "HBP", "HBL")),
    *((name, 413, 414, f"{name} 414 is past VTOTAL 413") for name in ("VBORDER", "VBLANK", "VSYNC", "VBP", "VTOP")),
    ("VCLOCK", 450, 451, "VCLOCK 451 is past HTOTAL 450: VCount stands still"),
    ("HBP", 1, 0, "there is no line sync"), ("VBP", 401, 402, "there is no frame sync"),
    ("HPICTURE", pair(207, 449), pair(206, 449), "HBP has to come before HPICTURE start"),
    ("HSTART", 209, 208, "HPICTURE start has to come before HSTART"),
    ("HSTART", 449, 450, "HSTART has to come before HPICTURE end"),
    ("HBR", 449, 448, "HPICTURE end has to come before HBR"), ("HBR", 449, 450, "HBR has to come before HFP"),
    ("HFP", 449, 448, "HBR has to come before HFP"), ("HFP", 0, 1, "HBR has to come before HFP"),
    ("HBL", 209, 210, "no pixels are sent"),
    ("HBP", 193, 194, "back porch of 15 clocks"), ("HFP", 383, 384, "front porch of 67 clocks"),
    ("HIRQ", pair(100, 449), pair(100, 450), "HIRQ ends at 450"), ("HIRQ", pair(450, 5), pair(449, 5), "HIRQ starts"),
    ("HIRQ", pair(100, 101), pair(100, 100), "HIRQ starts"), ("VIRQ", pair(413, 5), pair(412, 5), "VIRQ starts"),
    ("VIRQ", pair(100, 412), pair(100, 413), "VIRQ ends at 413"),
    ("VSTART", 2, 1, "cuts off the first line"), ("VSTART", 2, 3, "pushes the picture down by 1 line"),
    ("VSTART", 450, 451, "1 line of memory skipped"),
    ("VBLANK", 402, 401, "two lines are repeated"), ("VBLANK", 3, 2, "VBLANK 2 has to be above"),
    ("VSYNC", 402, 401, "are not renewed"), ("VSYNC", 3, 2, "VSYNC 2 has to be above"),
    ("VBP", 2, 3, "moves the screen up by 1 line"), ("VBP", 400, 401, "loses sync"),
    ("STRIDE", 728, 724, "no multiple of 8"), ("FORMAT", 0x80344, 0x80345, "programs cannot set format 5"),
    ("FORMAT", 0x80240, 0x80340, "DMA size 3"), ("FORMAT", 0x80340, 0x80360, "doubled lines at once"),
    ("FORMAT", 0x80320, 0x80360, "doubled lines at once"), ("CONTROL", ON, 1, "switches the output off"),
    ("CONTROL", 0, 1, "switches the output off"),
]  # fmt: skip
"""A register, the last value that is right, the first that is wrong, and a part of the text about it."""


@pytest.mark.parametrize("name, right, wrong, text", LIMITS)
def test_each_limit_is_exact(name: str, right: int, wrong: int, text: str) -> None:
    """The top screen's usual values with one other register."""
    found = [any(text in p.text for p in display_mode("top", {name: word}).problems) for word in (right, wrong)]
    assert found == [False, True]


def test_limits_that_need_several_registers() -> None:
    def line(first: int) -> DisplayMode:
        return display_mode("top", {"HBP": 60, "HBL": first, "HPICTURE": pair(first, 449), "HSTART": first})

    def frame(last: int) -> DisplayMode:
        return display_mode("top", {"VPICTURE": pair(2, last), "VBLANK": last})

    assert ids(line(83)) == [] and ids(line(82)) == ["blanking"]
    assert ids(frame(203)) == [] and ids(frame(202)) == ["line-count"]
    # The chain of a line begins at the sync, wherever that is.
    late = {at: "h-order" in ids(display_mode("bottom", {"HFP": at})) for at in (449, 450, 205, 206)}
    assert late == {449: False, 450: False, 205: False, 206: True}
    assert ids(display_mode("bottom", {"VSYNC": 300, "VBP": 1, "VSTART": 82})) == []


def test_the_usual_values_have_only_these_notes() -> None:
    assert ids(display_mode("top"), "note") == ["back-porch", "front-porch", "h-irq", "dma-size"]
    assert ids(display_mode("bottom"), "note") == ["back-porch", "h-irq", "dma-size"]


def test_the_chain_goes_round_and_the_last_count_is_reached() -> None:
    assert "h-order" not in ids(display_mode("bottom", {"HSYNC": 449, "HBP": 450}))
    assert "past-total" not in ids(display_mode("top", {"HTOTAL": 449, "VTOTAL": 402}))
    assert "past-total" in ids(display_mode("top", {"HTOTAL": 448}))
    assert "past-total" in ids(display_mode("top", {"VTOTAL": 401}))


def test_values_of_the_wiki_that_cannot_be() -> None:
    mode = display_mode("top", words_of(INITS["nngx"]))
    assert [p.text.split()[0] for p in mode.problems if p.id == "past-total"] == ["VBORDER", "VBLANK", "VSYNC"]
    assert mode.beat("v_irq") == Beat(FRAME, 402 * LINE), "the interrupt comes all the same"


def test_sync_bits_that_stop_the_sync() -> None:
    for word, id in ((1, "no-hsync"), (0x100, "no-vsync")):
        assert id not in ids(display_mode("top", {"POLARITY": word}))
        assert id in ids(display_mode("top", {"POLARITY": word}, {"display.sync_bits": "disable"}))
    assert not display_mode("top", {"POLARITY": 1}, {"display.sync_bits": "disable"}).hsync_runs


def test_where_vstart_counts_from() -> None:
    mode = display_mode("top", {"VSTART": 5})
    assert (mode.cut_lines, mode.pushed_lines) == (0, 3)
    wiki = display_mode("top", {"VSTART": 5}, {"display.vstart": "wiki"})
    assert (wiki.cut_lines, wiki.pushed_lines) == (413 - 402 - 5, 0)
    wiki = display_mode("top", {"VSTART": 15}, {"display.vstart": "wiki"})
    assert (wiki.cut_lines, wiki.pushed_lines) == (0, 4)


def test_names_and_screens_are_checked() -> None:
    assert display_mode("bottom", {"PDC1_VTOTAL": 3, "htotal": 4}).clocks == 5
    for arguments in (("left",), ("top", {"VTOTALS": 1}), ("top", {"PDC1_VTOTAL": 1})):
        with pytest.raises(ValueError):
            display_mode(*arguments)  # type: ignore[arg-type]


def test_sets_of_values_name_registers_once() -> None:
    for values in INITS.values():
        addresses = [address for address, _ in values.writes]
        assert len(addresses) == len(set(addresses)) > 0
        assert values.doc and values.source
    assert words_of(INITS["top-flat"])["PDC0_VIRQ"] == 0x1960192
    assert words_of(INITS["bottom"])["PDC1_VIRQ"] == 0x1980194
