"""`pocketgpu cache`: code compiled for this processor, which is kept between runs and can be made ahead of time, and
indexes of recordings."""

from __future__ import annotations

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import UsageError


@click.group(no_args_is_help=True)
def cache() -> None:
    """Show, fill or empty the folder of compiled code.

    It also has indexes: what 'events' and 'why' need again of a recording.

    POCKETGPU_CACHE names another folder; POCKETGPU_CACHE=off does without.
    """


@cache.command()
@json_option
@debug_option
@click.pass_obj
def info(outcome: Outcome) -> None:
    """Show where compiled code and indexes are kept, and how much of them."""
    from pocketgpu.inspect import health

    state = health.cache_state()
    outcome.extra["cache"] = state.to_dict()
    if state.folder is None:
        text = "off (POCKETGPU_CACHE=off): code is compiled in every run"
    else:
        status = "in use" if state.usable and state.exists else "made when first needed" if state.usable else "not used"
        text = "\n".join(
            [
                f"folder    {state.folder} ({status}{': ' + state.reason if state.reason else ''})",
                f"kernels   {state.entries}",
                f"size      {health.in_words(state.bytes)} of at most {health.in_words(state.limit)}",
                f"indexes   {state.indexes} of recordings, {health.in_words(state.index_bytes)}",
            ]
        )
    outcome.show = lambda: terminal.say(text)


@cache.command()
@json_option
@debug_option
@click.pass_obj
def clear(outcome: Outcome) -> None:
    """Remove all compiled code and all indexes; they are made again when needed."""
    from pocketgpu.inspect import health

    state = health.cache_state()
    if state.exists and not state.usable:
        raise UsageError(
            "the cache folder is not ours to empty",
            location=str(state.folder),
            hint="Set POCKETGPU_CACHE to a folder of your own.",
        )
    files, size = health.clear_cache()
    outcome.extra["cache"] = health.cache_state().to_dict() | {"removed": files, "removed_bytes": size}
    what = f"removed {files} {'file' if files == 1 else 'files'}, {health.in_words(size)}"
    outcome.show = lambda: terminal.say(f"{what}, from {state.folder}" if state.folder else "the cache is off")


@cache.command()
@click.option("--seconds", type=click.FloatRange(0), help="Begin no more kernels after this time.")
@click.option("--workers", type=click.IntRange(1), help="Processes that compile. [default: one for each core]")
@json_option
@debug_option
@click.pass_obj
def make(outcome: Outcome, seconds: float | None, workers: int | None) -> None:
    """Compile now what most captures need, so that first pictures come at once.

    A package for Linux with x86-64 has this code already.
    """
    from pocketgpu.inspect import shipped

    progress = terminal.Progress()
    state = shipped.make(workers, seconds, lambda text: progress.show(text))
    terminal.clear_progress()
    outcome.extra["kernels"] = state.to_dict()
    outcome.show = lambda: terminal.say(state.text)
