"""Rules of a grammar by their nonterminals."""

import gzip

import pytest

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.study.rule_types import TYPES, rule_types

GRAMMAR = """\
[X] ||| a b ||| A ||| F=1
[X] ||| a ||| A B C
[X] ||| a [X,1] ||| [X,1] A B ||| F=1
[X] ||| [X,1] a [X,2] b ||| [X,1] A [X,2]
[X] ||| [X,1] a [X,2] ||| [X,2] A [X,1]
[X] ||| a [X,1] b [X,2] ||| [X,2] [X,1]
[S] ||| [X,1] ||| [X,1]
[S] ||| [S,1] [X,2] ||| [S,1] [X,2]
"""


@pytest.mark.parametrize("zipped", [False, True])
def test_types_and_words_are_counted(tmp_path, zipped):
    path = tmp_path / ("g.gz" if zipped else "g")
    path.write_bytes(gzip.compress(GRAMMAR.encode()) if zipped else GRAMMAR.encode())
    assert rule_types(path).tolist() == [[2, 3, 4], [1, 1, 2], [1, 2, 1], [2, 3, 1], [0, 0, 0]]


def test_rules_of_more_nonterminals_are_a_type(tmp_path, capsys):
    (tmp_path / "g").write_text(GRAMMAR + "[X] ||| [X,1] a [X,2] b [X,3] ||| [X,3] [X,1] A [X,2]\n")
    assert rule_types(tmp_path / "g")[len(TYPES) - 1].tolist() == [1, 2, 1]
    assert main(["inspect", "grammar", str(tmp_path / "g")]) == 0
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert cells[1] == ["phrase", "2", "28.6 %", "1.50", "2.00"]
    assert cells[-2:] == [["more", "1", "14.3 %", "2.00", "1.00"], ["all types", "7", "100.0 %", "1.57", "1.29"]]


def test_files_without_rules_are_refused(tmp_path, capsys):
    (tmp_path / "s").write_text("[S] ||| [X,1] ||| [X,1]\n")
    with pytest.raises(InputError, match=r"s: no rule of a category other"):
        rule_types(tmp_path / "s")
    (tmp_path / "bad").write_text("a b c\n")
    assert main(["inspect", "grammar", str(tmp_path / "bad")]) == 1
    told = capsys.readouterr().err
    assert "bad:1: " in told and len(told.strip().splitlines()) == 1
