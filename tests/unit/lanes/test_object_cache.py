"""The cache of compiled kernels: it must only ever load what this user stored, and never be the reason of a failure."""

from __future__ import annotations

import itertools
import os
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketgpu.lanes import I32, Engine, Lang, Value, kernel, machine_code, object_cache

SRC = Path(__file__).resolve().parents[3] / "src"
KEY = "ab" * 20
POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system protects folders by access lists")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, not made yet."""
    folder = tmp_path / "kernels"
    use(folder, monkeypatch)
    return folder


def use(setting: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKETGPU_CACHE", str(setting))
    monkeypatch.setattr(object_cache, "_checked", {})


def refused() -> str:
    """The one warning with which the folder is refused; afterwards it stays refused in silence."""
    with pytest.warns(UserWarning, match="kernel cache not used") as caught:
        assert object_cache.folder() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert object_cache.folder() is None
        assert object_cache.read(KEY) is None
        object_cache.write(KEY, b"x")
    assert len(caught) == 1
    return str(caught[0].message)


# -- the folder -------------------------------------------------------------------------------------------------------


def test_stored_and_found_again(place: Path) -> None:
    assert object_cache.read(KEY) is None
    object_cache.write(KEY, b"machine code")
    assert object_cache.read(KEY) == b"machine code"
    assert object_cache.read("cd" * 20) is None
    assert [p.name for p in place.iterdir()] == [KEY + ".o"]


@POSIX
def test_the_folder_is_made_for_us_alone(place: Path) -> None:
    object_cache.write(KEY, b"x")
    assert stat.S_IMODE(place.stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((place / f"{KEY}.o").stat().st_mode) & 0o077 == 0


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o702, 0o720])
def test_a_folder_others_can_write_to_is_not_used(place: Path, mode: int) -> None:
    object_cache.write(KEY, b"planted")
    place.chmod(mode)
    object_cache._checked.clear()
    assert "others own it or can write to it" in refused()


@POSIX
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o711])
def test_a_folder_others_can_only_read_is_fine(place: Path, mode: int) -> None:
    place.mkdir()
    place.chmod(mode)
    object_cache.write(KEY, b"x")
    assert object_cache.read(KEY) == b"x"


@POSIX
def test_a_folder_of_another_user_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    object_cache.write(KEY, b"planted")
    object_cache._checked.clear()
    monkeypatch.setattr(os, "getuid", lambda: place.stat().st_uid + 1)
    refused()


@POSIX
def test_a_link_is_not_used(place: Path, tmp_path: Path) -> None:
    """Whoever made the link can turn it."""
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    refused()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_file_is_no_folder(place: Path) -> None:
    place.write_bytes(b"")
    refused()
    assert place.read_bytes() == b""


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    use(tmp_path / "file" / "kernels", monkeypatch)
    assert "set POCKETGPU_CACHE to a private folder or to 'off'" in refused()


@POSIX
@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_serves_what_it_has(place: Path) -> None:
    object_cache.write(KEY, b"x")
    place.chmod(0o500)
    try:
        object_cache.write("cd" * 20, b"y")
        assert object_cache.read(KEY) == b"x"
        assert object_cache.read("cd" * 20) is None
    finally:
        place.chmod(0o700)


def test_off_means_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    use("off", monkeypatch)
    object_cache.write(KEY, b"x")
    assert object_cache.read(KEY) is None
    assert object_cache.folder() is None
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the folders of other systems have no such variable")
def test_the_usual_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the user's cache folder; a relative XDG_CACHE_HOME is void, so the working directory never counts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    use("", monkeypatch)
    assert object_cache.folder() == tmp_path / "xdg" / "pocketgpu" / "kernels"
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert object_cache.default_folder() == tmp_path / "home" / ".cache" / "pocketgpu" / "kernels"


# -- entries ----------------------------------------------------------------------------------------------------------


