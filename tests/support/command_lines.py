"""Lines of every command with all of its options, none of which has its default."""

from __future__ import annotations

import shlex

from estimates import LOW_DIMENSIONAL
from other_settings import option_words, other_values
from prepare_words import APPLY, PREPARATIONS, RESTORE, prepare_words
from serve_words import SERVE_LINES

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.corpus.aligner import ALIGNERS
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS
from lscfg.settings import settings_of
from lscfg.tuning.margin.settings import MarginSettings
from lscfg.tuning.optimisers import OPTIMISERS
from lscfg.tuning.tune import TuneSettings

LINES = {
    "prepare apply": APPLY,
    "prepare restore": RESTORE,
    "align with a saved aligner": "align f e -o out.{heuristic} --heuristic union,grow-diag --model model --jobs 97",
    "derive": "derive f e a1 a2 -o out --max-arity 1 --binarise --bracketing right --max-words 7 --jobs 97",
    "derive the good": "derive f e a1 -o out --drop-bad --forests",
    "grammar": "grammar --hiero f e a1 a2 -o out --filter text --format moses --max-targets 7 --jobs 97 "
    "--max-phrase 6 --max-target-phrase 8 --max-symbols 4 --max-arity 1",
    "grammars": "grammar deriv --per-sentence folder --filter text --sizes --max-targets 7 --jobs 97",
    "grammar in little memory": "grammar --hiero f e a1 -o out --max-phrase 6 --max-targets 7 --memory 2 --jobs 97",
    "grammar of rules seen twice": "grammar --hiero f e a1 -o out --no-singletons",
    "grammar of more rules": "grammar --hiero f e a1 -o out --loose --min-hole 2",
    "grammar of phrases": "grammar deriv --phrases 3 -o out",
    "induce sample": "induce sample f e a1 a2 -o out --filter text --max-targets 7 --trace library --process dp "
    "--alpha 2 --discount 0.25 --mean-length 3 --max-cut 6 --max-words 50 --sweeps 20 --sample last --keep-every 2 "
    "--burn-in 4 --level-sweeps 2 --start-temperature 5 --chains 2 --seed 3 --rule-filter scope --max-phrase 8 "
    "--max-symbols 4 --multiplicity corrected --moves tree --checkpoint folder --resume --jobs 97",
    "induce biparse": "induce biparse f e a1 a2 -o out --filter text --max-targets 7 --trace library --best-links a3 "
    "--likely-links a4 --derivations other --checkpoint folder --resume --passes 3 --rate 0.5 --decay 0.75 "
    "--prior visit --strength 2 --lexical-rate 0.25 --no-rule-weights --no-leave-one-out --counts learned --folds 2 "
    "--held-out-share 0.25 --no-adagrad --batch 8 --rule-cache 9 --seed 3 --pops 31 --pops-per cube --nodes 11 "
    "--word-items 12 --retries 1 --beam 2 --future whole --root strict --max-target 9 --neighbours 13 --max-words 50 "
    "--links-share 0.5 --model1-iterations 3 --boundary-model a2 --shards 2 --lexicon e2 --jobs 97",
    "induce lexicon": "induce lexicon f e a1 a2 -o out --links-share 0.5 --model1-iterations 3 --max-words 50",
    "induce sample exactly": "induce sample f e a1 a2 -o out --tables exact --resample --length geometric "
    "--base uniform --offtree informed --start minimal --alignments chosen --shards 3 --held-out f e a1 "
    "--derivations library --start-from text",
    "induce sample with states": "induce sample f e a1 -o out --hidden-states 2",
    "induce phrases": "induce phrases f e a1 a2 --mono-source f text --mono-target e --to-translate text "
    "--wanted library -o out --lengths 1,3 --min-count 4 --mono-share 0.5 --target-words 2 --min-target 5 --window 6 "
    "--frequent-words 7 --jobs 97",
    "induce graph": "induce graph one -o out --neighbours 7 --weighting ppmi --one-way --space svd --rank 9 "
    "--approximate --source-vectors text --jobs 97",
    "induce propagate": "induce propagate one two -o out --nbest a1 --gold text --statistics library --method lp "
    "--shares graph --solver sweeps --candidates neighbours,decoder --list-order lex --list-size 7 "
    "--ranking propagated --target-neighbours 8 --sweeps 9 --max-targets 3 --min-probability 0.25 "
    "--source-stemmer german --target-stemmer english --source-stems f --target-stems e "
    "--target-vectors e2 --coverage text --examples other "
    "--jobs 97",
    "induce states": "induce states text model one two -o out",
    "lm": "lm text -o out --order 2 --prune 0 1 --discount-fallback --estimator lscfg --memory 0.5",
    "marginals": "marginals model text -o out --features LatentSpan,LatentTarget --raw --floor 0.01 --negative clamp "
    "--jobs 97 --top 7 --min-marginal 0.25",
    "marginals of forests": "marginals cdec.ini text --forests",
    "marginals as grammars": "marginals cdec.ini text --per-sentence-grammars folder",
    "explain": "explain model 'a b' --beside cdec.ini --choices 7 --least 0.5 --format json -o out",
    "heatmap": "heatmap A=one cdec.ini --text text -o folder --sentences 2,1 --jobs 97",
    "diagnose": "diagnose one two --train deriv --held-out dev -o out --max-targets 7 --floor 0.01 --negative clamp "
    "--differences 3 --forests",
    "mrr": "mrr one two --train deriv --held-out dev --lm text -o out --trivial --max-words 3 --max-targets 7 "
    "--min-count 4",
    "mrr as in the thesis": "mrr one --train deriv --protocol thesis --leave-out 0.25",
    "decode": "decode text -c cdec.ini -w weights -o out -k 5 --unique --jobs 97 --derivations other",
    **SERVE_LINES,
    "inspect a model": "inspect model --rules 3",
    "inspect a rule": "inspect model --rule 'a ||| b'",
    "inspect rules nearby": "inspect model --nearest 'a ||| b' --rules 3",
    "inspect states": "inspect model --states --rules 3",
    "inspect a tree": "inspect deriv --tree 4",
    "inspect a grammar": "inspect text --rule-types",
    "inspect all trees": "inspect deriv --trees",
    "compress": "compress model -o out --cp 4 --tolerance 0.25 --jobs 97",
    "simulate": "simulate -o folder --pairs 50 --seed 6 -m 5 --lexical 7 --unary 8 --binary 9 --concentration 0.5",
    "simulate a model": "simulate -o folder --model model --pairs 50 --seed 6",
    "tune": "tune --config cdec.ini --source f --reference e --reference e2 --weights weights -o folder "
    "--optimiser pro --decoder cdec --jobs 97 --resume",
    "tune with a host": "tune --config cdec.ini --source f --reference e --weights weights -o folder --with moses-mert "
    "--kbest 7",
    "rescore": "rescore text --scores A=e --scores B=f -w weights -o out -k 5 --unique --mbr chrf --scale 0.5 "
    "--tuned other --reference e2 --optimiser pro --seed 70",
    "evaluate": "evaluate A=e B=e2 --reference f --reference text --baseline A --metrics ter,chrf --samples 50 "
    "--trials 60 --seed 70 -o out --source a1 --comet model --differences 3 --sentence-table table",
    "evaluate runs": "evaluate A=e A=e2 --reference f --baseline A --samples 50 --trials 60 --seed 70",
    "oracle": "oracle A=text B=cdec.ini --source f --reference e --reference e2 --pops 50 --keep 7 -o out --jobs 97",
    "run": "run e.toml -o folder --data data --runs 2 --decoder moses --systems A,B --jobs 97 --cluster local:3",
    "run nothing": "run e.toml -o folder --data data --runs 2 --decoder moses --systems A,B --plan",
    "init raw": "init out -s f -t e --raw",
    "init": "init out -s f -t e --dev-source a1 --dev-reference e2 --test-source text --test-reference library "
    "--grammar text --lm f --model model --kind both --library e2",
    "demo": "demo -o folder --seed 4 --jobs 97",
    "cdec build": "cdec build --cdec-root tree -o out",
    "cdec check": "cdec check --cdec-root tree --library library",
    "cdec pack": "cdec pack -c cdec.ini -w weights -o folder --library library --no-unpack",
    "cdec decode": "cdec decode text -c cdec.ini -w weights -o out -k 5 --unique --jobs 97 --cdec-root tree",
    "cdec forest": "cdec forest text -c cdec.ini -w weights -o out --write folder --library library --jobs 97 "
    "--cdec-root tree",
    "cdec forest of files": "cdec forest --read folder",
    "moses build": "moses build --moses-root tree -o out --flag=-Ione --flag=-Ltwo",
    "moses build of sources": "moses build --sources folder",
    "moses check": "moses check --moses-root tree --flag=-Ione",
    "moses check of a program": "moses check --program program",
    "moses convert": "moses convert -c cdec.ini -w weights -o folder",
    "moses weights": "moses weights moses.ini -c cdec.ini -o out",
}

