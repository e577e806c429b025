"""A small world of good files, and commands that read them all."""

from __future__ import annotations

import itertools
import json
import shlex
from dataclasses import dataclass
from pathlib import Path

import pyarrow
from cases import run_case
from latent_system import INI, WEIGHTS
from pyarrow import parquet
from workbooks import workbook

from lscfg import demo

PAIRS = 60

MOSES = """[input-factors]
0
[mapping]
0 T 0
1 T 1
[inputtype]
3
[search-algorithm]
3
[feature]
UnknownWordPenalty
WordPenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=1 path=g.moses.gz input-factor=0 output-factor=0
PhraseDictionaryMemory name=TranslationModel1 num-features=1 path=glue.moses input-factor=0 output-factor=0
KENLM name=LM0 factor=0 path=lm.arpa order=2
LatentSCFG model=em.lscfg features=paper
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
TranslationModel0= 1
TranslationModel1= 1
LM0= 0.5
LatentSCFG0= 0.1 0.1 0.1
"""

EXPERIMENT = """[corpus]
source = "t.ja"
target = "t.en"
dev_source = "dev.ja"
dev_reference = "dev.en"
test_source = "dev.ja"
test_reference = ["dev.en"]
[alignment]
model = "fast-align"
[language_model]
order = 2
estimator = "lscfg"
discount_fallback = true
[tuning]
iterations = 1
kbest = 5
[systems.MIN]
[systems.LATENT]
estimator = "spectral"
m = 2
"""

TREES = """[X,1] [X,2] ||| [X,2] of [X,1]
  a [X,1] ||| [X,1] A
    b ||| B
  c ||| C

-

d ||| D
"""

MADE = """align t.ja t.en -o t.al --aligner fast-align --save aligner
derive t.ja t.en t.al -o t.deriv
grammar minimal t.deriv -o g.gz
grammar minimal t.deriv -o g.moses.gz --format moses
lm t.en -o lm.arpa --order 2 --discount-fallback --estimator lscfg
estimate em t.deriv -m 2 --iterations 2 -o plain.lscfg
context plain.lscfg t.ja --derivations t.deriv -o em.lscfg
estimate spectral t.deriv -m 2 -o sp.lscfg
estimate neural t.deriv --set hidden=32 -o neural.lscfg
estimate orientation t.deriv -o orientation.lscfg
inspect marginals sp.lscfg short -o forests.jsonl
decode -c cdec.ini -w weights short -k 5 -o short.kbest --derivations short.derivations
tune weights --config cdec.ini --source short --reference short.en --weights weights -o tuned --iterations 1
propagate phrases t.ja t.en t.al --mono-source dev.ja --mono-target dev.en --to-translate dev.ja -o phrases
propagate graph phrases -o graph --set neighbours=5
propagate rules phrases graph -o new.rules
prepare corpus raw.de raw.en --dev 4 --test 4 -o prepared --jobs 1
grammar biparsed t.ja t.en t.al --write lexicon=lexicon --write boundary=boundary --passes 1 -o biparsed.gz --jobs 1
moses convert -c cdec.ini -w weights -o converted
decode -c cdec.ini -w weights dev.ja -o A
decode -c cdec.ini -w other.weights dev.ja -o B"""
"""Commands that make the world, of files that are there already."""

