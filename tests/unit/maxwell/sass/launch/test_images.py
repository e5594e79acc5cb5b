"""`pocketgpu launch` with textures and surfaces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import recordings
from support.kernel_cases import FOLDER, NAMES

from pocketgpu import RawModule, Texture, UsageError
from pocketgpu.cli import main
from pocketgpu.inspect.shaders.launch_images import array_file, read_image

needs_kernels = pytest.mark.skipif("texref" not in NAMES, reason=recordings.REASON)


@needs_kernels
def test_references_of_a_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case, kernel = json.loads((FOLDER / "texref" / "case.json").read_text()), FOLDER / "texref" / "kernel.cubin"
    words = ["launch", str(kernel), "--block", "64", "--arg", f"zeros:2048>{tmp_path / 'out.bin'}"]
    for about in case["textures"]:
        dtype = "<u4" if about["format"] == "R32_UINT" else "<f4"
        array = np.frombuffer((FOLDER / "texref" / about["data"]).read_bytes(), dtype).reshape(about["shape"])
        file = tmp_path / f"{about['name']}.npy"
        np.save(file, array)
        kind = "surface" if about["kind"].startswith("surface") else "texture"
        end = f">{tmp_path / 'left.npy'}" if kind == "surface" else ""
        words += ["--bind", f"{about['name']}={kind}:{file}{end}"]
    assert main(words) == 0
    assert "left.npy written" in capsys.readouterr().out
    assert (tmp_path / "out.bin").read_bytes() == (FOLDER / "texref" / "out.expect.bin").read_bytes()
    left, before = np.load(tmp_path / "left.npy"), np.load(tmp_path / "sref.npy")
    np.testing.assert_array_equal(left, before + 1)


@needs_kernels
def test_references_must_have_something(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = str(FOLDER / "texref" / "kernel.cubin")
    assert main(["launch", kernel, "--block", "64", "--arg", "zeros:2048"]) == 2
    assert "'sref' of texref has no texture" in capsys.readouterr().err
    module = RawModule(kernel)
    with pytest.raises(UsageError, match="no texture reference 'other'"):
        module.bind("other", Texture(np.zeros((4, 4), np.float32)))


def test_options_of_textures(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 4, 4), np.float32))
    options = "kind=2d_array,filter=linear,address=wrap/clamp,normalized=yes,border=1/0.5,anisotropy=4,lod_bias=-1.5"
    image, out = read_image("texture", f"{tmp_path / 'a.npy'},{options}")
    assert isinstance(image, Texture) and image.kind == "2d_array" and image.normalized and out is None
    Image.new("RGB", (5, 3), (1, 2, 3)).save(tmp_path / "a.png")
    image, out = read_image("surface", f"{tmp_path / 'a.png'}>{tmp_path / 'b.npy'}")
    assert image.numbers == "unorm" and image.arrays[0].shape == (3, 5, 4) and out == tmp_path / "b.npy"
    (tmp_path / "c.npy").write_bytes(array_file(image))
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), image.arrays[0])
    (tmp_path / "junk").write_bytes(b"\x93NUMPYjunk")
    for wrong in (
        f"{tmp_path / 'a.npy'},filter=soft", f"{tmp_path / 'a.npy'},size=4", f"{tmp_path / 'a.npy'},normalized=perhaps",
        f"{tmp_path / 'a.npy'},anisotropy=much", str(tmp_path / "nothing"), str(tmp_path / "junk"), "",
    ):  # fmt: skip
        with pytest.raises(UsageError):
            read_image("texture", wrong)
