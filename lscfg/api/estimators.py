"""Estimators in the style of scikit-learn: settings in the constructor, ``fit``, learned attributes that end in _.

>>> import lscfg
>>> trees = lscfg.derive(["a b", "b a", "a"], ["A B", "B A", "A"], ["0-0 1-1", "0-0 1-1", "0-0"])
>>> lscfg.MLE().fit(trees).parameters_.rules.text(0)
'[X] ||| a ||| A'
>>> lscfg.EM(m=2, iterations=5).m
2
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from lscfg.api.arguments import brief, check_lines, check_number, check_path
from lscfg.context.inputs import ContextData, check_source
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.errors import InputError, did_you_mean
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.derive import Derivations
from lscfg.extract.minimal import tokens_of
from lscfg.io.read import read_lines
from lscfg.model.parameters import Estimate
from lscfg.settings import settings_from, settings_of

if TYPE_CHECKING:
    from lscfg.model.parameters import Parameters


class LatentEstimator:
    """The base class of estimators. ``help`` shows the settings of an estimator with their defaults.

    Args:
        threads: number of threads of ``fit``; the result does not depend on it.
        settings: as on the command line, ``-`` written ``_``; also attributes, which may be set.

    Raises:
        InputError: a value is out of its range.
        TypeError: there is no setting of that name, or ``threads`` is not a whole number.
    """

    kind: ClassVar[str]
    _model: Parameters | Estimate  # after fit

    def __init__(self, *, threads: int = 1, **settings: Any):
        self.threads = int(check_number(threads, "threads", 1))
        self._settings = settings_from(ESTIMATORS[self.kind].Settings, settings, type(self).__name__)
        for name in _names(self._settings):  # set by a subclass before; __getattr__ finds the current value
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        settings = self.__dict__.get("_settings")  # an object that is being unpickled has none yet
        if settings is not None and name in _names(settings):
            return getattr(settings, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        settings = self.__dict__.get("_settings")
        if settings is not None and name in ("threads", *_names(settings)):
            self.set_params(**{name: value})
            return
        own = settings is not None and type(self).__module__ == __name__  # a subclass may choose similar names
        if own and name == name.strip("_") and not hasattr(self, name) and (hint := _meant(name, _names(settings))):
            raise AttributeError(f"{type(self).__name__!r} object has no setting {name!r}{hint}")
        super().__setattr__(name, value)

    def __init_subclass__(cls) -> None:
        settings = inspect.signature(ESTIMATORS[cls.kind].Settings).parameters.values()
        named = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in settings]
        threads = inspect.Parameter("threads", inspect.Parameter.KEYWORD_ONLY, default=1, annotation="int")
        cls.__signature__ = inspect.Signature([*named, threads])  # type: ignore[attr-defined]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All settings by name, and ``threads``."""
        return {name: getattr(self._settings, name) for name in _names(self._settings)} | {"threads": self.threads}

    def set_params(self, **settings: Any) -> Self:
        """Changes some of the settings; see ``LatentEstimator``."""
        values = self.get_params() | settings
        threads = int(check_number(values.pop("threads"), "threads", 1))
        self._settings = settings_from(type(self._settings), values, type(self).__name__)
        self.__dict__["threads"] = threads
        return self

    @property
    def parameters_(self) -> Parameters:
        """The parameters of all rules after ``fit``, whose tensors are computed at the first use.

        ``save`` needs less memory.

        Raises:
            AttributeError: ``fit`` was not called.
        """
        found = self._model
        if isinstance(found, Estimate):
            self._model = found = found.parameters()
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if self.__sklearn_is_fitted__():
            found = self._model  # the tensors of an ``Estimate`` are made by functions
            state["_model"] = found.parameters() if isinstance(found, Estimate) else found
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "parameters_" in state:  # of an earlier version
            state["_model"] = state.pop("parameters_")
        self.__dict__.update(state)

    def fit(
        self,
        derivations: Derivations | str | os.PathLike[str],
        y: None = None,
        *,
        context: str | os.PathLike[str] | Iterable[str] | None = None,
    ) -> Self:
        """Estimates the parameters.

        Args:
            derivations: of ``lscfg.derive``, or the name of a file: of ``lscfg derive``, or trees as text (.trees).
            y: nothing; scikit-learn passes it.
            context: the source side of the corpus as a file or as lines; the model then also learns the words around
                a rule.

        Raises:
            InputError: a file cannot be read or does not fit the others, or the text is too small for the rank.
            TypeError: an argument has another type.
        """
        if isinstance(derivations, Derivations):
            trees = derivations
        elif isinstance(derivations, (str, os.PathLike)):
            trees = Derivations.load(check_path(derivations, "derivations"))
        else:
            raise TypeError(
                f"derivations must be lscfg.Derivations or the name of a file, not {brief(derivations)}; make them "
                "with lscfg.derive(source, target, alignment)"
            )
        data = None if context is None else _context(trees, context)
        model = ESTIMATORS[self.kind].estimate(trees, self._settings, self.threads)
        self._model = data.add(model, self.threads) if data else model
        return self

    def save(self, path: str | os.PathLike[str], precision: str = "float32") -> None:
        """Writes the model of ``fit``, for decoders and ``lscfg.load``.

        Raises:
            InputError: ``fit`` was not called, a value is too large for float32, or the file cannot be written.
        """
        path = check_path(path, "path")
        if not isinstance(precision, str) or precision not in ("float32", "float64"):
            raise InputError(f"precision must be float32 or float64, not {brief(precision)}")
        if not self.__sklearn_is_fitted__():
            raise InputError(f"nothing to write; call {type(self).__name__}.fit first", path)
        self._model.save(path, precision)

    def __repr__(self) -> str:
        usual = {item.name: item.default for item in settings_of(type(self._settings))} | {"threads": 1}
        told = [f"{name}={value!r}" for name, value in self.get_params().items() if value != usual[name]]
        return f"{type(self).__name__}({', '.join(told)})"


