"""Features folded inside a real cdec: the same translations as without."""

from __future__ import annotations

import subprocess

import pytest
from cdec_runs import NAMES, SENTENCES, WEIGHTS, Cdec, assert_same, messages, two_passes

from lscfg.cdec_bridge.decoder import CdecDecoder
from lscfg.cdec_bridge.folding import fold_ini
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.weights import read_weights, write_weights


def both(cdec: Cdec, exact: dict[str, str], text: str, *options: str, unfold: bool = True) -> list[list[Hypothesis]]:
    """The lists of the configuration as it is and folded."""
    folded = fold_ini(cdec.folder / "cdec.ini", unfold)
    plain = cdec.lists(text, *options, env=exact)
    (cdec.folder / "cdec.ini").write_text("\n".join([*folded.lines, ""]))
    write_weights(cdec.folder / "weights", folded.weights(read_weights(cdec.folder / "weights")))
    return [plain, cdec.lists(text, *options, env=exact)]


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize("features", ["paper", "paper,ratios"])
def test_folded_and_unfolded(cdec, exact, glue, features):
    """Lists of one pass, in their order, with all features; seven ratios are more than cdec keeps in place."""
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    lm = "feature_function=SourceSpanSizeFeatures"  # has a state
    cdec.ini(
        "feature_function=WordPenalty", lm, cdec.line(f"features={features}"), "cubepruning_pop_limit=30", base=base
    )
    plain, folded = both(cdec, exact, "".join(s + "\n" for s in SENTENCES))
    assert [h.text for h in plain] == [h.text for h in folded]
    assert [h.score for h in plain] == pytest.approx([h.score for h in folded], abs=1e-9)
    assert_same(plain, folded, 1e-9)
    assert all({"WordPenalty", "LatentMarginal"} <= set(h.features) for h in folded if len(h.text.split()) > 1)
    assert not any(name.startswith("Folded") for h in folded for name in h.features)


def test_folded_for_good(cdec, exact):
    """Without a pass that unfolds, one entry holds all that stood before it."""
    cdec.ini("feature_function=WordPenalty", cdec.line())
    plain, folded = both(cdec, exact, "una casa y una casa\n", unfold=False)
    assert {name for h in folded for name in h.features} == {"Folded"}
    assert [h.score for h in plain] == pytest.approx([h.features["Folded"] for h in folded], abs=1e-9)


@pytest.mark.parametrize("weight", [1, -2.5])
def test_only_latent_features_folded(cdec, exact, weight):
    """The sum is divided by its weight, so that any will do."""
    cdec.ini("feature_function=WordPenalty", cdec.line())
    plain = cdec.lists("una casa y una casa\n", env=exact)
    cdec.ini("feature_function=WordPenalty", cdec.line("fold=latent"))
    weights = read_weights(cdec.folder / "weights")
    write_weights(cdec.folder / "weights", {**weights, "Folded": weight})
    folded = cdec.lists("una casa y una casa\n", env=exact)
    assert [h.score for h in plain] == pytest.approx([h.score for h in folded], abs=1e-9)
    for a, b in zip(plain, folded, strict=True):
        latent = sum(weights[name] * a.features.get(name, 0.0) for name in NAMES[:3])
        assert b.features["Folded"] * weight == pytest.approx(latent, abs=1e-9)
        assert "WordPenalty" in b.features and "LatentMarginal" not in b.features


@pytest.mark.parametrize(
    ("options", "weights", "message"),
    [
        ("fold=latent", WEIGHTS, "fold= needs a weight of Folded; add the line 'Folded 1'"),
        ("fold=all", WEIGHTS + "Folded 0\n", "fold= needs a weight of Folded"),
        ("fold=all", "LatentMarginal 1\nFolded 1\n", "no weight of LatentEgivenF, which is to be folded"),
        ("fold=all", WEIGHTS + "Folded 1\nFoldedEdge 1\n", "FoldedEdge must have no weight"),
        ("fold=yes", WEIGHTS, "fold=yes: expected none, latent or all"),
        ("mode=fold", WEIGHTS, "fold= needs a weight of Folded"),
        ("mode=unfold", WEIGHTS, "mode=unfold needs a line with fold=latent, fold=all or mode=fold"),
    ],
)
def test_bad_folding(cdec, options, weights, message):
    cdec.ini(cdec.line(options))
    (cdec.folder / "weights").write_text(weights)
    done = cdec.run("una casa\n")
    assert done.returncode != 0
    assert len(messages(done)) == 1 and message in messages(done)[0]


