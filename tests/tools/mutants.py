"""Mutation testing: changes product code at random, a line at a time, and runs the tests that should notice.

Work in a copy of the checkout with an editable install, since every mutant edits the sources there:

    mutants.py draw lscfg plugin -n 100 -o mutants.json   choose mutations, with a fixed seed
    mutants.py run mutants.json                           apply each one; write killed, survived, timeout or invalid
    mutants.py again mutants.json                         apply the killed ones to newer code, the killing tests first

A mutation is described by function and source text, not by line number, so that ``again`` finds it after code moved.
``run`` and ``again`` continue where an earlier call stopped; ``run --retry survived --timeout 120 --files 20`` tries
the survivors with more tests. Only quick tests run.
"""

import argparse
import ast
import bisect
import collections
import contextlib
import importlib
import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

OPERATORS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
}  # fmt: skip
SIGNS = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "+=": ["-="], "-=": ["+="], "//": ["*"], "%": ["*"]}
LOGIC = {
    "and": ["or"], "or": ["and"], "not": [""], "True": ["False"], "False": ["True"], "&&": ["||"], "||": ["&&"],
    "!": [""], "break": ["continue"], "continue": ["break"], "min": ["max"], "max": ["min"],
}  # fmt: skip
C_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|//.*|/\*.*?(?:\*/|$)|[A-Za-z_]\w*|\d[\w.]*|->|[<>=!+*/&|-]=?&?\|?|.'
)
C_FUNCTION = re.compile(r"^[A-Za-z_][^;=]*?\b(\w+)\(", re.MULTILINE)
C_STATEMENT = re.compile(r"\s+(?:[\w\->.\[\]*]+ (?:[-+*/|&]?=) .*|[a-z_]\w*\(.*\)|[\w\->.\[\]]+(?:\+\+|--));\s*")
OF_C = {
    "base": ["kernel/test_line.py", "kernel/test_ngrams.py", "kernel/test_model_file.py", "formats/test_[fi]*.py",
             "grammar/test_*.py", "kernel/test_forest.py"],
    "forest": ["kernel/test_parse.py", "kernel/test_forest.py", "kernel/test_lattice.py", "formats/test_forest*.py"],
    "neural": ["estimate/test_neural.py", "kernel/test_parts.py"],
    "inference": ["kernel/test_[airm]*.py", "kernel/test_line.py", "context/test_[ls]*.py", "model/test_*.py"],
    "extract": ["extract/test_*.py"],
    "estimate": ["estimate/test_[ep]*.py", "context/test_p*.py", "estimate/test_*.py", "context/test_*.py"],
    "search": ["kernel/test_oracle.py", "decode/test_*.py", "tuning/test_[lo]*.py", "tuning/test_mira.py"],
    "learn": ["tuning/test_m*.py", "context/test_*.py"],
    "induce": ["induce/test_neighbours.py", "induce/test_p*.py"],
    "sample": ["induce/test_sampler*.py", "induce/test_sample_trees.py", "induce/test_sample.py",
               "induce/test_sample_states.py", "induce/test_sample_[bcj]*.py"],
    "biparse": ["kernel/test_biparse.py", "induce/test_biparse.py", "induce/test_neighbours.py"],
}  # fmt: skip
"""Test files for each folder of the C kernel, the likeliest to notice a change first."""
ROOT = Path(__file__).resolve().parents[2]


# ---- functions and tokens of both languages


def python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and last line (1-based) of each function's body, the docstring left out."""

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, int, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{prefix}{child.name}"
                if isinstance(child, ast.FunctionDef):
                    body = child.body[1:] if ast.get_docstring(child, clean=False) is not None else child.body
                    if body:
                        yield name, body[0].lineno, child.end_lineno or 0
                yield from walk(child, f"{name}.")
            else:
                yield from walk(child, prefix)

    return walk(ast.parse(text), "")


def c_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and last line of each function's body: from a head in column 0 to ``}`` in column 0."""
    lines = text.splitlines()
    for end, line in enumerate(lines):
        if line == "}":
            start = end - 1
            while start and not re.match(r"[A-Za-z_]", lines[start]):
                start -= 1
            head = next((number for number in range(start, end) if lines[number].endswith("{")), end)
            if found := C_FUNCTION.match("\n".join(lines[start : head + 1])):
                yield found.group(1), head + 2, end


def functions(path: Path) -> list[tuple[str, int, int]]:
    text = path.read_text(encoding="utf-8")
    return list((python_functions if path.suffix == ".py" else c_functions)(text))


