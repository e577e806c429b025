"""Configurations of cdec that are divided into passes, in which features are packed; no cdec is needed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from lscfg.cdec_bridge.decoder import CdecDecoder
from lscfg.cdec_bridge.packing import pack_ini
from lscfg.cdec_bridge.paths import check_latent_lines, check_paths
from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.formats.weights import read_weights, write_weights
from lscfg.kernel import CONTEXT_FEATURES, FEATURE_FAMILIES, PAPER_FEATURES

LINE = "feature_function=External lib/liblscfg_cdec.so model=m.lscfg features=LatentSpan,paper"
INI = f"""# tuned
formalism=scfg
grammar=g.gz
feature_function=KLanguageModel lm.arpa
{LINE}
feature_function=WordPenalty  # words
cubepruning_pop_limit=30
density_prune=100
weights=old
quiet=true
"""
WEIGHTS = "LatentSpan 1\nLatentMarginal 2\nLatentEgivenF 3\nLatentFgivenE 0\nWordPenalty -1\n"


@pytest.fixture
def ini(tmp_path: Path) -> Path:
    (tmp_path / "cdec.ini").write_text(INI)
    (tmp_path / "weights").write_text(WEIGHTS)
    return tmp_path / "cdec.ini"


def test_passes(ini):
    packed = pack_ini(ini)
    assert packed.lines == [
        "formalism=scfg",
        "grammar=g.gz",
        "quiet=true",
        "feature_function=WordPenalty",
        f"{LINE} pack=all",
        "intersection_strategy=full",
        "feature_function2=KLanguageModel lm.arpa",
        "cubepruning_pop_limit2=30",
        "density_prune2=100",
        "feature_function3=External lib/liblscfg_cdec.so mode=unpack",
    ]
    ini.write_text(INI.replace("feature_function=KLanguageModel lm.arpa\n", ""))
    assert pack_ini(ini).lines[-1].startswith("feature_function2=External")
    ini.write_text(INI.replace("liblscfg_cdec", "latent"))
    with pytest.raises(InputError, match="no line feature_function=External with lscfg's library"):
        pack_ini(ini)
    (ini.parent / "lib").mkdir()
    (ini.parent / "lib" / "latent.so").write_bytes(b"\x7fELF\0[lscfg] warning\0")  # it is known by what it says
    assert pack_ini(ini).lines[-1] == "feature_function3=External lib/latent.so mode=unpack"
    ini.write_text(INI)
    assert pack_ini(ini, unpack=False).lines == packed.lines[:-1]
    assert set(packed.features) == {"LatentSpan", "LatentMarginal", "LatentEgivenF", "LatentFgivenE"}
    assert packed.weights({"LatentSpan": 2.0, "A": 1.0}) == {
        **dict.fromkeys(packed.features, 0.0),
        "LatentSpan": 2.0,
        "A": 1.0,
        "Packed": 1.0,
    }


@pytest.mark.parametrize(
    ("option", "features"),
    [
        (" features=LatentSpan,paper,", ("LatentSpan", *PAPER_FEATURES)),
        (" features=context,LatentSpan", (*CONTEXT_FEATURES, "LatentSpan")),
        ("", (*FEATURE_FAMILIES["ratios"], *CONTEXT_FEATURES)),
    ],
)
def test_packed_features_are_those_of_the_line(ini, option, features):
    ini.write_text(INI.replace(" features=LatentSpan,paper", option))
    packed = pack_ini(ini)
    assert packed.features == features
    assert packed.weights({}) == {**dict.fromkeys(features, 0.0), "Packed": 1.0}


KEYS = {
    "formalism": "scfg",
    "grammar": "g.gz",
    "feature_function": "WordPenalty",
    "scfg_max_span_limit": "12",
    "cubepruning_pop_limit": "30",
    "add_pass_through_rules": "true",
    "unknown_words": "copy",
    "scfg_no_hiero_glue_grammar": "true",
    "goal": "S",
    "scfg_default_nt": "X",
    "intersection_strategy": "cube_pruning",
    "weights": "old",
    "k_best": "5",
    "unique_k_best": "true",
    "quiet": "true",
}


def test_no_key_is_doubled(ini):
    """cdec refuses a key twice, other than grammars; the table lists all keys."""
    table = (Path(__file__).parents[2] / "docs/reference/formats.md").read_text().partition("A `cdec.ini` contains")[2]
    rows = re.findall(r"^\| (`.*?`) \|", table.partition("<!--")[0], re.MULTILINE)
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row)} == KEYS.keys()
    out = ini.parent / "out"
    for key, value in KEYS.items():
        shutil.rmtree(out, ignore_errors=True)
        lines = dict.fromkeys(("formalism=scfg", "grammar=g.gz", LINE, f"{key}={value}"))
        ini.write_text("\n".join(lines) + "\n")
        assert main(["cdec", "pack", "-c", str(ini), "-w", str(ini.parent / "weights"), "-o", str(out)]) == 0
        found = [line.partition("=")[0] for line in (out / "cdec.ini").read_text().splitlines()]
        once = [name for name in found if name not in ("grammar", "feature_function")]
        assert len(once) == len({*once}), key
        assert {key, f"{key}2"} & {*found}, key


def test_plain_configuration(ini, monkeypatch):
    """Without latent features a library packs what there is; paths to it count from the working directory."""
    ini.write_text(INI.replace(LINE + "\n", ""))
    library = ini.parent / "plugin.so"
    packed = pack_ini(ini, library=library)
    assert packed.features == () and packed.weights({"A": 1.0}) == {"A": 1.0, "Packed": 1.0}
    assert packed.lines[3:6] == [
        "feature_function=WordPenalty",
        f"feature_function=External {library} mode=pack",
        "intersection_strategy=full",
    ]
    assert packed.lines[-1] == f"feature_function3=External {library} mode=unpack"
    arguments = ["cdec", "pack", "-c", str(ini), "-w", str(ini.parent / "weights"), "-o", str(ini.parent / "out")]
    assert main([*arguments, "--library", str(library)]) == 1  # there is none
    library.touch()
    monkeypatch.delenv("LSCFG_CDEC_PLUGIN", raising=False)
    assert main(arguments) == 1
    assert main([*arguments, "--library", str(library)]) == 0
    assert (ini.parent / "out" / "cdec.ini").read_text().splitlines()[:-1] == packed.lines
    shutil.rmtree(ini.parent / "out")
    monkeypatch.setenv("LSCFG_CDEC_PLUGIN", str(library))
    assert main(arguments) == 0
    assert (ini.parent / "out" / "cdec.ini").read_text().splitlines()[:-1] == packed.lines


def test_command(ini):
    out = ini.parent / "out"
    assert main(["cdec", "pack", "-c", str(ini), "-w", str(ini.parent / "weights"), "-o", str(out)]) == 0
    assert (out / "cdec.ini").read_text().splitlines() == [*pack_ini(ini).lines, f"weights={out / 'weights'}"]
    assert read_weights(out / "weights") == {**read_weights(ini.parent / "weights"), "Packed": 1.0}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("WordPenalty 1\n", "no weight of LatentSpan, "),
        (WEIGHTS + "Packed 1\n", "already"),
    ],
)
def test_bad_weights(ini, capsys, weights, message):
    (ini.parent / "weights").write_text(weights)
    arguments = ["cdec", "pack", "-c", str(ini), "-w", str(ini.parent / "weights"), "-o", str(ini.parent / "out")]
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
    assert not (ini.parent / "out").exists()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (LINE, "", "no line feature_function=External"),
        (LINE, f"{LINE}\n{LINE}", "a second line"),
        (LINE, f"{LINE} pack=all", "and no pack="),
        (LINE, f"{LINE} mode=forest", "mode=parse"),
        (LINE, f"{LINE},thesis", ":5: feature function External: the features .thesis. are now called .ranks."),
        ("quiet=true", "feature_function2=X", ":10: feature_function2: several passes are set"),
        ("quiet=true", "intersection_strategy=fast_cube_pruning", "has another meaning"),
        ("quiet=true", "summary_feature=S", "has another meaning"),
    ],
)
def test_what_cannot_be_divided(ini, capsys, old, new, message):
    ini.write_text(INI.replace(old, new))
    with pytest.raises(InputError, match=message):
        pack_ini(ini)
    CdecDecoder(ini, Path("cdec"))
    said = capsys.readouterr().err
    assert re.search(message, said) if new else said == ""


def test_weights_that_a_program_omits_are_0(ini, caplog):
    """cdec's optimisers write no weight that is 0."""
    (ini.parent / "weights").write_text("LatentSpan 1\nLatentMarginal 1\n")
    out = ini.parent / "out"
    assert main(["cdec", "pack", "-c", str(ini), "-w", str(ini.parent / "weights"), "-o", str(out)]) == 0
    assert "latent features without a weight, which count as 0: LatentEgivenF, LatentFgivenE" in caplog.text
    assert read_weights(out / "weights")["LatentEgivenF"] == 0.0


