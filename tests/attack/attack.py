"""Attacks the command line with bad files, damaged files and other bad luck, for some seconds; another seed each day.

    make attack SECONDS=600
    python tests/attack/attack.py --seconds 60 --seed 7 --only arguments,mutations

Each attack prints a row: how many cases were accepted, how many refused in one line, and how many show a fault. The
files and the command of a fault stay under build/attack. The exit status is 1 where there is one.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import gzip
import itertools
import random
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]

from bad_files import BAD_FILES, name_of  # noqa: E402
from cases import FAULTS, Outcome, adopt_orphans, empty, kill_case, run_case, run_program  # noqa: E402
from mutations import mutate_arrays, mutate_json, mutate_lines, mutate_text, mutations  # noqa: E402
from plugin_attack import attack_plugin  # noqa: E402
from programs import ODD_TEXTS, PROGRAMS  # noqa: E402
from service_attack import attack_service  # noqa: E402
from sums import TOLERANCE, compare  # noqa: E402
from world import NAMED, TENSORS, Attack, attacks, file_of, make_world  # noqa: E402

from lscfg.command_table import COMMANDS  # noqa: E402

FOUND = HERE.parents[1] / "build" / "attack"
"""Folder that keeps the files of faults."""


class Attacker:
    """The world, and what was seen in it.

    Args:
        folder: of the good files; each case works in a copy.
    """

    def __init__(self, folder: Path, seed: int):
        self.seed, self.rng = seed, random.Random(seed)
        self.good = folder / "good"
        self.good.mkdir()
        make_world(self.good)
        self.attacks = attacks(self.good)
        self.place = folder / "case"
        self.seen: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.slowest = self.largest_error = 0.0

    def check_good_files(self) -> None:
        """Every command must accept the good files: else the attacks would only show that it refuses everything."""
        for attack in self.attacks:
            outcome = run_case(attack.words, self._copy())
            if outcome.verdict != "accepted":
                raise SystemExit(f"lscfg {shlex.join(attack.words)}: {outcome.verdict}: {outcome.detail}")

    def _copy(self) -> Path:
        empty(self.place)
        for path in self.good.iterdir():  # links would let a command change the good files
            if path.is_file():
                shutil.copy(path, self.place / path.name)
            else:
                shutil.copytree(path, self.place / path.name)
        return self.place

    def case(self, row: str, attack: Attack, name: str, spoil: Callable[[Path], Path], kind: str) -> None:
        """One attack: the file of this name is spoilt; ``spoil`` says what takes its place."""
        folder = self._copy()
        spoilt = spoil(folder / name)
        words = [
            word[: len(word) - len(file_of(word))] + str(spoilt.relative_to(folder))
            if k in attack.files and file_of(word) == name
            else word
            for k, word in enumerate(attack.words)
        ]
        outputs = [folder / "out"] if "out" in words else []
        outcome = run_case(words, folder, [folder / "t.ja", folder / "t.deriv"], outputs)
        self.seen[row][outcome.verdict] += 1
        self.slowest = max(self.slowest, outcome.seconds)
        if not outcome.good:
            self._keep(row, words, name, kind, outcome)

    def _keep(self, row: str, words: list[str], name: str, kind: str, outcome: Outcome) -> None:
        number = sum(1 for _ in FOUND.iterdir()) + 1
        kept = FOUND / f"{number:03}"
        shutil.copytree(self.place, kept, symlinks=True, ignore=shutil.ignore_patterns("folder"))
        (kept / "README").write_text(
            f"lscfg {shlex.join(words)}\n{name}: {kind}\n{outcome.verdict}: {outcome.detail}\n"
        )
        print(f"{outcome.verdict}: lscfg {shlex.join(words)} ({name}: {kind}; {kept}): {outcome.detail[-300:]}")

    def count(self, names: list[str], cases: int) -> None:
        """So many cases of each kind, whose damage depends on the seed alone."""
        for name in names:
            self.rng = random.Random(f"{self.seed} {name}")
            collections.deque(itertools.islice(ROWS[name](self), cases), maxlen=0)

    def share(self, names: list[str], seconds: float) -> None:
        """Cases for so long, the time shared evenly between the kinds."""
        end = time.monotonic() + seconds
        spent = {ROWS[name](self): 0.0 for name in names}
        while spent and (began := time.monotonic()) < end:
            row = min(spent, key=lambda row: spent[row])
            if next(row, StopIteration) is StopIteration:
                del spent[row]
            else:
                spent[row] += time.monotonic() - began

    # ---- the rows ----

    def arguments(self) -> Iterator[None]:
        """Every file argument of every command with every bad file."""
        cases = [(attack, k, kind) for attack in self.attacks for k in attack.files for kind in BAD_FILES]
        self.rng.shuffle(cases)
        for attack, k, kind in cases:
            name = file_of(attack.words[k])

            def spoil(path: Path, kind: str = kind) -> Path:
                good = path.read_bytes()
                path.unlink()
                spoilt = path.with_name(name_of(kind, path.name))
                spoilt.unlink(missing_ok=True)
                BAD_FILES[kind](spoilt, good, self.rng)
                return spoilt

            yield self.case("bad files as arguments", attack, name, spoil, kind)

    def mutations(self) -> Iterator[None]:
        """A file of a command, changed in a few bytes."""
        while True:
            attack = self.rng.choice([attack for attack in self.attacks if attack.files])
            name = file_of(attack.words[self.rng.choice(attack.files)])
            yield self._mutated(f"mutated {self._kind(name)}", attack, name, self._change(name))

    def tensors(self) -> Iterator[None]:
        """A derivation file or a model whose arrays, rather than bytes, are changed."""
        binary = [
            (attack, file_of(attack.words[k]))
            for attack in self.attacks
            for k in attack.files
            if file_of(attack.words[k]).endswith((".deriv", ".lscfg")) or file_of(attack.words[k]) in TENSORS
        ]
        while True:
            attack, name = self.rng.choice(binary)
            yield self._mutated(f"changed arrays of {self._kind(name)}", attack, name, mutate_arrays)

    def hidden(self) -> Iterator[None]:
        """A file that an ini or an experiment names, changed."""
        users = [(attack, name) for attack in self.attacks for word in attack.words for name in NAMED.get(word, ())]
        while True:
            attack, name = self.rng.choice(users)
            yield self._mutated(f"mutated {self._kind(name)}, named by a file", attack, name, self._change(name))

    def json(self) -> Iterator[None]:
        """A JSON file that a folder or an argument leads to, with another value somewhere in it."""
        users = [
            (attack, name)
            for attack in self.attacks
            for word in attack.words
            for name in (*NAMED.get(word, ()), word)
            if name.endswith((".json", ".jsonl")) and (self.good / name).is_file()
        ]
        while True:
            attack, name = self.rng.choice(users)
            change = mutate_lines if name.endswith("l") else mutate_json
            yield self._mutated(f"changed values of {Path(name).name}", attack, name, change)

    def api(self) -> Iterator[None]:
        """Python programs that read a damaged file or pass odd text; only errors of lscfg may come."""
        while True:
            program, files = self.rng.choice(PROGRAMS)
            folder = self._copy()
            if files and self.rng.random() < 0.8:
                path = folder / self.rng.choice(files)
                path.write_bytes(self._change(path.name)(path.read_bytes(), self.rng))
            odd = self.rng.choice(ODD_TEXTS)
            outcome = run_program(program, odd, folder)
            self.seen["programs that use the API"][outcome.verdict] += 1
            self.slowest = max(self.slowest, outcome.seconds)
            if not outcome.good:
                self._keep("api", ["API", program], repr(odd), "odd text or a changed file", outcome)
            yield

    def kills(self) -> Iterator[None]:
        """Runs of an experiment that are killed at random moments, one or more times, and then run to their end."""
        words = ("run", "little.toml", "-o", "made", "--quiet")
        outcome = run_case(words, self._copy())
        whole, seconds = _bytes_of(self.place / "made"), outcome.seconds
        while True:
            folder, row = self._copy(), self.seen["killed experiments, run again"]
            moments = [self.rng.uniform(0.2, 1.2 * seconds) for _ in range(self.rng.randint(1, 3))]
            how = self.rng.choice([signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT])
            left = [kill_case(words, folder, moment, how) for moment in moments]
            outcome = run_case(words, folder)
            if outcome.good:
                same = _bytes_of(folder / "made") == whole
                outcome = replace(outcome, verdict="orphan" if any(left) else "accepted" if same else "other bytes")
            row[outcome.verdict] += 1
            if not outcome.good:
                self._keep("kills", list(words), "little.toml", f"{how.name} after {moments} s", outcome)
            yield

    def sums(self) -> Iterator[None]:
        """Marginals of a random system against sums over its derivations."""
        while True:
            seed = self.rng.getrandbits(32)
            error, summed = compare(self.good, seed)
            row = self.seen["marginals of random systems, summed over derivations"]
            row["accepted" if summed else "refused"] += 1
            if error > TOLERANCE:
                row["wrong number"] += 1
                print(f"wrong number: seed {seed}: {error:g} of the mass")
            self.largest_error = max(self.largest_error, error)
            yield

    def service(self) -> Iterator[None]:
        """Requests of any kind to a service whose workers die."""
        for verdict, detail in attack_service(self.good, self.rng):
            self.seen["requests to a service"][verdict] += 1
            if detail:
                print(f"{verdict}: lscfg serve: {detail}")
            yield

    def plugin(self) -> Iterator[None]:
        """The plug-in of both decoders, with a damaged model, configuration or line."""
        for verdict, detail in attack_plugin(self.place.parent / "plugin", self.rng):
            self.seen["calls of the plug-in as by a decoder"][verdict] += 1
            if detail:
                print(f"{verdict}: {detail}")
            yield

    def _change(self, name: str) -> Callable[[bytes, random.Random], bytes]:
        if name.endswith(".gz"):  # what is in it: the checksum would find all else
            return lambda data, rng: gzip.compress(mutate_text(gzip.decompress(data), rng), mtime=0)
        return mutations if name.endswith((".deriv", ".lscfg", ".parquet")) or name in TENSORS else mutate_text

    def _kind(self, name: str) -> str:
        for ending, kind in (
            (".lscfg", "models"),
            (".deriv", "derivations"),
            (".arpa", "ARPA files"),
            (".gz", "grammars"),
            (".ini", "configurations"),
            (".toml", "experiments"),
            (".jsonl", "forests"),
            (".json", "JSON files"),
        ):
            if name.endswith(ending):
                return kind
        return "weights" if "weights" in name else "text"

    def _mutated(self, row: str, attack: Attack, name: str, change: Callable[[bytes, random.Random], bytes]) -> None:
        def spoil(path: Path) -> Path:
            path.write_bytes(change(path.read_bytes(), self.rng))
            return path

        self.case(row, attack, name, spoil, "mutated")

    def table(self) -> list[str]:
        """Counts of results, a line for each kind of attack."""
        faults = [fault for fault in FAULTS if any(row[fault] for row in self.seen.values())]
        head = ["attack", "cases", "accepted", "refused", *faults]
        lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
        for row, counts in sorted(self.seen.items()):
            cells = [row, *(f"{n:,}" for n in (counts.total(), *(counts[name] for name in head[2:])))]
            lines.append(f"| {' | '.join(cells)} |")
        return lines


def _bytes_of(folder: Path) -> dict[str, bytes]:
    """The results of an experiment: scores, translations and weights."""
    files = [folder / "results.json", *folder.glob("systems/*/test.output"), *folder.glob("systems/*/weights")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.is_file()}


ROWS = {
    "arguments": Attacker.arguments,
    "mutations": Attacker.mutations,
    "tensors": Attacker.tensors,
    "hidden": Attacker.hidden,
    "json": Attacker.json,
    "api": Attacker.api,
    "kills": Attacker.kills,
    "sums": Attacker.sums,
    "service": Attacker.service,
    "plugin": Attacker.plugin,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cases", type=int, help="so many of each kind, the same for each run of a seed, for no time")
    parser.add_argument("--seed", type=int, default=datetime.date.today().toordinal())
    parser.add_argument("--only", default=",".join(ROWS), help="comma-separated kinds of attack: %(default)s")
    args = parser.parse_args()
    print(f"seed {args.seed}, " + (f"{args.seconds:g} s" if args.cases is None else f"{args.cases} cases of each kind"))
    for command in COMMANDS:
        command.load()
    adopt_orphans()
    shutil.rmtree(FOUND, ignore_errors=True)
    FOUND.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="lscfg-attack-") as folder:
        attacker = Attacker(Path(folder), args.seed)
        attacker.check_good_files()
        if args.cases is not None:
            attacker.count(args.only.split(","), args.cases)
        else:
            attacker.share(args.only.split(","), args.seconds)
        print("\n".join(attacker.table()))
        print(f"slowest case {attacker.slowest:.1f} s; largest error of a marginal {attacker.largest_error:.1e}")
        return int(any(fault in counts for counts in attacker.seen.values() for fault in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
