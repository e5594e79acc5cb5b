"""What threads of a launch on the Switch do, proved against the machine's bytes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.switch.threads import ThreadWhy


@pytest.mark.parametrize("name", ["ex09_compute_320x180", "mesa_compute_320x180"])
def test_random_threads_are_proved(name: str, shared_dir: Path) -> None:
    run = debug(str(shared_dir / "captures" / "switch" / f"{name}.mxcap.zip"))
    choose = random.Random(name)
    launches = [event for event in run.all_events() if event.kind == "launch"]
    assert launches
    for event in launches:
        for _ in range(3):
            block, thread = (
                ",".join(str(choose.randrange(n)) for n in event.facts[size]) for size in ("grid", "block")
            )  # fmt: skip
            found = run.why(f"{event.by_number}/b{block}/t{thread}")
            assert isinstance(found, ThreadWhy)
            assert found.proved and found.pages, str(found)
            assert found.instructions[-1].text.endswith("EXIT")
            json.dumps(found.to_json())
            last: dict[str, int] = {}
            for one in found.instructions:
                assert all(last.get(register, value) == value for register, value in one.reads.items()), one
                last |= {register: after for register, (_, after) in one.writes.items()}


def test_special_registers_name_the_thread(shared_dir: Path) -> None:
    run = debug(str(shared_dir / "captures" / "switch" / "ex09_compute_320x180.mxcap.zip"))
    launch = next(event for event in run.events(0) if event.kind == "launch")
    found = run.why(f"{launch.by_number}/b3,0,0/t7,0,0")
    values = {one.text: next(iter(one.writes.values()))[1] for one in found.instructions if one.text.startswith("S2R")}
    assert values["S2R R0, SR_CTAID.X"] == 3 and values["S2R R1, SR_TID.X"] == 7
    stores = [one.more["address"] for one in found.instructions if one.text.startswith("STG")]
    # It wrote where the launch says that it wrote.
    assert all(any(int(at, 16) in one for one in launch.writes) for at in stores)


def test_threads_that_are_not_there(shared_dir: Path) -> None:
    run = debug(str(shared_dir / "captures" / "switch" / "ex09_compute_320x180.mxcap.zip"))
    launch = next(event for event in run.events(0) if event.kind == "launch")
    before = run.seek("f1").target
    for place in (f"{launch.by_number}/b99,0,0/t0,0,0", f"{launch.by_number}/b0,0,0/t99,0,0", "f0/d0/b0,0,0/t0,0,0"):
        with pytest.raises(UsageError):
            run.why(place)
    after = run.seek("f1").target
    assert before is not None and after is not None and (before.rows == after.rows).all()
