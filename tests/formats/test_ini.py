"""cdec.ini: what is read, what is written, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, LatentFeature, NamedModel, named_words, read_ini, write_ini
from lscfg.functions.function import FunctionLine


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.grammar", "b.grammar", "lm", "w"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(folder: Path, text: str) -> DecoderConfig:
    (folder / "cdec.ini").write_text(text)
    return read_ini(folder / "cdec.ini")


def test_defaults_are_those_of_cdec(folder: Path) -> None:
    config = read(folder, "formalism=scfg\n")
    assert config == DecoderConfig()
    assert (config.max_span, config.pop_limit, config.glue, config.pass_through) == (10, 200, True, False)


def test_every_setting_is_read_and_written(folder: Path) -> None:
    config = read(
        folder,
        """# comment
formalism = scfg
grammar=a.grammar
grammar=b.grammar  # another one
feature_function=WordPenalty
feature_function=KLanguageModel -n LM lm
feature_function=ArityPenalty 3
feature_function=KLanguageModel w
feature_function=External /lib/libcdec_lscfg.so model=m.lscfg features=paper log=false

scfg_max_span_limit=15
cubepruning_pop_limit=30
add_pass_through_rules=true
scfg_no_hiero_glue_grammar=true
scfg_default_nt=X
intersection_strategy=Cube_pruning
goal=TOP
weights=w
k_best=100
unique_k_best=true
quiet=true
""",
    )
    assert config == DecoderConfig(
        grammars=(Path("a.grammar"), Path("b.grammar")),
        language_model=Path("lm"),
        language_model_name="LM",
        word_penalty=True,
        latent=LatentFeature({"model": "m.lscfg", "features": "paper", "log": "false"}, "/lib/libcdec_lscfg.so"),
        further_models=(NamedModel("LanguageModel", Path("w")),),
        functions=(FunctionLine("ArityPenalty", ("3",)),),
        max_span=15,
        pop_limit=30,
        pass_through=True,
        glue=False,
        goal="TOP",
        weights=Path("w"),
        k_best=100,
        unique_k_best=True,
    )
    write_ini(folder / "again.ini", config)
    assert read_ini(folder / "again.ini") == config
    with pytest.raises(InputError, match="# begins a comment in 'grammar=a#b'; rename the file or folder"):
        write_ini(folder / "again.ini", replace(config, grammars=(Path("a#b"),)))
    other = replace(config, latent=LatentFeature({"model": "x"}), language_model_name="Other")
    write_ini(folder / "again.ini", other)
    assert read_ini(folder / "again.ini") == other


def test_words_that_are_no_paths_are_no_files(folder: Path) -> None:
    """Keys and feature functions of cdec alone may name files anywhere."""
    ini = folder / "cdec.ini"
    ini.write_text("""formalism=scfg
grammar=a b.grammar # comment
goal=S
k_best=10
feature_function=KLanguageModel -n LM lm
feature_function=LSCFG model=m features=paper log=true
feature_function=External lib/liblscfg_cdec.so model=n features=paper
feature_function=External other.so dict=d
feature_function=Of_cdec words
option_of_cdec=one file=two
weights=w
""")
    expected = ["a b.grammar", "lm", "model=m", "m", "lib/liblscfg_cdec.so", "model=n", "n", "other.so", "dict=d", "d"]
    expected += ["words", "one file=two", "one", "file=two", "two"]
    assert named_words(ini) == [*expected, "w"] and named_words(ini, leave="weights") == expected
    ini.write_text("""[input-factors]