@pytest.mark.parametrize("inside", [True, False])
def test_the_command_to_decode_works(ini, caplog, monkeypatch, inside):
    """Paths of the packed configuration count from the folder from which those of the original do."""
    (ini.parent / "lib").mkdir()
    for name in ("g.gz", "lm.arpa", "m.lscfg", "old", "lib/liblscfg_cdec.so"):
        (ini.parent / name).touch()
    caplog.set_level("INFO")
    monkeypatch.chdir(ini.parent if inside else ini.parent.parent)
    where = Path(".") if inside else Path(ini.parent.name)
    words = ["-c", str(where / "cdec.ini"), "-w", str(where / "weights"), "-o", str(where / "out")]
    assert main(["cdec", "pack", *words]) == 0
    command = caplog.text.partition("decode with: ")[2].split()
    folder = Path(command[command.index("cd") + 1] if "cd" in command else ".")
    check_paths(folder / command[-1], folder)
    (ini.parent / "g.gz").unlink()
    with pytest.raises(InputError, match=r"cdec.ini:\d+: grammar: no file 'g.gz' in .*, where cdec runs; correct"):
        check_paths(folder / command[-1], folder)


def test_the_line_of_the_embedded_decoder_is_refused(tmp_path):
    """cdec would abort in the middle of its start."""
    lines = ["formalism=scfg", "feature_function=WordPenalty", "feature_function2=LSCFG model=m features=ratios"]
    (tmp_path / "cdec.ini").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"cdec.ini:3: feature_function2: only lscfg's own decoder .* --library"):
        check_latent_lines(tmp_path / "cdec.ini")