def tokens(path: Path) -> Iterator[tuple[int, int, str]]:
    """Line (1-based), column and text of each token outside of strings and comments."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.OP, tokenize.NUMBER, tokenize.NAME):
                yield token.start[0], token.start[1], token.string
        return
    comment = False
    for number, line in enumerate(text.splitlines(), 1):
        if comment or line.lstrip().startswith(("#", "*")):
            comment = comment and "*/" not in line
            continue
        for found in C_TOKEN.finditer(line):
            if found.group().startswith("/*") and "*/" not in found.group():
                comment = True
            if not found.group().startswith(("/*", "//", '"', "'")) and found.group().strip():
                yield number, found.start(), found.group()


def constants(token: str) -> list[str]:
    if re.fullmatch(r"\d+", token):
        return [str(int(token) + 1), str(int(token) - 1)] if int(token) else ["1"]
    return [f"{2 * float(token)}"] if re.fullmatch(r"\d*\.\d+(e-?\d+)?", token) else []


def deletable(path: Path) -> set[int]:
    """Lines that are one simple statement, which can go."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return {number for number, line in enumerate(text.splitlines(), 1) if C_STATEMENT.fullmatch(line)}
    return {
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr)
        and node.lineno == node.end_lineno
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    }


def mutations(path: Path) -> Iterator[dict]:
    """Every mutation of one file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    spans = sorted((first, last, name) for name, first, last in functions(path))
    starts = [first for first, _, _ in spans]

    def function(number: int) -> str | None:
        within = [span for span in spans[: bisect.bisect(starts, number)] if span[1] >= number]
        return within[-1][2] if within else None

    def mutation(kind: str, number: int, after: str) -> dict:
        return {
            "file": path.relative_to(ROOT).as_posix(), "function": function(number), "kind": kind,
            "line": lines[number - 1].strip(), "mutant": after.strip(),
        }  # fmt: skip

    for number in sorted(deletable(path)):
        if function(number):
            yield mutation("statement", number, "pass" if path.suffix == ".py" else ";")
    before = ""
    for number, column, token in tokens(path):
        line = lines[number - 1]
        end = column + len(token)
        spaced = line[column - 1 : column] == " " and line[end : end + 1] == " "  # not a unary sign or a pointer
        for kind, choices in [
            ("bound", OPERATORS.get(token, []) if spaced else []),
            ("sign", SIGNS.get(token, []) if spaced and before not in ("(", ",") else []),
            ("operator", LOGIC.get(token, [])),
            ("constant", constants(token)),
        ]:
            for choice in choices:
                if function(number):
                    yield mutation(kind, number, line[:column] + choice + line[end:])
        before = token


def sources(paths: list[str]) -> list[Path]:
    found = {
        path.resolve()
        for name in paths
        for suffix in ("py", "c")
        for path in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob(f"*.{suffix}"))
    }
    return sorted(path for path in found if path.is_relative_to(ROOT))


def draw(paths: list[str], number: int, seed: int, share_of_c: float) -> list[dict]:
    """Chooses mutations, each kind equally often and a function at most once."""
    generator = random.Random(seed)
    chosen: list[dict] = []
    for suffix, wanted in [(".c", round(number * share_of_c)), (".py", number - round(number * share_of_c))]:
        found = collections.defaultdict(list)
        for path in sources(paths):
            if path.suffix == suffix and path.name != "build_kernel.py":
                for one in mutations(path):
                    found[one["kind"]].append(one)
        used, kinds = set(), sorted(found)
        while len(used) < wanted and any(found.values()):
            one = generator.choice(found[kinds[len(used) % len(kinds)]])
            if (one["file"], one["function"]) not in used:
                used.add((one["file"], one["function"]))
                chosen.append(one)
    return chosen


# ---- applying a mutation


def place(mutation: dict) -> tuple[Path, int] | None:
    """File and line of a mutation in the code of today: in its function, or where the only such line stands."""
    simple = mutation["function"].split(".")[-1]
    suffix = Path(mutation["file"]).suffix
    same, elsewhere = [], []
    for path in sources(["lscfg", "plugin", "tuning", "cdec_bridge", "moses_bridge"]):
        if path.suffix != suffix or mutation["line"] not in (text := path.read_text(encoding="utf-8")):
            continue
        lines = text.splitlines()
        spans = [(first, last) for name, first, last in functions(path) if name.split(".")[-1] == simple]
        for number, line in enumerate(lines, 1):
            if line.strip() == mutation["line"]:
                near = any(first <= number <= last for first, last in spans)
                rank = path.relative_to(ROOT).as_posix() != mutation["file"]
                (same if near else elsewhere).append((rank, path, number))
    if same:
        return min(same)[1:]
    return elsewhere[0][1:] if len(elsewhere) == 1 and len(mutation["line"]) > 15 else None


class Kernel:
    """The compile commands of the extension, to make one object again."""

    def __init__(self) -> None:
        log = ROOT / "build" / "kernel.log"
        log.parent.mkdir(exist_ok=True)
        if not log.exists():
            command = [sys.executable, "setup.py", "build_ext", "--inplace", "--force", "-v"]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            log.write_text(done.stdout, encoding="utf-8")
        commands = [line.split() for line in log.read_text(encoding="utf-8").splitlines() if re.match(r"\S+ -", line)]
        self._compile = {command[command.index("-c") + 1]: command for command in commands if "-c" in command}
        self._kept: dict[Path, bytes] = {}
        self._link = next(command for command in commands if "-shared" in command)

    def make(self, path: Path) -> bool:
        """Compiles one file and links; False if the compiler refuses."""
        command = self._compile[path.relative_to(ROOT).as_posix()]
        built = ROOT / self._link[self._link.index("-o") + 1]
        used = ROOT / "lscfg" / built.name  # setuptools links in build/ and copies
        files = {ROOT / command[command.index("-o") + 1], built, used}
        self._kept = {file: file.read_bytes() for file in files}
        if subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode:
            return False
        subprocess.run(self._link, cwd=ROOT, capture_output=True, check=True)
        used.write_bytes(built.read_bytes())
        return True

    def restore(self) -> None:
        """Puts the files back that ``make`` has replaced."""
        for path, data in self._kept.items():
            path.write_bytes(data)


# ---- tests


def candidates(mutation: dict, path: Path, most: int) -> list[str]:
    """Test files for a mutant, the likeliest to kill it first: those that name the function, the module, the folder."""
    if path.suffix == ".c":
        names = dict.fromkeys(name for pattern in OF_C[path.parent.name] for name in found(pattern))
        return sorted(names, key=lambda name: path.stem.rstrip("s") not in name)[: most + 2]
    parts = path.relative_to(ROOT).with_suffix("").parts
    names = {part.lstrip("_") for part in mutation["function"].split(".")}
    functions = re.compile(rf"\b_?({'|'.join(re.escape(name) for name in names if len(name) > 4) or '$^'})\b")
    module = re.compile(rf"\b{parts[-2]}\.{parts[-1]}\b|{parts[-2]} import .*\b{parts[-1]}\b")
    folder = mirrored(parts)
    ranked = []
    for name in found("**/test_*.py"):
        text = (ROOT / name).read_text(encoding="utf-8")
        score = (
            3 * bool(functions.search(text)) + 3 * bool(module.search(text)) + 2 * (str(Path(name).parent) == folder)
        )
        score += 2 * (parts[-1] in Path(name).stem)
        if score:
            ranked.append((-score, len(text), name))
    return [name for _, _, name in sorted(ranked)[:most]]


def found(pattern: str) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests").glob(pattern))]


def mirrored(parts: tuple[str, ...]) -> str:
    """The folder of tests of a module."""
    parts = parts[1:] if parts[0] == "lscfg" else parts
    for length in range(len(parts) - 1, 0, -1):
        if (ROOT / "tests" / Path(*parts[:length])).is_dir():
            return "/".join(("tests", *parts[:length]))
    return "tests"


class Record:
    """A plug-in of pytest that notes the first failure and stops after some seconds of CPU."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.failed, self.passed = seconds, "", 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if sum(os.times()[:4]) > self.seconds:
            item.session.shouldstop = "no time left"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")
        self.passed += report.passed and report.when == "call"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")


