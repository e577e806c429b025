"""Estimators of L-SCFG parameters: from derivations to a model. Each is a module, see ``Estimator``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lscfg.kinds import ESTIMATORS, kind
from lscfg.settings import Declared

if TYPE_CHECKING:
    from lscfg.extract.derive import Derivations
    from lscfg.model.parameters import Estimate, Parameters


class Estimator(Protocol):
    """What the module of an estimator has; its row is in the entry-point group ``lscfg.estimators``.

    ``CHECKPOINTS``, which may be missing, names the files that it keeps in ``folder`` while it iterates.
    """

    HELP: str
    VERSION: int
    Settings: type[Declared]

    def estimate(
        self, derivations: Derivations, settings: Any, threads: int, folder: Path | None, resume: bool
    ) -> Parameters | Estimate:
        """The model: something with ``rules``, ``rank``, ``about``, ``context`` and ``save(path, precision)``.

        Args:
            settings: an instance of the module's ``Settings``.
            threads: how many to use; the result does not depend on it.
            folder: for checkpoints; with ``resume`` it goes on from the one that is there.
        """


def estimator(name: str) -> Estimator:
    """The estimator of that name.

    Raises:
        InputError: there is none.
    """
    found: Estimator = kind(ESTIMATORS, name)
    return found


def checkpoints(found: Estimator) -> Sequence[str]:
    """The files that the estimator keeps while it iterates; none if it cannot go on from where it was."""
    return getattr(found, "CHECKPOINTS", ())
