"""Writes of a Python caller to places where no register can be are errors; writes of a guest are events."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.n3ds import N3DS


@pytest.mark.parametrize("timing", ["instant", "emulated"])
@pytest.mark.parametrize(
    "address", [5, 0, -4, 0x103FFFFC, 0x10500000, 0x10201FFC, 0x10203000, 0x18000000, 0x1EF00010, 1 << 32]
)
def test_an_address_of_no_block_is_refused(address: int, timing: str) -> None:
    gpu = N3DS(timing=timing)
    with pytest.raises(UsageError, match="no register is at") as caught:
        gpu.write_register(address, 5)
    assert caught.value.location and "physical" in str(caught.value.hint)
    assert list(gpu.events) == []


@pytest.mark.parametrize("register", [EXTERNAL["PSC0_VALUE"], PICA["TEXUNIT0_DIM"], LCD["PARALLAX_PWM"]])
def test_addresses_of_the_blocks_are_written(register: Register) -> None:
    gpu = N3DS()
    gpu.write_register(register.address, 0x00010001)
    assert gpu.read_register(register.address) == 0x00010001 and list(gpu.events) == []


def test_what_a_guest_writes_anywhere_stays_an_event() -> None:
    gpu = N3DS()
    gpu.write_registers(np.array([4, 0x10500000], np.uint32), np.array([5, 5], np.uint32))
    assert [event.id for event in gpu.events] == ["external.unmapped"] * 2
    gpu.write_register(0x10402000, 1)  # in the block of the GPU, where nothing is
    assert [event.id for event in gpu.events][2:] == ["external.abort"]
