"""Experiments and commands on a cluster: the bytes of one process, and faults in every stage."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("distributed", reason="needs lscfg[cluster]")
pytest.importorskip("cryptography", reason="needs lscfg[cluster]")

from clusters import environment, forget_sockets, real_cluster, until_workers, workers_below
from little_experiment import TOML, run_lscfg
from services import little_system

from lscfg.decode.memory import open_memory
from lscfg.demo import generate, write

SPARE = {"seconds.json", "stage.json", "history.json", "dev.json"}
"""Files with times; others must be equal."""


def files_of(folder):
    """All files of finished stages, by stage and name."""
    cache = folder / "cache"
    return {
        str(path.relative_to(cache)): path.read_bytes()
        for path in sorted(cache.rglob("*"))
        if path.is_file() and path.name not in SPARE and "locks" not in path.parts
    }


def check_same(one, other):
    """Both folders have the same results, and the same files of all stages."""
    assert (one / "results.json").read_bytes() == (other / "results.json").read_bytes()
    assert files_of(one) == files_of(other)


@pytest.fixture(scope="module", autouse=True)
def sockets():
    yield
    forget_sockets()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A folder with an experiment that is smaller than that of other tests."""
    folder = tmp_path_factory.mktemp("corpus")
    write(generate(seed=2, train=300, dev=10, test=10), folder)
    (folder / "e.toml").write_text(TOML)
    return folder


@pytest.fixture(scope="module")
def plain(corpus, tmp_path_factory):
    """The run without a cluster."""
    folder = tmp_path_factory.mktemp("plain")
    done = run_lscfg("run", corpus / "e.toml", "-o", folder, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The address of a cluster of two workers."""
    with real_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster.address


def test_a_run_on_a_cluster_makes_the_same_files(corpus, plain, place, tmp_path):
    words = ("run", "e.toml", "-o", os.path.relpath(tmp_path / "out", corpus), "--cluster", place)
    done = run_lscfg(*words, cwd=corpus)
    assert done.returncode == 0, done.stderr
    check_same(plain, tmp_path / "out")
    again = run_lscfg(*words, cwd=corpus)
    assert re.search(r"(\d+) of \1 stages are already finished", again.stderr)


class Started:
    """A run in the background with its log as it comes."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lscfg", *map(str, words)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell may have it ignored
        )

    def follow(self, action):
        """Exit status and log, which is read to its end; calls ``action(stage)`` as each kind of stage begins."""
        log, seen = [], set()
        with self.process.stderr as lines:
            for line in lines:
                log.append(line)
                found = re.match(r"\[lscfg\] stage \d+/\d+ (\S+)(?: \(.*\))?$", line)
                if found and found[1] not in seen:
                    seen.add(found[1])
                    action(found[1])
        return self.process.wait(), "".join(log)


# no block outlives more than three of its workers
@pytest.mark.parametrize("stages", [{"lm", "align", "derive"}, {"grammar-minimal", "estimate"}, {"tune", "decode"}])
def test_workers_killed_in_stages_change_nothing(corpus, plain, tmp_path, stages):
    started = Started("run", corpus / "e.toml", "-o", tmp_path / "out", "--cluster", "local:2")
    killed = set()

    def kill_one(stage):
        if stage in stages:
            time.sleep(0.2)  # it is under way, or one next to it
            for number in workers_below(started.process.pid)[:1]:
                os.kill(number, signal.SIGKILL)
                killed.add(stage)

    status, log = started.follow(kill_one)
    assert status == 0, log
    assert killed == stages
    check_same(plain, tmp_path / "out")


def test_a_single_tuning_is_shared_among_all_workers(corpus, plain, tmp_path):
    words = ("run", corpus / "e.toml", "--systems", "MIN", "-o", tmp_path / "out", "--cluster", "local:2")
    started = Started(*words)

    def kill_one(stage):
        if stage == "tune":
            time.sleep(0.5)
            os.kill(workers_below(started.process.pid)[0], signal.SIGKILL)

    status, log = started.follow(kill_one)
    assert status == 0, log
    one, both = files_of(tmp_path / "out"), files_of(plain)
    same = one.keys() & both.keys()
    assert {"tune", "decode"} <= {name.partition("-")[0] for name in same}
    assert {name: one[name] for name in same} == {name: both[name] for name in same}


