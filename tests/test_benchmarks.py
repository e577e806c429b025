"""Runs of benchmarks are kept, shown and compared; every benchmark keeps its runs and can be started."""

import ast
import importlib.util
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
PROGRAMS = sorted(path for path in FOLDER.glob("*.py") if path.stem != "runs")


@pytest.fixture(scope="module")
def runs():
    spec = importlib.util.spec_from_file_location("runs", FOLDER / "runs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(runs, folder, seconds, *options):
    parser = runs.parser("doc")
    parser.add_argument("--m", type=int, default=8)
    run = runs.Run(parser.parse_args(["--runs", str(folder), *options]), "em")
    run.table("an iteration", ["m", "what", "best s", "ratio"])
    run.row(8, "trees", seconds, 1 / seconds)
    run.row(16, "trees", 2.0, 0.5)
    run.save()


def test_a_run_is_kept_and_shown(runs, tmp_path, capsys, monkeypatch):
    measured(runs, tmp_path, 1.25)
    out = capsys.readouterr().out
    assert "| 8 | trees | 1.250 | 0.8000 |" in out
    (path,) = (tmp_path / "em").glob("*.json")
    facts = json.loads(path.read_text(encoding="utf-8"))
    assert facts["tables"]["an iteration"]["rows"] == [[8, "trees", 1.25, 0.8], [16, "trees", 2.0, 0.5]]
    assert facts["machine"]["cores"] >= 1 and facts["arguments"] == {"m": 8}
    monkeypatch.setattr(sys, "argv", ["runs.py", "em", "--runs", str(tmp_path)])
    runs.main()
    assert "| 16 | trees | 2.000 | 0.5000 |" in capsys.readouterr().out


@pytest.mark.parametrize(("seconds", "fails"), [(1.0, False), (1.09, False), (1.12, True)])
def test_a_slower_run_fails(runs, tmp_path, seconds, fails):
    measured(runs, tmp_path, 1.0)
    next((tmp_path / "em").glob("*.json")).rename(tmp_path / "em" / "2020.json")
    if fails:
        with pytest.raises(SystemExit, match=r"an iteration, 8, trees, best s: 1.000 before, now 1.120 \(\+12 %\)"):
            measured(runs, tmp_path, seconds, "--fail-above", "10")
    else:
        measured(runs, tmp_path, seconds, "--fail-above", "10")


def test_runs_of_one_second_are_kept_in_order(runs, tmp_path):
    paths = [runs.write_new(tmp_path, "2020", json.dumps({"run": k})) for k in range(3)]
    assert len(set(paths)) == 3
    assert [one["run"] for one in runs.load(tmp_path)] == [0, 1, 2]


def test_other_arguments_are_not_compared(runs, tmp_path):
    measured(runs, tmp_path, 1.0)
    measured(runs, tmp_path, 9.0, "--fail-above", "10", "--m", "9")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_benchmark_keeps_its_runs(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert "runs.parser" in called and any(name.endswith("un.save") or name == "made.save" for name in called)


@pytest.mark.parametrize(
    ("argument", "kept"),
    [
        ("/data/tree", "tree"),
        ("/tmp/some/aligner", "aligner"),
        ("/home/a/data/ja-en/train.ja", "ja-en/train.ja"),
        (["/x/y/z", "ratios,context"], ["z", "ratios,context"]),
        (3, 3),
    ],
)
def test_arguments_name_no_folder_of_the_machine(runs, argument, kept):
    assert runs.without_folders(argument) == kept


@pytest.mark.parametrize(
    ("title", "cost"),
    [
        *(
            (title, True)
            for title in ("CPU s of a sweep", "MiB", "s, mean", "ms per sentence", "load (s)", "made in s")
        ),
        *((title, False) for title in ("nodes per CPU s", "sd of CPU s", "words a second", "MiB/s", "cdec's better")),
    ],
)
def test_less_is_better_in_columns_of_times_and_memory(runs, title, cost):
    assert bool(runs.COST.match(title)) == cost


def test_rows_with_other_numbers_of_requests_are_compared(runs):
    def made(requests, seconds):
        columns = ["request", "clients", "requests", "p50 ms"]
        return {"tables": {"latency": {"columns": columns, "rows": [["plain", 2, requests, seconds]]}}}

    assert runs.slower(made(310, 1.0), made(250, 2.0), 10) == [
        "latency, plain, 2, p50 ms: 1.000 before, now 2.000 (+100 %)"
    ]


def test_a_run_without_git_names_no_commit(runs, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert runs.revision() == ""
