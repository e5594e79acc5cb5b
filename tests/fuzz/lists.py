"""Random command lists with draws: none may crash the host, run forever or write where no guest memory is, and each
hang of the console is told.

    python tests/fuzz/lists.py --cases 100000 --seed 1

A case is one list: a valid scene on a small target with registers changed at random, drawn as arrays, elements or
immediate vertices. General code draws it, so that no state has to be compiled; one in five hundred is drawn by the
NumPy evaluator as well and must give the same bytes. A case is made from the seed and its number alone (--first N
--cases 1).
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support.fuzz import command, one_case, written_outside

from pocketgpu.builder import Buffer, CommandList, assemble
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.n3ds import N3DS

MACHINE_LIFE = 500
COMPARED = 500
SLOWEST = 20.0
_TARGET, _DEPTH, _TEXTURE, _VERTICES, _INDICES = 0x18000000, 0x18010000, 0x18020000, 0x20000000, 0x20010000
_SIZE = 16
_PROGRAM = assemble(
    ".out o0 position\n.out o1 color\n.out o2 texcoord0\n.out o3 texcoord1\nmain:\nmov o0, v0\nmov o1, v1\nmov o2, v2\n"
    "mov o3, v2\nend\n"
)
# Geometry programs: of six inputs, of uniforms from c1 on.
_EMIT = "mov o0, {}\nmov o1, {}\nsetemit {}\nemit\n"
_GEOMETRY = [
    assemble(".out o0 position\n.out o1 color\n" + "".join(_EMIT.format(*row) for row in rows) + "end\n")
    for rows in (
        [("v0", "v1", "0"), ("v3", "v4", "1"), ("v6", "v7", "2, prim"), ("v6", "v7", "0, prim inv")],
        [("c1", "c2", "0"), ("c4", "c5", "1"), ("c7", "c8", "2, prim"), ("c10", "c0", "3, prim")],
    )
]
_GEOMETRY_REGISTERS = [
    r for r in PICA
    if r.known and (0x280 <= r.offset < 0x2AE or r.name in ("GSH_MISC0", "GSH_MISC1", "VSH_OUTMAP_TOTAL1"))
]  # fmt: skip
# Registers that shape or feed a draw; geometry shaders are switched on by design.
_REGISTERS = [
    r for r in PICA
    if r.known and 0x40 <= r.offset < 0x22E and not r.name.startswith(("GEOSTAGE_CONFIG", "ATTRIBBUFFERS_FORMAT"))
]  # fmt: skip
_ADDRESSES = {
    "COLORBUFFER_LOC": _TARGET,
    "DEPTHBUFFER_LOC": _DEPTH,
    "TEXUNIT0_ADDR": _TEXTURE,
    "ATTRIBBUFFERS_LOC": _VERTICES,
}


def _memory(gpu: N3DS) -> None:
    """Vertices, indices and a texture that every case can use."""
    r = np.random.default_rng(7)
    vertices = r.uniform(-1.2, 1.2, (64, 10)).astype(np.float32)
    vertices[:, 2] = r.uniform(-1, 0, 64)
    vertices[:, 3] = 1.0
    vertices[::9, 3] = 0.2
    gpu.memory.write(_VERTICES, vertices.tobytes())
    gpu.memory.write(_INDICES, r.integers(0, 64, 256, np.uint16).tobytes())
    gpu.memory.write(_TEXTURE, r.integers(0, 256, 64 * 64 * 4, np.uint8).tobytes())


def _changed(r: random.Random, word: int, register: str) -> int:
    """Another value for a register: a few bits, a field's worth, or anything."""
    kind = r.random()
    if register in _ADDRESSES:
        return (_ADDRESSES[register] + r.choice((0, 64, 0x1000, 0x600000, 0x08000000))) >> 3
    if register == "FRAMEBUFFER_DIM":
        return r.choice((16, 8, 24, 64, 7, 0)) | r.choice((15, 0, 7, 31)) << 12 | r.randrange(2) << 24
    if kind < 0.5:
        return word ^ (1 << r.randrange(32))
    if kind < 0.8:
        return word ^ (r.randrange(16) << r.randrange(32))
    return r.choice((0, 0xFFFFFFFF, r.randrange(1 << 32)))


