"""experiments/neural.py: training that repeats, scores by hand, and lists that `lscfg rescore` reads."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from lscfg.formats.kbest import read_kbest
from lscfg.tuning.rescore import read_lists

torch = pytest.importorskip("torch", reason="no torch; see experiments/requirements-neural.txt")
pytest.importorskip("sentencepiece", reason="no sentencepiece; see experiments/requirements-neural.txt")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
neural, transformer = import_module("neural"), import_module("transformer")
sys.path.remove(str(ROOT / "experiments"))

SMALL = transformer.Settings(pieces=20, layers=1, width=8, hidden=12, heads=2)
SIZES = {"pieces": 32, "layers": 1, "width": 8, "hidden": 16, "heads": 2, "batch": 64, "warmup": 10, "rate": 0.01}
TINY = [f"--{name}={value}" for name, value in SIZES.items()]
CONFIG = """[corpus]
source = "train.de"
target = "train.en"
dev_source = "val.de"
dev_reference = "val.en"
"""


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch):
    """Restores what the program changes for its process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)
    for number, handler in before.items():
        signal.signal(number, handler)


def run(*arguments):
    neural.main([str(argument) for argument in arguments])


def made(seed, settings=SMALL):
    """A model with random biases too."""
    torch.manual_seed(seed)
    model = transformer.Transformer(settings).eval()
    with torch.no_grad():
        for value in model.parameters():
            value += 0.3 * torch.randn(value.shape)
        model.embedding *= 0.5  # else a piece predicts itself
    return model


@pytest.fixture
def corpus(tmp_path):
    """An experiment whose target is the source, reversed and in other letters."""
    draw = np.random.default_rng(1)
    for name, size in (("train", 60), ("val", 8)):
        lines = [draw.choice(["aba", "bac", "ca", "d"], draw.integers(2, 6)).tolist() for _ in range(size)]
        (tmp_path / f"{name}.de").write_text("".join(" ".join(line) + "\n" for line in lines))
        target = [" ".join(line[::-1]).translate(str.maketrans("abcd", "xyzd")) for line in lines]
        (tmp_path / f"{name}.en").write_text("".join(line + "\n" for line in target))
    (tmp_path / "experiment.toml").write_text(CONFIG)
    return tmp_path


# ---------------------------------------------------------------- the model


class ByHand:
    """The model with one layer in NumPy, position by position."""

    def __init__(self, model):
        self.values = {name: value.numpy().astype(float) for name, value in model.state_dict().items()}
        self.width, self.heads = model.settings.width, model.settings.heads

    def linear(self, name, x, rows=slice(None)):
        return x @ self.values[f"{name}.weight"][rows].T + self.values[f"{name}.bias"][rows]

    def norm(self, name, x):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return x * self.values[f"{name}.weight"] + self.values[f"{name}.bias"]

    def embed(self, ids):
        steps = np.arange(0, self.width, 2)
        rows = []
        for place, number in enumerate(ids):
            angle = place / 10000 ** (steps / self.width)
            wave = np.concatenate([np.sin(angle), np.cos(angle)])
            rows.append(self.values["embedding"][number] * np.sqrt(self.width) + wave)
        return np.array(rows)

    def attend(self, name, x, memory, causal):
        parts = [slice(k * self.width, (k + 1) * self.width) for k in range(3)]
        query = self.linear(f"{name}.inputs", x, parts[0])
        keys, values = (self.linear(f"{name}.inputs", memory, part) for part in parts[1:])
        size, found = self.width // self.heads, np.zeros_like(query)
        for head in range(self.heads):
            own = slice(head * size, (head + 1) * size)
            for t in range(len(x)):
                last = t + 1 if causal else len(memory)
                weights = np.exp(keys[:last, own] @ query[t, own] / np.sqrt(size))
                found[t, own] = weights / weights.sum() @ values[:last, own]
        return self.linear(f"{name}.out", found)

    def layer(self, name, x, memory=None):
        own = self.norm(f"{name}.norms.0", x)
        x = x + self.attend(f"{name}.own", own, own, memory is not None)
        if memory is not None:
            x = x + self.attend(f"{name}.cross", self.norm(f"{name}.norms.2", x), memory, False)
        inner = np.maximum(self.linear(f"{name}.up", self.norm(f"{name}.norms.1", x)), 0)
        return x + self.linear(f"{name}.down", inner)

    def log_probability(self, source, target):
        memory = self.norm("norms.0", self.layer("encoder.0", self.embed([*source, transformer.END])))
        x = self.norm("norms.1", self.layer("decoder.0", self.embed([transformer.BEGIN, *target]), memory))
        logits = x @ self.values["embedding"].T
        logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        return sum(logs[t, number] for t, number in enumerate([*target, transformer.END]))


