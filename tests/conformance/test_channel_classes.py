"""The subchannels of the page: which class is bound to each, and that its methods reach that class alone."""

from __future__ import annotations

import pytest

from pocketgpu.facts.maxwell import CLASSES as BLOCKS
from pocketgpu.facts.maxwell import SUBCHANNELS

from .switch_client import CLASSES, INC, Client, header

# A method of each class that only keeps what is written: line widths, a window, a width, a pitch, a length.
PLAIN = {0xB197: 0x4C7, 0xB1C0: 0x1DF, 0xA140: 0x66, 0x902D: 0x85, 0xB0B5: 0x104}
TITLES = {
    0xB197: "MAXWELL_B", 0xB1C0: "MAXWELL_COMPUTE_B", 0xA140: "KEPLER_INLINE_TO_MEMORY_B",
    0x902D: "FERMI_TWOD_A", 0xB0B5: "MAXWELL_DMA_COPY_A",
}  # fmt: skip


def files(client: Client) -> dict[int, int]:
    """Class to what its plain method holds."""
    return {number: int(client.gpu.registers(number)[word]) for number, word in PLAIN.items()}


@pytest.mark.parametrize(
    "subchannel", [pytest.param(n, marks=pytest.mark.row(f"channel.{c:04x}")) for n, c in enumerate(CLASSES)]
)
def test_a_subchannel_feeds_its_class_and_no_other(subchannel: int) -> None:
    number = CLASSES[subchannel]
    assert SUBCHANNELS[subchannel] is BLOCKS[number] and BLOCKS[number].title == TITLES[number]
    client = Client()
    for shown in CLASSES:
        client.push(header(INC, PLAIN[shown], 1, CLASSES.index(shown)), shown)
    assert files(client) == {shown: shown for shown in CLASSES}
    client.push(header(INC, PLAIN[number], 1, subchannel), 0x12345678)
    assert files(client) == {shown: 0x12345678 if shown == number else shown for shown in CLASSES}
    assert client.events() == []


@pytest.mark.parametrize(
    "subchannel", [pytest.param(n, marks=pytest.mark.row(f"channel.{c:04x}")) for n, c in enumerate(CLASSES)]
)
def test_binding_is_by_class_and_only_a_convention_of_drivers(subchannel: int) -> None:
    """Any subchannel can have any class; without SET_OBJECT the page's order holds (choice channel.unbound)."""
    number = CLASSES[subchannel]
    client = Client()
    client.push(header(INC, 0, 1, 7), number)
    client.push(header(INC, PLAIN[number], 1, 7), 0x77)
    assert files(client)[number] == 0x77
    client = Client(bound=False)
    client.push(header(INC, PLAIN[number], 1, subchannel), 0x55)
    assert files(client) == {shown: 0x55 if shown == number else 0 for shown in CLASSES}
    client = Client(bound=False, channel__unbound="ignore")
    client.push(header(INC, PLAIN[number], 1, subchannel), 0x55)
    assert set(files(client).values()) == {0}