CLUSTER = {
    name: f"{line} --cluster local:3"
    for name, line in {
        **{name: LINES[name] for name in LINES if name.startswith("induce ")},
        "derive": "derive f e a1 -o out",
        "grammar": "grammar --hiero f e a1 -o out",
        **{f"estimate {name}": f"estimate {name} deriv -o out" for name in ESTIMATORS.names()},
        "decode": "decode text -c cdec.ini -w weights -o out",
        "tune": "tune --config cdec.ini --source f --reference e --weights weights -o folder",
    }.items()
}
"""Commands that go to a cluster."""

TUNING = [item.name for item in settings_of(TuneSettings) if item.name != "optimiser"]
CONTEXT, JOINT = (CONTEXT_MODELS[name].Settings for name in ("loglinear", "joint"))


def tune_words(name: str) -> list[str]:
    """All settings of the tuning and of its optimiser."""
    loop = {key: value for key, value in other_values(TuneSettings).items() if key in TUNING}
    settings = OPTIMISERS[name].Settings
    words = option_words(TuneSettings, loop) + option_words(settings, other_values(settings), name)
    return [*shlex.split(LINES["tune"].replace("--optimiser pro", f"--optimiser {name}")), *words]


def align_words(name: str) -> list[str]:
    """All settings of an aligner."""
    words = shlex.split(f"align f e -o out --aligner {name} --heuristic intersect --save saved --jobs 97")
    return words + option_words(ALIGNERS.settings()[name], other_values(ALIGNERS.settings()[name]))


