"""Weights without a feature and features without a weight: a warning by name, wherever both meet."""

import logging
from pathlib import Path

import pytest

import lscfg
from lscfg.bundle.system import open_system
from lscfg.cli import main
from lscfg.formats.weights import missing_weights, read_weights, unknown_weights

LINES = [("a b", "A B", "0-0 1-1"), ("b a", "B A", "0-0 1-1"), ("a", "A", "0-0"), ("b", "C", "0-0"), ("a c", "A D", "")]
LATENT = ("LatentMarginal", "LatentEgivenF", "LatentFgivenE")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A system with latent features, and weights of all its features."""
    folder = tmp_path_factory.mktemp("system")
    for number, name in enumerate(("f", "e", "links")):
        (folder / name).write_text("".join(f"{line[number]}\n" for line in LINES * 3))
    f, e, links, deriv = (str(folder / name) for name in ("f", "e", "links", "deriv"))
    for words in (
        ["derive", f, e, links, "-o", deriv],
        ["grammar", "minimal", deriv, "-o", str(folder / "g")],
        ["estimate", "mle", deriv, "-o", str(folder / "model")],
        ["lm", e, "-o", str(folder / "lm"), "--order", "2", "--discount-fallback"],
    ):
        assert main([*words, "--quiet"]) == 0
    (folder / "cdec.ini").write_text(
        "formalism=scfg\ngrammar=g\nfeature_function=WordPenalty\nfeature_function=KLanguageModel lm\n"
        "feature_function=LSCFG model=model features=paper\nadd_pass_through_rules=true\n"
        "scfg_no_hiero_glue_grammar=true\n"
    )
    with lscfg.Decoder(folder / "cdec.ini", {"LanguageModel": 1.0}) as decoder:
        names = decoder._decoder.live_features
    (folder / "weights").write_text("".join(f"{name} {-0.5 if name in LATENT else 0.25}\n" for name in names))
    return folder


def without(made, tmp_path, *names):
    """The weights without some."""
    weights = read_weights(made / "weights")
    assert {*names} <= weights.keys()
    path = tmp_path / "some"
    path.write_text("".join(f"{name} {value}\n" for name, value in weights.items() if name not in names))
    return path


@pytest.fixture(autouse=True)
def silent_cdec(monkeypatch):
    """A cdec that translates nothing; the weights meet the features before."""
    monkeypatch.setattr("lscfg.cdec_bridge.commands.cdec.find_cdec", lambda: Path("cdec"))
    monkeypatch.setattr("lscfg.cdec_bridge.processes.CdecProcesses.decode", lambda self, lines: [[] for _ in lines])
    monkeypatch.setattr("lscfg.cdec_bridge.commands.cdec.record", lambda *given: ["{}"])


def surfaces(made, weights, tmp_path):
    """All ways to bring weights and features together, by name."""
    cdec = str(tmp_path / "absolute.ini")
    lines = (made / "cdec.ini").read_text()
    for name, key in (("g", "grammar="), ("lm", "KLanguageModel "), ("model", "model=")):
        lines = lines.replace(f"{key}{name}", f"{key}{made / name}")
    library = made / "liblscfg_cdec.so"
    library.touch()
    Path(cdec).write_text(lines.replace("LSCFG", f"External {library}"))
    ini, text = str(made / "cdec.ini"), str(made / "f")
    assert main(["decode", text, "-c", ini, "-w", str(made / "weights"), "-k", "2", "-o", str(tmp_path / "k")]) == 0
    tuned = ("-o", str(tmp_path / "tuned"), "--iterations", "1", "--kbest", "2")
    return {
        "decode": lambda: main(["decode", text, "-c", ini, "-w", str(weights), "-o", str(tmp_path / "out")]),
        "rescore": lambda: main(["rescore", str(tmp_path / "k"), "-w", str(weights), "-o", str(tmp_path / "out")]),
        "tune": lambda: main(
            ["tune", "weights", "-s", text, "--reference", str(made / "e"), "-c", ini, "-w", str(weights), *tuned]
        ),
        "pack": lambda: main(["pack", ini, "-w", str(weights), "-o", str(tmp_path / "bundle")]),
        "moses": lambda: main(["moses", "convert", "-c", ini, "-w", str(weights), "-o", str(tmp_path / "moses")]),
        "cdec": lambda: main(["cdec", "decode", text, "-c", cdec, "-w", str(weights), "-o", str(tmp_path / "out")]),
        "forest": lambda: main(["cdec", "forest", text, "-c", cdec, "-w", str(weights), "-o", str(tmp_path / "out")]),
        "serve": lambda: open_system(ini, weights).decoder().close(),
        "file": lambda: lscfg.Decoder(ini, weights).close(),
        "dictionary": lambda: lscfg.Decoder(ini, read_weights(weights)).close(),
    }


NAMES = ("decode", "rescore", "tune", "pack", "moses", "cdec", "forest", "serve", "file", "dictionary")


@pytest.mark.parametrize("surface", NAMES)
@pytest.mark.parametrize("gone", [LATENT, ("LatentMarginal",)])
def test_latent_features_without_weights_are_named(made, tmp_path, caplog, surface, gone):
    """Else the configuration with latent features translates as the one without, and nobody knows."""
    run = surfaces(made, without(made, tmp_path, *gone), tmp_path)[surface]
    caplog.clear()
    assert not run()
    said = [record.getMessage() for record in caplog.records if "without a" in record.getMessage()]
    assert len(said) == 1 and all(name in said[0] for name in gone), caplog.text
    assert caplog.records[0].levelno == logging.WARNING or surface in ("pack", "tune")
    assert "EgivenF" not in said[0].replace("LatentEgivenF", "")


@pytest.mark.parametrize("surface", NAMES)
def test_weights_of_all_features_are_silent(made, tmp_path, caplog, surface):
    """A weight of 0 is a weight."""
    weights = without(made, tmp_path, "LatentMarginal")
    weights.write_text(weights.read_text() + "LatentMarginal 0\n")
    run = surfaces(made, weights, tmp_path)[surface]
    caplog.clear()
    assert not run()
    assert "without a" not in caplog.text


def test_the_language_model_and_rules_count_too(made, tmp_path, caplog):
    lscfg.Decoder(made / "cdec.ini", without(made, tmp_path, "LanguageModel", "EgivenF")).close()
    assert "without a weight, which count as 0: EgivenF, LanguageModel" in caplog.text


def test_features_that_a_text_may_never_need():
    known = ["A", "LM", "LM_OOV", "Glue", "PassThrough", "Rare_OOV"]
    assert missing_weights({"A": 0.0}, known) == "LM, Rare_OOV"
    assert unknown_weights({"LM_OOV": 1.0, "Glue": 1.0, "LN": 1.0, "Z": 0.0}, ["LM"]) == "'LN'"
    assert missing_weights({}, [f"F{n}" for n in range(14)]).endswith("F11 and 2 more")


@pytest.mark.parametrize("unknown", ["LangaugeModel", "ArityPenalty_0"])
def test_names_of_start_weights_are_checked_before_tuning(made, tmp_path, caplog, unknown):
    weights = without(made, tmp_path, "EgivenF")
    weights.write_text(weights.read_text() + f"{unknown} 2\n")
    assert not surfaces(made, weights, tmp_path)["tune"]()
    said = [record.getMessage() for record in caplog.records]
    (place,) = [number for number, text in enumerate(said) if f"kept unchanged: {unknown!r}" in text]
    assert ("did you mean LanguageModel?" in said[place]) == (unknown == "LangaugeModel")
    assert place < next(number for number, text in enumerate(said) if "iteration 1" in text)
    tuned = read_weights(tmp_path / "tuned" / "weights")
    assert "EgivenF" in tuned and tuned[unknown] == 2.0


def test_tuned_weights_need_no_warning(made, tmp_path, caplog):
    """A rule that no hypothesis needs has a feature without a value in the lists; tuning writes its weight, too."""
    (tmp_path / "rare").write_text("[X] ||| never ||| seen ||| Rare=1\n")
    ini = tmp_path / "rare.ini"
    text = (
        (made / "cdec.ini").read_text().replace("grammar=g\n", f"grammar={made / 'g'}\ngrammar={tmp_path / 'rare'}\n")
    )
    ini.write_text(
        text.replace("KLanguageModel lm", f"KLanguageModel {made / 'lm'}").replace("=model", f"={made / 'model'}")
    )
    f, e, out = str(made / "f"), str(made / "e"), tmp_path / "tuned"
    words = ["tune", "weights", "-s", f, "--reference", e, "-c", str(ini), "-w", str(made / "weights"), "-o", str(out)]
    assert not main([*words, "--iterations", "2", "--kbest", "2"])
    assert "features without a start weight, which begin at 0: Rare" in caplog.text
    assert read_weights(out / "weights")["Rare"] == 0.0
    caplog.clear()
    assert not main(["decode", f, "-c", str(ini), "-w", str(out / "weights"), "-o", str(tmp_path / "out")])
    assert "without a" not in caplog.text
