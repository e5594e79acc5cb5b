"""Textures and surfaces as shaders and kernels use them.

Programs have handles: the number of a texture header in bits 19:0, that of a sampler in bits 31:20. `Textures`
(store.py) is the host's side: for each handle in use it keeps a *record* (records.py) and, for textures that are
sampled, a copy of the texels in one of few storage kinds. Kernels find records by a table in the work area (lookup.py),
and call the host for a handle that is not in it. `sample`, `fetch`, `gather`, `query` and `surface` are the kernels for
the 32 lanes of a warp; they are compiled once, since the properties of a texture are data.

`calls.py` lists the registers that an instruction passes, so that both executors of programs only copy vectors.
"""