ATTACKED = """align t.ja t.en -o out --aligner fast-align
align t.ja t.en -o out --model aligner
derive t.ja t.en t.al -o out
derive t.ja t.en t.al -o out --drop-bad
grammar minimal t.deriv -o out
grammar minimal t.deriv --format moses -o out
grammar hiero t.ja t.en t.al -o out
grammar hiero t.ja t.en t.al -o out --format index
lm t.en -o out --order 3 --discount-fallback --estimator lscfg
grammar phrases t.deriv -o out
grammar biparsed t.ja t.en t.al --passes 1 -o out --jobs 1
grammar biparsed t.ja t.en t.al --set lexicon=lexicon -o out --jobs 1
grammar sampled t.ja t.en t.al --filter short --sweeps 3 -o out
grammar sampled forests.jsonl --sweeps 3 --set base=pcfg -o out
quick many.tsv --plan -o folder --jobs 1
prepare corpus raw.de raw.en --dev-files new.de new.en --test 4 -o folder --jobs 1
prepare corpus raw.tsv --source-language de --target-language en --tokeniser none -o folder --jobs 1
prepare corpus raw.de raw.en --tokeniser words -o folder --jobs 1
prepare corpus raw.tmx --source-language de --target-language en -o folder --jobs 1
prepare corpus raw.parquet --source-language de --target-language en -o folder --jobs 1
prepare corpus raw.csv --source-language de --target-language en --set header=true -o folder --jobs 1
prepare corpus raw.jsonl --source-language de --target-language en --set encoding=utf-8 -o folder --jobs 1
prepare corpus raw.xliff --source-language de --target-language en -o folder --jobs 1
prepare corpus raw.xlsx --source-language de --target-language en -o folder --jobs 1
prepare corpus film.de.srt film.en.srt --source-language de --target-language en -o folder --jobs 1
prepare corpus raw.de raw.en --tokeniser spm --set vocabulary=40 -o folder --jobs 1
prepare apply prepared new.de
prepare apply prepared new.en --side target
prepare restore prepared new.en
init folder -s t.ja -t t.en --dev-set dev.ja dev.en --test-set dev.ja dev.en
init folder -s t.ja -t t.en --grammar g.gz --lm lm.arpa --model em.lscfg
init folder -s raw.de -t raw.en --raw
propagate phrases t.ja t.en t.al --mono-source dev.ja --mono-target dev.en --to-translate short -o out
propagate graph phrases -o out
propagate rules phrases graph -o out --gold g.gz
propagate states new.rules em.lscfg phrases graph -o out
estimate mle t.deriv -o out
estimate spectral t.deriv -m 2 -o out
estimate em t.deriv -m 2 --iterations 2 -o out
estimate em t.deriv -m 3 --iterations 1 --set init=split --set held_out=0.3 -o out
estimate mle t.deriv --boundary boundary -o out
context sp.lscfg t.ja --derivations t.deriv -o out
context sp.lscfg t.ja t.en t.al --derivations t.deriv --rules hiero -o out
context sp.lscfg t.ja --derivations t.deriv --more dev.ja --model joint --set k=2 -o out
context sp.lscfg t.ja --derivations t.deriv --model ls --set k=2 -o out
context sp.lscfg t.ja --derivations t.deriv --model cca --set k=2 --set m=2 -o out
context sp.lscfg t.ja --derivations t.deriv --model cca --set k=2 --set m=2 --set whiten=gcca -o out
context sp.lscfg t.ja --derivations t.deriv --model cca-mm --set k=2 --set m=2 -o out
context sp.lscfg t.ja --derivations t.deriv --model ls-online --set k=2 -o out
context sp.lscfg t.ja --derivations t.deriv --model mlp --set k=2 -o out
context sp.lscfg t.ja --derivations t.deriv --model mlr -o out
context sp.lscfg t.ja --derivations t.deriv --model sg --set dims=3 -o out
context sp.lscfg t.ja --derivations t.deriv --model softmax --set k=2 -o out
context sp.lscfg t.ja --derivations t.deriv --model residual --set k=2 -o out
context sp.lscfg t.ja --derivations t.deriv --model softmax --set vectors=vectors -o out
estimate clusters t.deriv -m 2 --iterations 1 -o out
estimate em-features t.deriv -m 2 --iterations 1 -o out
estimate neural t.deriv --set hidden=32 -o out
estimate mle t.deriv --neural neural.lscfg -o out
inspect marginals neural.lscfg short --set names=neural -o out
estimate orientation t.deriv -o out
estimate mle t.deriv --orientation orientation.lscfg -o out
inspect marginals orientation.lscfg short --set names=orientation -o out
inspect sentence em.lscfg "a b" --compare sp.lscfg
inspect sentence cdec.ini "a b" --why-not "A B" -w weights -o out
inspect sentence sp.lscfg "a b" --compare cdec.ini --format html -o out
inspect marginals sp.lscfg short -o out
inspect marginals em.lscfg short --set names=ratios,context -o out
inspect marginals sp.lscfg short --top 3 --min-marginal 1e-4 -o out
inspect marginals cdec.ini short -o out
inspect marginals sp.lscfg forests.jsonl --forests -o out
inspect sentence sp.lscfg "a b" --format svg -o out
inspect choices sp.lscfg --train t.deriv --held-out t.deriv
decode -c cdec.ini -w weights short -o out --derivations derivations
decode -c cdec.ini -w weights short -k 3 --jobs 2 -o out
decode -c cdec.ini -w weights short --cluster local:1 -o out
decode -c cdec.ini -w weights short --glossary terms.tsv -o out
decode -c cdec.ini -w weights short --corrections corrections -o out
pack -c cdec.ini -w weights -o packed
pack -c cdec.ini -w weights --prepare prepared -o packed
cdec pack -c cdec.ini -w weights --library plugin.so -o folder
tune margin t.ja t.en t.al --rules hiero -c plain.ini -w weights --passes 1 --set margin.folds=2 -o folder --jobs 1
tune weights --config cdec.ini --source short --reference short.en --weights weights -o folder --optimiser pro
tune weights --config cdec.ini --source short --reference short.en --weights weights -o folder --optimiser mert
tune weights --config cdec.ini --source short --reference short.en --weights weights -o folder --optimiser forest-mert
tune weights --config cdec.ini --source short --reference short.en --weights weights -o folder --optimiser risk
tune weights --config cdec.ini --source short --reference short.en --weights weights -o folder --optimiser forest-risk
tune weights --config cdec.ini --source short --reference short.en --weights weights -o folder --iterations 1
rescore short.kbest --scores A=short.scores -w weights --reference short.en --tuned out
rescore short.kbest --network neural.lscfg --derivations short.derivations -w weights -o out
rescore short.kbest --mbr bleu -o out
rescore short.kbest short.kbest --mbr chrf -o out
evaluate scores --reference dev.en --baseline A A=A B=B --samples 50
evaluate scores --reference dev.en --baseline A --metrics chrf --source dev.ja --sentence-table out A=A B=B --samples 9
evaluate scores --reference dev.en --baseline A --metrics ribes,meteor-es A=A B=B --samples 9
evaluate oracle -s dev.ja --reference dev.en A=cdec.ini B=g.gz
evaluate confidence cdec.ini t.ja t.en -w weights -o out
evaluate corrections cdec.ini corrections t.ja t.en -w weights -o out
inspect corrections corrections
inspect corrections corrections . --format jsonl
inspect model sp.lscfg
inspect model em.lscfg
inspect corrections corrections . --format jsonl
inspect derivations t.deriv
inspect derivations my.trees --tree 1 --format svg
inspect grammar g.gz
estimate em my.trees -m 2 --iterations 1 -o out
compress sp.lscfg --cp 2 -o out
moses convert -c cdec.ini -w weights -o folder
moses weights converted/moses.ini -c cdec.ini -o out
run little.toml -o folder --plan
run little.toml -o folder"""
"""Commands with a good file in the place of each word that names one."""