0
[feature]
KENLM name=LM factor=0 path=lm oov-feature=1
LatentSCFG name=Latent model=m features=paper
WordTranslationFeature name=WT source-path=common threshold=0
[unknown-lhs]
labels
[weight]
LM= 0.5 1
""")
    assert named_words(ini) == ["lm", "m", "common", "labels"]


def test_paths_fall_back_to_the_folder_of_the_file(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    text = "formalism=scfg\ngrammar=a.grammar\n"
    assert read(folder, text).grammars == (folder / "a.grammar",)
    (elsewhere / "c.grammar").write_text("")
    assert read(folder, text.replace("a.", "c.")).grammars == (Path("c.grammar"),)


def test_a_path_to_two_files_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """cdec would read the one next to the configuration, other decoders the one here. Equal files are the exception."""
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    Path("a.grammar").write_text("other")
    text = "formalism=scfg\ngrammar=a.grammar\n"
    with pytest.raises(InputError, match=r"a\.grammar is a file here and another one next to this file; write one"):
        read(folder, text)
    Path("a.grammar").write_text("")
    assert read(folder, text).grammars == (folder / "a.grammar",)  # any other folder finds this one, too
    for path, content in ((Path("a.grammar"), "one"), (folder / "a.grammar", "two")):
        path.write_text(content)
    with pytest.raises(InputError, match="is a file here and another one"):
        read(folder, text)
    Path("a.grammar").unlink()
    Path("a.grammar").hardlink_to(folder / "a.grammar")
    assert read(folder, text).grammars == (Path("a.grammar"),)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "expected key=value"),
        ("beam_prune=3", "beam_prune is not supported here; supported are formalism, grammar"),
        ("grammar=missing.gz", "no file 'missing.gz'"),
        ("grammar=", "no file ''"),
        ("formalism=scfg", "line 1 already"),
        ("scfg_default_nt=Y", "only X"),
        ("scfg_default_nt=x", "scfg_default_nt=x is not supported; only X is"),
        ("intersection_strategy=full", "only cube_pruning"),
        ("scfg_max_span_limit=-1", "whole number"),
        ("cubepruning_pop_limit=0", "whole number"),
        ("cubepruning_pop_limit=many", "whole number"),
        ("k_best=1e3", "whole number"),
        (f"k_best={'9' * 5000}", "whole number"),
        ("add_pass_through_rules=false", "remove the line"),
        ("goal=[S]", "without brackets"),
        ("weights=missing", "no file"),
        ("feature_function=", "feature function '' is not supported"),
        ("feature_function=BLEUModel", "supported are KLanguageModel, WordPenalty"),
        ("feature_function=WordPenalty 3", "not supported"),
        ("feature_function=WordPenalty\nfeature_function=WordPenalty", "a second"),
        ("feature_function=KLanguageModel", "KLanguageModel \\[-x\\] \\[-m CLASSES\\] \\[-n NAME\\] FILE"),
        ("feature_function=KLanguageModel -x", "FILE"),
        ("feature_function=KLanguageModel -y lm", "FILE"),
        ("feature_function=KLanguageModel -m lm", "FILE"),
        ("feature_function=KLanguageModel -x -x lm", "FILE"),
        ("feature_function=KLanguageModel -n -x lm", "FILE"),
        ("feature_function=KLanguageModel lm lm", "FILE"),
        ("feature_function=KLanguageModel -m missing lm", "KLanguageModel -m: no file 'missing'"),
        (
            "feature_function=KLanguageModel lm\nfeature_function=KLanguageModel -x -n N lm",
            "KLanguageModel with and without -x; rules write sentence marks",
        ),
        (
            "feature_function=KLanguageModel -n A -m w lm\nfeature_function=KLanguageModel -n A_Emit lm",
            "a second feature_function=KLanguageModel with the feature A_Emit",
        ),
        (
            "feature_function=KLanguageModel lm\nfeature_function=KLanguageModel w",
            "the feature LanguageModel; give the",
        ),
        (
            "feature_function=KLanguageModel lm\nfeature_function=KLanguageModel -n LanguageModel_OOV w",
            "_OOV; give the",
        ),
        (
            "\n".join(f"feature_function=KLanguageModel -n L{number} lm" for number in range(5)),
            "more than 4 language models",
        ),
        ("feature_function=KLanguageModel missing", "no file"),
        ("feature_function=External other.so model=m", "lscfg's own"),
        ("feature_function=LSCFG", "model=FILE"),
        ("feature_function=LSCFG model", "expected key=value"),
        ("feature_function=LSCFG model=a model=b", "twice"),
    ],
)
def test_bad_lines_are_named(folder: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(folder, "formalism=scfg\n" + line + "\n")
    number = 2 + line.count("\n")
    assert str(caught.value).startswith(f"{folder / 'cdec.ini'}:{number}: ")


def test_formalism_is_required_and_must_be_scfg(folder: Path) -> None:
    with pytest.raises(InputError, match="add the line formalism=scfg"):
        read(folder, "k_best=3\n")
    with pytest.raises(InputError, match="formalism=pb is not supported"):
        read(folder, "formalism=pb\n")


def test_glue_needs_its_goal(folder: Path) -> None:
    with pytest.raises(InputError, match="goal is TOP"):
        read(folder, "formalism=scfg\ngoal=TOP\n")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("floor=0", "floor=0: expected a number above 0"),
        ("floor=inf", "floor=inf: expected a number above 0"),
        ("features=Latent", "unknown feature 'Latent'"),
        ("features=paper,paper", "features=paper,paper names a feature twice"),
    ],
)
def test_a_bad_option_is_named_by_file_and_line(folder: Path, option: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(folder, f"formalism=scfg\n\nfeature_function=LSCFG model=m {option}\n")
    assert str(caught.value).startswith(f"{folder / 'cdec.ini'}:3: feature function LSCFG: {message}")


def test_options_of_decoders_are_left_to_them(folder: Path) -> None:
    config = read(folder, "formalism=scfg\nfeature_function=LSCFG model=m trace=file mode=parse\n")
    assert config.latent is not None and config.latent.options["trace"] == "file"


@pytest.mark.parametrize("path", ["a b/lib.so", "", "a\nb"])
def test_a_path_with_a_blank_is_refused_in_a_line_that_is_divided_at_blanks(folder: Path, path: str) -> None:
    for config in (
        DecoderConfig(latent=LatentFeature({"model": "m"}, path)),
        DecoderConfig(latent=LatentFeature({"model": path})),
        *([DecoderConfig(language_model=Path(path))] if path else []),
    ):
        with pytest.raises(InputError, match="split a feature's line at blanks; rename"):
            write_ini(folder / "out.ini", config)
    if path == "a b/lib.so":
        with pytest.raises(InputError, match=r"2: the only External .* by a path without blanks; found 'a b/lib.so'"):
            read(folder, f"formalism=scfg\nfeature_function=External {path}\n")


def test_a_long_line_is_not_quoted_whole(folder: Path) -> None:
    long = "x" * 1_000_000
    for line in (long, f"{long}=1", f"goal={long} ", f"grammar={long}", f"feature_function={long}"):
        with pytest.raises(InputError) as caught:
            read(folder, f"formalism=scfg\n{line}\n")
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["fast_cube_pruning", "Fast_Cube_Pruning_2"])
def test_fast_cube_pruning_is_read_as_cube_pruning(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "ini").write_text(f"formalism=scfg\nintersection_strategy={name}\n")
    assert read_ini(tmp_path / "ini") == DecoderConfig()
    assert f"ini:2: intersection_strategy={name} is read as cube_pruning" in caplog.text
