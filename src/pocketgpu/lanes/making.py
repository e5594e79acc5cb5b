"""Making kernels ahead of time: in as many processes as there are cores, because LLVM holds one lock in a process.

    images("pica", Target.of_level("x86-64-v3"), workers=2)     # recipes and images, for archive.encode

The room `pica` has a module `shipped.py`, whose function `kernels()` gives kernels with their static values, the most
needed ones first.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import cache
from importlib import import_module
from time import monotonic
from typing import Any, Final

from pocketgpu.lanes.archive import Image
from pocketgpu.lanes.kernel import Kernel, is_shipped, make_image, recipe_of
from pocketgpu.lanes.target import Target, making_for

Code = tuple[Kernel, dict[str, Any]]
Report = Callable[[int, int], None]
"""Is told how many kernels are made, of how many."""
ROOMS: Final = {"pica": "3DS", "maxwell": "Switch"}
"""Rooms of the package whose kernels are made ahead of time, with the console that each is for."""


@cache
def listed(room: str) -> list[Code]:
    """The kernels of a room."""
    return list(import_module(f"{__name__.partition('.')[0]}.{room}.shipped").kernels())


def _one(room: str, number: int, target: Target) -> tuple[str, Image]:
    with making_for(target):
        return make_image(*listed(room)[number])


def images(
    room: str, target: Target, workers: int, report: Report | None = None, seconds: float = float("inf"),
    have: Collection[str] = (),
) -> dict[str, Image]:  # fmt: skip
    """Images of a room's kernels by recipe, the same for any number of workers.

    :param seconds: after these no more kernels are begun; those that are most needed are made by then.
    :param have: recipes of kernels that are not wanted.
    """
    with making_for(target):
        wanted = [number for number, code in enumerate(listed(room)) if recipe_of(*code) not in have]
    end, total = monotonic() + seconds, len(wanted)
    found: dict[str, Image] = {}
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        begun: set[Future[tuple[str, Image]]] = set()
        number = 0
        while begun or number < total:
            while number < total and len(begun) <= workers and monotonic() < end:
                begun.add(pool.submit(_one, room, wanted[number], target))
                number += 1
            if not begun:
                break
            done, begun = wait(begun, return_when=FIRST_COMPLETED)
            found.update(one.result() for one in done)
            if report is not None:
                report(len(found), total)
    return found


def missing(room: str) -> list[str]:
    """Names of a room's kernels that were not made ahead of time."""
    return [kernel.name for kernel, static in listed(room) if not is_shipped(kernel, static)]
