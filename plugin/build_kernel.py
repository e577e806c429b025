"""cffi builder of ``lscfg._kernel``: compiles the floors of plugin/ against plugin/include.

``include/kernel.json`` says which floors there are, lowest first, which of them a decoder needs, and how C is compiled.
Contraction is off: the same input gives the same bytes whether or not the compiler knows fused multiply-add.
"""

import json
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).parent
KERNEL = json.loads((HERE / "include" / "kernel.json").read_text(encoding="utf-8"))


def declarations(header: str) -> str:
    """The part of a public header that cffi reads: the lines between its two marks."""
    return header.split("/* [declarations] */")[1].split("/* [end of declarations] */")[0]


def files(pattern: str) -> list[str]:
    """Those of the floors, relative to the project's root, as setuptools wants them."""
    found = (path for floor in KERNEL["floors"] for path in (HERE / floor).glob(pattern))
    return sorted(f"plugin/{path.relative_to(HERE).as_posix()}" for path in found)


headers = [HERE / "include" / "lscfg" / f"{floor}.h" for floor in KERNEL["floors"]]
ffibuilder = FFI()
ffibuilder.cdef(
    "".join(declarations(header.read_text(encoding="utf-8")) for header in headers)
    + """
    extern "Python" int lscfg_python_lm_step(void *, int32_t, int32_t, float *, int32_t *, int32_t *);
    """
)
ffibuilder.set_source(
    "lscfg._kernel",
    '#include "lscfg.h"',
    sources=files("*.c"),
    depends=files("*.h") + [f"plugin/include/lscfg/{header.name}" for header in headers],
    include_dirs=["plugin", "plugin/include"],
    extra_compile_args=[*KERNEL["flags"], "-O3", "-Wall", "-Wextra", "-pthread"],
    extra_link_args=["-pthread"],
    libraries=["m"],
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
