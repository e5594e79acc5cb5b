"""Photos of a screen: which of several pictures a photo shows.

A photo has another brightness, contrast and gamma than the picture, some blur, and noise. For each picture that may be
shown, a curve of each channel is fitted that makes the (blurred) picture closest to the photo: it only rises, so it
says nothing about the camera but that brighter is brighter. A photo may be cut some pixels off, so each picture is also
tried at places around its own, and the best one counts: pictures that differ only by such a shift are not told. What is
left is the noise. There is more of it at edges, where blur is never quite the same, so it is measured by the steepness
of the picture.

Two pictures are told apart where their curves leave a difference d. With r, the photo minus the second one, the sum of
r d over the sum of d d is 1 if the photo shows the first picture and 0 if it shows the second, with a standard error
that follows from the noise. The rule (`Told`):

* the photo is a photo of this screen: the closest picture explains at least SHARE of its variance, both averaged over
  blocks of BLOCK x BLOCK pixels, or all but SLIGHT levels;
* the closest picture fits where pictures part as well as elsewhere: at most FIT times the noise;
* it is told from another one if 0 and 1 are at least CLEAR standard errors apart, and the sum is near 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.doubts.usual import Pictures, Pixels
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.inspect.doubts.agreement import Wanted

Floats: TypeAlias = NDArray[np.float32]

BLOCK: Final = 8
SLIGHT: Final = 1.5
"""Levels that blocks of a photo may be off in any case: one of a picture of one colour has no other variance."""
SHARE: Final = 0.9
"""The share of a photo's variance that the picture which it shows must explain."""
FIT: Final = 2.0
"""Times the noise that a photo may be off where pictures part."""
CLEAR: Final = 8.0
"""Standard errors between two pictures that are told apart."""
NEAR: Final = 0.35
"""How far from 1 the sum of a picture that is told may be."""
STEEP: Final = 0.1
"""The least slope of a curve: without it, a photo that is black everywhere would show everything."""
REACH: Final = 3
"""Pixels of the screen by which a picture is moved at the most, in each direction. A photo that fits best there may be
cut even further off, so it tells nothing. So many pixels at its borders are not compared."""
_SAMPLES: Final = 50_000
"""About so many pixels decide which place is the best, in whole rows."""
_ONE: Final = float(1 << 30)
"""What counts a pixel in sums of levels: more than the levels of _SAMPLES pixels can be."""
SIGMAS: Final = (0.0, 0.5, 0.8, 1.2, 1.7, 2.3)
"""Widths of blur that are tried, in pixels of the screen."""
LEVELS: Final = 256
_STEEPNESS: Final = (1.0, 4.0, 16.0, 48.0)
"""Bounds between pixels that count as equally steep, in levels of the photo."""
_FEW: Final = 100
_BLOCKS: Final = (2, 4, 8, 16)
"""Sizes of blocks by which is measured how far noise reaches."""
_SMALL: Final = 8 * REACH
"""Sides of a screen that are too short to leave out borders."""
_LEAST_ASPECT: Final = 0.02
"""How much the relation of width and height may differ."""


