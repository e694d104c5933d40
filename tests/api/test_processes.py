"""Releases in forked children, process pools and threads; releases travel between processes."""

import multiprocessing
import os
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import shoal

RNG = np.random.default_rng(5)
ROWS = 30_000
"""Enough for the work to be shared between threads."""
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, ROWS),
        "zip": RNG.integers(0, 500, ROWS),
        "disease": RNG.choice(["flu", "asthma", "cancer"], ROWS),
    }
)
KEYWORDS = {"quasi": ["age", "zip"], "sensitive": "disease", "l": 2, "method": "mondrian"}


def groups(k):
    return shoal.anonymize(PEOPLE, k=k, **KEYWORDS).groups


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_does_not_hang(monkeypatch):
    monkeypatch.setenv("SHOAL_THREADS", "2")
    here = groups(5)  # the parent has threads now, and a child inherits none of them
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(groups, (5,)).get(timeout=120) == here


def test_a_process_pool_gives_the_same_releases(monkeypatch):
    monkeypatch.setenv("SHOAL_THREADS", "2")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(groups, (5, 10))) == [groups(5), groups(10)]


def test_threads_give_the_same_releases(monkeypatch):
    monkeypatch.setenv("SHOAL_THREADS", "2")
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(groups, (5, 10, 5, 10))) == [groups(5), groups(10)] * 2


def test_a_release_is_itself_alone_and_travels():
    release = shoal.anonymize(PEOPLE.head(100), k=5, **KEYWORDS)
    other = shoal.anonymize(PEOPLE.head(100), k=5, **KEYWORDS)
    assert release != other
    assert len({release, other}) == 2
    back = pickle.loads(pickle.dumps(release))
    pd.testing.assert_frame_equal(back.table, release.table)
    assert back.to_dict() == release.to_dict()
    assert back.policy == release.policy
    assert shoal.verify(back).holds
