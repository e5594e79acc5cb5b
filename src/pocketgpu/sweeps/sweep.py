"""A sweep: one kind of work on any number of captures, results as they come.

    sweep = pocketgpu.sweep(["captures/**/*.pgc"], "check")
    for row in sweep:
        print(row)
    sweep.table().to_parquet("rows.parquet")
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.sweeps.captures import sources
from pocketgpu.sweeps.child.keeper import Limits
from pocketgpu.sweeps.engine import clusters
from pocketgpu.sweeps.engine.dispatch import Dispatch
from pocketgpu.sweeps.engine.scratch import Scratch, sweep_up
from pocketgpu.sweeps.engine.worker import Result
from pocketgpu.sweeps.model.rows import LOST, STATES, Row, Times, renamed
from pocketgpu.sweeps.model.task import Source, Task, What
from pocketgpu.sweeps.results.store import Store

if TYPE_CHECKING:
    from distributed import Client

TIMEOUT: Final = 300.0
MEMORY: Final = 2 << 30
"""What a task may take if nothing is said: seconds, bytes."""


class Sweep:
    """The captures and the results of a sweep. Iterating runs it: rows come as their tasks end.

    sources: the captures. store: the results so far, of an interrupted run too. Leaving the loop early, or Ctrl-C, ends
    the sweep; what was stored stays.
    """

    def __init__(
        self, sources: list[Source], what: What, store: Store, limits: Limits, *, client: Client | None = None,
        scheduler: str | None = None, workers: int | None = None, ship: bool = False, retry: Sequence[str] = (),
        patience: float | None = None,
    ) -> None:  # fmt: skip
        self.sources, self.what, self.store, self.limits = sources, what, store, limits
        self._client, self._scheduler, self._ship, self._patience = client, scheduler, ship, patience
        self._workers = workers or clusters.cores()
        self._retried = {row.capture for row in store.rows.values() if row.state in retry}  # until they are done
        self.dashboard: str | None = None
        """The address of the page about the cluster, once it runs, if there is one."""

    def __repr__(self) -> str:
        return line_of(self, f"{self.what.work}, {len(self.store.rows)} of {len(self.sources)} captures")

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def rows(self) -> list[Row]:
        """The rows so far, in the order of the captures."""
        return [self.store.rows[one.name] for one in self.sources if one.name in self.store.rows]

    @property
    def todo(self) -> list[Source]:
        """The captures without a row, those that were lost with their worker, those whose bytes have changed, and those
        that `retry` asks for."""

        def over(one: Source) -> bool:
            row = self.store.rows.get(one.name)
            known = row is not None and row.key == one.key(self.what) and row.state != LOST
            return known and one.name not in self._retried

        return [one for one in self.sources if not over(one)]

    def __iter__(self) -> Iterator[Row]:
        """Run it: yields every row as its task ends."""
        sweep_up()
        by_key: dict[str, list[Source]] = {}
        for one in self.todo:
            by_key.setdefault(one.key(self.what), []).append(one)
        try:
            if by_key:
                with self._cluster() as (client, again):
                    self.dashboard = clusters.dashboard(client)
                    tasks = (self._task(key, group) for key, group in by_key.items())
                    engine = Dispatch(client, self.what, self.limits, again=again, patience=self._patience)
                    for result in engine.run(tasks, len(by_key)):
                        yield from self._arrived(result, by_key[result.key])
        finally:
            self.store.close()

    def finish(self) -> None:
        """Write the tables into the folder of results, when the sweep is over. They have all rows that are there, also
        of captures that an earlier run named and this one does not."""
        from pocketgpu.sweeps.results.tables import write_tables

        rows = [*self.store.rows.values()]
        times = [self.store.times[row.capture] for row in rows if row.capture in self.store.times]
        write_tables(self.store.folder, rows, times)

    def table(self) -> Any:
        """The rows as a table: a pandas DataFrame if pandas is installed, else one that Arrow's readers take."""
        from pocketgpu.sweeps.results.tables import frame_of

        return frame_of(self.rows)

    @contextlib.contextmanager
    def _cluster(self) -> Iterator[tuple[Client, Callable[[], Client] | None]]:
        """A client of the cluster, and what makes another one when the connection is lost, if anything does."""
        from pocketgpu.sweeps.engine.kernels import share

        address = self._scheduler
        if self._client is not None:
            share(self._client)
            yield self._client, None
        elif address is not None:
            with clusters.existing(address) as client:
                yield client, lambda: clusters.existing_again(address)
        else:
            with clusters.local(self._workers) as client:
                yield client, None

    def _task(self, key: str, group: list[Source]) -> Task:
        one = group[0]
        paths = [one.path] if one.other is None else [one.path, one.other]
        names = tuple(source.name for source in group)
        places = tuple(os.path.abspath(path) for path in paths)
        if not self._ship:
            return Task(key, names, places)
        files: dict[str, bytes] = {}
        for side, found in (("a", one.files), ("b", one.other_files)):
            files |= {f"{side}/{path.name}": path.read_bytes() for path in found}
        return Task(key, names, places, files)

    def _arrived(self, result: Result, group: Sequence[Source]) -> Iterator[Row]:
        for source in group:
            found = renamed(result.found, _names(group[0], source))
            row = Row.from_json({"capture": source.name, "key": result.key, "work": self.what.work} | found)
            times = Times(
                source.name, result.key, round(result.seconds, 6), result.frames, result.worker, result.tries,
                result.first, result.started,
            )  # fmt: skip
            self.store.add(row, times, result.pictures)
            self._retried.discard(row.capture)
            yield row


