"""``lscfg pack``: bundles translate as their systems do wherever they lie, and damaged ones are named."""

import contextlib
import hashlib
import json
import shutil

import pytest
from little_experiment import run_lscfg
from services import little_preparation

from lscfg.bundle.manifest import Manifest
from lscfg.bundle.pack import pack
from lscfg.bundle.places import MANIFEST
from lscfg.bundle.system import open_system
from lscfg.cdec_bridge.paths import check_paths
from lscfg.decode.confidence import Band, Calibration, Confidence, weights_hash
from lscfg.errors import InputError
from lscfg.formats.weights import read_weights

BANDS = Band(0.9, 0, 0), Band(0.7, 4, 3), Band(0.5, 0, 0), Band(0.0, 2, 1)


def translated(text, ini, *options, cwd=None):
    run = run_lscfg("decode", text, "-c", ini, "--kbest", 4, *options, cwd=cwd)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_bundle_translates_as_its_system_after_it_was_moved(system, original, tmp_path):
    before = translated(original / "text", system / "cdec.ini", "-w", system / "weights")
    run = run_lscfg("pack", system, "-o", tmp_path / "bundle")
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr.startswith(f"[lscfg] wrote {tmp_path}/bundle: 5 files")
    shutil.rmtree(system.parents[1])
    moved = tmp_path / "far away" / "moved"
    moved.parent.mkdir()
    (tmp_path / "bundle").rename(moved)
    assert translated(original / "text", moved / "cdec.ini") == before
    assert translated(original / "text", "cdec.ini", cwd=moved) == before
    assert list(tmp_path.iterdir()) == [moved.parent]


def test_what_lies_in_the_working_directory_is_not_taken_for_the_bundle(system, original, tmp_path):
    """Decoders look there first."""
    before = translated(original / "text", system / "cdec.ini", "-w", system / "weights")
    pack(system, tmp_path / "bundle")
    for name in ("grammar", "grammar.gz", "g.gz", "lm.arpa", "weights", "model.lscfg", "spectral.lscfg"):
        (tmp_path / name).write_text("nothing of use\n")
    assert translated(original / "text", "bundle/cdec.ini", cwd=tmp_path) == before


