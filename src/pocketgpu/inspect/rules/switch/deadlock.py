"""Waits that nobody ends."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "switch.deadlock",
    "a channel waits for a semaphore or syncpoint that nothing releases",
    "Switch",
    "error",
    "documented",
    "class header clb06f.h, SEMAPHORED and SYNCPOINTB",
    "The channel stands still, and whoever waits for it as well.",
    "Release the semaphore, or increment the syncpoint, in a submission that can run.",
    lambda record: record.tells("channel.deadlock"),
)
