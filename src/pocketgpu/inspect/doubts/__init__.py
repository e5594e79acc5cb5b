"""Which doubtful choices decide what captures show: each is replayed with every value of the choices that it touches.

    found = doubts(pocketgpu.open("scene.ctf.xz"))
    for parting in found.partings:
        print(parting)            # test.stencil_write=stencil: 30,512 pixels in 1 frame, first f0/top/px12,3

`replays.py` replays and compares; `usual.py` has what is reused. `expected.py` and `agreement.py` look for the values
that agree best with given pictures, `photos.py` with photos.
"""

from pocketgpu.inspect.doubts.found import Agreement, CaptureDoubts, DoubtMatrix, Parting, PhotoAgreement, Work
from pocketgpu.inspect.doubts.replays import doubts

__all__ = ["Agreement", "CaptureDoubts", "DoubtMatrix", "Parting", "PhotoAgreement", "Work", "doubts"]


def __dir__() -> list[str]:
    return [*__all__]
