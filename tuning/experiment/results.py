"""Results of an experiment: results.json, and the table that a person reads."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from itertools import chain
from typing import Any

from lscfg import log
from lscfg.io.columns import align_columns
from lscfg.io.read import read_lines
from lscfg.tuning.bleu import ORDER
from lscfg.tuning.doubling import doubling_gain
from lscfg.tuning.evaluate import MetricScore, SystemScore, evaluate
from lscfg.tuning.experiment.stage import Stage
from lscfg.tuning.experiment.stages.curve import LearningCurve
from lscfg.tuning.experiment.stages.decoding import DEV, HISTORY, OUTPUT, SCORES
from lscfg.tuning.experiment.stages.rules import FOUND, SIZE, STATISTICS, GrammarFiles, union
from lscfg.tuning.experiment.stages.text import RESTORED_BLEU
from lscfg.tuning.experiment.state import Run, Times
from lscfg.tuning.experiment.steps import STEPS
from lscfg.tuning.metrics.metric import METRICS, PRIMARY, Metric, further_metrics, scored_metrics
from lscfg.tuning.metrics.tuned import TUNED_FOR, TunedMetric, deciding_metric
from lscfg.tuning.tune import dev_score

COLUMNS = (
    "system",
    "estimator",
    "grammar",
    "agree",
    "rules",
    "states",
    "effective_rules",
    "expansion",
    "candidates",
    "singular_values",
)
"""First columns of a row in a fixed order, so that equal results give equal bytes; columns of further steps follow."""


def collect_results(run: Run) -> dict[str, Any]:
    """Collects what results.json contains."""
    experiment, settings = run.experiment, run.experiment.evaluation
    references = run.lines(*run.plan.texts.test_references)
    log.info("tests of significance")
    outputs = {name: run.outputs(name) for name in run.plan.systems}
    name = experiment.tuning.metric
    tuned = None if name == PRIMARY else TunedMetric(name)
    scores = evaluate(
        outputs,
        references,
        settings.baseline,
        metrics=[PRIMARY, *([tuned] if tuned else [])],
        samples=settings.samples,
        trials=settings.trials,
        seed=settings.seed,
        against=list(settings.against),
    )
    rows = [_row(score, run, tuned) for score in scores.systems]
    restored = _restored(run, scores.systems[0].name)
    metric = tuned or METRICS[PRIMARY]
    curve = {"learning curve": _learning_curve(run, run.plan.curve, references, metric)} if run.plan.curve else {}
    return {
        "baseline": settings.baseline,
        "against": list(settings.against),
        "decoder": experiment.decoder.name,
        "runs": experiment.tuning.runs,
        **({TUNED_FOR: tuned.name} if tuned else {}),
        "signature": scores.signatures["BLEU"],
        "restored_signature": restored[0]["signature"] if restored else None,
        "randomisation trials": settings.trials,
        "test sentences": len(references[0]),
        "words": _words(run),
        "derivations": run.json(run.plan.derivations / STATISTICS),
        "systems": rows,
        "sampling": _sampling(run),
        **curve,
    }


def _words(run: Run) -> list[dict[str, Any]]:
    """Sentences and words of each set, by side, as in Table 1 of the papers; references are summed."""
    texts = run.plan.texts
    sets = (
        ("training", texts.source, (texts.target,)),
        ("dev", texts.dev_source, texts.dev_references),
        ("test", texts.test_source, texts.test_references),
    )
    found = []
    for name, source, targets in sets:
        if source and all(targets):
            lines, *others = run.lines(source, *targets)
            words = [sum(len(line.split()) for line in side) for side in (lines, chain.from_iterable(others))]
            found.append({"set": name, "sentences": len(lines), "source words": words[0], "target words": words[1]})
    return found


def _learning_curve(run: Run, curve: LearningCurve, references: list[list[str]], metric: Metric[Any]) -> dict[str, Any]:
    """Scores of the first run of a system by size of its training text, and the gain by twice the text."""
    stages = [(point.derivations, point.decoded) for point in curve.points]
    stages.append((run.plan.derivations, run.plan.systems[curve.system].decoded[0]))
    pairs = [run.json(derivations / STATISTICS)["sentence pairs"] for derivations, _ in stages]
    outputs = [read_lines(run.path(decoded / OUTPUT)) for _, decoded in stages]
    found = doubling_gain(pairs, outputs, references, metric)
    column = "test_bleu" if metric.name == PRIMARY else "test_tuned"
    points = [{"sentence pairs": size, column: score} for size, score in zip(pairs, found.scores, strict=True)]
    gain = {"gain": found.gain, "low": found.low, "high": found.high}
    return {"system": curve.system, "points": points, "twice the text": gain}


def _extracted(grammar: Stage) -> Iterator[Stage]:
    """Yields the stages that extract a grammar, or the parts of a union."""
    if isinstance(grammar.inputs, GrammarFiles):
        yield grammar
    elif grammar.work is union:
        for part in grammar.sources:
            yield from _extracted(part)


def _sampling(run: Run) -> list[dict[str, Any]]:
    """Histories of the chains of sampled rules; equal ones of several systems are listed once."""
    found: list[dict[str, Any]] = []
    for name, system in run.plan.systems.items():
        extracted = [*chain.from_iterable(map(_extracted, system.grammars))]
        if not extracted:  # margin adds features to a grammar
            sources = chain.from_iterable(grammar.sources for grammar in system.grammars)
            extracted = [stage for stage in sources if isinstance(stage.inputs, GrammarFiles)]
        for stage in extracted:
            made = stage / FOUND
            if not run.path(made).exists():
                continue
            history = run.json(made)
            same = next((item for item in found if item == {"systems": item["systems"], **history}), None)
            if same:
                same["systems"].append(name)
            else:
                found.append({"systems": [name], **history})
    return found


def _restored(run: Run, system: str) -> list[dict[str, Any]]:
    """BLEU of the restored text of each run; none unless the text was prepared."""
    return [run.json(stage / RESTORED_BLEU) for stage in run.plan.systems[system].restored]


def _row(scores: SystemScore, run: Run, tuned: TunedMetric | None) -> dict[str, Any]:
    """One system: means over the runs, sample deviations (null for one run), then the runs."""
    score, name = scores.metrics["BLEU"], scores.name
    stages, rules = run.plan.systems[name], run.experiment.systems[name].rules
    restored = [found["bleu"] for found in _restored(run, name)]
    runs = [_run_row(run, name, number, bleu, restored) for number, bleu in enumerate(score.runs)]

    def mean(key: str) -> float:
        return statistics.fmean(row[key] for row in runs)

    titles = [METRICS[metric].TITLE for metric in further_metrics(run.experiment.tuning.metric)]
    dev_bleu = [row["dev_bleu"] for row in runs]
    columns = {
        **dict.fromkeys(COLUMNS),
        **_step_columns(run, name),
        "system": name,
        "grammar": rules.grammar if rules else None,
        "rules": sum(run.json(grammar / SIZE)["rules"] for grammar in stages.grammars),
    }
    return {
        **columns,
        "start_dev_bleu": None if stages.members else mean("start_dev_bleu"),
        "dev_bleu": mean("dev_bleu"),
        "dev_bleu_deviation": statistics.stdev(dev_bleu) if len(runs) > 1 else None,
        "test_bleu": score.score,
        "test_bleu_deviation": score.deviation,
        "test_bleu_mean": score.mean,
        "restored_bleu": statistics.fmean(restored) if restored else None,
        "test_bleu_ci": score.ci,
        "p_value": score.p_randomised,
        "p_bootstrap": score.p_bootstrap,
        "p_against": score.p_against,
        **(_tuned_columns(scores.metrics[tuned.TITLE], runs) if tuned else {}),
        **{f"test_{title}": mean(title) for title in titles},
        "test_precisions": [score.components[f"{n}-gram"] for n in range(1, ORDER + 1)],
        "test_length_ratio": score.components["length"],
        "brevity_penalty": score.components["BP"],
        "runs": runs,
    }


def _tuned_columns(score: MetricScore, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The score of a system in the metric of tuning, if that is not BLEU; adds those of the runs to the runs."""
    for row, value in zip(runs, score.runs, strict=True):
        row["test_tuned"] = value
    dev = [row["dev_tuned"] for row in runs]
    return {
        "dev_tuned": statistics.fmean(dev),
        "dev_tuned_deviation": statistics.stdev(dev) if len(dev) > 1 else None,
        "test_tuned": score.score,
        "test_tuned_deviation": score.deviation,
        "test_tuned_mean": score.mean,
        "test_tuned_ci": score.ci,
        "p_tuned": score.p_randomised,
    }


