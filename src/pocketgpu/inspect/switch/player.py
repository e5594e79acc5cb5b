"""A player: replays a recording event by event, in either direction.

What happens is counted in *ticks*, one for each event: memory that the processor writes, a submission that begins,
everything that an engine logs, a picture that is shown. The count is the same in every replay. Going on runs the
machine until the tick that is wanted; going back brings a checkpoint and goes on from there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from time import perf_counter
from typing import Any

from pocketgpu.capture.channel_replay import Replay, make_machine
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.errors import UsageError
from pocketgpu.inspect.switch.checkpoints import Checkpoint
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.observer import Observer

INTERVAL = 0.008
"""Seconds of replay between two checkpoints at first."""
RESTORING = 0.006
"""Seconds that bringing a checkpoint takes, about."""
BUDGET = 192 << 10
"""Pages of 4096 bytes that all checkpoints together may keep; beyond that every second one goes."""

LOAD, SUBMISSION, SHOW = "load", "submission", "show"
"""What a tick can be beside the record of an engine."""
Heard = Callable[[Any, Any], None]
"""Told of each tick: its kind or the record of an engine, and what goes with it (see `Player`)."""


class _Paused(Exception):
    """Internal: the tick that was wanted is over."""


class Player(Observer):
    """A replay of a log that can be anywhere in it.

    heard: told of ticks the first time that they happen, in order: (LOAD, submission number), (SUBMISSION, its number),
    (a record of an engine, the channel), (SHOW, frame number). tick: how many are over.
    """

    wants_draws = True  # nobody could stop in front of others

    def __init__(
        self, log: ChannelLog, heard: Heard, switches: Mapping[str, str] | None = None, evaluator: str = "llvm"
    ) -> None:
        self.log, self._heard = log, heard
        self.machine = make_machine(log, switches=switches, evaluator=evaluator)
        self.machine.observe(self)
        self.replay = Replay(log, self.machine)
        self.tick = 0
        self.frame, self._number, self._phase = 0, 0, "prepare"
        self._told = 0  # ticks that were heard
        self._stop = 0
        self._interval, self._cost, self._since = INTERVAL, 0, 0.0
        self._clock = [0.0]
        """Seconds of replay that were over behind each tick, when it was heard."""
        self._heard_at = perf_counter()
        self._checkpoints = [self._taken()]
        self._ticks = [0]
        self.spoilt = False
        """Whether somebody has changed the machine, so that only a checkpoint leads on."""

    # -- going --------------------------------------------------------------------------------------------------------
    def go(self, tick: int) -> None:
        """Be right behind tick number `tick` (0: before the first). Ticks that were never heard can be ahead only as
        far as there are any; who asks for more ends behind the last frame."""
        at = bisect_right(self._ticks, tick) - 1
        if self.spoilt or tick < self.tick or self._worth(self._ticks[at]):
            self._restore(self._checkpoints[at])
        self._run(tick)

    def _worth(self, tick: int) -> bool:
        """Whether it takes longer to run on to a checkpoint than to bring it."""
        return tick > self.tick and self._clock[tick] - self._clock[self.tick] > RESTORING

    def replay_to(self, tick: int, *observers: Observer) -> None:
        """Be right after a tick that is ahead, and let all up to there happen: no checkpoint is taken instead.
        observers: who look on meanwhile; the replay is spoilt if any raises."""
        assert not self.spoilt and tick >= self.tick
        try:
            with ExitStack() as stack:
                for one in observers:
                    stack.enter_context(self.machine.observed(one))
                self._run(tick)
        except BaseException:
            self.spoilt = bool(observers)
            raise

    def finish_frame(self, frame: int) -> None:
        """Go on, from where the ticks heard end, until a frame has been shown."""
        if self.spoilt or self.tick < self._told:
            self.go(self._told)
        self._heard_at = perf_counter()
        while self.frame <= frame < self.log.frame_count:
            self._step()

    def _run(self, tick: int) -> None:
        self._stop = tick
        while self.tick < tick and self.frame < self.log.frame_count:
            self._step()
        self._stop = 0

    def _step(self) -> None:
        """The next phase, as far as it goes. Whoever comes back finds the phase that goes on."""
        with suppress(_Paused):
            getattr(self, f"_{self._phase}")()
            self._settle()

    # -- phases -------------------------------------------------------------------------------------------------------
    def _prepare(self) -> None:
        if self._number not in self.log.submissions_of(self.frame):
            self._phase = "finish"
            return
        self.replay.prepare(self._number)
        self._phase = "announce"
        if self.log.submissions[self._number].updates:
            self._count(LOAD, self._number)

    def _announce(self) -> None:
        self._phase = "submit"
        channels = self.replay.channels
        with suppress(UsageError):  # `submit` will say what is wrong
            # The channel is there before its first word runs, so that its registers can be compared.
            channel = self.log.submissions[self._number].channel
            self.machine.channel(channels.setdefault(channel, len(channels)))
        self._count(SUBMISSION, self._number)

    def _submit(self) -> None:
        self._phase = "run_on"
        self.replay.submit(self._number)
        self._run_on()

    def _run_on(self) -> None:
        self.machine.run()
        self._number += 1
        self._phase = "prepare"

    def _finish(self) -> None:
        self.machine.finish()
        self._phase = "show"

    def _show(self) -> None:
        self._phase = "prepare"
        shown, self.frame = self.frame, self.frame + 1
        self._count(SHOW, shown)

    # -- ticks --------------------------------------------------------------------------------------------------------
    def stopped(self, channel: Channel) -> None:
        """The machine has come to a stop between two methods: count what it did."""
        log = self.machine.log
        if not len(log):
            return
        records = list(log)
        log.clear()
        for record in records:
            self._count(record, channel)
        self._settle()
        if self._stop and self.tick >= self._stop:
            raise _Paused

    def _count(self, what: Any, more: Any) -> None:
        self.tick += 1
        if self.tick > self._told:
            self._told = self.tick
            self._clock.append(self._clock[-1] + perf_counter() - self._heard_at)
            self._heard(what, more)
            self._heard_at = perf_counter()

    def _settle(self) -> None:
        """What was counted is all that has happened: a place for a checkpoint."""
        if self.tick == self._told and self._clock[-1] - self._since > self._interval:
            self._keep()
            self._heard_at = perf_counter()

    # -- checkpoints --------------------------------------------------------------------------------------------------
    def _taken(self) -> Checkpoint:
        return Checkpoint.take(self.replay, self.tick, (self.frame, self._number, self._phase))

    def _keep(self) -> None:
        """A checkpoint of now, and room for it."""
        taken = self._taken()
        self._cost += taken.pages_beside(self._checkpoints[-1])
        self._checkpoints.append(taken)
        if self._cost > BUDGET:
            self._checkpoints = self._checkpoints[::2]
            self._interval *= 2
            pairs = zip(self._checkpoints, self._checkpoints[1:], strict=False)
            self._cost = sum(after.pages_beside(before) for before, after in pairs)
        self._ticks = [one.tick for one in self._checkpoints]
        self._since = self._clock[-1]

    def _restore(self, checkpoint: Checkpoint) -> None:
        checkpoint.restore(self.replay)
        self.tick = checkpoint.tick
        self.frame, self._number, self._phase = checkpoint.place
        self.spoilt = False
