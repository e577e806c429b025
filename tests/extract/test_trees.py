"""Trees as text: what is written is read, and what is no tree is refused with its line."""

import gzip

import numpy as np
import pytest

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations, derive
from lscfg.kernel import DeriveOptions

TEXT = """\
[X,1] [X,2] ||| [X,2] of [X,1]
  [X] ||| a [X,1] ||| [X,1] A
    b ||| B
c |||

-
d ||| D ||| no
"""


def random_corpus(n, seed, longest=9):
    """Pairs of words with random links, dropped ones among them."""
    rng = np.random.default_rng(seed)
    src, tgt, links = [], [], []
    for _ in range(n):
        i, j = rng.integers(1, longest, 2).tolist()
        src.append(" ".join(rng.choice(list("abcde"), i)))
        tgt.append(" ".join(rng.choice(list("ABCDE"), j)))
        some = {(int(rng.integers(i)), int(rng.integers(j))) for _ in range(rng.integers(1, 2 * i + 1))}
        links.append(" ".join(f"{a}-{b}" for a, b in sorted(some)))
    return src, tgt, links


@pytest.mark.parametrize("options", [DeriveOptions(), DeriveOptions(max_words=5)])
def test_trees_are_read_as_they_are_written(tmp_path, options):
    made = derive(*random_corpus(300, 1), options=options)
    made.write_text(tmp_path / "x.trees.gz")
    read = Derivations.load(tmp_path / "x.trees.gz")
    read.kernel.check()
    read.rules.check_distinct()
    assert list(read.text_lines()) == list(made.text_lines()) and len(read) == 300
    for name in ("trees", "parent", "slot", "span"):
        np.testing.assert_array_equal(getattr(read, name), getattr(made, name), name)
    texts = [[one.rules.text(rule) for rule in one.rule.tolist()] for one in (made, read)]
    assert texts[0] == texts[1]
    assert sum(read.dropped.values()) == sum(made.dropped.values())
    read.save(tmp_path / "x.deriv")
    assert list(Derivations.load(tmp_path / "x.deriv").text_lines()) == list(made.text_lines())


@pytest.mark.parametrize("name", ["x.trees", "x.trees.gz"])
def test_only_trees_as_text_have_their_ending(tmp_path, name):
    with pytest.raises(InputError, match=f"{name}: only trees as text may end in .trees; choose another name"):
        derive(["a"], ["A"], ["0-0"]).save(tmp_path / name)
    assert not [*tmp_path.iterdir()]


def test_too_many_categories_are_refused_where_they_occur(tmp_path):
    (tmp_path / "x.trees").write_text("\n\n".join(f"[C{k}] ||| a ||| a" for k in range(1025)))
    with pytest.raises(InputError, match=r"trees:2049: 1025 categories; 1 to 1024 are possible"):
        Derivations.load(tmp_path / "x.trees")


def test_other_programs_may_write_in_their_way(tmp_path):
    path = tmp_path / "x.trees"
    path.write_text(TEXT.rsplit("\n", 2)[0] + "\n\n\nd ||| D D")
    read = Derivations.load(path)
    read.kernel.check()
    assert np.diff(read.trees).tolist() == [4, 0, 1] and read.dropped == {"no tree": 1}
    assert read.rules.text(0) == "[X] ||| [X,1] [X,2] ||| [X,2] of [X,1]" and read.rules.text(3) == "[X] ||| c ||| "
    assert read.span.tolist() == [[0, 3, 0, 3], [0, 2, 1, 3], [1, 2, 1, 2], [2, 3, 0, 0], [0, 1, 0, 2]]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "the file contains no tree"),
        ("-\n", None, "the file contains no tree"),
        ("a\n", 1, "not a rule: 'a'; write SOURCE"),
        (TEXT, 7, "not a rule"),
        ("a ||| A\nb ||| B\n", 2, "insert an empty line between trees"),
        ("a [X,1] ||| [X,1]\n\n", 2, r"the tree ends, but 1 of its nodes are missing, first child 1 of 'a \[X,1\]"),
        ("[X,1] [X,2] ||| [X,1] [X,2]\na ||| A", 2, "first child 2"),
        ("a [X,1] ||| [X,1]\n-\n", 2, "marks a pair without a tree"),
        ("[X,2] [X,1] ||| [X,1] [X,2]\n", 1, "in this order"),
        ("a [X,1] ||| A\n", 1, "each nonterminal of the source side once"),
        ("a [X,1] ||| [X,1] [X,1]\n", 1, "each nonterminal"),
        ("[X,1] ||| A [X,1]\n", 1, "needs a word, or two nonterminals"),
        ("||| A\n", 1, "needs a word"),
        ("a\x07 ||| A\n", 1, r":1: control character U\+0007"),
        ("a\u3000b ||| A\n", 1, r":1: .*U\+3000"),
        ("a ||| A\u00a0B\n", 1, r":1: .*U\+00A0"),
        ("a [S] ||| A\n", 1, r":1: the word '\[S\]' is reserved"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path, text, line, message):
    path = tmp_path / "x.trees"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        Derivations.load(path)
    assert caught.value.path == str(path) or caught.value.path == path
    assert caught.value.line == line


def test_deep_trees_are_read(tmp_path):
    path = tmp_path / "x.trees"
    path.write_text("a [X,1] ||| [X,1] A\n" * 50_000 + "b ||| B\n")
    read = Derivations.load(path)
    read.kernel.check()
    assert read.span[0].tolist() == [0, 50_001, 0, 50_001] and read.span[-1].tolist() == [50_000, 50_001, 0, 1]


def test_commands_take_trees(tmp_path, capsys):
    with gzip.open(tmp_path / "x.trees.gz", "wt") as file:
        file.writelines(f"{line}\n" for line in derive(*random_corpus(50, 2)).text_lines())
    assert main(["estimate", "em", str(tmp_path / "x.trees.gz"), "--quiet", "-m", "2", "-o", str(tmp_path / "m")]) == 0
    assert main(["inspect", "derivations", str(tmp_path / "x.trees.gz"), "--top", "1"]) == 0
    assert "most frequent rules" in capsys.readouterr().out
    assert main(["inspect", "derivations", str(tmp_path / "x.trees.gz"), "--tree", "all"]) == 0
    shown = capsys.readouterr().out
    assert shown == gzip.decompress((tmp_path / "x.trees.gz").read_bytes()).decode()
    assert main(["inspect", "derivations", str(tmp_path / "m"), "--tree", "all"]) == 1
    assert "a model file; use lscfg inspect model" in capsys.readouterr().err