def test_folding_needs_one_set_of_weights(cdec):
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Folded": 1.0})
    cdec.ini(cdec.line("fold=all"), "weights2=weights", "feature_function2=WordPenalty")
    done = cdec.run("una casa\n")
    assert done.returncode != 0 and "later passes have their own" in messages(done)[0]
    cdec.ini(cdec.line("fold=all"))
    done = subprocess.run(
        [str(cdec.program), "-c", "cdec.ini"], capture_output=True, text=True, cwd=cdec.folder, check=False
    )
    assert done.returncode != 0 and "cdec is given none" in messages(done)[0]
    cdec.ini(cdec.line("fold=all"), cdec.line("fold=latent"))
    assert "stands in two lines" in cdec.run("una casa\n").stderr


def test_neutral_sentences_folded(cdec, exact):
    """A lattice has no latent features in this mode; what it has is folded all the same."""
    cdec.ini("feature_function=WordPenalty", cdec.line())
    plain, folded = both(cdec, exact, "((('una',0,1),('y',0,1),),(('casa',0,1),),)\n")
    assert [h.score for h in plain] == pytest.approx([h.score for h in folded], abs=1e-9)
    assert_same(plain, folded, 1e-9)
    assert not any("LatentMarginal" in h.features for h in plain)


def test_folded_in_a_recorded_forest(cdec, exact):
    cdec.ini("feature_function=WordPenalty", *two_passes(cdec))
    plain = cdec.lists("una casa y una casa\n", env=exact)
    weights = read_weights(cdec.folder / "weights")
    write_weights(cdec.folder / "weights", {**weights, "Folded": 1.0})
    unfold = f"feature_function3=External {cdec.library} mode=unfold"
    cdec.ini("feature_function=WordPenalty", *two_passes(cdec, "fold=all"), unfold)
    assert_same(plain, cdec.lists("una casa y una casa\n", env=exact), 1e-9)


def test_decoder_folds_by_itself(cdec, exact, monkeypatch):
    cdec.ini("feature_function=WordPenalty", cdec.line())
    monkeypatch.setenv("LD_PRELOAD", exact["LD_PRELOAD"])
    weights = read_weights(cdec.folder / "weights")
    theirs = CdecDecoder(cdec.folder / "cdec.ini", cdec.program).decode(SENTENCES, weights, 3000, unique=False)
    plain = cdec.lists("".join(s + "\n" for s in SENTENCES), env=exact)
    assert_same(plain, [h for found in theirs for h in found], 1e-9)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("glue", [False, True])
def test_decoder_folds_without_latent_features(cdec, exact, monkeypatch, capsys, glue):
    """Lists in their order, sentences that are lattices included."""
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    cdec.ini("feature_function=WordPenalty", "feature_function=SourceSpanSizeFeatures", base=base)
    monkeypatch.setenv("LD_PRELOAD", exact["LD_PRELOAD"])
    weights = read_weights(cdec.folder / "weights")
    sentences = [*SENTENCES, "((('una',0,1),('y',0,1),),(('casa',0,1),),)"]
    plain, folded = (
        CdecDecoder(cdec.folder / "cdec.ini", cdec.program, library=library).decode(sentences, weights, 100)
        for library in (None, cdec.library)
    )
    assert [[h.text for h in found] for found in plain] == [[h.text for h in found] for found in folded]
    for one, other in zip(plain, folded, strict=True):
        assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-9)
        assert all(a.features == pytest.approx(b.features, abs=1e-9) for a, b in zip(one, other, strict=True))
    assert any("WordPenalty" in h.features for h in folded[0])
    assert capsys.readouterr().err == ""
