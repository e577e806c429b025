"""cffi builder of ``lscfg._kernel``: compiles the layers of plugin/ against plugin/include.

``include/kernel.json`` lists the layers, lowest first, the layers that a decoder needs, and the flags of the compiler.
Contraction is off: the same input gives the same bytes whether or not the compiler knows fused multiply-add.
"""

import json
import os
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).parent
KERNEL = json.loads((HERE / "include" / "kernel.json").read_text(encoding="utf-8"))


def declarations(header: str) -> str:
    """The part of a public header that cffi reads: the lines between its two marks."""
    return header.split("/* [declarations] */")[1].split("/* [end of declarations] */")[0]


def files(pattern: str) -> list[str]:
    """Files of the layers, relative to the project's root, as setuptools wants them."""
    found = (path for layer in KERNEL["layers"] for path in (HERE / layer).glob(pattern))
    return sorted(f"plugin/{path.relative_to(HERE).as_posix()}" for path in found)


# The flags below follow those of CFLAGS, and the last -O wins.
OPTIMISATION = [] if "-O" in os.environ.get("CFLAGS", "") else ["-O3"]
headers = [HERE / "include" / "lscfg" / f"{layer}.h" for layer in KERNEL["layers"]]
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
    extra_compile_args=[*KERNEL["flags"], *OPTIMISATION, "-Wall", "-Wextra", "-pthread"],
    extra_link_args=["-pthread"],
    libraries=["m"],
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
