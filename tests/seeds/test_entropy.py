"""Large seeds are used whole, on every way that randomness takes."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import seeds
from shoal.encoding.cells import hash_rows
from shoal.kernels.hashing import keyed_hash
from shoal.methods.blocks import block_seed
from shoal.testing import encoded, random_table
from tests.seeds.plain import WORD, plain_sip_hash

KEY = tuple(int.from_bytes(bytes(range(a, a + 8)), "little") for a in (0, 8))
VECTORS = {0: 0x726FDB47DD0E0E31, 8: 0x93F5F5799A932462, 16: 0x3F2ACC7F57C29BDB}
"""From the paper's reference implementation: the hash of the bytes 0, 1, 2, ... under the key above."""


@pytest.mark.parametrize(("size", "expected"), VECTORS.items())
def test_the_published_vectors(size: int, expected: int) -> None:
    data = bytes(range(size))
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, size, 8)]
    assert plain_sip_hash((KEY[0], KEY[1]), words) == expected
    columns = [np.array([word], np.uint64) for word in words]
    assert keyed_hash(1, columns, (KEY[0], KEY[1])).tolist() == [expected]


words = st.integers(0, WORD - 1)


@given(st.tuples(words, words), st.lists(st.tuples(words, words, words), max_size=5))
def test_against_the_plain_twin(key: tuple[int, int], rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array([row[i] for row in rows], np.uint64) for i in range(3)]
    found = keyed_hash(len(rows), columns, key).tolist()
    assert found == [plain_sip_hash(key, list(row)) for row in rows]


def differences(of: "dict[int, object]") -> int:
    """How many of the results are different."""
    return len({repr(one) for one in of.values()})


def test_every_bit_of_a_large_seed_counts() -> None:
    """In the hash of rows, in the seeds of blocks and of rounds, and in the keys."""
    base = 2**128 + 0x0123456789ABCDEF0123456789ABCDEF
    others = [base, *(base ^ 1 << bit for bit in range(128))]
    column = pa.array(["a", "b", "c", None])
    cells = encoded(random_table(1))
    assert differences({s: hash_rows(4, [], [column], s).tolist() for s in others}) == 129
    assert differences({s: block_seed(cells, s) for s in others}) == 129
    assert differences({s: seeds.derived(s, "round", 3) for s in others}) == 129
    assert differences({s: seeds.key_words(s, "halves") for s in others}) == 129
    assert all(seeds.derived(s, "round", 3) >= seeds.LARGE for s in others)


@pytest.mark.parametrize("method", ["k-clustering", "l-clustering", "top-down", "bottom-up"])
def test_seeds_that_share_their_low_words_give_other_releases(method: str) -> None:
    """Arithmetic modulo 2**64 would take these seeds for one."""
    rng = np.random.default_rng(3)
    table = pa.table({"a": rng.integers(0, 30, 80), "ill": rng.integers(0, 9, 80)})
    found = set()
    for high in range(6):
        release = shoal.anonymize(
            table, quasi="a", sensitive="ill", k=3, l=3, method=method, seed=2**130 + high * 2**70
        )
        found.add(repr(release.table.to_pydict()))
    assert len(found) > 1


def test_small_seeds_are_what_they_were() -> None:
    """Their arithmetic is fixed; the golden releases rely on it as well."""
    column = pa.array([1, 2])
    low, high = hash_rows(2, [], [column], 0), hash_rows(2, [], [column], 2**63 - 1)
    assert low.tolist() == [LOW_1, LOW_2]
    assert high.tolist() == [HIGH_1, HIGH_2]


def splitmix(state: int, word: int) -> int:
    z = ((state ^ word) + 0x9E3779B97F4A7C15) % WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


LOW_1, LOW_2 = (splitmix(1, word) for word in (1, 2))
HIGH_1, HIGH_2 = (splitmix(((2**63 - 1) * 0x9E37 + 1) % WORD, word) for word in (1, 2))
