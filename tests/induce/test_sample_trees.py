"""Trees of samples: they spell the text with the rules that were kept, and count as parts of a tree."""

import dataclasses

import numpy as np
import pytest
from estimates import estimate_iterated
from trees import corpus as tree_corpus

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.estimate import mle, spectral
from lscfg.estimate.clusters import ClusterSettings
from lscfg.estimate.em import EMSettings
from lscfg.estimate.features_em import FeatureDesign, FeatureEMSettings, FeatureRun
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.minimal import MinimalRules
from lscfg.extract.yields import Yields
from lscfg.induce.sampled.rules import SamplingSettings, sample_rules
from lscfg.induce.sampled.trees import sampled_trees
from lscfg.io import tensors


@pytest.fixture
def text(tmp_path):
    """Pairs in order, swapped and shuffled, some of them with words that have no link, one too long."""
    rng = np.random.default_rng(3)
    lines = [], [], []
    for number in range(40):
        words = rng.integers(0, 5, size=15 if number == 11 else rng.integers(1, 9))
        size = len(words)
        order = (np.arange(size), np.arange(size)[::-1], rng.permutation(size))[rng.integers(3)]
        kept, front = rng.random(size) < 0.85, int(rng.random() < 0.3)
        lines[0].append(" ".join(f"f{w}" for w in words))
        lines[1].append(" ".join(["the"] * front + [f"e{words[o]}" for o in order]))
        lines[2].append(" ".join(f"{o}-{k + front}" for k, o in enumerate(order) if kept[k]))
    paths = [tmp_path / name for name in ("f", "e", "a")]
    for path, column in zip(paths, lines, strict=True):
        path.write_text("".join(f"{line}\n" for line in column))
    return RuleInputs(paths[0], paths[1], (paths[2], paths[2])), lines


def test_trees_spell_the_text_with_the_rules_that_were_kept(text, tmp_path):
    inputs, lines = text
    settings = SamplingSettings(sweeps=20, keep_every=10, chains=2, max_words=12, level_sweeps=0)
    found = sample_rules(inputs, settings, 1, places=True)
    made = sampled_trees(found)
    made.save(tmp_path / "d")
    made = Derivations.load(tmp_path / "d")  # which checks that rules fit spans
    assert (made.counts == found.rules.tokens).all() and (made.rules.arity > 2).any()
    assert made.alignments == 12 and made.pairs == 40 and made.dropped == {"too long": 12}
    assert np.isclose(made.weight.sum(), 80) and (np.bincount(made.sample) == 80).all()
    yields = Yields.of(dataclasses.replace(made, trees=np.unique(made.trees)))
    for side in (0, 1):
        wanted = [word for k, line in enumerate(lines[side]) if k != 11 for word in line.split()]
        assert [made.rules.words[w] for w in yields.words[side]] == wanted * 12
    # a mean over samples
    assert np.allclose(MinimalRules.of(made).count, found.rules.count)


def test_what_is_copied_counts_once(text):
    """Three copies of a corpus, a third of a tree each, are the corpus."""
    one = tree_corpus(150, 4)
    copies, n = 3, len(one.rule)
    shift = np.repeat(np.arange(copies) * n, n)
    parent = np.tile(one.parent, copies)
    many = dataclasses.replace(
        one,
        trees=np.concatenate([one.trees[:-1] + k * n for k in range(copies)] + [[copies * n]]),
        parent=np.where(parent < 0, -1, parent + shift).astype(np.int32),
        **{name: np.concatenate([getattr(one, name)] * copies) for name in ("rule", "slot", "span")},
        alignments=copies,
        weight=np.full(copies * len(one), 1 / copies),
    )
    plain = {"shrink_source": 0.0, "shrink_arity": 0.0}
    for settings in (EMSettings(3, 5), EMSettings(3, 5, held_out=0.2), EMSettings(3, 5, **plain)):
        left, right = (estimate_iterated(trees, settings) for trees in (one, many))
        ours, theirs = ((*model.tensors, model.root, model.one.rules) for model in (left, right))
        assert all(np.allclose(a, b, rtol=1e-7, atol=1e-12) for a, b in zip(ours, theirs, strict=True))
        name = "held-out log-likelihood a rule" if settings.held_out else "log-likelihood a rule"
        assert np.allclose(left.about[name], right.about[name])
    strict = type("Strict", (FeatureRun,), {"design": FeatureDesign(least=90)})
    runs = [strict(trees, FeatureEMSettings(m=2), "em-features") for trees in (one, many)]
    active = [run.factor(run.tying).columns.tolist() for run in runs]
    assert active[0] == active[1] and 0 < len(active[0]) < runs[0].columns
    left, right = (mle.RelativeFrequencies().estimate(trees, mle.MLESettings()) for trees in (one, many))
    assert all(np.allclose(a, b) for a, b in zip(left.tensors, right.tensors, strict=True))
    for settings in (spectral.SpectralSettings(3), spectral.SpectralSettings(3, scaling=False)):
        left, right = (spectral.MethodOfMoments().estimate(trees, settings).parameters() for trees in (one, many))
        assert np.allclose(left.about["singular values"], right.about["singular values"])
        ours, theirs = ((*model.tensors, model.root) for model in (left, right))
        assert all(np.allclose(np.abs(a), np.abs(b), rtol=1e-6, atol=1e-9) for a, b in zip(ours, theirs, strict=True))
    model = estimate_iterated(many, ClusterSettings(3, 2))
    assert np.isclose(model.root.sum(), 1)


def test_a_file_of_samples_goes_into_every_estimator(text, tmp_path, capsys):
    (inputs, _), output = text, tmp_path / "d"
    words = [str(path) for path in (inputs.source, inputs.target, inputs.alignments[0])]
    more = ["--sweeps", "10", "--write", f"derivations={output}", "-o", str(tmp_path / "g"), "--set", "max_words=12"]
    assert main(["grammar", "sampled", *words, *more]) == 0
    for name in ("mle", "spectral -m 2", "em -m 2 --iterations 2", "clusters -m 2 --iterations 2"):
        assert main(["estimate", *name.split(), str(output), "-o", str(tmp_path / "m"), "--quiet"]) == 0
    assert main(["grammar", "minimal", str(output), "-o", str(tmp_path / "g2")]) == 0
    arrays, metadata = tensors.load(output, "derivations")
    arrays = {name: np.array(array) for name, array in arrays.items()}
    for name, value in (("trees.weight", -1.0), ("trees.sample", -1)):
        tensors.save(output, arrays | {name: np.full_like(arrays[name], value)}, metadata)
        with pytest.raises(InputError, match=f"'{name}' holds -1"):
            Derivations.load(output)
    del arrays["trees.weight"]
    tensors.save(output, arrays, metadata)
    with pytest.raises(InputError, match=r"'trees\.weight' is missing"):
        Derivations.load(output)