def test_a_killed_run_leaves_no_process_and_resumes(corpus, plain, tmp_path):
    import psutil

    started = Started("run", corpus / "e.toml", "-o", tmp_path / "out", "--cluster", "local:2")
    below = []

    def kill(stage):
        if stage == "tune":
            time.sleep(0.2)
            below.extend(psutil.Process(started.process.pid).children(recursive=True))
            started.process.kill()

    status, _ = started.follow(kill)
    assert status == -signal.SIGKILL and below
    _, alive = psutil.wait_procs(below, timeout=20)
    assert alive == []
    again = run_lscfg("run", corpus / "e.toml", "-o", tmp_path / "out", "--jobs", 1)
    assert again.returncode == 0 and "stages are already finished" in again.stderr, again.stderr
    check_same(plain, tmp_path / "out")


def test_an_interrupted_run_says_so_in_one_line(corpus, tmp_path):
    started = Started("run", corpus / "e.toml", "-o", tmp_path / "out", "--cluster", "local:1")
    status, log = started.follow(lambda stage: stage == "lm" and started.process.send_signal(signal.SIGINT))
    assert status == 130 and "Traceback" not in log, log
    assert log.splitlines()[-1] == "lscfg run: interrupted; finished work is kept"


def test_the_cluster_goes_away_and_the_run_resumes(corpus, plain, tmp_path):
    (tmp_path / "c").mkdir()
    with real_cluster(tmp_path / "c") as cluster:
        (tmp_path / "place.yaml").write_text(f"address: {cluster.address}\npatience: 2\n")
        words = ("run", corpus / "e.toml", "-o", tmp_path / "out", "--cluster", tmp_path / "place.yaml")
        until_workers(cluster)
        status, log = Started(*words).follow(lambda stage: stage == "derive" and cluster.end())
        assert status == 1 and "Traceback" not in log, log
        assert "within 2 s; start " in log.splitlines()[-1], log
        cluster.start(2)
        until_workers(cluster)
        again = run_lscfg(*words)
        assert again.returncode == 0, again.stderr
        check_same(plain, tmp_path / "out")


def test_a_stage_that_fails_is_one_line(corpus, place, tmp_path):
    text = (corpus / "e.toml").read_text().replace("m = 3", "m = 16").replace('"train.', '"few.')
    for name in ("ja", "en"):
        lines = (corpus / f"train.{name}").read_text().splitlines(keepends=True)
        (tmp_path / f"few.{name}").write_text("".join(lines[:12]))
    for name in ("dev.ja", "dev.en", "test.ja", "test.en"):
        (tmp_path / name).write_bytes((corpus / name).read_bytes())
    (tmp_path / "e.toml").write_text(text)
    plainly = run_lscfg("run", tmp_path / "e.toml", "-o", tmp_path / "a")
    there = run_lscfg("run", tmp_path / "e.toml", "-o", tmp_path / "b", "--cluster", place)
    assert plainly.returncode == there.returncode == 1
    assert there.stderr.splitlines()[-1] == plainly.stderr.splitlines()[-1]


def single(folder, name, files):
    """File of the plain run that a single command reads."""
    (found,) = folder.glob(f"cache/{name}-*/{files}")
    return found


def test_decode_and_tune_on_a_cluster(corpus, plain, place, tmp_path):
    ini = plain / "systems" / "SPECTRAL" / "cdec.ini"
    weights = plain / "systems" / "SPECTRAL" / "weights"
    outputs = []
    for name, more in (("here", ["--jobs", 1]), ("there", ["--cluster", place])):
        words = ["decode", corpus / "test.ja", "-c", ini, "-w", weights, "-k", 5, "-o", tmp_path / name]
        decoded = run_lscfg(*words, "--derivations", tmp_path / f"{name}.json", *more)
        assert decoded.returncode == 0, decoded.stderr
        words = ["tune", "weights", "-c", ini, "-w", weights, "-s", corpus / "dev.ja", "--reference", corpus / "dev.en"]
        tuned = run_lscfg(*words, "-o", tmp_path / f"{name}.tuned", "--iterations", 1, "--kbest", 20, *more)
        assert tuned.returncode == 0, tuned.stderr
        kept = [tmp_path / name, tmp_path / f"{name}.json", tmp_path / f"{name}.tuned" / "weights"]
        outputs.append([path.read_bytes() for path in kept])
    assert outputs[0] == outputs[1]


