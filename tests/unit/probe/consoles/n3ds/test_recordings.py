"""Frames of recordings on the probe of the 3DS: the console's picture is that of the recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import probing

import pocketgpu
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.making import FOLDER, sent_of_capture

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

UNIT = Path(__file__).resolve().parents[3]
SAMPLE = Path(pocketgpu.__file__).parent / "data" / "sample.ctf.xz"


@pytest.mark.parametrize(
    ("recording", "frame"), [(UNIT / "promises" / "data" / "scene_3ds.pgc", 0), (SAMPLE, 1)], ids=["scene", "sample"]
)
def test_a_frame_shows_the_same(tmp_path: Path, recording: Path, frame: int) -> None:
    """What holds before a later frame, all registers and tables among it, is set by a command list."""
    sent = sent_of_capture(recording, frame, probe_console("3DS"))
    assert not sent.contents.state and sent.moves
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "one.pgc").write_bytes(sent.encode())
    probing.ran(tmp_path)
    (shown,) = pocketgpu.open(probing.answer(tmp_path, "one")).render()
    (ours,) = pocketgpu.open(recording).render(frames=range(frame, frame + 1))
    assert shown.screens.keys() == ours.screens.keys() and ours.top.array.any()
    for name, screen in ours.screens.items():
        assert np.array_equal(shown.screens[name].array, screen.array), name
