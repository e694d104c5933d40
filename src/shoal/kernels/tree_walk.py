"""Rows walked down a tree of cuts: the node that each ends in, and what is counted there.

A row is a word, its codes packed so that comparing words compares rows, with a key and a hash that order
rows of the same word.
"""

from typing import NamedTuple

from shoal.arrays import Codes, Ints
from shoal.kernels.jit import in_place, inlined, number

KEY_BITS = 63
"""Bits of a key by which rows are searched; the lowest one is left out."""


class WordTree(NamedTuple):
    """A tree of cuts, by nodes. Rows below a cut go on to the node `below`, the others to the next."""

    shift: Ints
    """(nodes,) where the bits of the column begin that a node is cut in."""
    mask: Ints
    code: Ints
    """Rows with a smaller code go below."""
    below: Ints
    """-1 for a node that is not cut."""
    word: Ints
    """The last of the rows with the same code that go below as well; -1 for none."""
    key: Ints
    hash: Ints


class Search(NamedTuple):
    """Rows of some nodes that have one code, and whose first bits are known."""

    shift: Ints
    """(n,) where the bits of the code begin."""
    bits: Ints
    """How many they are; they are left out of the word."""
    code: Ints
    in_key: Ints
    """0: bits of the word are searched; 1: the word is known, and bits of the key are searched."""
    word: Ints
    """The word, where it is known."""
    total: Ints
    """Bits in all."""
    known: Ints
    prefix: Ints
    """The known bits, which are the first ones."""


@in_place
def leaf_of_words(words: Ints, keys: Ints, hashes: Ints, tree: WordTree, leaf: Codes) -> None:
    """Write to `leaf` (n,) the node that each row ends in."""
    for i in range(len(words)):
        word = words[i]
        node = number(0)
        while tree.below[node] >= 0:
            value = (word >> tree.shift[node]) & tree.mask[node]
            above = value > tree.code[node]
            if value == tree.code[node]:
                above = word > tree.word[node]
                if word == tree.word[node]:
                    above = keys[i] > tree.key[node] or (
                        keys[i] == tree.key[node] and hashes[i] > tree.hash[node]
                    )
            node = tree.below[node] + 1 if above else tree.below[node]
        leaf[i] = node


@in_place
def count_codes(
    words: Ints, leaf: Codes, place: Ints, shift: Ints, mask: Ints, first: Ints, totals: Ints
) -> None:
    """Add to `totals` the rows of each code of each column in some nodes.

    place: (nodes,) where the counts of a node begin, or -1. first: (d + 1,) where those of a column do.
    """
    for i in range(len(words)):
        base = place[leaf[i]]
        if base >= 0:
            for j in range(len(shift)):
                totals[base + first[j] + ((words[i] >> shift[j]) & mask[j])] += 1


@inlined
def rest_of(word: int, key: int, search: Search, t: int) -> int:
    """The bits of a row that are searched; -1 for a row that is not among those searched."""
    low = search.shift[t]
    high = low + search.bits[t]
    if ((word >> low) & ((number(1) << search.bits[t]) - 1)) != search.code[t]:
        return number(-1)
    rest = ((word >> high) << low) | (word & ((number(1) << low) - 1))
    if search.in_key[t] == 1:
        if word != search.word[t]:
            return number(-1)
        rest = (key >> 1) + (number(1) << 62)
    if (rest >> (search.total[t] - search.known[t])) != search.prefix[t]:
        return number(-1)
    return rest


@in_place
def count_digits(
    words: Ints,
    keys: Ints,
    leaf: Codes,
    place: Ints,
    search: Search,
    digits: Ints,
    room: int,
    totals: Ints,
) -> None:
    """Add to `totals` the rows that are searched, by their next bits.

    place: (nodes,) which search looks at a node, or -1. digits: (n,) how many bits. room: counts of one
    search.
    """
    for i in range(len(words)):
        t = place[leaf[i]]
        if t >= 0:
            rest = rest_of(words[i], keys[i], search, t)
            if rest >= 0:
                rest >>= search.total[t] - search.known[t] - digits[t]
                totals[t * room + (rest & ((number(1) << digits[t]) - 1))] += 1


@in_place
def mark_searched(
    words: Ints, keys: Ints, leaf: Codes, place: Ints, search: Search, found: Ints
) -> None:
    """Write to `found` (n,) the search that each row belongs to, or -1."""
    for i in range(len(words)):
        t = place[leaf[i]]
        if t >= 0 and rest_of(words[i], keys[i], search, t) < 0:
            t = number(-1)
        found[i] = t
