"""`pocketgpu bench`: how long a capture takes to replay, and where the time goes.

Replay time of a frame runs from its first event to its marker with all guest memory written. It does not include
opening, decompressing, scan-out and PNG files. A first pass, which is not counted, fills the caches (mainly compiled
code). All passes use one machine that is reset to power-on between them: with a new machine, the time would include
first-touch page faults of the system.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import capture_argument, debug_option, json_option, set_option, threads_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import describe_frame, frames_of, open_capture
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.capture.driver.base import Measure

_OTHER = "other"  # replay time minus all phases


@dataclass
class _Samples:
    """The measurements of one frame, or of the whole capture: one value for each pass."""

    measure: Measure
    milliseconds: list[float] = field(default_factory=list)
    phases: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.phases = {name: [] for name in (*self.measure.phases, _OTHER)}

    def add(self, milliseconds: float, phases: dict[str, float]) -> None:
        self.milliseconds.append(milliseconds)
        for name in self.measure.phases:
            self.phases[name].append(phases.get(name, 0.0))
        claimed = sum(phases.get(name, 0.0) for name in self.measure.phases)
        self.phases[_OTHER].append(max(0.0, milliseconds - claimed))

    def describe(self, count: int) -> dict[str, Any]:
        """Medians and bests in milliseconds; the speed is the count (of fragments, say) over the median time."""
        import statistics

        median = statistics.median(self.milliseconds)
        return {
            "milliseconds": round(median, 4),
            "milliseconds_best": round(min(self.milliseconds), 4),
            "phases": {
                name: {"median": round(statistics.median(values), 4), "best": round(min(values), 4)}
                for name, values in self.phases.items()
            },
            self.measure.key: round(count / median / 1000, 3) if median > 0 else 0.0,
        }


@click.command()
@capture_argument
@click.option(
    "--repeat", type=click.IntRange(1, 1_000_000), default=20, show_default=True, metavar="N", help="Counted passes."
)
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def bench(outcome: Outcome, capture: str, repeat: int, threads: int, choices: dict[str, str]) -> None:
    """Measure replay time per frame and phase.

    Every pass starts from power-on of the same machine. No pictures are written.
    """
    opened = open_capture(capture)
    wanted = frames_of(opened, None)
    frames: dict[int, dict[str, Any]] = {}
    samples: dict[int, _Samples] = {}
    outcome.add_events(opened.warnings)
    driver = opened.driver(threads=threads, switches=dict(choices))
    measure = driver.measure
    total = _Samples(measure)
    progress = terminal.Progress()
    try:
        for number in range(repeat + 1):
            progress.show("warming up" if number == 0 else f"pass {number} of {repeat}")
            pass_time, pass_phases = 0.0, dict.fromkeys(measure.phases, 0.0)
            if number:
                driver.begin()
            for frame in driver.frames(wanted, pictures=number == 0):
                if number == 0:
                    frames[frame.index] = describe_frame(frame)
                    samples[frame.index] = _Samples(measure)
                    outcome.add_events(frame.warnings)
                    continue
                phases = {name: float(value) for name, value in frame.phases.items()}
                samples[frame.index].add(float(frame.milliseconds), phases)
                pass_time += float(frame.milliseconds)
                for name in measure.phases:
                    pass_phases[name] += phases.get(name, 0.0)
            if number:
                total.add(pass_time, pass_phases)
    finally:
        terminal.clear_progress()
    for index, entry in frames.items():
        outcome.frames.append({**entry, **samples[index].describe(entry[measure.count])})
    count = sum(entry[measure.count] for entry in outcome.frames)
    outcome.extra.update({"repeat": repeat, "threads": threads, "all": {measure.count: count, **total.describe(count)}})
    outcome.show = lambda: terminal.say(_summary(outcome, capture, measure))


def _summary(outcome: Outcome, capture: str, measure: Measure) -> str:
    names = [*measure.phases, _OTHER]
    columns = [("frame", False), *((n, True) for n in ("median ms", "best ms", *names, measure.title))]
    rows = [_row(f"f{entry['index']}", entry, names, measure) for entry in outcome.frames[: terminal.MAX_ROWS]]
    hidden = len(outcome.frames) - len(rows)
    if hidden > 0:
        rows.append((f"... {hidden} more", *[""] * (len(columns) - 1)))
    passes, threads = outcome.extra["repeat"], outcome.extra["threads"]
    return "\n".join(
        [
            f"{capture}: {passes} {'pass' if passes == 1 else 'passes'}, "
            f"{threads} {'thread' if threads == 1 else 'threads'}; phases are medians in ms",
            "",
            terminal.format_table(columns, rows, _row("all", outcome.extra["all"], names, measure)),
            "",
            terminal.format_warnings(outcome.warnings),
        ]
    )


def _row(label: str, entry: dict[str, Any], names: list[str], measure: Measure) -> tuple[str, ...]:
    return (
        label,
        f"{entry['milliseconds']:.3f}",
        f"{entry['milliseconds_best']:.3f}",
        *(f"{entry['phases'][name]['median']:.3f}" for name in names),
        f"{entry[measure.key]:.1f}",
    )
