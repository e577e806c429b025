"""The example by which libraries for decoders are checked."""

from pathlib import Path

from lscfg.adapter import example_model
from lscfg.kernel import LATENT_FEATURES, FeatureOptions, Model


def test_the_example_has_all_features(tmp_path: Path) -> None:
    """``lscfg cdec check`` and ``lscfg moses check`` compare every feature, so each family needs parameters here."""
    example_model().save(tmp_path / "model.lscfg")
    model = Model(tmp_path / "model.lscfg")
    model.check_features(FeatureOptions(names=LATENT_FEATURES))
    assert model.rank == 2
