"""Configurations with a pass more for the recorder; no cdec is needed."""

import pytest

from lscfg.cdec_bridge.forests import binary_inputs, recording
from lscfg.cli import main
from lscfg.errors import InputError


@pytest.mark.parametrize(
    ("lines", "key"),
    [
        ([], "feature_function"),
        (["weights=w", "cubepruning_pop_limit2=30"], "feature_function"),
        (["feature_function=WordPenalty", "feature_function = WordPenalty", "#weights2=w"], "feature_function2"),
        (["beam_prune=2", "weights2=w"], "feature_function3"),
        (["density_prune=2", "feature_function3=WordPenalty"], "feature_function2"),
    ],
)
def test_the_recorder_is_behind_all_passes(lines, key):
    assert recording(lines, "External x") == [*lines, f"{key}=External x"]


def test_no_pass_is_left():
    with pytest.raises(InputError, match="all 3 passes of cdec are in use"):
        recording([f"feature_function{n}=WordPenalty" for n in ("", "2", "3")], "External x")


def test_inputs_of_binary_files(tmp_path):
    with pytest.raises(InputError, match=r"no forests N\.bin\.gz"):
        binary_inputs(tmp_path)
    for name in ("10.bin.gz", "2.bin.gz", "x.bin.gz", "1x.bin.gz", "1.json.gz"):
        (tmp_path / name).touch()
    assert binary_inputs(tmp_path) == [f"::forest:: {n}.bin.gz" if n in (2, 10) else "" for n in range(11)]


@pytest.mark.parametrize("given", [[], ["text"], ["-c", "ini"], ["text", "--read", "."], ["-c", "ini", "--read", "."]])
def test_either_text_or_files(given, capsys):
    assert main(["cdec", "forest", *given]) == 1
    assert "give either TEXT and -c INI, or --read DIR" in capsys.readouterr().err


def test_no_library(tmp_path, capsys):
    (tmp_path / "cdec").write_text("#!/bin/sh\n")
    (tmp_path / "cdec").chmod(0o755)
    (tmp_path / "0.bin.gz").touch()
    argv = ["cdec", "forest", "--cdec-root", str(tmp_path), "--read", str(tmp_path), "--library", "none"]
    assert main(argv) == 1
    assert "none: no such file; make it with lscfg cdec build" in capsys.readouterr().err
