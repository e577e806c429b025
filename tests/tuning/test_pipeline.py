"""A pipeline translates what it learned, travels in pickles, and obeys scikit-learn."""

import copy
import gc
import logging
import multiprocessing
import os
import pickle
from importlib.util import find_spec

import pytest

import lscfg
from lscfg import demo
from lscfg.bundle.system import open_system
from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.tuning.evaluate import corpus_score
from lscfg.tuning.pipeline.training import _naming_arguments

pytestmark = pytest.mark.skipif(find_spec("thot") is None, reason="no sil-thot")

CORPUS = demo.generate(seed=1, train=150, dev=1, test=8)
SOURCE, TARGET = ([pair[side] for pair in CORPUS.train] for side in (0, 1))
NEW, REFERENCE = ([pair[side] for pair in CORPUS.test] for side in (0, 1))
SMALL = {"languages": ("ja", "en"), "tokeniser": "none", "states": 2, "dev": 15, "iterations": 2}


@pytest.fixture(scope="module")
def fitted():
    return lscfg.Pipeline(SOURCE, TARGET, **SMALL).fit()


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """Another one with equal arguments, and its work folder."""
    folder = tmp_path_factory.mktemp("work") / "w"
    return lscfg.Pipeline(languages=("ja", "en"), work=folder).set_params(**SMALL).fit(SOURCE, TARGET), folder


def test_a_pipeline_translates_and_scores(fitted):
    assert fitted.pairs_["dev"] == 15 and fitted.pairs_["train"] + fitted.pairs_["dev"] <= 150
    output = fitted.translate(NEW)
    assert len(output) == len(NEW) and fitted.score(NEW, REFERENCE) == corpus_score("bleu", output, [REFERENCE]) > 0
    assert 0 < fitted.dev_bleu_ <= 100 and any(name.startswith("Latent") for name in fitted.weights_)
    known, unknown = fitted.translate([SOURCE[0], "xyzzy"], details=True)
    assert known["translation"] and known["unknown"] == [] and unknown["unknown"] == ["xyzzy"]


def test_equal_arguments_give_equal_files(fitted, worked, tmp_path):
    other, work = worked
    fitted.save(tmp_path / "a")
    other.save(tmp_path / "b")
    names = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file()]
    for name in names:
        if name.name != "bundle.json":
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert open_system(tmp_path / "a").name == "a"
    with lscfg.Decoder(tmp_path / "a" / "cdec.ini") as decoder:
        assert decoder.translate(NEW) == fitted.translate(NEW)
    pickled = pickle.dumps(other)
    assert len(pickled) < len(pickle.dumps(fitted)) and pickle.loads(pickled).translate(NEW) == fitted.translate(NEW)
    bundle = work / "bundle" / "bundle.json"
    before = bundle.read_bytes()
    bundle.write_text("{}")
    try:
        with pytest.raises(InputError, match="has changed since the pipeline was pickled"):
            pickle.loads(pickled)
    finally:
        bundle.write_bytes(before)


def test_a_fit_resumes_in_its_work_folder_and_shows_progress_if_asked(worked, monkeypatch, capfd):
    first, work = worked
    monkeypatch.setattr("lscfg.tuning.experiment.cache._measured_here", None)  # no stage is made again
    again = lscfg.Pipeline(SOURCE, TARGET, **SMALL, work=work, verbose=True).fit()
    assert again.weights_ == first.weights_
    assert "[lscfg] stage tune" in capfd.readouterr().err and not logging.getLogger("lscfg").level


def test_a_later_fit_in_the_same_folder_is_noticed(tmp_path):
    first = lscfg.Pipeline(SOURCE, TARGET, **SMALL, work=tmp_path / "w").fit()
    others = pickle.loads(pickle.dumps(first)), lscfg.Pipeline.load(tmp_path / "w" / "bundle")
    lscfg.Pipeline(TARGET, SOURCE, **SMALL | {"languages": ("en", "ja")}, work=tmp_path / "w").fit()
    for one in (first, *others):
        for use in (lambda: one.translate(NEW), lambda: one.save(tmp_path / "s"), lambda: pickle.dumps(one)):  # noqa: B023
            with pytest.raises(InputError, match="was replaced, as by a later fit"):
                use()