def _names(opened: Source, source: Source) -> dict[str, str]:
    """What the texts about a capture call files: the capture that was opened stands for all with the same bytes, and
    rows have the names that the sweep was given."""
    name = Path(source.name)
    found = {os.path.abspath(opened.path): source.name}
    for one, other in zip(opened.files, source.files, strict=False):
        found[os.path.abspath(one)] = (name.parent / other.name).as_posix()
    if opened.other is not None and source.other is not None:
        found[os.path.abspath(opened.other)] = source.other.as_posix()
        found[f"{os.path.abspath(opened.other.parent)}/"] = f"{source.other.parent.as_posix()}/"
    inside = "" if name.parent == Path() else f"{name.parent.as_posix().removesuffix('/')}/"
    found[f"{os.path.abspath(opened.path.parent).removesuffix('/')}/"] = inside
    return found


def sweep(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], what: str | What = "render",
    client: Client | None = None, *, out: str | os.PathLike[str] | None = None, resume: bool = False,
    scheduler: str | None = None, workers: int | None = None, timeout: float = TIMEOUT, memory: int = MEMORY,
    ship: bool = False, switches: Mapping[str, str] | None = None, retry: str | Sequence[str] = (),
    patience: float | None = None,
) -> Sweep:  # fmt: skip
    """Sweep captures: iterate over what it returns to run it.

    paths: files, folders, globs, `@LIST` or `-` (`captures.sources`). what: `render`, `check`, `bench`, `info`,
    `verify`, `diff=FOLDER`, or a `What`. client: of a Dask cluster; else `scheduler`, an address, or `workers`
    processes of this computer (None: as many as it has cores), for which a program needs the usual
    `if __name__ == "__main__":`. out: the folder of results (None: a temporary one). resume: go on in that folder.
    timeout, memory: seconds and bytes that a capture may take. ship: send captures to workers that do not see them.
    retry: states of rows, such as "timeout"; with `resume`, these captures run again. patience: seconds to wait while
    the cluster has no worker (None: without end).

    :raises UsageError: the extra `sweep` is missing, or an argument does not fit.
    """
    clusters.check_installed()
    states = [retry] if isinstance(retry, str) else [*retry]
    if unknown := sorted({*states}.difference(STATES)):
        hint = f"There are {', '.join(STATES)}."
        raise UsageError(f"no row has the state {', '.join(map(repr, unknown))}", hint=hint)
    patterns = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    work = What.parse(what, switches=dict(switches or {})) if isinstance(what, str) else what
    captures = sources(patterns, work)
    scratch: Scratch | None = None
    if out is None:
        scratch = Scratch("sweep")
        out = scratch.path / "results"
    store = Store.open(Path(out), work, resume)
    found = Sweep(
        captures, work, store, Limits(timeout, memory), client=client, scheduler=scheduler, workers=workers, ship=ship,
        retry=states, patience=patience,
    )  # fmt: skip
    if scratch is not None:
        weakref.finalize(found, scratch.close)
    return found


__all__ = ["Sweep", "sweep"]


def __dir__() -> list[str]:
    return [*__all__]