def test_a_line_scored_by_hand():
    model, sources = made(1), [[5, 9, 4], [7, 7, 12, 19, 6]]
    targets = [(0, [8, 15]), (1, [4, 4, 11, 17]), (0, []), (1, [5])]
    expected = [ByHand(model).log_probability(sources[number], ids) for number, ids in targets]
    found = transformer.log_probabilities([model], sources, targets)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_several_models_score_by_their_mean_probability():
    models, source, target = [made(1), made(2)], [5, 9, 4], [8, 15, 6]
    expected = 0.0
    for t, piece in enumerate([*target, transformer.END]):
        prefix = torch.tensor([[transformer.BEGIN, *target[:t]]])
        rows = [m.decode(prefix, *m.encode(transformer.block([source])))[0, -1] @ m.embedding.t() for m in models]
        expected += np.log(np.mean([row.softmax(-1)[piece].item() for row in rows]))
    assert transformer.log_probabilities(models, [source], [(0, target)])[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("seeds", [[4], [3, 4]])
def test_the_score_of_a_beam_is_its_own_log_probability(seeds):
    """Also with padding, which the longest of the sentences causes."""
    models = [made(seed) for seed in seeds]
    sources = [[5, 9, 4], [7, 7, 12, 19, 6], [10], [5, 6, 7, 8, 9, 10, 11]]
    lists = transformer.search(models, sources, 5)
    targets = [(number, list(ids)) for number, found in enumerate(lists) for ids in found]
    assert [len(found) for found in lists] == [5] * 4 and len({len(ids) for _, ids in targets}) > 2
    found = transformer.log_probabilities(models, sources, targets)
    np.testing.assert_allclose(found, [value for one in lists for value in one.values()], atol=1e-4)


def test_one_hypothesis_is_the_greedy_translation():
    model = made(3)
    for source in ([5, 9, 4], [7, 7, 12, 19, 6]):
        target, limit = [transformer.BEGIN], 10 + 2 * len(source)
        while target[-1] != transformer.END:
            row = model.decode(torch.tensor([target]), *model.encode(transformer.block([source])))[0, -1]
            logits = row @ model.embedding.t()
            logits[[transformer.PAD, transformer.BEGIN, transformer.UNKNOWN]] = -torch.inf
            target.append(transformer.END if len(target) == limit else int(logits.argmax()))
        assert list(transformer.search([model], [source], 1)[0]) == [tuple(target[1:-1])]


@pytest.mark.parametrize(("low", "near"), [(True, 1e-2), (False, 1e-5)], ids=["bfloat16", "float32"])
def test_the_loss_is_cross_entropy_with_label_smoothing(low, near):
    torch.manual_seed(1)
    rows, weight = torch.randn(300, 16, requires_grad=True), torch.randn(40, 16, requires_grad=True)
    labels = torch.randint(0, 40, (300,))
    with torch.autocast("cpu", torch.bfloat16, enabled=low):
        found = transformer.SmoothedLoss.apply(rows, weight, labels, 0.1)
    by_rows, by_weight = torch.autograd.grad(found, (rows, weight))
    expected = torch.nn.functional.cross_entropy(rows @ weight.t(), labels, label_smoothing=0.1, reduction="sum")
    assert found.item() == pytest.approx(expected.item(), rel=near / 5)
    for own, other in zip((by_rows, by_weight), torch.autograd.grad(expected, (rows, weight)), strict=True):
        assert (own - other).norm() < near * other.norm()


def test_dropout_keeps_the_mean():
    drop = transformer.Drop(0.3).train()
    found = drop(torch.ones(100, 1000))
    assert {round(value, 4) for value in found.unique().tolist()} == {0.0, round(256 / 179, 4)}
    assert found.mean().item() == pytest.approx(1, abs=0.02)
    assert torch.equal(drop.eval()(torch.ones(3)), torch.ones(3))


# ---------------------------------------------------------------- the program


def test_batches_hold_every_pair_once():
    draw = np.random.default_rng(1)
    pairs = [([4] * draw.integers(1, 30), [k + 4] * draw.integers(1, 30)) for k in range(500)]
    found = neural.batches(pairs, 100, "1 0")
    assert sorted(zip(*map(sum, zip(*found, strict=True), ([], [])), strict=True)) == sorted(pairs)
    assert all(len(targets) * (1 + max(map(len, targets))) <= 100 for _, targets in found)
    assert found == neural.batches(pairs, 100, "1 0") != neural.batches(pairs, 100, "1 1")


def test_pieces_without_dropout_are_those_of_sentencepiece(corpus):
    lines = [line for name in ("train.de", "train.en") for line in neural.read_lines(corpus / name)]
    pieces, draw = neural.Pieces.learn(lines, 32), Random(1)
    lines += ["abacab dd", "aq bac"]
    assert pieces.sample(lines, 0.0, draw) == pieces.encode(lines)
    dropped = pieces.sample(lines[:-1], 0.3, draw)
    assert pieces.decode(dropped) == lines[:-1] and dropped != pieces.encode(lines[:-1])
    assert {len(ids) for ids in pieces.sample(["abacab"], 1.0, draw)} == {7}


def test_another_process_gives_equal_bytes(corpus):
    """An interpreter with another hash seed and other addresses."""
    train = ["train", corpus / "experiment.toml", "--data", corpus, "--epochs", "1", *TINY]
    run(*train, "-o", corpus / "here")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, neural.__file__, *train, "-o", corpus / "there"], check=True, env=environment)
    for name in ("model.pt", "pieces.model", "about.json"):
        assert (corpus / "here" / name).read_bytes() == (corpus / "there" / name).read_bytes()