def test_the_manifest_says_what_each_file_is(system, tmp_path):
    pack(system / "cdec.ini", tmp_path / "bundle", system / "weights")
    found = json.loads((tmp_path / "bundle" / MANIFEST).read_text())
    files = {path.name for path in (tmp_path / "bundle").iterdir()} - {MANIFEST}
    assert found["files"].keys() == files and found["name"] == "bundle"
    assert sorted(facts["role"] for facts in found["files"].values()) == [
        "compiled grammar",
        "compiled language model",
        "configuration",
        "feature weights",
        "latent model",
    ]
    for name, facts in found["files"].items():
        data = (tmp_path / "bundle" / name).read_bytes()
        assert (facts["bytes"], facts["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


def test_equal_systems_make_equal_bytes(system, tmp_path):
    for folder in ("one", "two"):
        pack(system, tmp_path / folder / "bundle")
    names = [path.name for path in (tmp_path / "one" / "bundle").iterdir()]
    assert len(names) == 6
    for name in names:
        assert (tmp_path / "one/bundle" / name).read_bytes() == (tmp_path / "two/bundle" / name).read_bytes()


def test_texts_come_along_for_other_decoders(system, original, tmp_path):
    before = translated(original / "text", system / "cdec.ini", "-w", system / "weights")
    run = run_lscfg("pack", system, "-o", tmp_path / "bundle", "--texts")
    assert run.stderr.startswith(f"[lscfg] wrote {tmp_path}/bundle: 7 files")
    roles = sorted(facts.role for facts in Manifest.read(tmp_path / "bundle").files.values())
    assert {"grammar", "compiled grammar", "language model", "compiled language model"} < set(roles)
    assert translated(original / "text", tmp_path / "bundle" / "cdec.ini") == before
    for compiled in (tmp_path / "bundle").glob("*.compiled"):
        compiled.unlink()
    assert translated(original / "text", tmp_path / "bundle" / "cdec.ini") == before
    check_paths(tmp_path / "bundle" / "cdec.ini", tmp_path / "bundle")
    pack(system, tmp_path / "other")
    with pytest.raises(InputError, match=r"cannot read 'grammar-.*compiled'; pack the system with --texts"):
        check_paths(tmp_path / "other" / "cdec.ini", tmp_path / "other")
    with pytest.raises(InputError, match=r"Moses cannot read .*compiled'; pack the system with --texts"):
        open_system(tmp_path / "other").config.check_texts("Moses")


def test_other_weights_and_several_grammars(system, original, tmp_path):
    (tmp_path / "weights").write_text("EgivenF 1\nLanguageModel 0.5\n")
    (tmp_path / "g2").write_text("[X] ||| x ||| the x ||| EgivenF=0.5\n")
    ini = (system / "cdec.ini").read_text().replace("formalism=scfg\n", f"formalism=scfg\ngrammar={tmp_path / 'g2'}\n")
    (system / "cdec.ini").write_text(ini)
    before = translated(original / "text", system / "cdec.ini", "-w", tmp_path / "weights")
    pack(system, tmp_path / "bundle", tmp_path / "weights")
    assert translated(original / "text", tmp_path / "bundle" / "cdec.ini") == before
    assert len(list((tmp_path / "bundle").glob("grammar-*"))) == 2


def test_the_weights_of_the_ini_are_packed(system, tmp_path):
    """Each command prefers them to the file next to it."""
    (system / "tuned").write_text("LanguageModel 1\n")
    (system / "weights").write_text("LanguageModel 2\n")
    (system / "cdec.ini").write_text((system / "cdec.ini").read_text() + "weights=tuned\n")
    pack(system, tmp_path / "bundle")
    assert open_system(tmp_path / "bundle").weights == open_system(system).weights == {"LanguageModel": 1.0}


@pytest.mark.parametrize("texts", [[], ["--texts"]])
def test_equal_grammars_and_language_models_are_packed_once(system, original, tmp_path, texts):
    shutil.copyfile(original / "g.gz", system / "g2.gz")
    shutil.copyfile(original / "lm.arpa", system / "lm2.arpa")
    ini = (system / "cdec.ini").read_text() + "grammar=g2.gz\nfeature_function=KLanguageModel -n Other lm2.arpa\n"
    (system / "cdec.ini").write_text(ini)
    before = translated(original / "text", system / "cdec.ini", "-w", system / "weights")
    run = run_lscfg("pack", system, "-o", tmp_path / "bundle", *texts)
    assert run.returncode == 0, run.stderr
    assert translated(original / "text", tmp_path / "bundle" / "cdec.ini") == before
    for role in ("grammar", "lm"):
        assert len(list((tmp_path / "bundle").glob(f"{role}-*"))) == 1 + len(texts)


def test_a_bundle_translates_from_within_another_one_with_the_same_files(system, original, tmp_path):
    for name in ("one", "two"):
        pack(system, tmp_path / name)
    before = translated(original / "text", tmp_path / "two" / "cdec.ini")
    assert translated(original / "text", "../two/cdec.ini", cwd=tmp_path / "one") == before
    with contextlib.chdir(tmp_path / "one"):
        config = open_system("../two").config
    assert {path.parent.name for path in (*config.grammars, config.language_model, config.weights)} == {"two"}
    (model,) = (tmp_path / "one").glob("lm-*")
    model.write_bytes(model.read_bytes()[:-1] + b"\0\0")
    run = run_lscfg("decode", original / "text", "-c", "../two/cdec.ini", cwd=tmp_path / "one")
    assert run.returncode == 1 and f"{model.name} is a file here and another one next to this file" in run.stderr


# ---- raw text ----


def test_a_preparation_comes_along_without_its_corpus(system, tmp_path):
    little_preparation(system.parents[1])
    pack(system, tmp_path / "bundle")
    names = {path.name for path in (tmp_path / "bundle" / "prepare").iterdir()}
    assert "prepare.json" in names and not any(name.startswith(("train", "dropped")) for name in names)
    assert len(names) == 3
    (tmp_path / "text").write_text("La casa  roja\n")
    wanted = run_lscfg("prepare", "apply", system.parents[1] / "prepare", tmp_path / "text").stdout
    shutil.rmtree(system.parents[1])
    source, target = open_system(tmp_path / "bundle").preparation.sides
    assert source.side().encode("La casa  roja") + "\n" == wanted == "la casa roja\n"
    assert target.side().decode("the red house") == "The red house"
    roles = [facts.role for name, facts in Manifest.read(tmp_path / "bundle").files.items() if "prepare/" in name]
    assert sorted(roles) == ["model of the preparation"] * 2 + ["preparation of raw text"]


def test_a_preparation_that_is_named_is_taken(system, tmp_path):
    little_preparation(tmp_path)
    pack(system, tmp_path / "bundle", prepare=tmp_path / "prepare")
    assert open_system(tmp_path / "bundle").preparation is not None
    pack(system, tmp_path / "other")
    assert open_system(tmp_path / "other").preparation is None


# ---- refusals ----


def test_only_a_bundle_gives_way(system, original, tmp_path):
    target = tmp_path / "bundle"
    pack(system, target)
    (system / "weights").write_text("LanguageModel 2\n")
    pack(system, target)
    assert open_system(target).weights == {"LanguageModel": 2.0}
    (target / "notes").write_text("mine\n")
    with pytest.raises(InputError, match="notes: does not belong to the bundle and would be lost"):
        pack(system, target)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("mine\n")
    with pytest.raises(InputError, match=r"full: exists and is not a folder with bundle\.json"):
        pack(system, tmp_path / "full")
    (tmp_path / "file").write_text("mine\n")
    run = run_lscfg("pack", system, "-o", tmp_path / "file")
    assert run.returncode == 1 and "is not a folder" in run.stderr
    with pytest.raises(InputError, match="bundle: is a bundle already; copy the folder as it is"):
        pack(target, tmp_path / "copy")
    assert {path.name for path in tmp_path.iterdir()} == {"experiment", "bundle", "full", "file"}


def test_a_system_that_does_not_translate_is_not_packed(system, tmp_path):
    (system.parents[1] / "lm.arpa").write_text("nothing\n")
    run = run_lscfg("pack", system, "-o", tmp_path / "bundle")
    assert run.returncode == 1 and run.stderr.count("\n") == 1 and "Traceback" not in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["experiment"]


@pytest.fixture
def bundle(system, tmp_path):
    little_preparation(system.parents[1])
    pack(system, tmp_path / "bundle")
    return tmp_path / "bundle"


def test_each_damaged_file_is_named(bundle):
    for path in sorted(path for path in bundle.rglob("*") if path.is_file() and path.name != MANIFEST):
        whole = path.read_bytes()
        for damaged, message in (
            (whole[:-1], "bytes, not"),
            (whole[:-1] + bytes([whole[-1] ^ 1]), "has another SHA-256"),
            (None, "is missing from the bundle"),
        ):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            with pytest.raises(InputError, match=message) as caught:
                open_system(bundle)
            assert caught.value.path == path
            path.write_bytes(whole)
        (bundle.parent / "aside").write_bytes(whole)
        path.unlink()
        path.symlink_to(bundle.parent / "aside")
        with pytest.raises(InputError, match="is a link, or below one"):
            open_system(bundle)
        path.unlink()
        path.write_bytes(whole)
    assert open_system(bundle).weights


VALUES = {
    "nothing": lambda found: None,
    "list": lambda found: [found],
    "another format": lambda found: found | {"format": 2},
    "no files": lambda found: {key: value for key, value in found.items() if key != "files"},
    "files": lambda found: found | {"files": list(found["files"])},
    "name": lambda found: found | {"name": 3},
    "facts": lambda found: found | {"files": {name: {} for name in found["files"]}},
    "size": lambda found: found | {"files": {"cdec.ini": {"role": "", "bytes": True, "sha256": ""}}},
    "further fact": lambda found: found | {"files": {"cdec.ini": {"role": "", "bytes": 1, "sha256": "", "x": 1}}},
    "no ini": lambda found: found | {"files": {k: v for k, v in found["files"].items() if k != "cdec.ini"}},
    "no grammar": lambda found: found | {"files": {k: v for k, v in found["files"].items() if "grammar" not in k}},
    **{
        name: lambda found, name=name: found | {"files": {name: found["files"]["cdec.ini"]}}
        for name in ("", ".", "..", "/etc/passwd", "../experiment/text", "a//b", "./cdec.ini", "a\0b", "bundle.json")
    },
}


@pytest.mark.parametrize("change", VALUES.values(), ids=map(repr, VALUES))
def test_a_damaged_manifest_is_one_line(bundle, change):
    found = json.loads((bundle / MANIFEST).read_text())
    (bundle / MANIFEST).write_text(json.dumps(change(found)))
    with pytest.raises(InputError) as caught:
        open_system(bundle)
    assert str(bundle) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 5000, b'{"format": NaN}'])
