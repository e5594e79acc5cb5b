"""Unicorn's shared library and its constants, without the package's Python code.

    load().uc_version(None, None)
    constants("arm_const").UC_ARM_REG_R0

The package imports the constants of nine architectures and much of the standard library, which takes a tenth of the
time to a program's first picture. Where its library is not at the usual place, the package finds it.

Unicorn is under the GPL, version 2, as a work; it is an extra that is imported when a program runs.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from pocketgpu.errors import UsageError

_PACKAGE: Final = "unicorn"
_LIBRARY: Final = {"linux": "libunicorn.so.2", "darwin": "libunicorn.2.dylib"}
"""In the folder `lib` of the package, by `sys.platform`."""


def _package() -> ModuleSpec:
    found = PathFinder.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise UsageError("running programs needs the extra 'guest'", hint="pip install 'pocketgpu[guest]'")
    return found


def _folder() -> Path:
    locations = _package().submodule_search_locations
    assert locations
    return Path(locations[0])


@cache
def load() -> Any:
    """The library.

    :raises UsageError: the extra is missing.
    """
    path = _folder() / "lib" / _LIBRARY.get(sys.platform, "")
    if not path.is_file():
        return importlib.import_module("unicorn.unicorn_py3.unicorn").uclib
    library = ctypes.CDLL(str(path))
    library.uc_context_size.restype = ctypes.c_size_t
    library.uc_strerror.restype = ctypes.c_char_p
    library.uc_ctl.argtypes = (ctypes.c_void_p, ctypes.c_int)  # what follows is passed as of a variable number
    library.uc_hook_add.argtypes = (
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64,
        ctypes.c_uint64,
    )  # fmt: skip
    library.uc_mem_map_ptr.argtypes = (
        ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_void_p
    )  # fmt: skip
    return library


@cache
def constants(name: str) -> Any:
    """A module of the package that holds numbers only, such as "arm_const".

    :raises UsageError: the extra is missing.
    """
    spec = spec_from_file_location(name, _folder() / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
