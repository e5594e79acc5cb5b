"""A program that asks the console about its user, power, network and itself, on the processor."""

from __future__ import annotations

from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.cli import main

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAM = Path(__file__).resolve().parents[3] / "guests" / "switch" / "answers.nro"
ABSENT = ["bsd:u", "irs", "hidbus", "ldr:ro", "nfc:user", "usb:ds"]


@pytest.mark.parametrize(
    ("choices", "charger"),
    [({}, 0), ({"guest.pointer_buffers": "none"}, 0), ({"guest.mode": "docked"}, 1)],
    ids=["handheld", "mapped buffers", "docked"],
)
def test_what_a_program_is_told(choices: dict[str, str], charger: int) -> None:
    with pocketgpu.run(PROGRAM, raises=True, switches=choices) as app:
        app.frames(2)
        *told, random = app.text.splitlines()[:7]
        assert told == [
            "Player", "battery 100", f"charger {charger}", "clock 1020000000", "temperature 420c0000", "network d46e"
        ]  # fmt: skip
        assert random == "random f501c98ffdaad99f", "every run has the same random bytes"
        assert app.text.splitlines()[7:] == [f"{name} e15" for name in ABSENT]
        events = [str(one) for one in app.console.events]
        assert all(any(f"the service {name} is absent" in one for one in events) for name in ABSENT)


def test_a_program_that_gives_up_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(PROGRAM), "--arg", "fatal", "--until", "EXIT"]) == 1
    shown = capsys.readouterr().out
    assert "The program ended: error: 0x3d59 (2345-0030, libnx: InitFail_SM), thread 1" in shown
    assert "answers.c:" in shown and "still there" not in shown
