"""Variables of a compiled module: their bytes, and that kernels read what was written to them."""

from __future__ import annotations

import numpy as np
import pytest
from support.kernel_cases import NAMES, Case

from pocketgpu import RawModule
from pocketgpu.errors import UsageError

pytestmark = pytest.mark.skipif("const" not in NAMES, reason="no recorded kernels")


def test_a_constant_table_is_what_the_kernel_reads() -> None:
    case = Case("const")
    assert case.run("llvm").get_global("tab").size == 256 and not any(case.errors().values())
    changed = Case("const")
    module = RawModule(changed.folder / "kernel.cubin")
    module.get_global("tab").view(np.uint32)[:] ^= 0x5A5A5A5A
    assert module.get_global("tab").tobytes() != RawModule(changed.folder / "kernel.cubin").get_global("tab").tobytes()
    about = changed.about
    module.get_function(about["kernel"])(about["grid"], about["block"], changed.arguments(), shared_mem=0)
    assert any(changed.errors().values())


def test_a_variable_that_is_not_there_is_an_error() -> None:
    module = RawModule(Case("const").folder / "kernel.cubin")
    with pytest.raises(UsageError, match="there is no variable 'nothing'"):
        module.get_global("nothing")
