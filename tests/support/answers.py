"""Answers of consoles to the probe that none gave: what one with a given value would answer."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from pocketgpu.capture.formats.pgc.contents import Contents, FrameContents, Load
from pocketgpu.capture.formats.pgc.encoder import encode
from pocketgpu.probe.files import keys
from pocketgpu.probe.files.answer import Answer
from pocketgpu.probe.judging import expected
from pocketgpu.probe.making import digest, sent_of_scene
from pocketgpu.probe.scenes import SCENES

DAY = 1_700_000_000
"""When files of answers were written."""


def answer_of(choice: str, value: str, /, **changes: object) -> Answer:
    """What a console with this value answers."""
    scene = SCENES[choice]
    sent = sent_of_scene(scene)
    ours = expected(scene.made, sent, {choice: value})
    answer = Answer(
        "one.answer.pgc", Contents("3DS"), choice, digest(sent.encode()), "3DS", "new", "a test", "finished",
        ", ".join(ours.hung), ", ".join(ours.errors), "", ours.memory, ours.registers, ours.interrupts,
    )  # fmt: skip
    return replace(answer, **changes)  # type: ignore[arg-type]


def file_of(folder: Path, choice: str, value: str, console: str, sent: str = "") -> Path:
    """The file of what a console with this value answers. sent: the digest of what was sent, if it is not the scene."""
    answer = answer_of(choice, value)
    about = {
        keys.ANSWER: keys.VERSION, keys.CHOICE: choice, keys.DIGEST: sent or answer.digest, keys.CONSOLE: console,
        keys.MODEL: "new", keys.END: keys.FINISHED, keys.HUNG: answer.hung, keys.ERRORS: answer.errors,
        keys.INTERRUPTS: ", ".join(f"{name} {count}" for name, count in answer.interrupts.items()),
        keys.REGISTER: keys.listed(answer.registers.items()),
    }  # fmt: skip
    loads = tuple(Load(at, (data,)) for (at, _), data in answer.memory.items())
    path = folder / f"{choice}.answer.pgc"
    folder.mkdir(exist_ok=True)
    told = {key: text for key, text in about.items() if text}
    path.write_bytes(encode(Contents("3DS", about=told, frames=[FrameContents(loads)])))
    os.utime(path, (DAY, DAY))
    return path
