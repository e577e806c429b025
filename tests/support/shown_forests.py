"""Forests of the kernel as the drivers of ``tests/plugin_stubs`` read them, and the features of their edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from cdec_runs import RULES, SENTENCES

from lscfg.grammar.table import RuleTable
from lscfg.kernel import REST, Binding, FeatureOptions, Forest, Grammar, Model, ParseOptions, S

GLUE_TOP, GLUE, PASS = range(3)
"""Rules of every grammar, whose numbers follow those of the rules that it lists."""


def configure(folder: Path, glue: bool) -> None:
    """Writes ``cdec.ini``; with glue rules, the grammar loses its rule of the goal."""
    ini = "formalism=scfg\ngrammar=grammar\nadd_pass_through_rules=true\nscfg_max_span_limit=50\n"
    (folder / "cdec.ini").write_text(ini + ("" if glue else "scfg_no_hiero_glue_grammar=true\n"))
    if glue:
        lines = (folder / "grammar").read_text().splitlines(keepends=True)
        (folder / "grammar").write_text("".join(lines[:-1]))


class CdecForests:
    """The kernel's forests of sentences, written to the file ``forest`` for cdec's driver, and their features.

    Attributes:
        features: of each edge, by name.
    """

    def __init__(self, folder: Path, glue: bool, options: FeatureOptions, sentences: list[str] = SENTENCES):
        self.grammar, self.features = Grammar.from_files([folder / "grammar"]), []
        binding = Binding(Model(folder / "model.lscfg"), self.grammar)
        lines = []
        for sentence in sentences:
            words = self.grammar.vocab.add_line(sentence)
            forest = self.grammar.parse(words, ParseOptions(50, glue, 1))
            assert forest is not None
            values = binding.features(forest, binding.infer(forest), options)[~forest.is_rest]
            self.features += [dict(zip(options.names, row, strict=True)) for row in values.tolist()]
            self.features.append(dict.fromkeys(options.names, 0.0))  # the edge of the goal
            lines += [f"sentence {sentence}", *self.edges(forest, sentence.split())]
        (folder / "forest").write_text("\n".join(lines) + "\n")

    def edges(self, forest: Forest, words: list[str]) -> list[str]:
        """The applications in cdec's words; the last edge leads to cdec's goal."""
        lines, before, numbers = [], 0, (np.cumsum(forest.node_cat != REST) - 1).tolist()
        for app, edge in enumerate(forest.app_edge.tolist()):
            head = int(forest.edge_head[edge])
            assert head >= before  # from below
            before = head
            if forest.node_cat[head] == REST:
                continue
            i, j = forest.node_span[head].tolist()
            tails = forest.tails(edge)
            names = ["XS"[forest.node_cat[tail]] for tail in tails]
            source, target, scores = self.rule(int(forest.app_rule[app]), names, words[i])
            shown = " ".join(map(str, (numbers[head], i, j, *(numbers[tail] for tail in tails))))
            lines.append(f"{shown} ||| {'XS'[forest.node_cat[head]]} ||| {source} ||| {target} ||| {scores}")
        root, last = numbers[-1], "XS"[forest.node_cat[-1]]
        return [*lines, f"{root + 1} 0 {len(words)} {root} ||| Goal ||| [{last},1] ||| [1] ||| "]

    def rule(self, number: int, names: list[str], word: str) -> tuple[str, str, str]:
        size = len(self.grammar)
        if number == size + PASS:
            return word, word, "PassThrough=1"
        if number in (size + GLUE_TOP, size + GLUE):
            gaps = range(1, len(names) + 1)
            return " ".join(f"[{names[k - 1]},{k}]" for k in gaps), " ".join(f"[{k}]" for k in gaps), "Glue=1"
        gaps = iter([f"[{name},{k}]" for k, name in enumerate(names, 1)])
        source = [next(gaps) if symbol < 0 else self.grammar.vocab.word(symbol) for symbol in self.grammar.src(number)]
        target = [
            f"[{-symbol}]" if symbol < 0 else self.grammar.vocab.word(symbol) for symbol in self.grammar.tgt(number)
        ]
        return " ".join(source), " ".join(target), f"R{number}=1"


def number_of(gap: str) -> int:
    """The number in ``[X,1]`` or ``[1]``."""
    return int(gap[1:-1].split(",")[-1])


def table_line(rule: str, label: str = "X") -> str:
    """A rule of a label as in Moses' rule table."""
    source, target = (side.split() for side in rule.split(" ||| "))
    gaps = [{number_of(token): k for k, token in enumerate(side) if token.startswith("[")} for side in (source, target)]
    links = [f"{gaps[0][number]}-{k}" for number, k in gaps[1].items()]
    labels = {number: source[k][1:].split(",")[0] for number, k in gaps[0].items()}
    sides = [
        [f"[X][{labels[number_of(token)]}]" if token.startswith("[") else token for token in side]
        for side in (source, target)
    ]
    return f"rule {label} {' ||| '.join(map(' '.join, sides))} ||| {' '.join(links)}"


class MosesForests:
    """The applications of the kernel's forests that make no S, written to ``forest`` for Moses' driver.

    Attributes:
        features: of each application, with the number of the sentence.
    """

    def __init__(
        self, folder: Path, options: FeatureOptions, labelled: RuleTable | None = None, sentences: list[str] = SENTENCES
    ):
        grammar, self.features = Grammar.from_files([folder / "grammar"]), []
        if labelled is None:
            lines = [table_line(rule) for rule in RULES]
        else:
            split = [labelled.text(rule).split(" ||| ", 1) for rule in range(len(labelled))]
            lines = [f"join {name}" for name in labelled.categories]
            lines += [table_line(rule, label.strip("[]")) for label, rule in split]
        n_rules = len(RULES) if labelled is None else len(labelled)
        binding = Binding(Model(folder / "model.lscfg"), grammar)
        for number, sentence in enumerate(sentences):
            forest = grammar.parse(grammar.vocab.add_line(sentence), ParseOptions(2**31 - 1, True, 1))
            assert forest is not None
            values = binding.features(forest, binding.infer(forest), options).tolist()
            lines.append(f"sentence {sentence}")
            for app, edge in enumerate(forest.app_edge.tolist()):
                head, rule = int(forest.edge_head[edge]), int(forest.app_rule[app])
                if forest.node_cat[head] == S:
                    continue
                spans = [forest.node_span[tail].tolist() for tail in forest.edge_tail[edge].tolist() if tail >= 0]
                shown = rule if rule < n_rules else -1
                assert shown >= 0 or rule == len(grammar) + PASS
                numbers = [shown, *forest.node_span[head].tolist(), *(place for span in spans for place in span)]
                lines.append(" ".join(map(str, numbers)))
                self.features.append((number, values[app]))
        (folder / "forest").write_text("\n".join(lines) + "\n")
