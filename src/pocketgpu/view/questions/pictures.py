"""Requests `look`, `pictures`, `picture`, `numbers`, `overdraw` and `pixel`: what can be looked at after an event."""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from pocketgpu.digests import blake2b
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.overdraw import OVER, Over
from pocketgpu.inspect.model.pictures import MomentPicture, TargetPart
from pocketgpu.pictures import thinned, to_png
from pocketgpu.view.questions.arrays import TAG_BYTES, Arrays
from pocketgpu.view.questions.asking import FORMS, Asked, Buffer, Json, Pixels, Question
from pocketgpu.view.questions.parameters import Parameters


def pixels_of(pixels: np.ndarray, form: str) -> Pixels:
    """An answer of pixels, (height, width, 4) bytes. form: one of FORMS."""
    data = to_png(pixels) if form == "png" else pixels.tobytes()
    tag = blake2b(data, digest_size=TAG_BYTES).hexdigest()
    kind = "image/png" if form == "png" else "application/octet-stream"
    return Pixels(data, kind, tag, pixels.shape[1], pixels.shape[0])


def _pictures(given: Parameters) -> Question:
    at = given.at()

    def question(run: Inspection) -> Json:
        return {"pictures": [_info(one) for one in run.seek(at.place).pictures.values()]}

    return question


def _info(picture: MomentPicture) -> Json:
    addresses = picture.addresses
    return {
        "name": picture.name, "kind": picture.kind, "title": picture.title, "width": picture.width,
        "height": picture.height, "addresses": None if addresses is None else addresses.to_json(),
    }  # fmt: skip


def shown_first(moment: Moment, wanted: str = "") -> MomentPicture | None:
    """What a page shows of a moment: the picture of a wanted name, or one that fits the place: of a screen
    for a frame, of colours inside it. None if there is none at all."""
    found = moment.pictures
    whole = moment.address == Address(moment.address.frame)
    fitting = (one for one in found.values() if one.kind == ("screen" if whole else "colour"))
    return found.get(wanted) or next(fitting, None) or next(iter(found.values()), None)


def _look(given: Parameters) -> Question:
    at, wanted = given.at(), given.text("of", "")

    def question(run: Inspection) -> Buffer:
        moment, arrays = run.seek(at.place), Arrays()
        shown = shown_first(moment, wanted)
        if shown is not None:
            arrays.add("pixels", "rgba", np.ascontiguousarray(shown.pixels).view("<u4").ravel(), runs=True)
        pictures = [_info(one) for one in moment.pictures.values()]
        return arrays.answer({"pictures": pictures, "shown": shown and shown.name}, tagged=False)

    return question


def _picture(given: Parameters) -> Question:
    at, name, form = given.at(), given.text("of"), given.choice("form", FORMS, "rgba")
    most, before = given.number("most", 0), given.choice("before", ("0", "1"), "0") == "1"

    def question(run: Inspection) -> Pixels:
        found = run.picture_before(at, name) if before else _named(run, at, name)
        return pixels_of(smaller(found.pixels, most), form)

    return question


def smaller(pixels: np.ndarray, most: int) -> np.ndarray:
    """Every n-th pixel, so that no side has more than `most`; 0: all of them."""
    step = max(1, -(-max(pixels.shape[:2]) // most)) if most else 1
    return pixels if step == 1 else np.ascontiguousarray(thinned(pixels, step))


def _numbers(given: Parameters) -> Question:
    at, name = given.at(), given.text("of")

    def question(run: Inspection) -> Buffer:
        picture = _named(run, at, name)
        if not isinstance(picture, TargetPart) or picture.kind == "colour":
            raise UsageError(
                f"{name} has no single number for each pixel", location=str(at), hint="Depth and stencil have one."
            )
        arrays = Arrays()
        arrays.add("pixels", picture.kind, picture.numbers.astype(np.float32).ravel(), runs=True)
        return arrays.answer({"name": name, "width": picture.width, "height": picture.height})

    return question


def _overdraw(given: Parameters) -> Question:
    at, over = given.at(), cast(Over, given.choice("over", OVER, "draw"))

    def question(run: Inspection) -> Buffer:
        found, arrays = run.overdraw(at.place, over), Arrays()
        arrays.add("pixels", "fragments", found.counts.ravel(), runs=True)
        return arrays.answer(found.to_json())

    return question


def _pixel(given: Parameters) -> Question:
    at, name, x, y = given.at(), given.text("of"), given.number("x"), given.number("y")

    def question(run: Inspection) -> Json:
        found = _named(run, at, name)
        address = found.at(x, y)
        return {
            "address": None if address is None else str(address),
            "values": [{"name": name, "value": value} for name, value in found.values(x, y).items()],
        }  # fmt: skip

    return question


def _named(run: Inspection, at: Address, name: str) -> MomentPicture:
    found = run.seek(at.place).pictures
    if name not in found:
        hint = f"There are: {', '.join(found)}." if found else "There is nothing to look at."
        raise UsageError(f"there is no picture called '{name}'", location=str(at), hint=hint)
    return found[name]


ASKED: Final = {
    "look": Asked(_look), "pictures": Asked(_pictures), "picture": Asked(_picture),
    "pixel": Asked(_pixel, slow=True), "numbers": Asked(_numbers), "overdraw": Asked(_overdraw, slow=True),
}  # fmt: skip
