"""The end of a command list that goes on with another."""

from __future__ import annotations

from pocketgpu.builder import CommandList
from pocketgpu.facts.pica import PICA


def test_a_jump_only_writes_its_own_registers() -> None:
    """What fills the last sixteen bytes up is harmless, and no word goes to a register of the processor's."""
    known = {PICA[f"CMDBUF_{name}1"].offset for name in ("SIZE", "ADDR", "JUMP")}
    for others in range(2):
        cl = CommandList()
        for _ in range(others):
            cl.write("NUMVERTICES", count=3)
        headers = cl.jump(0x20010000, 32, channel=1).words[1::2] & 0xFFFF  # every entry has one word
        assert {*headers.tolist()} == known | ({PICA["NUMVERTICES"].offset} if others else set())
        assert headers[-1] == PICA["CMDBUF_JUMP1"].offset and len(headers) % 2 == 0
