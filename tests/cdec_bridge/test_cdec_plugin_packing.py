"""Features packed inside a real cdec: the same translations as without."""

from __future__ import annotations

import subprocess

import pytest
from cdec_runs import NAMES, SENTENCES, WEIGHTS, Cdec, assert_same, messages, two_passes

from lscfg.cdec_bridge.decoder import CdecDecoder
from lscfg.cdec_bridge.packing import pack_ini
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.weights import read_weights, write_weights


def both(cdec: Cdec, exact: dict[str, str], text: str, *options: str, unpack: bool = True) -> list[list[Hypothesis]]:
    """The lists of the configuration as it is and packed."""
    packed = pack_ini(cdec.folder / "cdec.ini", unpack)
    plain = cdec.lists(text, *options, env=exact)
    (cdec.folder / "cdec.ini").write_text("\n".join([*packed.lines, ""]))
    write_weights(cdec.folder / "weights", packed.weights(read_weights(cdec.folder / "weights")))
    return [plain, cdec.lists(text, *options, env=exact)]


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize("features", ["paper", "paper,ratios"])
def test_packed_and_unpacked(cdec, exact, glue, features):
    """Lists of one pass, in their order, with all features; seven ratios are more than cdec keeps in place."""
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    lm = "feature_function=SourceSpanSizeFeatures"  # has a state
    cdec.ini(
        "feature_function=WordPenalty", lm, cdec.line(f"features={features}"), "cubepruning_pop_limit=30", base=base
    )
    plain, packed = both(cdec, exact, "".join(s + "\n" for s in SENTENCES))
    assert [h.text for h in plain] == [h.text for h in packed]
    assert [h.score for h in plain] == pytest.approx([h.score for h in packed], abs=1e-9)
    assert_same(plain, packed, 1e-9)
    assert all({"WordPenalty", "LatentMarginal"} <= set(h.features) for h in packed if len(h.text.split()) > 1)
    assert not any(name.startswith("Packed") for h in packed for name in h.features)


def test_packed_for_good(cdec, exact):
    """Without a pass that unpacks, one entry holds all that stood before it."""
    cdec.ini("feature_function=WordPenalty", cdec.line())
    plain, packed = both(cdec, exact, "una casa y una casa\n", unpack=False)
    assert {name for h in packed for name in h.features} == {"Packed"}
    assert [h.score for h in plain] == pytest.approx([h.features["Packed"] for h in packed], abs=1e-9)


@pytest.mark.parametrize("weight", [1, -2.5])
def test_only_latent_features_packed(cdec, exact, weight):
    """The sum is divided by its weight, so that any will do."""
    cdec.ini("feature_function=WordPenalty", cdec.line())
    plain = cdec.lists("una casa y una casa\n", env=exact)
    cdec.ini("feature_function=WordPenalty", cdec.line("pack=latent"))
    weights = read_weights(cdec.folder / "weights")
    write_weights(cdec.folder / "weights", {**weights, "Packed": weight})
    packed = cdec.lists("una casa y una casa\n", env=exact)
    assert [h.score for h in plain] == pytest.approx([h.score for h in packed], abs=1e-9)
    for a, b in zip(plain, packed, strict=True):
        latent = sum(weights[name] * a.features.get(name, 0.0) for name in NAMES[:3])
        assert b.features["Packed"] * weight == pytest.approx(latent, abs=1e-9)
        assert "WordPenalty" in b.features and "LatentMarginal" not in b.features


@pytest.mark.parametrize(
    ("options", "weights", "message"),
    [
        ("pack=latent", WEIGHTS, "pack= needs a weight of Packed; add the line 'Packed 1'"),
        ("pack=all", WEIGHTS + "Packed 0\n", "pack= needs a weight of Packed"),
        ("pack=all", "LatentMarginal 1\nPacked 1\n", "no weight of LatentEgivenF, which is to be packed"),
        ("pack=all", WEIGHTS + "Packed 1\nPackedEdge 1\n", "PackedEdge must have no weight"),
        ("pack=yes", WEIGHTS, "pack=yes: expected auto, none, latent or all"),
        ("mode=pack", WEIGHTS, "pack= needs a weight of Packed"),
        ("mode=unpack", WEIGHTS, "mode=unpack needs a line with pack=latent, pack=all or mode=pack"),
    ],
)
def test_bad_packing(cdec, options, weights, message):
    cdec.ini(cdec.line(options))
    (cdec.folder / "weights").write_text(weights)
    done = cdec.run("una casa\n")
    assert done.returncode != 0
    assert len(messages(done)) == 1 and message in messages(done)[0]