def _step_columns(run: Run, name: str) -> dict[str, Any]:
    """The columns of all steps; those of steps that the system lacks have their defaults."""
    columns: dict[str, Any] = {}
    for kind in STEPS:
        columns |= kind.COLUMNS
        if step := run.experiment.systems[name].step(kind):
            columns |= step.columns(run.plan.systems[name], run)
    return columns


def _run_row(run: Run, name: str, number: int, bleu: float, restored: list[float]) -> dict[str, Any]:
    """One run of a system."""
    stages = run.plan.systems[name]
    tuned = stages.tuned[number]
    dev = run.json(tuned / DEV)
    history = [] if stages.members else run.json(tuned / HISTORY)["history"]
    return {
        "seed": run.experiment.tuning.seed + number,
        "start_dev_bleu": dev.get("start_bleu"),
        "latent_start": dev.get("latent_start", getattr(tuned.settings, "latent_start", 0.0)),
        "dev_bleu": dev["bleu"],
        "dev_length_ratio": dev["length_ratio"],
        "tuning_iteration": dev.get("iteration"),
        "dev_bleu_by_iteration": [record["dev_bleu"] for record in history],
        **({} if run.experiment.tuning.metric == PRIMARY else _tuned_dev(dev, history)),
        "scale": dev.get("scale"),
        "test_bleu": bleu,
        "restored_bleu": restored[number] if restored else None,
        **run.json(stages.scored[number] / SCORES),
    }