@pytest.mark.parametrize("kbest", [False, True])
def test_known_weights_are_packed(ini, monkeypatch, kbest):
    """``cdec decode`` packs by itself, and unpacks for lists only; packed configurations stay as they are."""
    seen = []

    class Processes:
        def __init__(self, program, config, options, *_):
            self.lines = Path(config).read_text().splitlines()
            self.weights = read_weights(options[1]) if options else None

        def decode(self, sentences):
            seen.append((self.lines, self.weights))
            return [["0 ||| a ||| A=1 ||| 1"] for _ in sentences]

    monkeypatch.chdir(ini.parent)
    monkeypatch.setattr("lscfg.cdec_bridge.commands.cdec.find_cdec", lambda: Path("cdec"))
    monkeypatch.setattr("lscfg.cdec_bridge.commands.cdec.CdecProcesses", Processes)
    for name in ("g.gz", "lm.arpa", "m.lscfg", "liblscfg_cdec.so"):
        Path(name).touch()
    Path("lib").mkdir()
    Path("lib/liblscfg_cdec.so").touch()
    Path("text").write_text("a\n")
    tuned = {"LatentSpan": 2.0, "A": 1.0}
    write_weights("old", tuned)
    words = ["cdec", "decode", "text", "-c", "cdec.ini", "-o", "out", *(["-k", "2"] if kbest else [])]
    packed = pack_ini(ini, unpack=kbest)
    assert main(words) == 0
    assert seen.pop() == (packed.lines, packed.weights(tuned))
    write_weights("new", {"LatentSpan": 3.0})
    assert main([*words, "-w", "new"]) == 0
    assert seen.pop() == (packed.lines, packed.weights({"LatentSpan": 3.0}))
    for change in (("weights=old", "# weights"), (LINE, LINE + " pack=all"), (LINE, LINE + " mode=record")):
        ini.write_text(INI.replace(*change))
        assert main(words) == 0
        assert seen.pop() == (ini.read_text().splitlines(), None)


def test_paths_count_from_where_cdec_runs(ini, capsys, monkeypatch):
    monkeypatch.chdir(ini.parent.parent)
    monkeypatch.setattr("lscfg.cdec_bridge.commands.cdec.find_cdec", lambda: Path("cdec"))
    (ini.parent / "g.gz").touch()
    text = ini.parent / "text"
    text.write_text("a\n")
    library = ["--library", str(text)]
    for action in (["decode", str(text)], ["forest", str(text), *library]):
        assert main(["cdec", *action, "-c", str(ini)]) == 1
        said = capsys.readouterr().err
        assert (
            f"{ini}:3: grammar: no file 'g.gz' in {Path.cwd()}, where cdec runs; run the command in {ini.parent}"
            in said
        )


@pytest.mark.parametrize(
    ("words", "variable"), [("cdec build", "CDEC_ROOT"), ("cdec check", "CDEC_ROOT"), ("moses build", "MOSES_ROOT")]
)
def test_the_source_tree_is_that_of_the_variable(tmp_path, capsys, monkeypatch, words, variable):
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 1
    assert f"-root or {variable}" in capsys.readouterr().err
    monkeypatch.setenv(variable, "no tree")
    assert main(words.split()) == 1
    assert capsys.readouterr().err.startswith(f"lscfg {words.split()[0]}: no tree: no ")