def test_relative_paths_are_those_of_the_command(place, tmp_path):
    """The ini and a line name files as seen from the working directory, where no worker looks."""
    little_system(tmp_path)
    (tmp_path / "conf").mkdir()
    (tmp_path / "cdec.ini").rename(tmp_path / "conf" / "cdec.ini")
    (tmp_path / "own").write_text("[X] ||| x ||| the x ||| EgivenF=0.5\n")
    (tmp_path / "dev").write_text('la casa\n<seg id="7" grammar="own">la x roja</seg>\n')
    (tmp_path / "ref").write_text("the house\nthe red x\n")
    outputs = []
    for name, more in (("here", ["--jobs", 1]), ("there", ["--cluster", place])):
        words = ["-c", "conf/cdec.ini", "-w", "weights", *more]
        decoded = ["decode", "dev", "-k", 4, "-o", name, "--derivations", f"{name}.json", *words]
        tuned = ["tune", "weights", "-s", "dev", "--reference", "ref", "--iterations", 1, "--kbest", 20, *words]
        lists, graphs = f"{name}.lists", f"{name}.graphs"
        for line in (decoded, [*tuned, "-o", lists], [*tuned, "-o", graphs, "--optimiser", "forest-risk"]):
            done = run_lscfg(*line, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
        kept = [
            name,
            f"{name}.json",
            *(f"{one}/{file}" for one in (lists, graphs) for file in ("weights", "history.json")),
        ]
        outputs.append([(tmp_path / path).read_bytes() for path in kept])
    assert outputs[0] == outputs[1] and b"7 ||| " in outputs[0][0]


def test_workers_read_the_corrections_of_the_command(tmp_path):
    """They join the text of an index."""
    (tmp_path / "here").mkdir()
    folder = little_system(tmp_path / "here")
    done = run_lscfg("grammar", "hiero", "f", "e", "links", "--format", "index", "-o", "index", cwd=folder)
    assert done.returncode == 0, done.stderr
    ini = "formalism=scfg\ngrammar=index\nfeature_function=KLanguageModel lm.arpa\nadd_pass_through_rules=true\n"
    (folder / "cdec.ini").write_text(ini)
    (folder / "text").write_text("una x\nla casa x\n")
    open_memory(folder / "memory", lambda source, target: [(0, 0), (1, 1)]).add("la x", "the thing")
    (tmp_path / "there").mkdir()
    words = ["decode", "text", "-c", "cdec.ini", "-w", "weights", "-k", 5, "--corrections", "memory"]
    with real_cluster(tmp_path / "there") as cluster:
        runs = [run_lscfg(*words, *more, cwd=folder) for more in (["--jobs", 1], ["--cluster", cluster.address])]
    assert runs[0].returncode == runs[1].returncode == 0, runs[1].stderr
    assert runs[0].stdout == runs[1].stdout and "thing" in runs[0].stdout
    assert not (tmp_path / "there" / "memory").exists()


def test_a_command_runs_there_as_a_whole(corpus, plain, place, tmp_path):
    """A single chain goes to one worker, and so does its error."""
    words = ["grammar", "sampled", corpus / "train.ja", corpus / "train.en"]
    links, more = single(plain, "align", "union"), ["--sweeps", 2, "--set", "max_words=8"]
    here = run_lscfg(*words, links, *more, "-o", tmp_path / "rules1", "--jobs", 1)
    there = run_lscfg(*words, links, *more, "-o", tmp_path / "rules2", "--cluster", place)
    assert here.returncode == there.returncode == 0, there.stderr
    assert (tmp_path / "rules1").read_bytes() == (tmp_path / "rules2").read_bytes()
    assert there.stderr.replace("rules2", "rules1").splitlines()[1:] == here.stderr.splitlines()
    (tmp_path / "links").write_text("0-0\n" * 3 + "9-999\n" + "0-0\n" * 296)
    bad = [*words, tmp_path / "links", "-o", tmp_path / "out"]
    here, there = run_lscfg(*bad), run_lscfg(*bad, "--cluster", place)
    assert here.returncode == there.returncode == 1
    assert there.stderr.splitlines()[-1] == here.stderr.splitlines()[-1]


def test_other_decoders_cannot_be_tuned_there(corpus, plain, tmp_path):
    ini = plain / "systems" / "MIN" / "cdec.ini"
    words = ["tune", "weights", "-c", ini, "-w", plain / "systems" / "MIN" / "weights", "-s", corpus / "dev.ja"]
    words += ["--reference", corpus / "dev.en", "-o", tmp_path / "out", "--decoder", "cdec", "--cluster", "local:1"]
    done = run_lscfg(*words)
    assert done.returncode == 1 and "--cluster is for the embedded decoder" in done.stderr


def test_nobody_there_is_one_line(corpus, tmp_path):
    (tmp_path / "place.yaml").write_text("address: tcp://127.0.0.1:1\npatience: 1\n")
    done = run_lscfg("run", corpus / "e.toml", "-o", tmp_path / "out", "--cluster", tmp_path / "place.yaml")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].endswith(
        "no scheduler answers within 1 s; start it, and run again: finished work is kept"
    )
