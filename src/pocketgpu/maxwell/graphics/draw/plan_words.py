"""Which registers a plan depends on: all but those that a draw reads itself, or that have nothing to do with pixels."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197

_EACH_DRAW = (
    "SET_VERTEX_STREAM_[AB]_LOCATION_[AB]", "SET_VERTEX_STREAM_LIMIT_[AB]_[AB]", "SET_INDEX_BUFFER_[A-F]",
    "SET_VERTEX_ARRAY_START", "SET_GLOBAL_BASE_(VERTEX|INSTANCE)_INDEX", "SET_VERTEX_ID_BASE", "SET_DRAW_AUTO_.*",
    "SET_STREAM_OUT_BUFFER_.*", "SET_TEX_(HEADER|SAMPLER)_POOL_[ABC]", "SET_STREAM_OUT_LAYOUT_SELECT",
    "SET_STREAM_OUT_CONTROL_.*",
)  # fmt: skip
"""What changes from draw to draw and is looked at then."""
_NOTHING_TO_SEE = (
    ".*ZCULL.*", ".*TILED_CACHE.*", ".*WATERMARKS.*", ".*CIRCULAR_BUFFER.*", ".*_CB_STORAGE_.*", "SET_L[12]_.*",
    "SET_(RESERVED_SW_METHOD|SPARE|FALCON|I2M).*", "SET_MME_.*", "LOAD_.*", "CALL_MME_.*", "SET_REPORT_SEMAPHORE_.*",
    "SET_(NOTIFY|INSTRUMENTATION|RENDER_ENABLE|GLOBAL_RENDER_ENABLE|SHADER_PERFORMANCE_COUNTER)_.*",
    "SET_CONSTANT_BUFFER_SELECTOR_[ABC]", "BIND_.*", "SET_DST_.*", "OFFSET_OUT.*", "PITCH_OUT", "LINE_.*", "LAUNCH_DMA",
    "SET_.*CLEAR.*", "CLEAR_.*", "INVALIDATE_.*", "DRAW_.*", "BEGIN", "END", "SET_INLINE_INDEX.*", "WAIT_FOR_IDLE",
    "NO_OPERATION.*", "PIPE_NOP", "PEER_.*", "PM_.*", "DECOMPRESS_.*", "FLUSH_.*", "DISCARD_.*", "NOTIFY", "SET_OBJECT",
    "INCREMENT_SYNC_POINT", "SET_SHADER_LOCAL_MEMORY_.*", "SET_STATISTICS_COUNTER", "UNBIND_ALL", "CHECK_.*",
)  # fmt: skip
_LEFT_OUT = re.compile("|".join((*_EACH_DRAW, *_NOTHING_TO_SEE)))

PLAN_WORDS: NDArray[np.int64] = np.array(
    sorted(word for method in B197 if not _LEFT_OUT.fullmatch(method.name) for word in method.words()), np.int64
)
"""Words of the register file, ascending."""
