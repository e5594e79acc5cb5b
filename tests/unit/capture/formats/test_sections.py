"""What can be saved of the payload of a damaged section."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pocketgpu.capture.formats.pgc.sections import pack, unpack, unpack_what_is_left

PLAIN = np.random.default_rng(5).integers(0, 256, 180_000, np.uint8).tobytes() + bytes(20_000)
"""Bytes that nothing packs, then bytes that pack well."""


@cache
def packed(packing: str) -> tuple[int, bytes]:
    return pack(PLAIN, packing)


@pytest.mark.parametrize("packing", ["stored", "zstd", "lzma"])
def test_all_of_it_if_nothing_is_wrong(packing: str) -> None:
    codec, payload = packed(packing)
    assert unpack(codec, payload, len(PLAIN)) == PLAIN == unpack_what_is_left(codec, payload, len(PLAIN))
    assert unpack_what_is_left(codec, payload, 1000) == PLAIN[:1000]
    assert unpack_what_is_left(codec, b"", len(PLAIN)) == b""


@pytest.mark.parametrize("packing", ["stored", "zstd", "lzma"])
def test_a_payload_that_ends_early_gives_what_is_before_the_end(packing: str) -> None:
    """A packer keeps some bytes back: at most a block of zstd, which has 128 KiB."""
    codec, payload = packed(packing)
    for part in (0.3, 0.6, 0.99):
        end = int(part * len(payload))
        found = unpack_what_is_left(codec, payload[:end], len(PLAIN))
        assert PLAIN.startswith(found) and end - (128 << 10) - 1000 <= len(found) <= len(PLAIN)


def test_a_packing_that_nobody_knows() -> None:
    assert unpack_what_is_left(9, b"something", 9) == b""