NOT_ATTACKED = {
    "lscfg demo": "reads no file",
    "lscfg serve": "waits for requests; the row service sends bad ones",
    "lscfg cdec build": "needs cdec's source tree",
    "lscfg cdec check": "needs cdec; the row plugin calls the plug-in",
    "lscfg cdec decode": "needs cdec",
    "lscfg cdec forest": "needs cdec and a plug-in",
    "lscfg moses build": "needs Moses' source tree",
    "lscfg moses check": "needs Moses with the feature; the row plugin calls the plug-in",
}
"""Commands without a line above, and why."""

NAMED = {
    "cdec.ini": ("g.gz", "lm.arpa", "em.lscfg"),
    "plain.ini": ("g.gz", "lm.arpa"),
    "little.toml": ("t.ja", "t.en", "dev.ja", "dev.en"),
    "corrections": ("corrections/corrections.jsonl",),
    "prepared": ("prepared/prepare.json", "prepared/truecase.de", "prepared/truecase.en"),
}
"""Files that a word of a command leads to."""


TENSORS = ("phrases", "graph", "aligner", "boundary")
"""Files of arrays without an ending that says so."""


@dataclass(frozen=True)
class Attack:
    """A command and the words of it that name files."""

    words: tuple[str, ...]
    files: tuple[int, ...]


