"""Words with a meaning in some file format, through every command that writes a file which another command reads."""

import random

import pytest
from commands_here import run_here
from latent_system import INI, WEIGHTS

from lscfg.corpus.parallel import plain_fault
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.kernel import words_fault

WORDS = r"""
<NULL> <null> \<NULL> NULL UNK UNUSED_WORD <s> </s> <S> <unk> <UNK> <eps> <pad> <seg> </seg> ||| || | |||| [X] [X,1] [S]
[X,1][X,2] [] [ ] [X [NP,12] ((( (()) ((('a',1,1))) # ## % & &amp; &vert; &lbrack; &lt;s> &quot; " ' '' \ \\ \n \data\
\1-grams: \end\ ngram - -- -1 0 0-0 1.0 nan inf = A=1 : ; , / * + _ $ @@ @-@ a@@ ~ ^ ` ! ? . X X,1 N/A None null true {}
{"a":1} PassThrough LanguageModel -99 1e5 <a> <br/> 日本 é ￭
"""
ODD = [*WORDS.split(), "a\u200cb"]
REFUSED = {"|||", "[X]", "[X,1]", "[S]", "[X,1][X,2]", "[NP,12]", "((('a',1,1)))", "<seg>"}
"""Words that readers of text refuse."""

RESERVED = {"<s>", "</s>", "<unk>", "<UNK>"}
"""Words that language models refuse."""

STEPS = """align SRC TGT -o al --aligner fast-align --save aligner
align SRC TGT -o again --model aligner
derive SRC TGT al -o deriv
inspect derivations deriv
grammar minimal deriv -o g.gz
grammar minimal deriv -o g.moses --format moses
inspect grammar g.gz
grammar hiero SRC TGT al -o hiero.gz
grammar sampled SRC TGT al --set sweeps=2 -o sampled.gz
grammar biparsed SRC TGT al --write lexicon=lexicon
grammar biparsed SRC TGT al --set lexicon=lexicon -o biparsed.gz
lm TGT -o lm.arpa --order 2 --discount-fallback --estimator lscfg
estimate em deriv -m 2 --iterations 1 -o plain.lscfg
context plain.lscfg SRC --derivations deriv -o em.lscfg
estimate spectral deriv -m 2 -o sp.lscfg
compress sp.lscfg --cp 2 -o cp.lscfg
grammar minimal deriv --per-sentence segments --filter short
decode -c cdec.ini -w weights short -k 5 -o kbest
rescore kbest --mbr bleu -o mbr
evaluate scores --reference short.tgt A=mbr
tune weights --config cdec.ini --source short --reference short.tgt --weights weights -o tuned --iterations 1
inspect marginals sp.lscfg short -o forests.jsonl
inspect marginals sp.lscfg forests.jsonl --forests -o marginals
propagate phrases SRC TGT al --mono-source SRC --mono-target TGT -o phrases
propagate graph phrases -o graph --set neighbours=5
propagate rules phrases graph -o rules
propagate states rules em.lscfg phrases graph -o more.lscfg
pack -c cdec.ini -w weights -o bundle
moses convert -c cdec.ini -w weights -o moses""".splitlines()


def pairs_of(words, copies=2):
    """Each odd word in a few sentences, at the beginning, inside and at the end."""
    rng, sides = random.Random(1), (["der", "hund", "katze", "sieht"], ["the", "dog", "cat", "sees"])
    for word in words:
        for _ in range(copies):
            picked, at = rng.choices(range(4), k=3), rng.randrange(4)
            source = [sides[0][k] for k in picked]
            target = [sides[1][k] + rng.choice(["", "s"]) for k in picked]
            source.insert(at, word)
            target.insert(at, word)
            yield " ".join(source), " ".join(target)


def written(folder, pairs):
    for name, side in zip(("raw.de", "raw.en"), zip(*pairs, strict=True), strict=True):
        write_lines(folder / name, side)


def steps(folder, source, target):
    """The command lines that fail, with their messages."""
    (folder / "cdec.ini").write_text(INI)
    (folder / "weights").write_text(WEIGHTS)
    for name, path in (("short", source), ("short.tgt", target)):
        write_lines(folder / name, read_lines(folder / path)[:30])
    for line in STEPS:
        run = run_here(*line.replace("SRC", source).replace("TGT", target).split(), cwd=folder)
        if run.returncode:
            yield line, run.stderr.splitlines()[-1]


def test_prepared_text_passes_every_command(tmp_path):
    written(tmp_path, pairs := list(pairs_of(ODD)))
    made = run_here(
        *(
            "prepare",
            "corpus",
            "raw.de",
            "raw.en",
            "--tokeniser",
            "none",
            "--set",
            "casing=none",
            "--set",
            "unicode=none",
            "-o",
            "made",
        ),
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stderr
    assert list(steps(tmp_path, "made/train.de", "made/train.en")) == []
    restored = run_here("prepare", "restore", "made", "made/train.en", cwd=tmp_path)
    assert restored.stdout.splitlines() == list(dict.fromkeys(target for _, target in pairs))


def test_words_are_refused_at_the_door_or_pass_every_command(tmp_path):
    assert {word for word in ODD if words_fault(word) or plain_fault(word)} == REFUSED
    for word in sorted(REFUSED):
        written(tmp_path, [(f"{word} a", "b")])
        (tmp_path / "al").write_text("1-0\n")
        for line in ("align raw.de raw.en -o out --aligner fast-align", "derive raw.de raw.en al -o out"):
            refused = run_here(*line.split(), cwd=tmp_path)
            if not plain_fault(word):
                assert refused.returncode == 1 and "raw.de:1: " in refused.stderr, word
    written(tmp_path, pairs_of([word for word in ODD if word not in REFUSED | RESERVED | {"</seg>"}]))
    assert list(steps(tmp_path, "raw.de", "raw.en")) == []


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_words_of_language_models_are_refused(tmp_path, word):
    written(tmp_path, [(f"a {word}", f"b {word}")])
    run = run_here("lm", "raw.en", "-o", "lm", "--order", "2", "--discount-fallback", cwd=tmp_path)
    assert run.returncode == 1
    assert (
        f"raw.en:1: word {word} is reserved by the language model; replace it in the text, as lscfg prep" in run.stderr
    )