def test_equal_seeds_give_equal_bytes_interrupted_or_not(corpus):
    def train(name, epochs, seed=1, *more):
        folder, files = corpus / name, ("--data", corpus, "-o", corpus / name)
        run("train", corpus / "experiment.toml", *files, "--seed", seed, "--epochs", epochs, *TINY, *more)
        return (folder / "model.pt").read_bytes() if (folder / "model.pt").exists() else b""

    once = train("once", 3)
    assert train("again", 3) == once != train("other", 3, 2)
    assert train("twice", 1) != once
    state = torch.load(corpus / "twice" / "state.pt")["progress"]
    assert train("twice", 2, 1, "--hours", 0) != once  # before the first batch
    assert torch.load(corpus / "twice" / "state.pt")["progress"]["step"] == state["step"]
    assert train("twice", 3) == once
    rows = [json.loads(line) for line in (corpus / "twice" / "log.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2, 3] and rows[2]["cpu_seconds"] > rows[0]["cpu_seconds"] > 0


def test_a_stop_within_an_epoch_changes_nothing(corpus, monkeypatch):
    train = ("train", corpus / "experiment.toml", "--data", corpus, "--epochs", 2, *TINY)
    run(*train, "-o", corpus / "once")
    step = neural.Training.step

    def stopped(self, *batch):
        step(self, *batch)
        if self.progress["step"] == 3:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(neural.Training, "step", stopped)
    run(*train, "-o", corpus / "stopped")
    assert torch.load(corpus / "stopped" / "state.pt")["progress"]["batch"] == 3
    assert not (corpus / "stopped" / "model.pt").exists()
    run(*train, "-o", corpus / "stopped")
    assert (corpus / "stopped" / "model.pt").read_bytes() == (corpus / "once" / "model.pt").read_bytes()


def test_a_training_without_a_newer_setting_continues(corpus):
    train = ("train", corpus / "experiment.toml", "--data", corpus, "-o", corpus / "m", *TINY)
    run(*train, "--epochs", 1)
    about = json.loads((corpus / "m" / "about.json").read_text())
    del about["settings"]["average"]
    (corpus / "m" / "about.json").write_text(json.dumps(about))
    run(*train, "--epochs", 2)
    assert torch.load(corpus / "m" / "state.pt")["progress"]["epoch"] == 2
    with pytest.raises(SystemExit, match="other settings"):
        run(*train, "--epochs", 3, "--average", 4)


def test_texts_of_equal_names_do_not_replace_the_pieces(corpus):
    train, other = ("train", corpus / "experiment.toml", "-o", corpus / "m", *TINY), corpus / "other"
    run(*train, "--data", corpus, "--epochs", 1)
    pieces, about = corpus / "m" / "pieces.model", json.loads((corpus / "m" / "about.json").read_text())
    assert about["pieces"] == hashlib.sha256(pieces.read_bytes()).hexdigest()
    other.mkdir()
    for name in ("train.de", "train.en", "val.de", "val.en"):
        (other / name).write_text((corpus / name).read_text().translate(str.maketrans("abcdxyz", "efghuvw")))
    with pytest.raises(SystemExit, match="other settings or texts"):
        run(*train, "--data", other, "--epochs", 2)
    assert about["pieces"] == hashlib.sha256(pieces.read_bytes()).hexdigest()
    del about["pieces"]  # as in older folders
    (corpus / "m" / "about.json").write_text(json.dumps(about))
    run(*train, "--data", corpus, "--epochs", 2)
    assert torch.load(corpus / "m" / "state.pt")["progress"]["epoch"] == 2


def test_products_of_the_faster_kind_and_of_the_same_kind_to_the_end(corpus, monkeypatch):
    """Emulated bfloat16 had been the default: a step took 20 times as long on processors without it."""
    train = ("train", corpus / "experiment.toml", "--data", corpus, "-o", corpus / "m", *TINY)
    for known, bits in (({"avx512_bf16": True}, 16), ({"avx512_f": True, "avx512_bf16": False}, 32), ({}, 32)):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda known=known: known, raising=False)
        assert neural.fast_bits("cpu") == bits
    for epochs in (1, 2):  # the second time on a processor with it
        run(*train, "--epochs", epochs)
        assert json.loads((corpus / "m" / "about.json").read_text())["settings"]["bits"] == 32
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True}, raising=False)
    assert torch.load(corpus / "m" / "state.pt")["progress"]["epoch"] == 2