def estimate_words(name: str) -> list[str]:
    """All settings of an estimator and of its context model."""
    found = ESTIMATORS[name]
    words = ["estimate", name, "deriv", "-o", "out", "--jobs", "97", "--precision", "double", "--context", "f"]
    words += ["--tokens", "phrases", "--leave-out", "0.25"]
    words += ["--hiero-context", "f", "e", "a1", "a2", *option_words(CONTEXT, other_values(CONTEXT), "loglinear")]
    words += ["--checkpoint", "folder", "--resume"] if found.CHECKPOINTS else []
    return words + option_words(found.Settings, other_values(found.Settings))


def joint_words(name: str) -> list[str]:
    """All settings of the joint context model beside an estimator."""
    words = [
        "estimate",
        name,
        "deriv",
        "-o",
        "out",
        "--context",
        "f",
        "--context-model",
        "joint",
        "--views-text",
        "text",
    ]
    return words + option_words(JOINT, other_values(JOINT), "joint")


def boundary_words(name: str) -> list[str]:
    """An estimator whose model gets weights of spans."""
    return ["estimate", name, "deriv", "-o", "out", "--boundary", "model"]


def scorer_words(name: str, scorer: str) -> list[str]:
    """All settings of a scorer beside an estimator."""
    declared = CONTEXT_MODELS[scorer].Settings
    words = ["estimate", name, "deriv", "-o", "out", "--context", "f", "--context-model", "none", "--sense", scorer]
    return words + option_words(declared, other_values(declared), "sense")


def margin_words(name: str) -> list[str]:
    """All settings of learning by hope and fear, and of a source of rules."""
    declared = EXTRACTORS[name].Settings
    words = shlex.split(f"margin f e a1 a2 --rule-source {name} -c cdec.ini -w weights -o folder --jobs 97")
    words += option_words(MarginSettings, other_values(MarginSettings))
    return words + option_words(declared, other_values(declared), "rules")


EVERY_LINE = [
    *map(shlex.split, LINES.values()),
    *map(shlex.split, CLUSTER.values()),
    *(prepare_words(*names) for names in PREPARATIONS),
    *map(align_words, ALIGNERS.settings()),
    *map(estimate_words, ESTIMATORS.names()),
    *map(joint_words, ESTIMATORS.names()),
    *map(boundary_words, ESTIMATORS.names()),
    *(scorer_words(name, scorer) for name in ESTIMATORS.names() for scorer in LOW_DIMENSIONAL),
    *map(tune_words, OPTIMISERS.names()),
    *map(margin_words, ("hiero", "sampled", "biparsed")),
]
