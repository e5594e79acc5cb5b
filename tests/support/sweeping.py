"""Sweeps in real processes: tiny captures, clusters on loopback ports, who is alive, what a folder has."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from support.house import ROOT
from support.plain_scenes import plain_scene

DATA = ROOT / "src" / "pocketgpu" / "data"
SAMPLES = (DATA / "sample.ctf.xz", DATA / "sample_switch.mxcap.zip")
MANY = 200
"""Passes of `bench`: a scene takes part of a second, a long scene minutes."""


# captures


def scenes(folder: Path, count: int, first: int = 0) -> list[Path]:
    """Recordings of one frame each, all different, which take milliseconds."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"scene{number:03}.ctf.xz" for number in range(first, first + count)]
    for number, path in enumerate(paths, first):
        plain_scene(path, [0x010203 * (number + 1) & 0xFFFFFF])
    return paths


def long_scene(path: Path, frames: int = 1000) -> Path:
    """A recording whose `bench` with MANY passes takes minutes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain_scene(path, range(frames))
    return path


# results


def lines(folder: Path, name: str = "rows.jsonl") -> list[dict[str, Any]]:
    """The whole lines of a file of results."""
    data = (folder / name).read_bytes() if (folder / name).exists() else b""
    return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def by_capture(folder: Path, name: str = "rows.jsonl") -> dict[str, dict[str, Any]]:
    """The lines by capture, each of which has one."""
    found = lines(folder, name)
    names = [one["capture"] for one in found]
    assert sorted(names) == sorted(set(names))
    return {one["capture"]: one for one in found}


def pictures_are_whole(folder: Path) -> bool:
    """Whether every picture of a row is there and has the pixels that its name says, and nothing else lies there."""
    import hashlib

    import numpy as np
    from PIL import Image

    named = {one["sha256"] for row in lines(folder) for one in row["pictures"]}
    files = {path.stem: path for path in (folder / "pictures").rglob("*") if path.is_file()}
    for sha256, path in files.items():
        with Image.open(path) as picture:
            if hashlib.sha256(np.asarray(picture.convert("RGB")).tobytes()).hexdigest() != sha256:
                return False
    return named == set(files)


# processes


def environment(**more: str) -> dict[str, str]:
    """Of processes that the tests start: they find the package and the tests' modules."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    return {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "", "DASK_LOGGING__DISTRIBUTED": "critical"} | more


def command(*words: str | os.PathLike[str]) -> list[str]:
    return [sys.executable, "-m", "pocketgpu", *map(os.fspath, words)]


@contextlib.contextmanager
def started(*words: str | os.PathLike[str], cwd: Path, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """`pocketgpu WORDS` in a session of its own, whose processes are all gone afterwards."""
    variables = environment(**more.pop("env", {}))
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    # A background job of a shell ignores SIGINT, and so would what it starts.
    heard = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        command(*words), cwd=cwd, env=variables, start_new_session=True, preexec_fn=heard, **options
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def swept(*words: str | os.PathLike[str], cwd: Path, seconds: float = 120, **env: str) -> tuple[int, str, str]:
    """Run `pocketgpu sweep WORDS` to its end: exit code, standard output, standard error."""
    done = subprocess.run(
        command("sweep", *words), cwd=cwd, env=environment(**env), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=seconds,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait until a condition is true, and return it."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)
    return found


def children(pid: int) -> list[int]:
    """Numbers of the processes that a process has started and that are still there."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    return [pid, *(one for child in children(pid) for one in family(child))]


def told(pid: int) -> str:
    """The command line of a process; empty if it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def alive(pids: Sequence[int]) -> list[int]:
    """Those that still run; a process that ended and was not asked for its code does not.

    A process that is killed ends with its last thread. Its first one may be a zombie before, and until then nobody gets
    its code."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError, IndexError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
            found += [pid] if state not in "ZX" or threads > 1 else []
    return found


def workshops(pid: int) -> list[int]:
    """The child processes of workers among what a process started."""
    return [one for one in family(pid) if "pocketgpu.sweeps.child" in told(one)]


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


# clusters


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Nodes:
    """A scheduler and workers, as processes. prefix: words before a command, such as those that enter a namespace."""

    def __init__(self, folder: Path, host: str = "127.0.0.1") -> None:
        self.folder, self.host, self.port = folder, host, free_port()
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        return f"tcp://{self.host}:{self.port}"

    def _start(self, words: Sequence[str], prefix: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        self.folder.mkdir(exist_ok=True)
        log = (self.folder / f"node{len(self.processes)}.txt").open("wb")
        with log:
            process = subprocess.Popen(
                [*prefix, sys.executable, "-m", *words], cwd=self.folder, env=environment(**env),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def scheduler(self, prefix: Sequence[str] = (), **env: str) -> subprocess.Popen[bytes]:
        words = ["distributed.cli.dask_scheduler", "--host", self.host, "--port", str(self.port), "--no-dashboard"]
        process = self._start(words, prefix, env)
        until(self._answers)
        return process

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), 1):
            return True
        return False

    def worker(
        self, prefix: Sequence[str] = (), host: str | None = None, name: str = "", **env: str
    ) -> subprocess.Popen[bytes]:
        """One with one thread, without a nanny."""
        words = [
            "distributed.cli.dask_worker", self.address, "--host", host or self.host, "--nthreads", "1", "--no-nanny",
            "--no-dashboard", "--death-timeout", "60", "--local-directory", str(self.folder / "scratch"),
            *(["--name", name] if name else []),
        ]  # fmt: skip
        return self._start(words, prefix, env)

    def __enter__(self) -> Nodes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes):
            process.kill()
        for process in self.processes:
            process.wait()


# what runs in workers and schedulers of `Nodes`, which find this module


def exchange_often() -> None:
    """In a worker: exchange kernels before every batch."""
    from pocketgpu.sweeps.engine import kernels

    kernels.OFTEN = 0.0  # type: ignore[misc]


def kernels_held(dask_scheduler: Any = None) -> list[str]:
    """In a scheduler: the keys of the kernels that it keeps."""
    return sorted(entry[0] for entry in dask_scheduler.plugins["pocketgpu-kernels"]._entries)


def offer_kernels(entries: list[Any], dask_scheduler: Any = None) -> list[str]:
    """In a scheduler: what it keeps after a worker has offered entries."""
    dask_scheduler.plugins["pocketgpu-kernels"].exchange([tuple(entry) for entry in entries], 0)
    return kernels_held(dask_scheduler)


def force_kernels(entries: list[Any], dask_scheduler: Any = None) -> None:
    """In a scheduler: it gives away what it should not have taken."""
    dask_scheduler.plugins["pocketgpu-kernels"]._entries[:0] = [tuple(entry) for entry in entries]


__all__ = [
    "DATA", "MANY", "SAMPLES", "Nodes", "alive", "by_capture", "children", "command", "environment", "exchange_often",
    "family", "force_kernels", "free_port", "kernels_held", "kill", "lines", "long_scene", "offer_kernels",
    "pictures_are_whole", "scenes", "started", "swept", "told", "until", "workshops",
]  # fmt: skip