def test_copies_translate_equally_and_temporary_files_go(fitted, tmp_path):
    for again in (copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        made = again(fitted)
        assert made.translate(NEW) == fitted.translate(NEW)
        folder = made._fitted.bundle.folder
        assert folder != fitted._fitted.bundle.folder and folder.is_dir()
        del made
        gc.collect()
        assert not folder.parent.exists()
    joblib = pytest.importorskip("joblib")
    joblib.dump(fitted, tmp_path / "pipeline.joblib")
    assert joblib.load(tmp_path / "pipeline.joblib").translate(NEW) == fitted.translate(NEW)
    fitted.save(tmp_path / "b")
    loaded = lscfg.Pipeline.load(tmp_path / "b")
    assert loaded.translate(NEW) == fitted.translate(NEW) and loaded.languages == ("ja", "en")
    assert (loaded.tokeniser, loaded.pairs_, loaded.dev_bleu_) == ("none", fitted.pairs_, None)


def test_a_process_of_multiprocessing_removes_its_copy(fitted):
    """Such a process ends without calling the functions of ``atexit``."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_keep_copy, args=(pickle.dumps(fitted), theirs))
    process.start()
    theirs.close()
    translation, *folders = ours.recv()
    process.join(60)
    assert process.exitcode == 0 and translation == fitted.translate(NEW[0])
    assert [os.path.lexists(folder) for folder in folders] == [False, False]


def _keep_copy(pickled, connection):
    global _copy
    _copy = pickle.loads(pickled)  # lives until the end of the process
    fitted = _copy._fitted
    connection.send((_copy.translate(NEW[0]), str(fitted.bundle.folder), str(fitted._memory.path)))


def test_raw_text_is_prepared_and_restored(tmp_path, capfd):
    """In translations and in explanations; words that the preparation made are left as they are."""
    source, target = ([line.replace(" .", ".").capitalize() for line in side] for side in (TARGET, SOURCE))
    made = lscfg.Pipeline(source, target, ("en", "es"), states=2, dev=15, iterations=1).fit()
    assert made.translate(source[:1])[0][-1] == "." and made.pairs_["train"] > 50 and made.score(source, target) > 30
    made.save(tmp_path / "b")
    explain = ["inspect", "sentence", str(tmp_path / "b" / "cdec.ini")]
    words = made.translate(source[:1], details=True)[0]["source_words"]
    assert main([*explain, *source[0].split()]) == 0
    found = capfd.readouterr()
    assert f"sentence  {words}\n" in found.out and f"prepared as in {tmp_path / 'b' / 'prepare'}: {words}" in found.err
    assert main([*explain, words]) == 0
    assert capfd.readouterr() == (found.out, "")


@pytest.mark.parametrize(
    ("glossary", "word"),
    [
        ({SOURCE[0].split()[0]: "zork"}, "zork"),
        ([(SOURCE[0].split()[0], ["zork", "zark"])], "zork|zark"),
        ([{"source": SOURCE[0].split()[0], "mode": "keep"}], SOURCE[0].split()[0]),
        ("glossary.tsv", "zork"),
    ],
    ids=["targets by source", "pairs", "entries", "file"],
)
def test_terms_are_obeyed(fitted, tmp_path, monkeypatch, glossary, word):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "glossary.tsv").write_text(f"source\ttarget\n{SOURCE[0].split()[0]}\tzork\n")
    plain = fitted.translate(SOURCE[0])
    found = fitted.translate(SOURCE[0], glossary=glossary)
    assert any(form in found.split() for form in word.split("|")) and found != plain
    details = fitted.translate(SOURCE[:2], glossary, details=True)
    assert details[0]["translation"] == found and details[0]["terms"][0]["form"] in word.split("|")
    assert fitted.translate(SOURCE[0]) == plain  # a glossary holds for its call


def test_documents_are_translated(fitted, tmp_path):
    word = SOURCE[0].split()[0]
    (tmp_path / "a.html").write_text(f"<p>{SOURCE[0]}</p><pre>{SOURCE[1]}</pre><!-- {SOURCE[2]} -->")
    plain, found = (fitted.translate_document(tmp_path / "a.html", terms).decode() for terms in (None, {word: "zork"}))
    assert plain.startswith(f"<p>{fitted.translate(SOURCE[0])}</p>") and plain.endswith(f"<!-- {SOURCE[2]} -->")
    assert found.startswith(f"<p>{fitted.translate(SOURCE[0], {word: 'zork'})}</p>") and found != plain
    assert fitted.translate_document(str(tmp_path / "a.html")).decode() == plain
    made = copy.deepcopy(fitted)
    made.correct(SOURCE[0], "something else .")
    assert made.translate_document(tmp_path / "a.html").decode().startswith("<p>something else .</p>")
    with pytest.raises(InputError, match="documents are"):
        fitted.translate_document(tmp_path / "a.doc")
    with pytest.raises(TypeError, match="path must be the name of a file"):
        fitted.translate_document(3)


def test_details_are_those_of_the_service(fitted):
    one = fitted.translate(SOURCE[0], details=True)
    assert one == fitted.translate(SOURCE[:1], details=True)[0]
    words = one["details"]["words"]
    assert " ".join(word["text"] for word in words) == one["words"] and all(0 <= w["posterior"] <= 1 for w in words)
    assert one["memory"] == {"id": None, "similar": []}
    documented = {"translation", "score", "unknown", "terms", "confidence", "details"}
    for glossary in (None, {SOURCE[0].split()[0]: "zork"}):
        assert [documented - {*found} for found in fitted.translate(SOURCE[:2], glossary, details=True)] == [set()] * 2
    assert one["terms"] == []


def test_corrections_are_used_and_travel(fitted, tmp_path):
    made = copy.deepcopy(fitted)
    plain, other = made.translate(NEW[0]), made.translate(NEW[1])
    number = made.correct(NEW[0], "something else .")
    assert made.translate(NEW[0]) == "something else ." and fitted.translate(NEW[0]) == plain
    made.save(tmp_path / "b")
    copies = [
        copy.copy(made),
        copy.deepcopy(made),
        pickle.loads(pickle.dumps(made)),
        lscfg.Pipeline.load(tmp_path / "b"),
    ]
    for one in copies:
        assert one.translate(NEW[0]) == "something else ."
        one.undo(number)
        assert one.translate(NEW[0]) == plain
    assert made.translate(NEW[0]) == "something else ."
    with lscfg.Decoder(tmp_path / "b" / "cdec.ini", corrections=tmp_path / "b") as decoder:
        assert decoder.translate(NEW[:1]) == ["something else ."]
    with pytest.raises(InputError, match="no correction 7"):
        made.undo(7)
    made.correct(NEW[1], "more .")
    made.save(tmp_path / "b")  # its corrections begin with those of the folder
    with pytest.raises(InputError, match=r"corrections\.jsonl: does not belong to the bundle and would be lost"):
        fitted.save(tmp_path / "b")
    assert lscfg.Pipeline.load(tmp_path / "b").translate(NEW[:2]) == ["something else .", "more ."] != [plain, other]
    journal = tmp_path / "b" / "corrections.jsonl"
    journal.write_text("x\n")
    with pytest.raises(InputError, match=f"{journal}:1: damaged"):
        lscfg.Pipeline.load(tmp_path / "b")


def test_a_shallow_copy_shares_arguments_only(fitted):
    lines = type("Lines", (list,), {"__deepcopy__": None})(["a"])  # cannot be copied
    made = copy.copy(copy.copy(fitted).set_params(source=lines))
    assert made.source is lines and fitted.source is SOURCE and made.weights_ == fitted.weights_
    plain = fitted.translate(NEW[0])
    made.correct(NEW[0], "something else .")
    assert (made.translate(NEW[0]), fitted.translate(NEW[0])) == ("something else .", plain)
    assert not hasattr(copy.copy(lscfg.Pipeline()), "_fitted")


def test_a_fit_begins_without_corrections(fitted):
    made = copy.deepcopy(fitted)
    made.correct(NEW[0], "something else .")
    assert made.set_params(states=0, iterations=1).fit().translate(NEW[0]) != "something else ."


def test_scikit_learn_clones_and_searches(fitted, capfd):
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    made = clone(fitted)
    assert made.get_params() == fitted.get_params() and made.languages == fitted.languages
    with pytest.raises(InputError, match=r"call Pipeline\.fit or Pipeline\.load first"):
        made.translate(NEW)
    plain = lscfg.Pipeline(**SMALL | {"iterations": 1})
    split = [([*range(75)], [*range(75, 150)])]
    found = GridSearchCV(plain, {"states": [0]}, cv=split, error_score="raise", refit=False).fit(SOURCE, TARGET)
    assert found.best_score_ > 0 and found.best_params_ == {"states": 0}
    assert capfd.readouterr() == ("", "")  # quiet unless asked


def test_iterators_are_read_once():
    """Copies, pickles and further fits have the lines, too."""
    from sklearn.base import clone

    made = lscfg.Pipeline(iter(SOURCE), (line for line in TARGET), languages=("ja", "en"))
    for one in (made, clone(made), pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert (one.source, one.target) == ([*SOURCE], [*TARGET])
    made.set_params(source=iter(TARGET)).target = iter(SOURCE)
    assert (made.source, made.target) == ([*TARGET], [*SOURCE])


def test_its_description_is_one_line():
    assert repr(lscfg.Pipeline(SOURCE, languages=("ja", "en"), states=8)) == (
        "Pipeline(source=<150 lines>, languages=('ja', 'en'), states=8)"
    )
    series = type("Series", (list,), {"__ne__": lambda self, other: [1, 2]})  # compares by element, as of pandas
    assert repr(lscfg.Pipeline(series(SOURCE))) == "Pipeline(source=<150 lines>)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": None}, "source is missing"),
        ({"source": "a b"}, "source must be a list of lines, not one string"),
        ({"source": SOURCE[1:]}, "target has 150 lines, but source has 149"),
        ({"source": [], "target": []}, "source must contain one line"),
        ({"source": ["a\nb", *SOURCE[1:]]}, r"source\[0\] contains several lines"),
        ({"source": [""] * 150}, "source: 0 different pairs"),
        ({"languages": None}, "languages is missing"),
        ({"languages": "de-en"}, "languages must be two codes"),
        ({"languages": ("de", "de")}, "languages must be two different codes"),
        ({"languages": ("de", "german")}, "target_language must be a language code"),
        ({"tokeniser": "mose"}, "tokeniser must be one of .*did you mean moses"),
        ({"grammar": "hier"}, "unknown grammar 'hier'"),
        ({"grammar": "both"}, "grammar must not contain hiero"),
        ({"states": "8"}, "states must be a whole number"),
        ({"iterations": 0}, "iterations must be 1 to"),
        ({"dev": 0}, "dev must be 1 to"),
        ({"verbose": 1}, "verbose must be True or False"),
    ],
)
def test_wrong_arguments_are_named_by_fit(arguments, message):
    made = lscfg.Pipeline(**{"source": SOURCE, "target": TARGET} | SMALL | arguments)
    with pytest.raises((InputError, TypeError), match=message):
        made.fit()


WORDS = [f"w{k}" for k in range(60)], [f"v{k}" for k in range(60)]


def test_a_list_of_words_is_enough(caplog):
    """The language model takes the order that the longest sentence allows."""
    caplog.set_level(logging.INFO, "lscfg")
    made = lscfg.Pipeline(*WORDS, ("de", "en"), states=0, iterations=1).fit()
    assert "language model: order 3 instead of 4, because the longest sentence has 3 words with <s>" in caplog.text
    translated = made.translate([*WORDS[0]])
    assert sum(word == wanted for word, wanted in zip(translated, WORDS[1], strict=True)) == made.pairs_["train"]


@pytest.mark.parametrize(
    ("texts", "arguments", "message"),
    [
        (WORDS, {"dev": 59, "states": 2}, "only 1 different nodes for 2 hidden states; use more text or fewer states"),
        (WORDS, {"dev": 60}, "source: 60 different pairs are too few for dev = 60 and a training text; lower dev"),
        (
            (["a"] * 60, ["b"] * 60),
            {},
            "source: 1 different pair is too few for dev = 9 and a training text; add pairs",
        ),
    ],
)
def test_errors_name_arguments_and_possible_cures(texts, arguments, message):
    made = lscfg.Pipeline(*texts, ("de", "en"), **{"states": 0, "iterations": 1} | arguments)
    with pytest.raises(InputError) as raised:
        made.fit()
    assert str(raised.value) == message


def test_errors_name_arguments_instead_of_prepared_texts(tmp_path):
    def renamed(message, path):
        with pytest.raises(InputError) as raised, _naming_arguments(tmp_path, {"source": "de", "target": "en"}):
            raise InputError(message, path)
        return str(raised.value)

    assert renamed("is bad", tmp_path / "target.txt") == "target: is bad"
    assert renamed("is bad", tmp_path / "cache" / "prepare-0a1b" / "train.en") == "target: is bad"
    assert renamed("is bad", tmp_path / "cache" / "prepare-0a1b" / "dev.de") == "source: is bad"
    for other in ("cache/lm-0a1b/lm.arpa", "cache/prepare-0a1b/train.en.gz", "cache/prepare-0a1b/train.eng"):
        assert renamed("is bad", tmp_path / other) == f"{tmp_path / other}: is bad"
    assert renamed("too large; use a smaller model", None) == "too large; use a smaller model"
    assert renamed("so the context has nothing to choose", None).endswith("; use more text or states=0")


def test_wrong_calls_are_refused(fitted, tmp_path):
    with pytest.raises(InputError, match=r"lines\[1\] contains a NUL character"):
        fitted.translate(["a", "a\0b"])
    with pytest.raises(InputError, match="target has 1 line, but source has 8"):
        fitted.score(NEW, ["a"])
    for glossary, message in (
        (3, "glossary must be a list of entries"),
        ([3], r"glossary\[0\] must be an entry such as"),
        ([{"source": "a", "taget": "b"}], r"glossary\[0\]: no key 'taget' \(did you mean target"),
        ([{"target": "b"}], r"glossary\[0\] source must be a string"),
        ([("a", "b"), ("a", "")], r"glossary\[1\]: the term 'a' has no target"),
        ([{"source": "a", "target": "b", "mode": "strict"}], r"glossary\[0\]: mode 'strict' is unknown"),
        ([("a", "b")] * 10_001, "10,001 terms; at most 10,000"),
        ("absent.tsv", r"absent\.tsv: cannot read"),
        ("", "glossary must be the name of a file"),
    ):
        with pytest.raises((InputError, TypeError), match=message):
            fitted.translate("a", glossary)
    for pair in (("", "a"), ("a", ""), ("a\0", "a")):
        with pytest.raises(InputError, match=r"source|target|NUL"):
            fitted.correct(*pair)
    with pytest.raises(TypeError, match="source must be a string"):
        fitted.correct(["a"], "b")
    with pytest.raises(InputError, match="nothing to correct; call"):
        lscfg.Pipeline().correct("a", "b")
    with pytest.raises(TypeError, match=r"no argument 'state'.*did you mean states"):
        fitted.set_params(state=3)
    with pytest.raises(InputError, match=r"call Pipeline\.fit first"):
        lscfg.Pipeline().save(tmp_path / "x")


def test_weights_are_tuned_for_a_configuration(fitted, tmp_path):
    fitted.save(tmp_path / "b")
    config = tmp_path / "b" / "cdec.ini"
    made = lscfg.tune(config, NEW, REFERENCE, iterations=2)
    assert made == lscfg.tune(config, NEW, [REFERENCE], iterations=2) and {*made} >= {"LanguageModel", "WordPenalty"}
    kept = lscfg.tune(config, NEW, REFERENCE, fitted.weights_, iterations=1)
    assert kept == dict.fromkeys(kept, 0.0) | fitted.weights_  # those of the only decoding run
    with pytest.raises(InputError, match="reference has 7 lines, but source has 8"):
        lscfg.tune(config, NEW, REFERENCE[1:])
    with pytest.raises(TypeError, match="no setting 'iteration'"):
        lscfg.tune(config, NEW, REFERENCE, iteration=1)


def test_a_grammar_is_written_from_trees(tmp_path):
    trees = lscfg.derive(["das haus", "das buch"], ["the house", "the book"], ["0-0 1-1"] * 2)
    rules = lscfg.write_grammar(trees, tmp_path / "grammar")
    lines = (tmp_path / "grammar").read_text().splitlines()
    assert rules == len(lines) - 1 and any(line.startswith("[X] ||| das ||| the") for line in lines)
    with pytest.raises(TypeError, match=r"derivations must be lscfg\.Derivations"):
        lscfg.write_grammar([], tmp_path / "grammar")