def test_packing_needs_one_set_of_weights(cdec):
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Packed": 1.0})
    cdec.ini(cdec.line("pack=all"), "weights2=weights", "feature_function2=WordPenalty")
    done = cdec.run("una casa\n")
    assert done.returncode != 0 and "later passes have their own" in messages(done)[0]
    cdec.ini(cdec.line("pack=all"))
    done = subprocess.run(
        [str(cdec.program), "-c", "cdec.ini"], capture_output=True, text=True, cwd=cdec.folder, check=False
    )
    assert done.returncode != 0 and "cdec is given none" in messages(done)[0]
    cdec.ini(cdec.line("pack=all"), cdec.line("pack=latent"))
    assert "occurs in two lines" in cdec.run("una casa\n").stderr


def test_neutral_sentences_packed(cdec, exact):
    """A lattice has no latent features in this mode; what it has is packed all the same."""
    cdec.ini("feature_function=WordPenalty", cdec.line())
    plain, packed = both(cdec, exact, "((('una',0,1),('y',0,1),),(('casa',0,1),),)\n")
    assert [h.score for h in plain] == pytest.approx([h.score for h in packed], abs=1e-9)
    assert_same(plain, packed, 1e-9)
    assert not any("LatentMarginal" in h.features for h in plain)


def test_packed_in_a_recorded_forest(cdec, exact):
    cdec.ini("feature_function=WordPenalty", *two_passes(cdec))
    plain = cdec.lists("una casa y una casa\n", env=exact)
    weights = read_weights(cdec.folder / "weights")
    write_weights(cdec.folder / "weights", {**weights, "Packed": 1.0})
    unpack = f"feature_function3=External {cdec.library} mode=unpack"
    cdec.ini("feature_function=WordPenalty", *two_passes(cdec, "pack=all"), unpack)
    assert_same(plain, cdec.lists("una casa y una casa\n", env=exact), 1e-9)


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize("before", [False, True])
def test_line_packs_for_translations(cdec, exact, glue, before):
    """Above and below other feature functions: the same translations and scores as without packing."""
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    functions = ["feature_function=WordPenalty", "feature_function=SourceSpanSizeFeatures"]
    found = []
    for pack in ("", " pack=none"):
        line = cdec.line(f"features=paper,ratios{pack}")
        cdec.ini(*([line, *functions] if before else [*functions, line]), "cubepruning_pop_limit=30", base=base)
        done = cdec.run("".join(s + "\n" for s in SENTENCES), env=exact)
        assert done.returncode == 0 and " 0 unmatched" in done.stderr, done.stderr[-2000:]
        scores = [float(line.split()[-1]) for line in done.stderr.splitlines() if "Pass1 forest  Viterbi logp" in line]
        found.append((done.stdout, scores))
    assert found[0][0] == found[1][0] and len(found[0][0].splitlines()) == len(SENTENCES)
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-5) and len(found[0][1]) == len(SENTENCES)


def test_decoder_packs_by_itself(cdec, exact, monkeypatch):
    cdec.ini("feature_function=WordPenalty", cdec.line())
    monkeypatch.setenv("LD_PRELOAD", exact["LD_PRELOAD"])
    weights = read_weights(cdec.folder / "weights")
    theirs = CdecDecoder(cdec.folder / "cdec.ini", cdec.program).decode(SENTENCES, weights, 3000, unique=False)
    plain = cdec.lists("".join(s + "\n" for s in SENTENCES), env=exact)
    assert_same(plain, [h for found in theirs for h in found], 1e-9)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("glue", [False, True])
def test_decoder_packs_without_latent_features(cdec, exact, monkeypatch, capsys, glue):
    """Lists in their order, sentences that are lattices included."""
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    cdec.ini("feature_function=WordPenalty", "feature_function=SourceSpanSizeFeatures", base=base)
    monkeypatch.setenv("LD_PRELOAD", exact["LD_PRELOAD"])
    weights = read_weights(cdec.folder / "weights")
    sentences = [*SENTENCES, "((('una',0,1),('y',0,1),),(('casa',0,1),),)"]
    plain, packed = (
        CdecDecoder(cdec.folder / "cdec.ini", cdec.program, library=library).decode(sentences, weights, 100)
        for library in (None, cdec.library)
    )
    assert [[h.text for h in found] for found in plain] == [[h.text for h in found] for found in packed]
    for one, other in zip(plain, packed, strict=True):
        assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-9)
        assert all(a.features == pytest.approx(b.features, abs=1e-9) for a, b in zip(one, other, strict=True))
    assert any("WordPenalty" in h.features for h in packed[0])
    assert capsys.readouterr().err == ""
