"""A decoder that reranks fixed lists, for the tuning loop."""

import random

from lscfg.formats.kbest import Hypothesis
from lscfg.tuning.mira import MiraSettings
from lscfg.tuning.tune import TuneSettings, tune

START = {"lm": 0.1, "tm": 0.2, "words": 0.9}
SETTINGS = TuneSettings(iterations=4, kbest=5, patience=4, learner=MiraSettings(epochs=5))


class Reranker:
    """A decoder whose search space is one fixed list per sentence; the good hypotheses have high lm and few words."""

    def __init__(self, sentences: int = 15, seed: int = 1):
        draw = random.Random(seed)
        words = [f"w{n}" for n in range(30)]
        self.sources = [f"source {n}" for n in range(sentences)]
        self.references = [[" ".join(draw.choices(words, k=draw.randint(6, 10))) for _ in self.sources]]
        self.space = {}
        for source, reference in zip(self.sources, self.references[0], strict=True):
            self.space[source] = []
            for _ in range(60):
                tokens = reference.split()
                wrong = draw.randint(0, len(tokens) - 1)
                tokens[:wrong] = draw.choices(words, k=wrong + draw.randint(-min(wrong, 2), 2))
                features = {"lm": draw.gauss(-wrong, 1), "tm": draw.gauss(-wrong / 2, 2), "words": float(len(tokens))}
                if draw.random() < 0.2:
                    features["rare"] = 1 / 3
                self.space[source].append((" ".join(tokens), features))
        self.calls = []

    def decode(self, sentences, weights, k, unique=True):
        self.calls.append((dict(weights), k, unique))
        return [self.rerank(self.space[sentence], weights)[:k] for sentence in sentences]

    @staticmethod
    def rerank(space, weights):
        scored = [
            Hypothesis(text, features, sum(weights.get(name, 0.0) * value for name, value in features.items()))
            for text, features in space
        ]
        return sorted(scored, key=lambda hypothesis: -hypothesis.score)


def run(decoder, folder=None, settings=SETTINGS, **arguments):
    """A tuning of the decoder's own data from START."""
    return tune(decoder, decoder.sources, decoder.references, START, settings, folder, log=lambda _: None, **arguments)