def test_training_ends_without_progress(corpus, capsys):
    run("train", corpus / "experiment.toml", "--data", corpus, "-o", corpus / "m", "--patience", 1, *TINY, "--rate", 5)
    values = [json.loads(line)["dev_perplexity"] for line in (corpus / "m" / "log.jsonl").read_text().splitlines()]
    assert all(after < before for before, after in pairwise(values[:-1])) and values[-1] >= values[-2]
    assert len([*(corpus / "m" / "best").iterdir()]) == min(5, len(values))
    assert f"{len(values)} epochs" in capsys.readouterr().out


def test_settings_come_from_options_or_the_experiment_file(corpus, tmp_path):
    def train(more, *options):
        (corpus / "experiment.toml").write_text(f"{CONFIG}\n[neural]\n{more}\n")
        run("train", corpus / "experiment.toml", "--data", corpus, "-o", tmp_path / "m", "--epochs", 0, *options)

    table = "".join(f"{name} = {value}\n" for name, value in (SIZES | {"dropout": 0}).items())
    train(table, "--hidden", 24)
    settings = json.loads((tmp_path / "m" / "about.json").read_text())["settings"]
    bits = {"bits": neural.fast_bits("cpu")}
    assert settings == vars(transformer.Settings(**(SIZES | {"dropout": 0, "hidden": 24} | bits)))
    for wrong, message in (
        ("depth = 3", r"\[neural\] has no setting depth; known are pieces, layers, "),
        ("width = '8'", "width in \\[neural\\] is not a number: '8'"),
        ("pieces = 1.5", "pieces in \\[neural\\] is not a number: 1.5"),
        ("heads = 3", "width 256: not a multiple of twice the 3 heads"),
        ("bits = 8", "bits 8: choose 16 or 32, or 0"),
    ):
        with pytest.raises(SystemExit, match=message):
            train(wrong)


