"""Sampled rules: chains, here or on a cluster, held-out text, and the trees of all samples."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import cast

from lscfg import log
from lscfg.commands.grammars.extraction import Extracted, Extraction, write_trace
from lscfg.extract.extractor import RuleInputs
from lscfg.induce.sampled.convergence import FAR
from lscfg.induce.sampled.rules import SamplingSettings, sample_rules
from lscfg.induce.sampled.trees import sampled_trees
from lscfg.parallel.choose import in_processes, on_cluster
from lscfg.settings import Declared

OUTPUTS = {"derivations": "trees of all samples", "trace": "a JSON line for each sweep"}
"""Contents of ``--write``."""


def shares(settings: Declared) -> bool:
    """True if the workers of a cluster run chains; a single chain goes to one worker as a whole."""
    return cast("SamplingSettings", settings).chains > 1


def extract(extraction: Extraction) -> Extracted:
    """Samples the rules.

    Raises:
        InputError: see ``lscfg.induce.sampled.rules.sample_rules``.
    """
    args, settings, outputs = extraction.args, cast("SamplingSettings", extraction.settings), extraction.outputs
    held_out = None
    if args.held_out:
        source, target, alignment = map(Path, args.held_out)
        held_out = RuleInputs(source, target, (alignment,))
    start = Path(args.start_from) if args.start_from else None
    with ExitStack() as stack:
        engine = None
        if args.cluster:
            stack.enter_context(on_cluster(args.cluster))
            engine = stack.enter_context(in_processes(settings.chains, large=True))
        found = sample_rules(
            extraction.inputs,
            settings,
            args.jobs,
            "derivations" in outputs,
            extraction.checkpoint,
            args.resume,
            held_out,
            start,
            engine,
        )
    if likelihoods := [record["held_out"] for record in found.trace if "held_out" in record]:
        mean = sum(likelihoods) / len(likelihoods)
        log.table({"held-out log-likelihood of a target word": round(mean, 4)})
    if measures := found.rules.history["convergence"]:
        log.table(measures)
        if max(value for name, value in measures.items() if name.startswith("R-hat")) > FAR:
            log.info(f"R-hat above {FAR}: the chains have not converged; give more burn-in or sweeps")
    writers = {"derivations": lambda path: sampled_trees(found).save(path), "trace": write_trace(found.trace)}
    return Extracted(found.rules, outputs, writers)