def _names(settings: Any) -> list[str]:
    """The names of the settings in order."""
    return [item.name for item in settings_of(type(settings))]


def _meant(name: str, settings: list[str]) -> str:
    """The end of a message about a name that resembles a setting; empty for one that does not."""
    known = ["threads", *settings]
    return did_you_mean(name, [one for one in known if one[:4] == name[:4]]) or did_you_mean(name, known, least=0.8)


def _context(trees: Derivations, text: str | os.PathLike[str] | Iterable[str]) -> ContextData:
    """Data of the default context model of the minimal rules.

    Raises:
        InputError: the text is not the source side of the derivations.
        TypeError: the text is neither the name of a file nor lines.
    """
    named = isinstance(text, (str, os.PathLike))
    path = check_path(text, "context") if named else "context"
    lines = read_lines(path) if named else check_lines(text, "context")
    name = "loglinear"
    return ContextData({name: CONTEXT_MODELS[name].Settings()}, tokens_of(trees), check_source(lines, trees, path), [])


class MLE(LatentEstimator):
    """Relative frequencies, one state."""

    kind = "mle"


class Spectral(LatentEstimator):
    """The method of moments (paper, section 4.1)."""

    kind = "spectral"


class EM(LatentEstimator):
    """Expectation maximisation (paper, section 4.2)."""

    kind = "em"


class FeatureEM(LatentEstimator):
    """Expectation maximisation with log-linear features of rules (Berg-Kirkpatrick et al. 2010)."""

    kind = "em-features"


class Clusters(LatentEstimator):
    """Clusters of the spectral embedding, then a few iterations of EM."""

    kind = "clusters"


class Neural(LatentEstimator):
    """A neural network for target words (Devlin et al. 2014), without hidden states."""

    kind = "neural"


class Orientation(LatentEstimator):
    """Orientations of phrases, without hidden states (Galley and Manning 2008)."""

    kind = "orientation"
