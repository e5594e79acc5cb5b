"""The compiled kernels of other programs, with inputs, expected outputs and how closely they must be met."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu import RawModule, Surface, Texture

from .recordings import kernels

FOLDER = kernels()
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/case.json"))
_NUMBERS = {"u32": "<u4", "s32": "<i4", "f32": "<f4", "f64": "<f8", "u64": "<u8", "s64": "<i8"}


class Case:
    """One kernel: `run` launches it, `errors` says where the results miss the expectation."""

    def __init__(self, name: str) -> None:
        self.folder = FOLDER / name
        self.about: dict[str, Any] = json.loads((self.folder / "case.json").read_text())
        self.buffers = {key: self._fill(what) for key, what in self.about["buffers"].items()}

        self.images = {about["name"]: self._image(about) for about in self.about.get("textures", ())}

    def _image(self, about: dict[str, Any]) -> Texture | Surface:
        """A texture or surface as the case describes it."""
        kind, numbers = about["kind"], about["format"].rpartition("_")[2].lower()
        dtype = {"R32": "4", "R16": "2", "R8": "1"}[about["format"].partition("G")[0].partition("_")[0]]
        letter = {"float": "f", "uint": "u", "sint": "i", "unorm": "u", "snorm": "i"}[numbers]
        data = np.frombuffer((self.folder / about["data"]).read_bytes(), f"<{letter}{dtype}")
        first = int(np.prod(about["shape"]))
        # Where only sizes are asked for there are no texels.
        array = (data[:first] if data.size else np.zeros(first, data.dtype)).reshape(about["shape"]).copy()
        if kind.startswith("surface_"):
            return Surface(array, kind.removeprefix("surface_"), numbers=numbers)
        sampler = about.get("sampler", {})
        address = sampler.get("address", "clamp_to_edge").replace("clamp_to_edge", "clamp")
        levels = [array]
        for n in range(1, about.get("levels", 1)):
            shape = (*(max(1, side >> n) for side in about["shape"][:2]), *about["shape"][2:])
            levels.append(np.zeros(shape, array.dtype))
        return Texture(
            levels, kind, numbers=numbers, filter=sampler.get("filter", "nearest"), address=address,
            normalized=sampler.get("normalized", False), mip_filter=sampler.get("mip_filter", "none"),
        )  # fmt: skip

    def _fill(self, what: dict[str, Any]) -> NDArray[np.uint8]:
        if "file" in what:
            return np.frombuffer((self.folder / what["file"]).read_bytes(), np.uint8).copy()
        return np.full(what["size"], what.get("fill", 0), np.uint8)

    def arguments(self) -> list[Any]:
        found: list[Any] = []
        for parameter in self.about["params"]:
            kind = parameter["type"]
            if kind == "ptr":
                found.append(self.buffers[parameter["buffer"]])
            elif kind == "tex":
                found.append(self.images[parameter["texture"]])
            elif kind == "bytes":
                found.append(bytes.fromhex(parameter.get("value", parameter.get("hex"))))
            else:
                found.append(np.array(parameter["value"], _NUMBERS[kind])[()])
        return found

    def run(self, evaluator: str, **options: Any) -> RawModule:
        module = RawModule(self.folder / "kernel.cubin", evaluator=evaluator)
        about = self.about
        for texture in about.get("textures", ()):
            if "symbol" in texture:
                module.bind(texture["symbol"], self.images[texture["name"]])
        kernel = module.get_function(about["kernel"])
        kernel(about["grid"], about["block"], self.arguments(), shared_mem=about["smem_dynamic"], **options)
        return module

    def errors(self) -> dict[str, list[int]]:
        """For each buffer the elements that are wrong."""
        return {name: np.flatnonzero(self._wrong(name, about)).tolist() for name, about in self.about["expect"].items()}

    def _wrong(self, name: str, about: dict[str, Any]) -> NDArray[np.bool_]:
        dtype = np.dtype(about["dtype"])
        got = self.buffers[name].view(dtype)[: about["count"]]
        want = np.frombuffer((self.folder / about["file"]).read_bytes(), dtype)[: about["count"]]
        compare = about.get("compare", "")
        if compare == "f16x2_nan_class":
            return _halves_wrong(got, want)
        wrong = got != want
        if dtype.kind == "f":
            wrong &= ~(np.isnan(got) & np.isnan(want))
            wrong &= _ulps(got, want) > about.get("tolerance_ulp", 0)
            if about.get("tolerance_abs") is not None:
                with np.errstate(all="ignore"):
                    wrong &= ~(np.abs(got.astype(np.float64) - want) <= about["tolerance_abs"])
        elif about.get("tolerance_ulp", 0):
            wrong &= np.abs(got.astype(np.int64) - want) > about["tolerance_ulp"]
        if compare == "skip_expected_nan":
            wrong &= ~np.isnan(want.view("f4"))
        if compare.startswith("ignore_index_"):
            wrong[int(compare.rpartition("_")[2])] = False
        return wrong


def _ulps(got: NDArray[Any], want: NDArray[Any]) -> NDArray[np.float64]:
    """How many numbers lie between two of a float type."""
    signed = np.dtype(f"i{got.itemsize}")

    def place(x: NDArray[Any]) -> NDArray[np.float64]:
        bits = x.view(signed)
        return np.where(bits < 0, np.iinfo(signed).min - bits, bits).astype(np.float64)

    return np.abs(place(got) - place(want))


def _halves_wrong(got: NDArray[Any], want: NDArray[Any]) -> NDArray[np.bool_]:
    """Words of two halves, or of an f32, where a NaN may have any form."""
    mine, theirs = got.view(np.float16), want.view(np.float16)
    halves = (mine.view("u2") != theirs.view("u2")) & ~(np.isnan(mine) & np.isnan(theirs))
    single = np.isnan(got.view("f4")) & np.isnan(want.view("f4"))
    return halves.reshape(-1, 2).any(axis=1) & ~single
