"""Every parser of outside input takes or refuses the corpus and mutations of it, and nothing else.

`make fuzz` looks for more with atheris.
"""

import random

import pytest

from tests.fuzz.parsers import CORPUS, PARSERS, accepts, inputs, mutated

TRIED = {"csv": 12}
"""Mutations of each corpus; files are slower than texts."""


def test_every_parser_has_a_corpus() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(PARSERS)


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_the_corpus_is_taken_or_refused(name: str) -> None:
    taken = [accepts(name, data) for data in inputs(name)]
    assert any(taken), "some of it is right"
    assert name == "label" or not all(taken), "and some of it wrong"


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_mutations_of_the_corpus(name: str) -> None:
    corpus = inputs(name)
    for number in range(TRIED.get(name, 60)):
        draw = random.Random(f"{name}:{number}")
        accepts(name, mutated(draw.choice(corpus), corpus, draw))
