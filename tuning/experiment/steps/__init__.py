"""Steps of a system: additions to its rules. One class in one file, and one row here."""

from lscfg.tuning.experiment.steps.agree import Agree
from lscfg.tuning.experiment.steps.expand import Expand
from lscfg.tuning.experiment.steps.latent import Latent
from lscfg.tuning.experiment.steps.margin import Margin
from lscfg.tuning.experiment.system import SystemStep

STEPS: tuple[type[SystemStep], ...] = (Agree, Expand, Margin, Latent)
"""In the order in which a system's table is read; the last one gets all remaining keys."""