def _geometry(r: random.Random, cl: CommandList) -> None:
    """A geometry shader, changed a little."""
    mode = r.choice(("point", "fixed", "variable"))
    more = {"point": {"inputs": 9}, "fixed": {"vertices": r.choice((3, 4)), "first_uniform": 1}, "variable": {}}[mode]
    program = _GEOMETRY[mode != "point"]
    cl.geometry_shader(program, mode, outputs=r.choice((3, 3, 4)), **more)
    for _ in range(r.choice((0, 0, 1, 3))):
        at = r.randrange(len(program.code))
        cl.upload_code([program.code[at] ^ r.getrandbits(32) & r.getrandbits(32) & r.getrandbits(32)], at, unit="GSH")
    for _ in range(r.choice((0, 0, 1, 2, 4))):
        register = r.choice(_GEOMETRY_REGISTERS)
        cl.write_word(register.name, _changed(r, r.choice((0, 0x302, 0x76543210)), register.name))


def make(seed: int, number: int) -> np.ndarray:
    """The words of case `number`."""
    r = random.Random(f"{seed}/{number}")
    cl = CommandList().plain_state().render_target(_TARGET, _SIZE, _SIZE, depth=_DEPTH).shader(_PROGRAM)
    cl.texture(0, _TEXTURE, 64, 64, format=r.choice(("RGBA8", "RGB565", "ETC1", "ETC1A4", "I4", "A8")))
    cl.attributes(Buffer(_VERTICES, [("f32", 4), ("f32", 4), ("f32", 2)]))
    for _ in range(r.choice((0, 1, 2, 4, 8, 16))):
        register = r.choice(_REGISTERS)
        cl.write_word(register.name, _changed(r, register.reset, register.name))
    if r.random() < 0.2:
        _geometry(r, cl)
    count = r.choice((3, 3, 6, 12, 60, 0, 1, 65536))
    if r.random() < 0.5:
        cl.write_word("NUMVERTICES", count).write_word("DRAWARRAYS", 1)
    else:
        cl.write_word("INDEXBUFFER_CONFIG", (_INDICES - _VERTICES) | r.randrange(2) << 31)
        cl.write_word("NUMVERTICES", min(count, 200)).write_word("DRAWELEMENTS", 1)
    if r.random() < 0.2:
        cl.write_word("FIXEDATTRIB_INDEX", 15)
        for _ in range(9 * r.randrange(1, 8)):
            cl.write_word("FIXEDATTRIB_DATA0", r.choice((0x3F0000, 0xBF0000, r.randrange(1 << 32))))
    words = cl.finalize().words.tolist()
    if r.random() < 0.1:  # damage the entries themselves
        at = r.randrange(len(words))
        words[at] = r.randrange(1 << 32)
    return np.asarray(words, np.uint32)


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run `cases` lists from number `first` on; AssertionError names the one in which something goes wrong."""
    counts: Counter[str] = Counter()
    gpu: N3DS | None = None
    for number in range(first, first + cases):
        if gpu is None or (number - first) % MACHINE_LIFE == 0:
            where = f"seed {seed}, up to case {number}"
            assert gpu is None or not written_outside(gpu), f"{where}: written outside guest memory"
            gpu = N3DS(tier="general")
            _memory(gpu)
            if report is not None:
                report(counts)
        words = make(seed, number)
        with one_case(seed, number, SLOWEST):
            gpu.submit(words)
        counts["cases"] += 1
        counts["fragments"] += gpu.stats.fragments
        counts["drew"] += gpu.stats.fragments > 0
        gpu.stats.reset()
        for event in gpu.events.drain():
            counts[event.id] += event.count
        if (number - first) % COMPARED == COMPARED - 1:
            _agree(words, seed, number)
            counts["compared"] += 1
    assert gpu is None or not written_outside(gpu), "written outside guest memory"
    return counts


def _agree(words: np.ndarray, seed: int, number: int) -> None:
    """Both evaluators, each on a fresh machine, leave the same bytes around the targets."""
    found = []
    for evaluator in ("llvm", "numpy"):
        gpu = N3DS(tier="general", evaluator=evaluator)
        _memory(gpu)
        gpu.submit(words)
        if gpu.stats.fragments > 20000 or any(event.kind == "hang" for event in gpu.events):
            return  # the oracle is slow
        found.append(gpu.memory.read(_TARGET, 0x20000))
    assert found[0] == found[1], f"seed {seed}, case {number}: the evaluators disagree"


if __name__ == "__main__":
    command(__doc__, run, "command lists")