def fitted(photo: Pixels, size: tuple[int, int]) -> Pixels | None:
    """A photo in the size of a screen, (height, width); None if its shape is another."""
    from PIL import Image

    (height, width), (high, wide) = size, photo.shape[:2]
    if abs(wide * height / (high * width) - 1) > _LEAST_ASPECT:
        return None
    colors = np.ascontiguousarray(photo[..., :3])
    if (high, wide) == size:
        return colors
    how = Image.Resampling.BOX if high >= height else Image.Resampling.BICUBIC
    return np.asarray(Image.fromarray(colors).resize((width, height), how))


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A picture that a photo may show, fitted to it. model: what the photo would be without noise; off: the sum of the
    squares of what is left; noise: the standard deviation of that at each pixel, (height, width, 1). shift: the pixels
    (down, right) by which it had to be moved."""

    model: Floats
    off: float
    noise: Floats
    shift: tuple[int, int]


class Photo:
    """One photo of one screen, and the pictures that it may show."""

    def __init__(self, photo: Pixels) -> None:
        """photo: of the screen's size. What is kept of it is without the borders."""
        self._size = photo.shape[:2]
        self._reach = tuple(REACH if size > _SMALL else 0 for size in self._size)
        self.photo: Floats = self._cut(photo.astype(np.float32), (0, 0))
        self.sigma = 0.0
        down, right = (range(-reach, reach + 1) for reach in self._reach)
        self._shifts = sorted(product(down, right), key=lambda shift: (abs(shift[0]) + abs(shift[1]), shift))
        """The nearest first: of places that fit equally, it counts."""

    def focus(self, picture: Pixels) -> None:
        """Take the blur with which a picture fits best."""
        shift = self._shift(picture[..., :3].astype(np.float32))
        self.sigma = min(SIGMAS, key=lambda sigma: _squares(self.photo - self._model(picture, sigma, shift)))

    def fit(self, picture: Pixels) -> Hypothesis:
        """Fit a picture, at the place where it fits best."""
        blurred = blur(picture[..., :3].astype(np.float32), self.sigma)
        found: Hypothesis | None = None
        for shift in dict.fromkeys([self._shifts[0], self._shift(blurred)]):
            model = self._curved(self._cut(blurred, shift))
            left = self.photo - model
            off = _squares(left)
            if found is None or off < found.off:
                found = Hypothesis(model, off, noise_of(left, steepness(model)), shift)
        assert found is not None
        return found

    def _cut(self, picture: Floats, shift: tuple[int, int]) -> Floats:
        """A picture without its borders, (down, right) pixels off."""
        return picture[self._part(shift)]

    def _part(self, shift: tuple[int, int]) -> tuple[slice, slice]:
        (height, width), (high, wide), (down, right) = self._size, self._reach, shift
        return slice(high + down, height - high + down), slice(wide + right, width - wide + right)

    def _shift(self, blurred: Floats) -> tuple[int, int]:
        """The place at which a picture's levels say the most about those of the photo, whatever the curve."""
        levels = np.clip(np.rint(blurred), 0, LEVELS - 1).astype(np.uint8)
        every = max(1, self.photo.size // (3 * _SAMPLES))
        # All channels are counted at once: each has its own range of levels.
        numbers: NDArray[np.intp] = levels + LEVELS * np.arange(3)
        # One pass adds up a photo's levels and counts its pixels: both are whole numbers, which a float64 has room for.
        photo = self.photo[::every].astype(np.float64) + _ONE
        # Where a picture has one colour all around, it has the same levels at all places: those pixels are added up
        # once. Many pictures are mostly such areas.
        moves = self._moves(levels, every)
        same = np.zeros(3 * LEVELS)
        if 2 * np.count_nonzero(moves) > moves.size:
            moving = photo.ravel()

            def at(shift: tuple[int, int]) -> NDArray[np.intp]:
                return numbers[self._part(shift)][::every].ravel()
        else:
            still = numbers[self._part((0, 0))][::every][~moves]
            same += np.bincount(still, weights=photo[~moves], minlength=3 * LEVELS)
            moving = photo[moves]
            flat = numbers.ravel()
            places = np.arange(numbers.size).reshape(numbers.shape)[self._part((0, 0))][::every][moves]
            row = 3 * self._size[1]

            def at(shift: tuple[int, int]) -> NDArray[np.intp]:
                found: NDArray[np.intp] = flat[places + (shift[0] * row + 3 * shift[1])]
                return found

        def explained(shift: tuple[int, int]) -> float:
            sums = same + np.bincount(at(shift), weights=moving, minlength=3 * LEVELS)
            counts, sums = np.divmod(sums, _ONE)
            return float((sums**2 / np.maximum(counts, 1)).sum())

        return max(self._shifts, key=explained)

    def _moves(self, levels: Pixels, every: int) -> NDArray[np.bool_]:
        """Which values of every so many rows, without the borders, are another one at some place."""
        (height, width), (high, wide) = self._size, self._reach
        low = most = levels[: height - 2 * high : every]
        for down in range(1, 2 * high + 1):
            rows = levels[down : height - 2 * high + down : every]
            low, most = np.minimum(low, rows), np.maximum(most, rows)
        columns = [slice(right, width - 2 * wide + right) for right in range(2 * wide + 1)]
        least, largest = low[:, columns[0]], most[:, columns[0]]
        for part in columns[1:]:
            least, largest = np.minimum(least, low[:, part]), np.maximum(largest, most[:, part])
        found: NDArray[np.bool_] = least != largest
        return found

    def _model(self, picture: Pixels, sigma: float, shift: tuple[int, int]) -> Floats:
        return self._curved(self._cut(blur(picture[..., :3].astype(np.float32), sigma), shift))

    def _curved(self, blurred: Floats) -> Floats:
        return curves(blurred, self.photo)

    def is_cut(self, shown: Hypothesis) -> bool:
        """Whether it is cut to the screen well enough, if it shows this picture."""
        return all(abs(off) < reach for off, reach in zip(shown.shift, self._reach, strict=True) if reach)

    def is_of(self, shown: Hypothesis) -> bool:
        """Whether it is a photo of this screen, if it is closest to this picture."""
        photo, left = blocks_of(self.photo, BLOCK), blocks_of(self.photo - shown.model, BLOCK)
        variance = _squares(photo - photo.mean(axis=(0, 1)))
        return _squares(left) <= max((1 - SHARE) * variance, SLIGHT**2 * left.size)


_QUANTUM: Final = 12**-0.5
"""The noise of rounding to whole levels, which every photo has."""


def _squares(values: NDArray[np.floating[Any]]) -> float:
    """The sum of all squares."""
    return float((values.astype(np.float64) ** 2).sum())


def blocks_of(values: Floats, size: int) -> Floats:
    """Means of blocks; what is left at the right and at the bottom counts nowhere."""
    rows, columns = values.shape[0] // size, values.shape[1] // size
    cut = values[: rows * size, : columns * size].reshape(rows, size, columns, size, -1)
    found: Floats = cut.mean(axis=(1, 3))
    return found


def steepness(picture: Floats) -> Floats:
    """How much each pixel differs from its neighbours, (height, width)."""
    found: Floats = np.zeros(picture.shape[:2], np.float32)
    for axis in (0, 1):
        slope = np.abs(np.gradient(picture, axis=axis))
        for channel in range(slope.shape[2]):  # much faster than a maximum along an axis of three
            np.maximum(found, slope[..., channel], out=found)
    return found


def noise_of(left: Floats, steep: Floats) -> Floats:
    """The standard deviation of what is left, at each pixel: that of all pixels which are about as steep."""
    bins = np.digitize(steep, _STEEPNESS)
    counts = np.bincount(bins.ravel(), minlength=len(_STEEPNESS) + 1)
    red, green, blue = (left[..., channel].astype(np.float64) ** 2 for channel in range(3))
    sums = np.bincount(bins.ravel(), weights=((red + green + blue) / 3).ravel(), minlength=len(counts))
    # The mean of all counts as so many pixels more: a few pixels say little.
    whole = sums.sum() / counts.sum()
    noise = np.sqrt((sums + _FEW * whole) / (counts + _FEW))
    found: Floats = np.maximum(noise, _QUANTUM)[bins][..., None].astype(np.float32)
    return found


def blur(picture: Floats, sigma: float) -> Floats:
    """A picture (height, width, 3) blurred by a Gaussian."""
    if not sigma:
        return picture
    reach = int(np.ceil(3 * sigma))
    places = np.arange(-reach, reach + 1)
    kernel = np.exp(-(places**2) / (2 * sigma**2)).astype(np.float32)
    kernel /= kernel.sum()
    for axis in (0, 1):
        around = [(reach, reach) if one == axis else (0, 0) for one in range(3)]
        padded = np.pad(picture, around, mode="edge")
        size = picture.shape[axis]
        moved = (padded[at : at + size] if axis == 0 else padded[:, at : at + size] for at in range(len(kernel)))
        # In one array: each new one costs as much as the sum.
        blurred, part = np.zeros_like(picture), np.empty_like(picture)
        for weight, one in zip(kernel, moved, strict=True):
            blurred += np.multiply(one, weight, out=part)
        picture = blurred
    return picture


def curves(picture: Floats, photo: Floats) -> Floats:
    """What a photo, (height, width, channels), would be under the rising curves that fit a picture's channels best."""
    channels = picture.shape[-1]
    # All channels are counted at once: each has its own range of levels.
    levels = np.clip(np.rint(picture), 0, LEVELS - 1).astype(np.intp) + LEVELS * np.arange(channels)
    counts = np.bincount(levels.ravel(), minlength=channels * LEVELS)
    rest = STEEP * picture
    sums = np.bincount(levels.ravel(), weights=(photo - rest).ravel(), minlength=channels * LEVELS)
    rising = np.zeros(channels * LEVELS)
    for start in range(0, channels * LEVELS, LEVELS):
        known = start + np.flatnonzero(counts[start : start + LEVELS])
        rising[known] = pooled(sums[known] / counts[known], counts[known])
    found: Floats = (rising[levels] + rest).astype(np.float32)
    return found


def pooled(values: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rising values nearest to given ones: neighbours that fall are pooled. There are at most LEVELS of them."""
    means: list[float] = []
    sizes: list[float] = []
    runs: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        sizes.append(weight)
        runs.append(1)
        while len(means) > 1 and means[-2] >= means[-1]:
            mean, size, run = means.pop(), sizes.pop(), runs.pop()
            means[-1] = (means[-1] * sizes[-1] + mean * size) / (sizes[-1] + size)
            sizes[-1] += size
            runs[-1] += run
    return np.repeat(means, runs)


def spread(noises: Floats) -> float:
    """By how much noise that reaches over several pixels makes sums less certain than noise of single ones: at least 1.
    noises: in standard deviations."""
    most = 1.0
    for size in _BLOCKS:
        blocks = blocks_of(noises, size)
        if blocks.size < _BLOCKS[-1]:
            break
        most = max(most, _squares(blocks) / blocks.size * size**2)
    return most


@dataclass(frozen=True, slots=True)
class Told:
    """What photos say about two pictures. amount: near 1 if they show the first, near 0 if the second. errors: standard
    errors between the two. fit: how far they are off where the pictures part, in times the noise."""

    amount: float
    errors: float
    fit: float

    @property
    def clear(self) -> bool:
        """Whether the first picture is told from the second."""
        return self.errors >= CLEAR and abs(self.amount - 1) <= NEAR and self.fit <= FIT


class Photos:
    """Photos of some frames and screens."""

    def __init__(self, pictures: Pictures, expected: Wanted) -> None:
        """pictures: of the usual replay, whose sizes the photos must have; expected: gives the photos."""
        self._photos: dict[tuple[int, str], Photo] = {}
        for number, screens in pictures.items():
            for name in screens:
                photo = expected(number, name)
                if photo is not None:
                    self._photos[number, name] = Photo(photo)
        self.focus(pictures)

    def focus(self, pictures: Pictures) -> None:
        """Take the blur with which these pictures fit best."""
        for (number, name), photo in self._photos.items():
            photo.focus(pictures[number][name])

    def fit(self, pictures: Pictures) -> Sequence[Hypothesis]:
        """Fit the pictures of a replay."""
        return [photo.fit(pictures[number][name]) for (number, name), photo in self._photos.items()]

    def off(self, fits: Sequence[Hypothesis]) -> float:
        """How far the photos are from fitted pictures."""
        return sum(fit.off for fit in fits)

    def noise(self, fits: Sequence[Hypothesis]) -> float:
        """The noise of the photos if they show these pictures, in levels."""
        return float(np.sqrt(self.off(fits) / sum(fit.model.size for fit in fits)))

    def are_of(self, fits: Sequence[Hypothesis]) -> bool:
        """Whether all of them are photos of these screens, if these pictures are the closest."""
        return all(photo.is_of(fit) for photo, fit in zip(self._photos.values(), fits, strict=True))

    def are_cut(self, fits: Sequence[Hypothesis]) -> bool:
        """Whether all of them are cut to the screen, if these pictures are shown."""
        return all(photo.is_cut(fit) for photo, fit in zip(self._photos.values(), fits, strict=True))

    def told(self, shown: Sequence[Hypothesis], other: Sequence[Hypothesis]) -> Told:
        """Whether the photos show the first pictures and not the second."""
        along = across = wrong = size = 0.0
        most = 1.0
        for photo, one, two in zip(self._photos.values(), shown, other, strict=True):
            apart = (one.model - two.model).astype(np.float64)
            if not apart.any():
                continue
            left, weight = (photo.photo - one.model) / one.noise, one.noise.astype(np.float64) ** -2
            along += float((weight * apart * (photo.photo - two.model)).sum())
            across += float((weight * apart**2).sum())
            wrong += float((apart**2 * left.astype(np.float64) ** 2).sum())
            size += float((apart**2).sum())
            most = max(most, spread(left))
        if not across:
            return Told(0.0, 0.0, 0.0)
        return Told(along / across, float(np.sqrt(across / most)), float(np.sqrt(wrong / size)))




__all__ = ["CLEAR", "FIT", "NEAR", "SHARE", "Photo", "Photos", "Told", "fitted"]