def test_a_manifest_that_is_no_json_is_one_line(bundle, data):
    (bundle / MANIFEST).write_bytes(data)
    with pytest.raises(InputError, match=r"bundle\.json") as caught:
        open_system(bundle)
    assert "\n" not in str(caught.value)


def test_confidence_is_packed_and_belongs_to_its_weights(system, tmp_path, caplog):
    weights = read_weights(system / "weights")
    found = Confidence(weights_hash(weights), 20, *[Calibration(0.0, {}, (), BANDS)] * 2)
    found.write(system / "confidence.json")
    pack(system, tmp_path / "bundle")
    assert open_system(tmp_path / "bundle").confidence == found == open_system(system).confidence
    assert Manifest.read(tmp_path / "bundle").files["confidence.json"].role == "confidence"
    (tmp_path / "weights").write_text("EgivenF 1\n")
    pack(system, tmp_path / "others", tmp_path / "weights")
    assert "confidence.json: belongs to other weights" in caplog.text
    assert not (tmp_path / "others" / "confidence.json").exists()


def test_soft_terms_have_the_least_weight_that_brings_them_in(system, tmp_path, caplog):
    experiment = system.parents[1]
    (tmp_path / "terms").write_text("source\ttarget\tmode\ncasa\tx\tsoft\n")
    (tmp_path / "hard").write_text("source\ttarget\ncasa\tx\n")
    with pytest.raises(InputError, match="contains no soft terms"):
        pack(system, tmp_path / "bundle", glossary=tmp_path / "hard")
    with pytest.raises(InputError, match="no development set to fit the weight of soft terms"):
        pack(system, tmp_path / "bundle", glossary=tmp_path / "terms")
    (tmp_path / "dev").write_text("la casa\n" * 30)
    settings = {"corpus": {"dev_source": str(tmp_path / "dev")}}
    (experiment / "manifest.json").write_text(json.dumps({"settings": settings}))
    run = run_lscfg("pack", system, "-o", tmp_path / "bundle", "--glossary", tmp_path / "terms")
    assert run.returncode == 0 and "translations of 30 sentences use 100.0 % of 30 terms" in run.stderr
    bundle = open_system(tmp_path / "bundle")
    assert bundle.weights["Terminology"] > 0
    tuned = tmp_path / "tuned"
    tuned.write_text((system / "weights").read_text() + "Terminology 0.5\n")
    with caplog.at_level("INFO"):
        pack(system, tmp_path / "bundle", tuned, glossary=tmp_path / "terms")
    assert f"{tuned}: contains Terminology 0.5, which is kept" in caplog.text
    assert open_system(tmp_path / "bundle").weights == read_weights(tuned)


def test_a_prepared_development_set_counts_first(original, tmp_path):
    prepare = little_preparation(tmp_path)
    (prepare / "dev.es").write_text("la casa\n" * 30)
    (tmp_path / "terms").write_text("source\ttarget\tmode\nCasa\tx\tsoft\n")
    pack(original, tmp_path / "bundle", prepare=prepare, glossary=tmp_path / "terms")
    assert "Terminology" in open_system(tmp_path / "bundle").weights