def make_world(folder: Path) -> None:
    """Makes the files of all commands.

    Raises:
        RuntimeError: a command that should make one does not.
    """
    corpus = demo.generate(seed=1, train=PAIRS, dev=12, test=3)
    for name, pairs in (("t", corpus.train), ("dev", corpus.dev)):
        for side, language in enumerate(("ja", "en")):
            (folder / f"{name}.{language}").write_text("".join(pair[side] + "\n" for pair in pairs), "utf-8")
    short = sorted(corpus.train, key=lambda pair: len(pair[0]))[:4]
    (folder / "short").write_text("".join(pair[0] + "\n" for pair in short), "utf-8")
    (folder / "short.en").write_text("".join(pair[1] + "\n" for pair in short), "utf-8")
    _make_raw(folder)
    source, target = corpus.train[0]
    (folder / "terms.tsv").write_text(f"source\ttarget\tmode\n{source.split()[0]}\tgiven | offered\thard\n", "utf-8")
    (folder / "corrections").mkdir()
    correction = {"id": 1, "source": source, "target": target, "links": [[0, 0]]}
    (folder / "corrections" / "corrections.jsonl").write_text(json.dumps(correction) + "\n", "utf-8")
    plain = "".join(line for line in INI.splitlines(keepends=True) if "LSCFG" not in line)
    (folder / "plain.ini").write_text(plain, "utf-8")
    words = sorted({word for source, _ in corpus.train for word in source.split()})
    vectors = "".join(f"{word} {k % 5 - 2} {k % 3 / 2}\n" for k, word in enumerate(words))
    (folder / "vectors").write_text(vectors, "utf-8")
    (folder / "plugin.so").write_bytes(b"named, not read")
    texts = {"cdec.ini": INI, "moses.ini": MOSES, "weights": WEIGHTS, "other.weights": WEIGHTS.replace("-1", "-2")}
    for name, text in (texts | {"little.toml": EXPERIMENT, "my.trees": TREES}).items():
        (folder / name).write_text(text, "utf-8")
    for line in MADE.splitlines():
        done = run_case(shlex.split(line), folder)
        if done.verdict != "accepted":
            raise RuntimeError(f"lscfg {line}: {done.verdict}: {done.detail}")
    hypotheses = (folder / "short.kbest").read_bytes().count(b"\n")
    (folder / "short.scores").write_text("".join(f"{k / 4}\n" for k in range(hypotheses)), "utf-8")


def _make_raw(folder: Path) -> None:
    """Writes raw text in all formats: pairs of German and English, all different."""
    nouns, verbs = ("Hund", "Mann", "Baum", "Vogel", "Fluss"), ("sieht", "kennt", "sucht", "findet")
    pairs = [
        (f"Der {one} {verb} den {other} Nr. {k} .", f"The {one.lower()} {verb[::-1]} the {other.lower()} no. {k} .")
        for k, (one, verb, other) in enumerate(itertools.product(nouns, verbs, nouns[:2]))
    ]
    for side, language in enumerate(("de", "en")):
        (folder / f"raw.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs), "utf-8")
        (folder / f"new.{language}").write_text("".join(f"{pair[side]}!\n" for pair in pairs[:5]), "utf-8")
    (folder / "raw.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs), "utf-8")
    many = "".join(f"{one[:-1]}{k} .\t{other[:-1]}{k} .\n" for k in range(6) for one, other in pairs)
    (folder / "many.tsv").write_text(many, "utf-8")
    units = "".join(
        f'<tu><tuv xml:lang="de"><seg>{one}</seg></tuv><tuv xml:lang="en"><seg>{other}</seg></tuv></tu>\n'
        for one, other in pairs
    )
    rows = "".join(f'"{one}";"{other}"\r\n' for one, other in pairs)
    (folder / "raw.csv").write_text(f"\ufeffDeutsch;Englisch\r\n{rows}", "utf-8")
    objects = ({"translation": {"de": one, "en": other}} for one, other in pairs)
    (folder / "raw.jsonl").write_text("".join(json.dumps(row) + "\n" for row in objects), "utf-8")
    segments = "".join(
        f"<trans-unit><source>{one}</source><target>{other}</target></trans-unit>\n" for one, other in pairs
    )
    head = '<xliff version="1.2"><file source-language="de" target-language="en"><body>\n'
    (folder / "raw.xliff").write_text(f"{head}{segments}</body></file></xliff>\n", "utf-8")
    (folder / "raw.xlsx").write_bytes(workbook(pairs))
    for side, language in enumerate(("de", "en")):
        cues = (
            f"{k}\n00:{k // 60:02}:{k % 60:02},100 --> 00:{k // 60:02}:{k % 60:02},900\n{pair[side]}\n\n"
            for k, pair in enumerate(pairs, 1)
        )
        (folder / f"film.{language}.srt").write_text("".join(cues), "utf-8")
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="de"/><body>\n'
    (folder / "raw.tmx").write_text(f"{head}{units}</body></tmx>\n", "utf-8")
    table = pyarrow.table({language: [pair[side] for pair in pairs] for side, language in enumerate(("de", "en"))})
    parquet.write_table(table, folder / "raw.parquet")


def attacks(folder: Path) -> list[Attack]:
    """All commands; a file of the world is what is not an option's value to be made."""
    found = []
    for line in ATTACKED.splitlines():
        words = tuple(shlex.split(line))
        named = (k for k, word in enumerate(words[1:], 1) if words[k - 1] not in ("-o", "--baseline") and word != "A")
        found.append(Attack(words, tuple(k for k in named if (folder / file_of(words[k])).is_file())))
    return found


def file_of(word: str) -> str:
    """The file that a word of a command names."""
    return word.partition("=")[2] or word
