"""cffi builder of ``lscfg._kernel``: compiles every C file of plugin/ against plugin/include/lscfg.h."""

from pathlib import Path

from cffi import FFI

HERE = Path(__file__).parent


def declarations(header: str) -> str:
    """The part of the public header that cffi reads: the lines between its two marks."""
    return header.split("/* [declarations] */")[1].split("/* [end of declarations] */")[0]


def files(pattern: str) -> list[str]:
    """Those of plugin/, relative to the project's root, as setuptools wants them."""
    return sorted(f"plugin/{path.relative_to(HERE).as_posix()}" for path in HERE.glob(pattern))


ffibuilder = FFI()
ffibuilder.cdef(
    declarations((HERE / "include" / "lscfg.h").read_text(encoding="utf-8"))
    + """
    extern "Python" int lscfg_python_lm_step(void *, int32_t, int32_t, float *, int32_t *, int32_t *);
    """
)
ffibuilder.set_source(
    "lscfg._kernel",
    '#include "lscfg.h"',
    sources=files("*/*.c"),
    depends=files("*/*.h"),
    include_dirs=["plugin/include", "plugin/inference"],
    # Contraction off: the same input gives the same bytes whether or not the compiler knows fused multiply-add.
    extra_compile_args=["-std=c11", "-O3", "-Wall", "-Wextra", "-ffp-contract=off", "-fvisibility=hidden", "-pthread"],
    extra_link_args=["-pthread"],
    libraries=["m"],
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