def check_lists(folder, model, data, k):
    """Writes lists, scores them, and compares with the values in the lists; returns the translations."""
    run("translate", model, data / "val.de", "-o", folder / "best")
    run("translate", model, data / "val.de", "--kbest", k, "-o", folder / "kbest")
    run("score", model, folder / "kbest", "--source", data / "val.de", "-o", folder / "scores")
    lists = read_lists(folder / "kbest", {"Other": folder / "scores"})
    for found in lists:
        assert len({one.text for one in found}) == len(found)
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        np.testing.assert_allclose(
            [one.features["Other"] for one in found], [one.features["Neural"] for one in found], atol=1e-4
        )
    return (folder / "best").read_text().splitlines(), lists


def test_lists_can_be_scored_and_rescored(corpus):
    train = ("train", corpus / "experiment.toml", "--data", corpus, "--epochs", 2, *TINY)
    run(*train, "-o", corpus / "m")
    run(*train, "-o", corpus / "back", "--reverse")
    (corpus / "val.de").write_text("d aba\n\nbac q ca\n")  # empty, and with a letter that training lacks
    best, lists = check_lists(corpus, corpus / "m", corpus, 6)
    assert len(best) == 3 and best[1] == "" and [one.text for one in lists[1]] == [""]
    assert len(lists[0]) > 1 and len(lists[2]) > 1
    lines = (corpus / "val.de", corpus / "kbest", corpus / "scores")
    run("score", corpus / "back", lines[1], "--source", lines[0], "--reverse", "-o", lines[2])
    translator = neural.Translator([corpus / "back"])
    texts = [(number, one.text) for number, found in read_kbest(lines[1]).items() for one in found]
    encode, sources = translator.pieces.encode, lines[0].read_text().splitlines()
    expected = [
        transformer.log_probabilities(translator.models, encode([text]), [(0, encode([sources[number]])[0])])[0]
        for number, text in texts
    ]
    np.testing.assert_allclose(np.loadtxt(lines[2]), expected, atol=1e-4)
    run("score", corpus / "m", lines[1], "--source", lines[0], "--ensemble", corpus / "m", "-o", corpus / "two")
    run("score", corpus / "m", lines[1], "--source", lines[0], "-o", lines[2])
    np.testing.assert_allclose(np.loadtxt(corpus / "two"), np.loadtxt(lines[2]), atol=1e-4)


