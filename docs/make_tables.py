"""Writes the tables of settings in CONFIGURATION.md and SERVE.md anew, from where the settings are declared.

Each is between the lines ``<!-- settings: NAME -->`` and ``<!-- end -->``. NAME is ``estimator/em``, ``source/hiero``,
``context/loglinear``, ``optimiser/mira``, ``aligner/eflomal``, ``text/tsv``, ``tokeniser/spm``,
``serve``, ``margin``, ``propagate/graph`` or a table of the experiment file. A kind without settings has no table.
"""

import re
from pathlib import Path

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.corpus.aligner import ALIGNERS
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS
from lscfg.prepare.reader import TEXT_READERS
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.serve.settings import ServeSettings
from lscfg.settings import settings_of, settings_table
from lscfg.tuning.experiment import config, schema
from lscfg.tuning.experiment.monolingual import PARTS
from lscfg.tuning.margin.settings import MarginSettings
from lscfg.tuning.optimisers import OPTIMISERS

DOCUMENTS = tuple(Path(__file__).parent / name for name in ("reference/configuration.md", "guides/serving.md"))
GROUPS = {
    "estimator": ESTIMATORS,
    "source": EXTRACTORS,
    "context": CONTEXT_MODELS,
    "optimiser": OPTIMISERS,
    "aligner": ALIGNERS,
    "text": TEXT_READERS,
    "tokeniser": TOKENISERS,
}


def tables() -> dict[str, str]:
    """Every table by its name."""
    made = {name: part for name, part in config.PARTS.items() if name not in ("corpus", "monolingual")}
    made |= {f"propagate/{name}": part for name, part in PARTS.items()}
    made |= {
        "margin": MarginSettings,
        "tuning": schema.Tuning,
        "alignment": schema.Alignment,
        "prepare": PrepareSettings,
        "serve": ServeSettings,
    }
    for short, group in GROUPS.items():
        made |= {f"{short}/{name}": group[name].Settings for name in group.names()}
    return {name: "\n".join(settings_table(settings)) for name, settings in made.items() if settings_of(settings)}


def updated(text: str) -> str:
    """A document with today's tables.

    Raises:
        KeyError: it has a table of settings that there are not.
    """
    made = tables()

    def table(mark: re.Match[str]) -> str:
        return f"<!-- settings: {mark[1]} -->\n\n{made[mark[1]]}\n\n<!-- end -->"

    return re.sub(r"<!-- settings: (\S+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(updated(document.read_text(encoding="utf-8")), encoding="utf-8")