DAMAGE = {
    "empty": lambda blob: b"",
    "cut short": lambda blob: blob[:-1],
    "head only": lambda blob: blob[:20],
    "one bit": lambda blob: blob[:-3] + bytes([blob[-3] ^ 4]) + blob[-2:],
    "longer": lambda blob: blob + b"\0",
    "other kind of file": lambda blob: b"\x7fELF" + blob[4:],
    "zeros": lambda blob: bytes(len(blob)),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_entry_is_ignored_and_removed(place: Path, kind: str) -> None:
    object_cache.write(KEY, b"machine code" * 100)
    path = place / f"{KEY}.o"
    path.write_bytes(DAMAGE[kind](path.read_bytes()))
    assert object_cache.read(KEY) is None
    assert not path.exists()
    object_cache.write(KEY, b"again")
    assert object_cache.read(KEY) == b"again"


def test_an_entry_under_another_name_is_not_loaded(place: Path) -> None:
    """The digest covers the key: a whole entry in the wrong place is the wrong kernel."""
    object_cache.write(KEY, b"machine code")
    (place / f"{KEY}.o").rename(place / f"{'cd' * 20}.o")
    assert object_cache.read("cd" * 20) is None


def test_an_interrupted_write_leaves_the_old_entry(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry changes in one step, or not at all; nothing half-written stays."""
    object_cache.write(KEY, b"old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        object_cache.write(KEY, b"new")
    assert object_cache.read(KEY) == b"old"
    assert [p.name for p in place.iterdir()] == [KEY + ".o"]


def test_a_folder_that_vanishes_is_no_failure(place: Path) -> None:
    object_cache.write(KEY, b"x")
    (place / f"{KEY}.o").unlink()
    place.rmdir()
    assert object_cache.read(KEY) is None
    object_cache.write(KEY, b"x")


def test_trim_removes_the_oldest(place: Path) -> None:
    now = time.time()
    for i in range(6):
        object_cache.write(f"{i:040x}", bytes(1000))
        os.utime(place / f"{i:040x}.o", (now + i, now + i))
    (place / "note.txt").write_bytes(bytes(5000))
    sizes = {size for _, size, _ in object_cache.entries(place)}
    assert len(sizes) == 1
    (size,) = sizes
    object_cache.trim(place, 6 * size)
    assert len(object_cache.entries(place)) == 6
    object_cache.trim(place, 4 * size - 1)
    assert sorted(p.name for p, _, _ in object_cache.entries(place)) == [f"{i:040x}.o" for i in (3, 4, 5)]
    assert (place / "note.txt").exists()


def test_writing_keeps_the_folder_below_its_limit(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(object_cache.LIMITS, object_cache.KERNEL, 5000)
    monkeypatch.setattr(object_cache, "_stored", itertools.count())
    sizes = []
    for i in range(2 * object_cache.TRIM_EVERY + 1):
        object_cache.write(f"{i:040x}", bytes(1000))
        sizes.append(sum(size for _, size, _ in object_cache.entries(place)))
    # It is looked after now and then, not at every store.
    assert sizes[0] <= sizes[object_cache.TRIM_EVERY - 1]
    assert sizes[object_cache.TRIM_EVERY - 1] > 5000
    assert sizes[object_cache.TRIM_EVERY] <= 5000 and sizes[-1] <= 5000
    assert len(object_cache.entries(place)) == 4


# -- kernels through the cache ----------------------------------------------------------------------------------------


def environment(place: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SRC), "POCKETGPU_CACHE": str(place)}


def run_code(code: str, place: Path) -> subprocess.CompletedProcess[str]:
    """In a process of its own with this cache folder."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment(place), capture_output=True, text=True, timeout=120)


def test_kernels_come_from_the_cache(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one process compiled the next only loads (here: the same process with its memory of kernels erased)."""
    arena = np.zeros(8192, np.uint8)
    compiled: list[str] = []
    original = machine_code.compile_object

    def watched(text: str) -> bytes:
        compiled.append(text)
        return original(text)

    monkeypatch.setattr(machine_code, "compile_object", watched)

    @kernel(n=I32)
    def stored(k: Lang, n: Value) -> None:
        table = k.array(1024)  # cleared by a call of memset, so the stored object has an outside symbol
        table[n] = n
        k.store(I32, 4096, k.lane(table[n & 7], 0) * 17)

    Engine(arena).get(stored)(5)
    assert arena[4096] == 85
    assert len(compiled) == 1
    assert len(list(place.iterdir())) == 1

    code = """if True:
    import sys, numpy as np
    from pocketgpu.lanes import *
    from pocketgpu.lanes import machine_code
    def no(text): raise SystemExit("compiled again")
    machine_code.compile_object = no
    @kernel(n=I32)
    def stored(k, n):
        table = k.array(1024)
        table[n] = n
        k.store(I32, 4096, k.lane(table[n & 7], 0) * 17)
    arena = np.zeros(8192, np.uint8)
    Engine(arena).get(stored)(6)
    print(arena[4096])
    """
    result = run_code(code, place)
    assert result.stdout.strip() == "102", result.stderr


def test_engines_share_machine_code(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arenas differ, code does not: a second engine neither compiles nor loads the same kernel again."""
    compiled: list[str] = []
    original = machine_code.compile_object
    watched = lambda text: compiled.append(text) or original(text)  # noqa: E731
    monkeypatch.setattr(machine_code, "compile_object", watched)

    @kernel(n=I32)
    def shared(k: Lang, n: Value) -> None:
        k.store(I32, 4096, n * 5 + 8)

    arenas = [np.zeros(8192, np.uint8) for _ in range(3)]
    engines = [Engine(arena) for arena in arenas]
    assert len({engine.handle(shared) for engine in engines}) == 1
    for i, engine in enumerate(engines):
        engine.get(shared)(i)
    assert [int(arena[4096]) for arena in arenas] == [8, 13, 18]
    assert len(compiled) == 1


def test_a_damaged_kernel_is_compiled_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arena = np.zeros(8192, np.uint8)

    def body(k: Lang, n: Value) -> None:
        k.store(I32, 4096, n * 3 + 77)

    keys: list[str] = []
    read = object_cache.read
    monkeypatch.setattr(object_cache, "read", lambda key: keys.append(key) or read(key))  # type: ignore[func-returns-value]
    monkeypatch.setattr(machine_code, "_make", lambda *text: b"never loaded")
    monkeypatch.setattr(machine_code, "_loaded", {})
    # Find the key under which this kernel would be stored, without loading anything.
    with monkeypatch.context() as patch, pytest.raises(LookupError):
        patch.setattr(object_cache, "write", lambda key, data: (_ for _ in ()).throw(LookupError))
        Engine(arena).get(kernel(n=I32)(body))
    monkeypatch.undo()
    use(place, monkeypatch)
    place.mkdir(mode=0o700, exist_ok=True)
    entry = place / f"{keys[0]}.o"
    entry.write_bytes(b"pgpuobj1" + bytes(20) + b"\x90" * 64)
    Engine(arena).get(kernel(n=I32)(body))(1)
    assert arena[4096] == 80
    assert entry.read_bytes()[28:32] != b"\x90" * 4


WORKER = """
import sys
import numpy as np
from pocketgpu.lanes import *

@kernel(n=I32)
def work(k, n, *, salt):
    total = k.var(n)
    for i in k.range(0, n):
        total.value = total.value * salt + i
    k.store(I32, 4096, total.value)

arena = np.zeros(1 << 16, np.uint8)
engine = Engine(arena)
results = []
for salt in range(12):
    engine.get(work, salt=salt)(9)
    results.append(int(arena[4096:4100].view(np.int32)[0]))
print(results)
"""


def test_many_processes_with_a_cold_cache(place: Path) -> None:
    """All compile and store the same kernels at the same time; all get the right ones."""
    processes = [
        subprocess.Popen([sys.executable, "-c", WORKER], env=environment(place), stdout=-1, stderr=-1, text=True)
        for _ in range(4)
    ]
    expected = []
    for salt in range(12):
        total = 9
        for i in range(9):
            total = (total * salt + i + (1 << 31)) % (1 << 32) - (1 << 31)
        expected.append(total)
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert out.strip() == str(expected), err
        assert not err
    names = [p.name for p in place.iterdir()]
    assert len(names) == 12
    assert all(name.endswith(".o") for name in names)


def test_an_unusable_folder_does_not_stop_a_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    result = run_code(WORKER, tmp_path / "file" / "x")
    assert result.returncode == 0
    assert result.stdout.startswith("[")
    assert result.stderr.count("kernel cache not used") == 1