def test_errors(corpus):
    train = ("train", corpus / "experiment.toml", "--data", corpus, "--epochs", 1, "-o", corpus / "m", *TINY)
    with pytest.raises(SystemExit, match=r"model\.pt: not found"):
        run("translate", corpus / "m", corpus / "val.de", "-o", corpus / "out")
    run(*train, "--reverse")
    with pytest.raises(SystemExit, match="other settings"):
        run(*train)
    with pytest.raises(SystemExit, match="only scores"):
        run("translate", corpus / "m", corpus / "val.de", "-o", corpus / "out")
    score = ("score", corpus / "m", corpus / "kbest", "--source", corpus / "val.de", "-o", corpus / "out")
    (corpus / "kbest").write_text("0 ||| x ||| A=1 ||| 1\n8 ||| x ||| A=1 ||| 1\n")
    with pytest.raises(SystemExit, match="with --reverse"):
        run(*score)
    with pytest.raises(SystemExit, match=r"kbest:2: .* 8 sentences"):
        run(*score, "--reverse")
    (corpus / "kbest").write_text("0 ||| x ||| A=1 ||| 1")
    with pytest.raises(SystemExit, match=r"kbest:1: .* cut off"):
        run(*score, "--reverse")
    (corpus / "train.de").write_text("a\n")
    with pytest.raises(SystemExit, match=r"1 lines, but 60 in train\.en"):
        run(*train, "--reverse")


@pytest.mark.parametrize(
    ("name", "content", "more", "message"),
    [
        ("train.de", None, [], r"No such file.*train\.de"),
        ("train.en", b"x\n\xff y\n", [], r"train\.en:2: byte 0xff is not UTF-8"),
        ("train.en", b"x\ny", [], r"train\.en:2: the last line lacks its end"),
        ("val.en", b"\n" * 8, [], r"val\.de: no pairs"),
        ("experiment.toml", b"[corpus]\nsource = 'train.de'\n", [], r"\[corpus\] lacks target, dev_source, dev_ref"),
        ("experiment.toml", b"[corpus\n", [], r"experiment\.toml: Expected ']'"),
        ("other", b"", ["--pieces", 4000], r"--pieces 4000: .*[Vv]ocabulary size"),
        ("other", b"", ["--width", 6], "width 6: not a multiple"),
        ("other", b"", ["--device", "abacus"], "--device abacus: .*device"),
    ],
)
def test_errors_of_input(corpus, name, content, more, message):
    (corpus / name).unlink() if content is None else (corpus / name).write_bytes(content)
    with pytest.raises(SystemExit, match=message):
        run("train", corpus / "experiment.toml", "--data", corpus, "--epochs", 1, "-o", corpus / "m", *TINY, *more)


def test_pairs_with_an_empty_side_are_counted(corpus, capsys):
    lines = (corpus / "train.de").read_text().splitlines(True)
    (corpus / "train.de").write_text("".join(["\n", " \n", *lines[2:]]))
    assert len(neural.read_pairs(corpus, ("train.de", "train.en"))[0]) == len(lines) - 2
    assert "train.de: skipped 2 pairs with an empty side" in capsys.readouterr().err


def test_two_epochs_on_200_pairs(tmp_path):
    """With the default sizes, on captions of shared data."""
    data = ROOT.parent / "shared" / "data" / "de-en"
    if not data.is_dir():
        pytest.skip(f"{data} is not there")
    for name, size in (("train", 200), ("val", 20)):
        for side in ("de", "en"):
            lines = (data / f"{name}.{side}").read_text(encoding="utf-8").splitlines(True)
            (tmp_path / f"{name}.{side}").write_text("".join(lines[:size]), encoding="utf-8")
    (tmp_path / "experiment.toml").write_text(CONFIG)
    sizes = ("--pieces", 500, "--epochs", 2, "--warmup", 10)
    for name in ("m", "again"):
        run("train", tmp_path / "experiment.toml", "--data", tmp_path, "-o", tmp_path / name, *sizes)
    assert (tmp_path / "m" / "model.pt").read_bytes() == (tmp_path / "again" / "model.pt").read_bytes()
    first, second = [json.loads(line) for line in (tmp_path / "m" / "log.jsonl").read_text().splitlines()]
    assert second["dev_perplexity"] < first["dev_perplexity"] and second["loss"] < first["loss"]
    check_lists(tmp_path, tmp_path / "m", tmp_path, 10)
