"""Content of a small report, with every character that must be escaped."""

from typing import Any

from lscfg.tuning.report.content import Charts, Content, TreeRecords

SOURCES = ["彼女 は <b> 学校 に 行き ます 。", "これ は & ペン です", "無い"]
REFERENCES = [["she goes to <b> school .", "this is & a pen", "nothing"]]

TRAINING = {".": 5000, "she": 12, "goes": 1, "to": 700, "<b>": 0, "school": 3, "this": 40, "is": 900, "&": 1, "a": 2000}
TRAINING |= {"pen": 1, "nothing": 0, "<i>": 0, "that": 800}


def rule(span: list[int], source: str, target: str, children: list[int], **more: Any) -> dict[str, Any]:
    """A rule of a derivation, as ``tree_record`` gives it."""
    scores = {"EgivenF": -0.5, "WordPenalty": 0.25}
    return {
        "category": "X",
        "span": span,
        "source": source,
        "target": target,
        "children": children,
        "scores": scores,
        **more,
    }


def known(share: float, *others: list[Any]) -> dict[str, Any]:
    """Scores of a rule by a model."""
    numbers = {"span marginal": 0.75, "marginal": share, "given source": share, "gain": 0.125, "context": None}
    return {**numbers, "states": [[1, 0.875], [0, 0.125]], "others": [*others]}


GLUE = {"category": "S", "span": [0, 5], "source": "[X,1]", "target": "[X,1]", "children": [1], "scores": {}}

TREES = TreeRecords(
    [0, 1],
    {"SPECTRAL-16": ["<noun>", "verb"]},
    {
        "MIN": [None, [GLUE, rule([0, 5], "これ は & ペン です", "this is & a pen", [])]],
        "SPECTRAL-16": [
            None,
            [
                GLUE,
                rule([0, 5], "[X,1] は [X,2] です", "[X,1] is [X,2]", [2, 3], **known(0.5)),
                rule([0, 1], "これ", "this", [], **known(0.25, ["これ", "<it>", 0.125])),
                rule([2, 4], "& ペン", "& a pen", [], **known(1.0)),
            ],
        ],
    },
)


def row(name: str, estimator: str = "none", states: int | None = None, **more: Any) -> dict[str, Any]:
    """A system in results.json."""
    runs = [
        {
            "seed": seed,
            "start_dev_bleu": 20.0,
            "dev_bleu": 24.0 + seed,
            "dev_length_ratio": 1.0,
            "tuning_iteration": 3,
            "dev_bleu_by_iteration": [20.0, 3.0, 24.0 + seed, 23.0],
            "test_bleu": 22.0 + seed,
            "chrF2": 40.0,
            "TER": 60.0,
        }
        for seed in (1, 2)
    ]
    return {
        **{"system": name, "estimator": estimator, "grammar": "minimal", "rules": 1234, "states": states},
        **{"effective_rules": states and states**3 * 1000, "singular_values": None},
        **{"expansion": None, "candidates": None},
        **{"start_dev_bleu": 20.0, "dev_bleu": 25.5, "dev_bleu_deviation": 0.7, "test_bleu": 23.5},
        **{"test_bleu_deviation": 0.7, "test_bleu_mean": 23.4, "test_bleu_ci": 1.5, "p_value": None},
        **{"p_bootstrap": None, "test_chrF2": 40.0, "test_TER": 60.0, "test_precisions": [50.0, 30.0, 20.0, 10.0]},
        **{
            "restored_bleu": None,
            "test_length_ratio": 1.01,
            "brevity_penalty": 1.0,
            "p_against": {"MLE": 0.125},
            "runs": runs,
        },
        **more,
    }


def little_content() -> Content:
    """Four systems, two tunings each, two sentences with charts."""
    rows = [
        row("MIN"),
        row("MLE", "mle", 1, p_value=0.3, p_bootstrap=0.2),
        row("SPECTRAL-8", "spectral", 8, p_value=0.2, p_bootstrap=0.2, singular_values=[1.0, 0.5, 0.25]),
        row("SPECTRAL-16", "spectral", 16, p_value=1 / 10001, p_bootstrap=0.01, test_bleu=25.25),
    ]
    outputs = {item["system"]: list(REFERENCES[0]) for item in rows}
    outputs["MIN"] = ["she goes <i> to school .", "this is & a pen", "nothing"]
    outputs["MLE"] = ["she", "that is & a pen", ""]
    results = {
        **{
            "baseline": "MIN",
            "against": ["MLE"],
            "decoder": "embedded",
            "runs": 2,
            "signature": "nrefs:1|bs:1000",
            "restored_signature": None,
            "test sentences": 3,
        },
        **{"randomisation trials": 10000, "derivations": {"sentence pairs": 50000}, "systems": rows},
        "words": [{"set": "training", "sentences": 50000, "source words": 612345, "target words": 598765}],
        "sampling": [],
    }
    spans = [[0, 8, 1.0], [0, 1, 0.9], [1, 8, -0.2], [2, 3, 3.5]]
    alone = [[0, 8, 1.0], [0, 1, 0.4], [1, 8, 0.0], [2, 3, 3.5]]
    charts = {"MLE": Charts([spans, []]), "SPECTRAL-16": Charts([spans, [[0, 5, 1.0]]], [alone, [[0, 5, 1.0]]])}
    weights = {item["system"]: [{"LanguageModel": 1.0, "WordPenalty": -3.0}] * 2 for item in rows}
    weights["SPECTRAL-16"] = [{"LanguageModel": 2.0, "LatentTarget<&>": 0.0, "LatentTarget": -2.0}, {"LatentTarget": 1}]
    texts = [*SOURCES], [[*lines] for lines in REFERENCES], outputs
    return Content("ja-en & <more>", results, *texts, [0, 1], charts, 5, weights, {**TRAINING}, TREES)


def little_manifest() -> dict[str, Any]:
    """Programs and files that made the results."""
    stages = [
        {"stage": "align", "folder": "align-1", "seconds": 8.0, "peak_mib": 270.0, "systems": []},
        {"stage": "tune", "folder": "tune-1", "seconds": 90.0, "peak_mib": 300.0, "systems": ["MIN run 1"]},
        {"stage": "align", "folder": "align-1", "seconds": 8.0, "peak_mib": 270.0, "systems": []},
    ]
    return {
        **{"lscfg": "0.1.0", "python": "3.11", "platform": "Linux", "cpus": 2, "jobs": 1, "packages": {"numpy": "2"}},
        **{"command": ["lscfg", "run", "<x>"], "experiment": '[corpus]\nsource = "<&>"\n', "decoder": {}},
        **{"sha256": {"data/train.ja": "52" * 32}, "stages": stages},
    }
