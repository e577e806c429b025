"""Options and arguments of the commands reach the work: a table of lines and of the calls that they make.

``test_settings_arrive`` lists settings. A value differs from its default and from all other values of its line.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY, MagicMock, call

import numpy as np
import pytest

from lscfg.cli import build_parser, main
from lscfg.command_table import COMMANDS
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.hiero_parts import RULE_BYTES, Extraction, Written
from lscfg.extract.hiero_settings import HieroSettings
from lscfg.extract.minimal import MinimalSettings
from lscfg.kernel import DeriveOptions
from lscfg.lm.estimate import DEFAULT_FALLBACK
from lscfg.model.compress import CPSettings
from lscfg.parallel.engine import available_cores
from lscfg.study.disambiguation import InventorySettings
from lscfg.tuning.experiment.config import Overrides
from lscfg.tuning.tune import Iteration, TuneResult, TuneSettings

LIBRARY, TREE = Path("library"), "tree"
RULES = MagicMock(max_targets=20)
SELECTION = SimpleNamespace(kept=[1], dropped={})
GRAPH = SimpleNamespace(shape=(1, 1), nnz=0, getnnz=np.zeros)
HISTORY = (Iteration(1, 20.0, 1.0, 30.0, None, 9, 9, {"One": 2.0}),)
pytestmark = pytest.mark.usefixtures("command_files")
TEXT_F, TEXT_E, TEXT_E2, TEXT_A, TEXT = (["a0 b", "c0"], ["a1 b", "c1"], ["a2 b", "c2"], ["a3 b", "c3"], ["a4 b", "c4"])
"""The lines of the files ``f``, ``e``, ``e2``, ``a1`` and ``text``."""


SYSTEM = SimpleNamespace(name="system", preparation=None)


class Offered:
    """Equals the choices of the person who runs a service in the line of ``lscfg serve``."""

    def __eq__(self, other: object) -> bool:
        return vars(other) == {
            "page": False,
            "languages": ("de", "en"),
            "keys": tuple(TEXT_F),
            "report": b"".join(f"{line}\n".encode() for line in TEXT_E),
            "scores": (),
        }


def joined(heuristic: str) -> list[str]:
    return [heuristic]


LINKS = SimpleNamespace(joined=joined)
HIERO = RuleInputs(Path("f"), Path("e"), (Path("a1"), Path("a2")), wanted=TEXT)
CORPUS = RuleInputs(Path("f"), Path("e"), (Path("a1"), Path("a2")))

CALLS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "align f e -o out.{heuristic} --heuristic union,grow-diag --model model --jobs 97",
        {"lscfg.corpus.align.align_with": LINKS},
        {"lscfg.corpus.align.align_with": call("model", TEXT_F, TEXT_E, jobs=97)},
    ),
    (
        "align f e -o out --heuristic intersect --save saved --jobs 97 --aligner eflomal",
        {"lscfg.corpus.align.align_both_ways": LINKS},
        {"lscfg.corpus.align.align_both_ways": call(TEXT_F, TEXT_E, ANY, jobs=97, save="saved")},
    ),
    (
        "derive f e a1 a2 -o out --drop-bad --forests --jobs 97 --set max_words=7 --settings settings.toml",
        {"lscfg.extract.derive.derive_files": {}},
        {
            "lscfg.extract.derive.derive_files": call(
                "f", "e", ["a1", "a2"], "out", DeriveOptions(drop=True, max_words=7, binarise=True), 97, True
            )
        },
    ),
    (
        "derive f e a1 -o out --labels labels --max-labels 7",
        {
            "lscfg.extract.derive.derive_files": {},
            "lscfg.commands.derive.check_labels": None,
            "lscfg.commands.derive.label_file": {},
        },
        {
            "lscfg.commands.derive.check_labels": call("labels", 7, "f"),
            "lscfg.extract.derive.derive_files": call("f", "e", ["a1"], ANY, ANY, ANY, False),
            "lscfg.commands.derive.label_file": call(ANY, "out", "labels", 7),
        },
    ),
    (
        "grammar hiero f e a1 a2 -o out --filter text --format moses --max-targets 7 --jobs 97",
        {
            "lscfg.extract.hiero.Hiero.rules": RULES,
            "lscfg.grammar.select.select_rules": SELECTION,
            "lscfg.moses_bridge.rule_table.write_rule_table": None,
        },
        {
            "lscfg.extract.hiero.Hiero.rules": call(HIERO, HieroSettings()),
            "lscfg.grammar.select.select_rules": call(RULES, 7, TEXT, False),
            "lscfg.moses_bridge.rule_table.write_rule_table": call("out", RULES, SELECTION, 97),
        },
    ),
    (
        "grammar minimal deriv --per-sentence folder --filter text --sizes --jobs 97",
        {
            "lscfg.extract.minimal.Minimal.rules": RULES,
            "lscfg.grammar.select.select_rules": SELECTION,
            "lscfg.grammar.write.write_sentence_grammars": None,
            "lscfg.commands.grammar.size_table": "",
        },
        {
            "lscfg.extract.minimal.Minimal.rules": call(
                RuleInputs(derivations=Path("deriv"), wanted=TEXT), MinimalSettings()
            ),
            "lscfg.grammar.select.select_rules": call(RULES, 30, TEXT, True),
            "lscfg.grammar.write.write_sentence_grammars": call("folder", RULES, SELECTION, TEXT, 97),
        },
    ),
    (
        "grammar hiero f e a1 a2 -o out --format index --places 11 --max-targets 7",
        {"lscfg.extract.on_demand.write_index": 5},
        {
            "lscfg.extract.on_demand.write_index": call(
                "out", Path("f"), Path("e"), (Path("a1"), Path("a2")), HieroSettings(max_targets=7), 11
            )
        },
    ),
    (
        "grammar hiero f e a1 -o out --set max_phrase=6 --max-targets 7 --memory 2 --jobs 97",
        {"lscfg.extract.hiero_parts.write_hiero": Written(3, {}, {})},
        {
            "lscfg.extract.hiero_parts.write_hiero": call(
                "out", Extraction("f", "e", ["a1"], HieroSettings(max_phrase=6), None), 2**31 // RULE_BYTES, 7, 97
            )
        },
    ),
    (
        "grammar minimal deriv -o out --join text e --jobs 97",
        {
            "lscfg.kernel.forest.Grammar.read": None,
            "lscfg.extract.minimal.Minimal.rules": RULES,
            "lscfg.grammar.select.select_rules": SELECTION,
            "lscfg.grammar.write.write_grammar": None,
            "lscfg.grammar.write.write_union": 3,
        },
        {
            "lscfg.grammar.write.write_grammar": call(ANY, RULES, SELECTION, 97),
            "lscfg.grammar.write.write_union": call("out", ANY, "text", "e", threads=97),
        },
    ),
    (
        "grammar sampled f e a1 a2 --write trace=out --write derivations=other --held-out e f a1 --start-from text "
        "--checkpoint folder --resume --sweeps 20 --chains 2 --seed 3 --jobs 97",
        {
            "lscfg.induce.sampled.rules.sample_rules": MagicMock(
                trace=[{"x": 1}], rules=MagicMock(history={"convergence": {}})
            ),
            "lscfg.induce.sampled.trees.sampled_trees": MagicMock(),
        },
        {
            "lscfg.induce.sampled.rules.sample_rules": call(
                CORPUS,
                ANY,
                97,
                True,
                Path("folder"),
                True,
                RuleInputs(Path("e"), Path("f"), (Path("a1"),)),
                Path("text"),
                None,
            )
        },
    ),
    (
        "grammar biparsed f e a1 --write trace=out --passes 2 --checkpoint folder --resume --jobs 97",
        {"lscfg.induce.biparsed.rules.induce": MagicMock(trace=[{"x": 1}])},
        {
            "lscfg.induce.biparsed.rules.induce": call(
                RuleInputs(Path("f"), Path("e"), (Path("a1"),)), ANY, 97, Path("folder"), True
            )
        },
    ),
    (
        "lm text -o out --order 2 --prune 0 1 --discount-fallback --estimator lmplz",
        {"lscfg.lm.lmplz.build_lm": None},
        {"lscfg.lm.lmplz.build_lm": call("text", "out", 2, [0, 1], DEFAULT_FALLBACK, "lmplz")},
    ),
    (
        "propagate phrases f e a1 a2 --mono-source f text --mono-target e --to-translate text --wanted other -o out "
        "--jobs 97",
        {"lscfg.induce.propagated.phrases.collect": MagicMock(**{"unlabelled_texts.return_value": ["x"]})},
        {
            "lscfg.induce.propagated.phrases.collect": call(
                ("f", "e"), ["a1", "a2"], (["f", "text"], ["e"]), ["text"], ANY, 97
            )
        },
    ),
    (
        "propagate graph f -o out --jobs 97",
        {
            "lscfg.induce.propagated.phrases.PhraseFile.read": MagicMock(),
            "lscfg.induce.propagated.spaces.source_graph": GRAPH,
            "lscfg.induce.propagated.phrases.write_graph": None,
        },
        {"lscfg.induce.propagated.spaces.source_graph": call(ANY, ANY, ANY, 97)},
    ),
    (
        "propagate rules f e -o out --nbest a1 --gold text --coverage e2 --write statistics=other --jobs 97",
        {"lscfg.induce.propagated.rules.make_rules": SimpleNamespace(figures={"x": 1}, examples=[], lines=[])},
        {
            "lscfg.induce.propagated.rules.make_rules": call(
                {"phrases": "f", "graph": "e", "nbest": "a1", "gold": "text", "text": "e2"}, ANY, 97
            )
        },
    ),
    (
        "estimate em f -o out --precision double -m 3 --iterations 4 --seed 5 --checkpoint folder --resume --jobs 97",
        {
            "lscfg.extract.derive.Derivations.load": "trees",
            "lscfg.estimate.em.ExpectationMaximisation.estimate": MagicMock(),
        },
        {
            "lscfg.extract.derive.Derivations.load": call("f"),
            "lscfg.estimate.em.ExpectationMaximisation.estimate": call("trees", ANY, 97, Path("folder"), True),
        },
    ),
    (
        "compress model -o out --cp 4 --tolerance 0.25 --jobs 97",
        {"lscfg.model.compress.compress": SimpleNamespace(ranks=np.ones(1), error=np.zeros(1), components=[1])},
        {"lscfg.model.compress.compress": call("model", "out", CPSettings(rank=4, tolerance=0.25, threads=97))},
    ),
    (
        "compress model -o out --sparse 0.0005",
        {
            "lscfg.model.compress.make_sparse": SimpleNamespace(
                index=np.ones(1), scales=np.ones(1), codes=np.ones(1), dropped=0.0
            )
        },
        {"lscfg.model.compress.make_sparse": call("model", "out", 0.0005)},
    ),
    (
        "pack -c cdec.ini -w weights --prepare folder --glossary terms --texts --small -o bundle",
        {"lscfg.bundle.pack.pack": SimpleNamespace(files={})},
        {
            "lscfg.bundle.pack.pack": call(
                "cdec.ini", "bundle", "weights", "folder", glossary="terms", texts=True, small=True
            )
        },
    ),
    (
        "serve -c cdec.ini -w weights --host 127.0.0.2 --port 97 --jobs 96 --public-name a --public-name b "
        "--cors https://c --no-page --languages de,en --api-key-file f --report e",
        {
            "lscfg.bundle.system.open_system": SYSTEM,
            "lscfg.serve.address.listen": MagicMock(),
            "lscfg.serve.application.Application": "application",
            "lscfg.serve.guard.Hosts": "hosts",
            "lscfg.serve.pool.WorkerPool": MagicMock(),
            "lscfg.serve.server.Server": MagicMock(),
            "asyncio.run": None,
        },
        {
            "lscfg.bundle.system.open_system": call("cdec.ini", "weights"),
            "lscfg.serve.address.listen": call("127.0.0.2", 97),
            "lscfg.serve.pool.WorkerPool": call(96),
            "lscfg.serve.guard.Hosts": call("127.0.0.2", ["a", "b"], ["https://c"]),
            "lscfg.serve.application.Application": call(SYSTEM, ANY, ANY, "hosts", Offered()),
        },
    ),
    (
        "inspect model model --top 3",
        {"lscfg.io.tensors.file_kind": "model", "lscfg.study.inspect.describe_model": ""},
        {"lscfg.study.inspect.describe_model": call("model", 3)},
    ),
    (
        "inspect model model --rule 'a ||| b'",
        {"lscfg.io.tensors.file_kind": "model", "lscfg.study.inspect.show_rule": ""},
        {"lscfg.study.inspect.show_rule": call("model", "a ||| b")},
    ),
    (
        "inspect model model --nearest 'a ||| b' --top 3",
        {"lscfg.io.tensors.file_kind": "model", "lscfg.study.inspect.show_nearest": ""},
        {"lscfg.study.inspect.show_nearest": call("model", "a ||| b", 3)},
    ),
    (
        "inspect model model --states --top 3",
        {"lscfg.io.tensors.file_kind": "model", "lscfg.study.inspect.show_states": ""},
        {"lscfg.study.inspect.show_states": call("model", 3)},
    ),
    (
        "inspect derivations f --tree 4",
        {"lscfg.io.tensors.file_kind": "derivations", "lscfg.study.inspect.show_tree": ""},
        {"lscfg.study.inspect.show_tree": call("f", 4)},
    ),
    (
        "inspect derivations f --tree 4 --format svg",
        {"lscfg.io.tensors.file_kind": "derivations", "lscfg.study.inspect.draw_tree": ""},
        {"lscfg.study.inspect.draw_tree": call("f", 4)},
    ),
    (
        "inspect derivations f --top 4",
        {"lscfg.io.tensors.file_kind": "derivations", "lscfg.study.inspect.describe_derivations": ""},
        {"lscfg.study.inspect.describe_derivations": call("f", 4)},
    ),
    (
        "inspect choices one two --train f --held-out e -o out --differences 3 --forests --set max_targets=7 "
        "--set floor=0.01 --set negative=clamp",
        {
            "lscfg.extract.derive.Derivations.load": "trees",
            "lscfg.study.diagnose.Diagnosis": MagicMock(),
            "lscfg.study.diagnose.report": {"all": "figures"},
            "lscfg.study.diagnose.format_diagnosis": "",
        },
        {
            "lscfg.study.diagnose.Diagnosis": call("trees", "trees", 7, 0.01, "clamp", True),
            "lscfg.study.diagnose.report": call(ANY, ANY, 3),
        },
    ),
    (
        "inspect choices one --measure translations --train f --held-out e --lm text -o out --set trivial=true",
        {
            "lscfg.extract.derive.Derivations.load": "trees",
            "lscfg.study.disambiguation.Questions.held_out": "questions",
            "lscfg.study.mrr.ScoreEvaluator.of": "evaluator",
            "lscfg.study.mrr.measure_scores": {"all": "figures"},
            "lscfg.study.mrr.format_scores": "",
        },
        {
            "lscfg.study.mrr.ScoreEvaluator.of": call("questions", "text", True, 0.0),
            "lscfg.study.mrr.measure_scores": call("evaluator", ["one"]),
        },
    ),
    (
        "inspect choices one --measure translations --train f --set leave_out=0.25",
        {
            "lscfg.extract.derive.Derivations.load": "trees",
            "lscfg.study.disambiguation.Questions.of_tokens": "questions",
            "lscfg.study.mrr.ScoreEvaluator.of": "evaluator",
            "lscfg.study.mrr.measure_scores": {"all": "figures"},
            "lscfg.study.mrr.format_scores": "",
        },
        {
            "lscfg.study.disambiguation.Questions.of_tokens": call("trees", InventorySettings(), 0.25),
            "lscfg.study.mrr.ScoreEvaluator.of": call("questions", None, False, 0.25),
        },
    ),
    (
        "tune weights --config cdec.ini --source f --reference e --reference e2 --weights weights -o folder "
        "--decoder embedded --jobs 97 --resume --iterations 7 --kbest 8 --seed 9",
        {
            "lscfg.tuning.tune.tune": TuneResult({"One": 2.0}, 1, HISTORY, "done", 0.5),
            "lscfg.decode.host.decoder_identity": "identity",
            "lscfg.decode.embedded.Embedded.open": nullcontext("decoder"),
        },
        {
            "lscfg.tuning.tune.tune": call(
                "decoder",
                TEXT_F,
                [TEXT_E, TEXT_E2],
                {"One": 1.0},
                TuneSettings(iterations=7, kbest=8, seed=9),
                "folder",
                True,
                "identity",
                learn=None,
            ),
            "lscfg.decode.embedded.Embedded.open": call("cdec.ini", 97, library=None),
        },
    ),
    (
        "tune weights --config cdec.ini --source f --reference e --weights weights -o folder --optimiser moses-mert",
        {
            "lscfg.tuning.tune.tune": TuneResult({"One": 2.0}, 1, HISTORY, "done", 0.5),
            "lscfg.decode.host.decoder_identity": "identity",
            "lscfg.decode.embedded.Embedded.open": nullcontext("decoder"),
            "lscfg.tuning.hosts.host_optimiser": "learner",
        },
        {"lscfg.tuning.hosts.host_optimiser": call("moses-mert", "cdec.ini", TEXT_F, [TEXT_E], 100)},
    ),
    (
        "tune margin f e a1 a2 --rules hiero -c cdec.ini -w weights -o folder --passes 3 --seed 4 --jobs 97",
        {"lscfg.tuning.margin.system.learn_system": None},
        {
            "lscfg.tuning.margin.system.learn_system": call(
                RuleInputs(Path("f"), Path("e"), (Path("a1"), Path("a2"))),
                ANY,
                ANY,
                {"One": 1.0},
                ANY,
                Path("folder"),
                97,
            )
        },
    ),
    (
        "run e.toml -o folder --data data --runs 2 --decoder moses --systems A,B --learning-curve --jobs 97 "
        "--cluster local:3",
        {"lscfg.tuning.experiment.run.run_experiment": ""},
        {
            "lscfg.tuning.experiment.run.run_experiment": call(
                "e.toml",
                "folder",
                jobs=97,
                overrides=Overrides(Path("data"), 2, decoder="moses", systems=["A", "B"], learning_curve=True),
                cluster="local:3",
            )
        },
    ),
    (
        "run e.toml -o folder --plan",
        {"lscfg.tuning.experiment.run.show_plan": ""},
        {"lscfg.tuning.experiment.run.show_plan": call("e.toml", "folder", Overrides())},
    ),
    (
        "cdec build --cdec-root tree -o out",
        {"lscfg.cdec_bridge.library.CdecTree.at": TREE, "lscfg.cdec_bridge.library.build_library": None},
        {
            "lscfg.cdec_bridge.library.CdecTree.at": call("tree"),
            "lscfg.cdec_bridge.library.build_library": call("tree", "out"),
        },
    ),
    (
        "cdec check --cdec-root tree --library library",
        {"lscfg.cdec_bridge.library.CdecTree.at": TREE, "lscfg.cdec_bridge.library.check_library": "good"},
        {"lscfg.cdec_bridge.library.check_library": call("tree", "library")},
    ),
    (
        "cdec decode text -c cdec.ini -w weights -o out -k 5 --unique --jobs 97 --cdec-root tree",
        {
            "lscfg.cdec_bridge.decoder.program_below": Path("cdec"),
            "lscfg.cdec_bridge.processes.CdecProcesses": MagicMock(**{"decode.return_value": [["x"], []]}),
        },
        {
            "lscfg.cdec_bridge.decoder.program_below": call("tree"),
            "lscfg.cdec_bridge.processes.CdecProcesses": call(Path("cdec"), "cdec.ini", ["-w", ANY, "-r"], 5, 97),
        },
    ),
    (
        "cdec forest text -c cdec.ini -w weights -o out --binary folder --library library --jobs 97 --cdec-root tree",
        {"lscfg.cdec_bridge.decoder.program_below": Path("cdec"), "lscfg.cdec_bridge.forests.record": ["{}"]},
        {
            "lscfg.cdec_bridge.forests.record": call(
                Path("cdec"), "library", "cdec.ini", TEXT, ["-w", ANY], 97, None, "folder"
            )
        },
    ),
    (
        "cdec forest --read folder",
        {
            "lscfg.cdec_bridge.decoder.find_cdec": Path("cdec"),
            "lscfg.cdec_bridge.forests.binary_inputs": ["one"],
            "lscfg.cdec_bridge.forests.record": [],
        },
        {
            "lscfg.cdec_bridge.forests.record": call(
                Path("cdec"), "liblscfg_cdec.so", None, ["one"], [], available_cores(), Path("folder"), None
            )
        },
    ),
    (
        "moses build --moses-root tree -o out --flag=-Ione --flag=-Ltwo",
        {"lscfg.moses_bridge.program.MosesTree.at": TREE, "lscfg.moses_bridge.program.build_program": None},
        {"lscfg.moses_bridge.program.build_program": call("tree", "out", ["-Ione", "-Ltwo"])},
    ),
    (
        "moses build --sources folder",
        {"lscfg.moses_bridge.program.write_sources": Path("folder")},
        {"lscfg.moses_bridge.program.write_sources": call("folder")},
    ),
    (
        "moses check library",
        {"lscfg.moses_bridge.program.check_program": "good"},
        {"lscfg.moses_bridge.program.check_program": call("library")},
    ),
    (
        "moses convert -c cdec.ini -w weights -o folder",
        {
            "lscfg.formats.ini.read_ini": SimpleNamespace(weights=None),
            "lscfg.moses_bridge.config.write_moses": Path("folder/moses.ini"),
        },
        {"lscfg.moses_bridge.config.write_moses": call("folder", ANY, {"One": 1.0}, "cdec.ini")},
    ),
]

OTHER_LINES = [
    "context model f e a1 -o out --model residual --derivations f --rules hiero --leave-out 0.25 --more text --jobs 97 "
    "--set k=3 --settings settings.toml",
    "decode text -c cdec.ini -w weights -o out -k 5 --unique --jobs 97 --derivations other --cluster local:3 "
    "--glossary text --corrections folder --xml-input constraint",
    "serve folder --glossary text --corrections folder",
    "estimate mle f -o out --boundary model --neural model --orientation model",
    "evaluate scores A=e B=e2 --reference f --reference text --baseline A --metrics ter,chrf --samples 50 --trials 60 "
    "--seed 70 -o out --source a1 --comet model --differences 3 --sentence-table table",
    "evaluate oracle A=text B=cdec.ini --source f --reference e --reference e2 --pops 50 --keep 7 -o out --jobs 97",
    "evaluate confidence cdec.ini f e e2 -w weights -o out",
    "evaluate corrections folder folder f e e2 -w weights -o out",
    "init out -s f -t e --dev-set a1 e2 --test-set text library --grammar text --lm f --model model --rules both "
    "--library e2",
    "init out -s f -t e --raw --source-language es --target-language en",
    "demo -o folder --seed 4 --jobs 97",
    "quick f -o folder --format csv --encoding cp1252 --languages de,en --columns 1,2 --header --dev 3 --test 4 "
    "--set drop=copy --all-systems --plan --no-serve --port 7 --jobs 97",
    "cdec pack -c cdec.ini -w weights -o folder --library library --no-unpack",
    "inspect corrections folder folder --format jsonl --add text --undo 3 4",
    "inspect sentence model 'a b' --compare cdec.ini --choices 7 --min-marginal 0.5 --format json -o out",
    "inspect sentence cdec.ini 'a b' --why-not 'A B' -w weights",
    "inspect marginals model text -o out --jobs 97 --top 7 --min-marginal 0.25 --forests --per-sentence-grammars g "
    "--heat-maps h --glossary f",
    "moses weights moses.ini -c cdec.ini -o out",
    "prepare corpus f e -o out --jobs 5 --dev-files a1 e2 --test-files e2 e --dev 3 --test 4 --tokeniser none "
    "--source-language mi --target-language haw",
    "prepare apply folder text --side target",
    "propagate states f e a1 e2 -o out",
    "prepare corpus f e --check",
    "rescore text --scores A=e --scores B=f --network model --derivations f -w weights -o out -k 5 --unique --mbr chrf "
    "--scale 0.5 --tuned other --reference e2 --optimiser pro --seed 70",
    "tune weights --config cdec.ini --source f --reference e --weights weights -o folder --cluster local:3 "
    "--optimiser pro --decoder cdec",
    "grammar sampled f e a1 -o out --cluster local:3",
    "grammar minimal deriv -o out --filter text --oov",
]
"""Lines whose options have their own tests."""


def words_of(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The destinations of all options below a parser, but for those with a single choice and for the settings'."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from words_of(below, (*path, name))
        elif (
            action.option_strings
            and action.dest
            not in (argparse.SUPPRESS, "help", "quiet", "version", "print_completion", "set", "settings")
            and len(action.choices or "12") > 1
        ):
            yield path, action.dest


def test_no_option_is_missing():
    parser = build_parser(COMMANDS)
    given = set()
    for line in [*(line for line, _, _ in CALLS), *OTHER_LINES]:
        path: tuple[str, ...] = ()
        values, found = vars(parser.parse_args(shlex.split(line))), parser
        while below := next((a for a in found._actions if isinstance(a, argparse._SubParsersAction)), None):
            path = (*path, values[below.dest])
            found = below.choices[values[below.dest]]
        given |= {(path, name) for name, value in values.items() if value != found.get_default(name)}
    assert {*words_of(parser)} <= given, {*words_of(parser)} - given


@pytest.mark.parametrize(("line", "doubles", "calls"), CALLS, ids=[line[:50] for line, _, _ in CALLS])
def test_options_reach_the_work(double, line, doubles, calls):
    if "serve" in line:
        pytest.importorskip("uvicorn")
    made = {name: double(name, result) for name, result in doubles.items()}
    if line.startswith("compress"):
        Path("out").touch()
    assert main(shlex.split(line)) == 0
    for name, expected in calls.items():
        made[name].assert_called_with(*expected.args, **expected.kwargs)
