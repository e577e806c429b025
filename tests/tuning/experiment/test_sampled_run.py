"""``lscfg run`` with sampled rules: how chains went is in the results and the report, once for all that have them."""

import json

from little_experiment import CORPUS

from lscfg.tuning.experiment.run import run_experiment

SYSTEMS = (
    CORPUS
    + """[language_model]
order = 2
[tuning]
iterations = 1
kbest = 5
[evaluation]
baseline = "A"
[sampled]
sweeps = 12
[systems.A]
grammar = "sampled"
[systems."A+MIN"]
grammar = "sampled+minimal"
[systems.A-SCOPE]
grammar = "sampled"
sampled = {rule_filter = "scope"}
[systems.CHAINS]
grammar = "sampled"
sampled = {chains = 2, level_sweeps = 0}
[systems.MIN]
"""
)


def test_chains_are_reported_once(corpus, tmp_path):
    for name in ("train", "dev", "test"):
        for side in ("ja", "en"):
            lines = (corpus / f"{name}.{side}").read_text().splitlines(keepends=True)
            (tmp_path / f"{name}.{side}").write_text("".join(lines[: 150 if name == "train" else 5]))
    (tmp_path / "e.toml").write_text(SYSTEMS)
    run_experiment(tmp_path / "e.toml", tmp_path / "out", 1)
    found = json.loads((tmp_path / "out" / "results.json").read_text())["sampling"]
    assert [item["systems"] for item in found] == [["A", "A+MIN", "A-SCOPE"], ["CHAINS"]]
    levels, chains = found
    assert levels["distribution"] == chains["distribution"] and levels["distribution"]["process"] == "py"
    assert levels["convergence"] == {} and chains["convergence"]["R-hat of log joint"] > 0.9
    assert [len(item["chains"]) for item in found] == [1, 2] and levels["kept"] == [0, 10]
    for item in found:
        for chain in item["chains"]:
            assert {name: len(values) for name, values in chain.items()} == dict.fromkeys(chain, 13)
            assert chain["log_joint"][-1] > chain["log_joint"][0] and chain["tokens"][-1] < chain["tokens"][0]
    assert "A, A+MIN, A-SCOPE" in (tmp_path / "out" / "report.html").read_text()
