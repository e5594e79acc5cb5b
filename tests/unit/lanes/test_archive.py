"""Files of kernels: what is put in comes out; damage and other source give nothing; the package comes first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pocketgpu.lanes import archive, machine_code, object_cache, recipes
from pocketgpu.lanes.archive import Image
from pocketgpu.lanes.code_image import from_object
from pocketgpu.lanes.target import host

IMAGES = {f"{n:040x}": Image("il" * (n % 4), bytes([n % 3]) * (50 + n % 3)) for n in range(1, 9)}
CODE = "define i32 @work(i32 %n) {{\n  %m = add i32 %n, {n}\n  ret i32 %m\n}}\n"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Empty folders for both places; nothing is known of files."""
    monkeypatch.setattr(archive, "SHIPPED", tmp_path / "package")
    (tmp_path / "package").mkdir()
    monkeypatch.setattr(object_cache, "_checked", {})
    monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path / "cache"))
    archive.forget()
    yield tmp_path / "package"
    archive.forget()


def test_what_is_put_in_comes_out_whatever_the_order() -> None:
    data = archive.encode("pica", IMAGES)
    assert archive.decode("pica", data) == IMAGES
    assert archive.encode("pica", dict(reversed(IMAGES.items()))) == data
    assert archive.decode("pica", archive.encode("pica", {})) == {}


def test_equal_images_are_kept_once() -> None:
    same = Image("i", bytes(range(256)) * 64)
    once, often = (archive.encode("pica", {f"{n:040x}": same for n in range(count)}) for count in (1, 100))
    assert len(often) - len(once) < 100 * 40


def test_damage_anywhere_gives_nothing() -> None:
    data = archive.encode("pica", IMAGES)
    for at in range(len(data)):
        assert archive.decode("pica", data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]) == {}
        assert archive.decode("pica", data[:at]) == {}
    assert archive.decode("pica", data + b"\0") == {}


def test_a_file_of_other_source_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive.encode("pica", IMAGES)
    monkeypatch.setattr(recipes, "source", lambda room: b"another source, 20 b")
    assert archive.decode("pica", data) == {}


@pytest.mark.skipif(not host().level, reason="images are for Linux with x86-64")
def test_the_package_comes_before_the_cache_and_damage_is_passed_over(places: Path) -> None:
    recipe = "ab" * 20
    files = [
        archive.encode("pica", {recipe: Image("i", from_object(machine_code.compile_object(CODE.format(n=n))))})
        for n in (1, 2)
    ]
    assert archive.find("pica", recipe) is None and archive.place("pica") == ""
    archive.forget()
    archive.keep("pica", files[0])
    in_cache = archive.find("pica", recipe)
    assert in_cache and archive.place("pica") == "cache" and archive.place("maxwell") == ""
    archive.forget()
    shipped = places / archive.file_name("pica")
    shipped.write_bytes(files[1])
    in_package = archive.find("pica", recipe)
    assert in_package and in_package != in_cache and archive.place("pica") == "package"
    archive.forget()
    shipped.write_bytes(files[1][:-1])
    assert archive.find("pica", recipe) and archive.place("pica") == "cache"
    assert archive.find("pica", "cd" * 20) is None