def preload() -> None:
    """Imports what most tests need and no mutant changes, so that each process of tests begins with it."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in ("hypothesis", "numpy", "scipy.optimize", "scipy.sparse.linalg", "sacrebleu", "tqdm", "_cffi_backend"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def run_tests(tests: list[str], timeout: float) -> tuple[str, str]:
    """Result of a mutant: killed (and by which test), survived, untested or timeout (some test does not end).

    The tests run in a fork of this process, until one fails or ``timeout`` seconds of CPU are over.
    """
    result = ROOT / "build" / "mutant.json"
    result.parent.mkdir(exist_ok=True)
    result.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            _test(tests, timeout, result)
        finally:
            os._exit(70)
    status, end = None, time.monotonic() + 40 * timeout  # a machine with other work
    while status is None:
        found, code = os.waitpid(child, os.WNOHANG)
        if found:
            status = code
        elif time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # processes that a test has left
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return ("timeout", "") if number in (signal.SIGXCPU, signal.SIGKILL) else ("killed", f"signal {number}")
    if not result.exists():
        return "killed", f"exit {os.waitstatus_to_exitcode(status)}"
    known = json.loads(result.read_text(encoding="utf-8"))
    if known["failed"]:
        return "killed", known["failed"]
    return ("survived" if known["passed"] else "untested"), ""


def _test(tests: list[str], timeout: float, result: Path) -> None:
    os.setsid()
    os.chdir(ROOT)
    limit = int(3 * timeout + 20)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    sys.dont_write_bytecode = True  # compiled code of a mutant would outlive it
    sys.path[0] = ""
    silent = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(silent, number)
    record = Record(timeout)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
    for warning in ("PytestAssertRewriteWarning", "PytestUnraisableExceptionWarning"):  # of modules loaded before
        options += ["-W", f"ignore::pytest.{warning}"]
    pytest.main([*options, *tests], [record])
    result.write_text(json.dumps({"failed": record.failed, "passed": record.passed}), encoding="utf-8")
    os._exit(0)


def try_mutant(mutation: dict, where: tuple[Path, int], tests: list[str], timeout: float, kernel: list[Kernel]) -> dict:
    path, number = where
    text = path.read_text(encoding="utf-8")
    times = path.stat()
    lines = text.splitlines(keepends=True)
    line = lines[number - 1]
    indent = line[: len(line) - len(line.lstrip())]
    begun = time.monotonic()
    try:
        lines[number - 1] = f"{indent}{mutation['mutant']}\n"
        path.write_text("".join(lines), encoding="utf-8")
        if path.suffix == ".c":
            kernel[:] = kernel or [Kernel()]
            if not kernel[0].make(path):
                return {"result": "invalid"}
        else:
            try:
                compile("".join(lines), str(path), "exec")
            except SyntaxError:
                return {"result": "invalid"}
        result, by = run_tests(tests, timeout)
        return {"result": result, "by": by, "tests": len(tests), "seconds": round(time.monotonic() - begun, 1)}
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # compiled code stays valid
        if path.suffix == ".c":
            kernel[0].restore()


def moved(test: str) -> list[str]:
    """A test under the id that it has today: the same, or tests of its name elsewhere; [] if it is gone."""
    file, _, rest = test.partition("::")
    name = rest.split("[")[0].split("::")[-1]
    if not name:
        return []
    pattern = re.compile(rf"^\s*def {re.escape(name)}\(", re.MULTILINE)
    found = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if pattern.search(path.read_text(encoding="utf-8"))
    ]
    return [f"{file}::{rest.split('[')[0]}"] if file in found else [f"{other}::{name}" for other in found]


def run(arguments: argparse.Namespace) -> None:
    """Applies the mutations of a file one by one and writes what became of each into that file."""
    mutants = json.loads(arguments.mutants.read_text(encoding="utf-8"))
    again = arguments.command == "again"
    preload()
    kernel: list[Kernel] = []
    for mutation in mutants:
        known = mutation.get("outcome", {}).get("result")
        if ("again" in mutation or known != "killed") if again else known not in (None, *arguments.retry):
            continue
        where = place(mutation)
        if where is None:
            outcome = {"result": "gone"}
        else:
            tests = candidates(mutation, where[0], arguments.files)
            outcome = {"result": "untested"}
            if again and (first := moved(mutation["outcome"]["by"])):
                outcome = try_mutant(mutation, where, first, arguments.timeout, kernel)
            if outcome["result"] in ("untested", "survived"):
                outcome = try_mutant(mutation, where, tests, arguments.timeout, kernel)
        mutation["again" if again else "outcome"] = outcome
        arguments.mutants.write_text(json.dumps(mutants, indent=1), encoding="utf-8")
        print(mutation["file"], mutation["function"], mutation["kind"], outcome, flush=True)
    print(collections.Counter(one.get("again" if again else "outcome", {}).get("result") for one in mutants))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    draws = commands.add_parser("draw", help="choose mutations")
    draws.add_argument("paths", nargs="+", help="folders or files of product code")
    draws.add_argument("-n", "--number", type=int, default=100)
    draws.add_argument("--seed", type=int, default=1)
    draws.add_argument("--share-of-c", type=float, default=0.25)
    draws.add_argument("-o", "--output", type=Path, required=True)
    for name in ("run", "again"):
        runs = commands.add_parser(name, help="apply the mutations and run tests")
        runs.add_argument("mutants", type=Path)
        runs.add_argument("--timeout", type=float, default=15, help="CPU seconds of tests for a mutant")
        runs.add_argument("--retry", nargs="*", default=[], help="results to find again, as in survived timeout")
        runs.add_argument("--files", type=int, default=5, help="test files for a mutant, at most")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the code is restored
    if arguments.command == "draw":
        chosen = draw(arguments.paths, arguments.number, arguments.seed, arguments.share_of_c)
        arguments.output.write_text(json.dumps(chosen, indent=1), encoding="utf-8")
        return
    run(arguments)


if __name__ == "__main__":
    main()