def format_results(results: dict[str, Any], times: dict[str, Times]) -> str:
    """Formats the results as a table.

    Args:
        results: content of results.json.
        times: by system.
    """
    tested = [results["baseline"], *results["against"]]
    titles = [metric.TITLE for metric in scored_metrics(results["systems"][0]).values()]
    restored = ["restored BLEU"] if results["restored_signature"] else []
    metric, column = deciding_metric(results)
    own = [] if column == "bleu" else [metric.TITLE, "95 % CI", f"p vs {tested[0]}"]
    rows = [["system", "rules", *own, "dev BLEU", "test BLEU", "95 % CI", *restored]]
    rows[0] += [f"p vs {name}" for name in tested]
    rows[0] += [*titles, "length", "training CPU s", "tuning s", "decoding CPU s"]
    for row in results["systems"]:
        rows.append(
            [
                row["system"] + (f" (m = {row['states']})" if row["states"] else ""),
                str(row["rules"]),
                *(_tuned_cells(row) if own else ()),
                _with_deviation(row["dev_bleu"], row["dev_bleu_deviation"]),
                _with_deviation(row["test_bleu"], row["test_bleu_deviation"]),
                f"± {row['test_bleu_ci']:.2f}",
                *(f"{row['restored_bleu']:.2f}" for _ in restored),
                *("" if p is None else f"{p:.4f}" for p in (row["p_value"], *row["p_against"].values())),
                *(f"{row[f'test_{title}']:.2f}" for title in titles),
                f"{row['test_length_ratio']:.3f}",
                *("" if value is None else f"{value:.0f}" for value in times[row["system"]]),
            ]
        )
    note = f"BLEU: {results['signature']}"
    if restored:
        note += f"; restored: {results['restored_signature']}"
    if results["runs"] > 1:
        note += f"; means of {results['runs']} tunings, standard deviations in parentheses"
    return "\n".join([*align_columns(rows), note])


def _tuned_dev(dev: dict[str, Any], history: list[dict[str, Any]]) -> dict[str, Any]:
    """Dev scores of a run in the metric of tuning, if that is not BLEU; a system that is not tuned has one score."""
    scores = [dev_score(record) for record in history]
    return {"dev_tuned": scores[dev["iteration"] - 1] if scores else dev["score"], "dev_tuned_by_iteration": scores}


def _tuned_cells(row: dict[str, Any]) -> list[str]:
    score = _with_deviation(row["test_tuned"], row["test_tuned_deviation"])
    return [score, f"± {row['test_tuned_ci']:.2f}", "" if row["p_tuned"] is None else f"{row['p_tuned']:.4f}"]


def _with_deviation(value: float, deviation: float | None) -> str:
    return f"{value:.2f}" + ("" if deviation is None else f" ({deviation:.2f})")
