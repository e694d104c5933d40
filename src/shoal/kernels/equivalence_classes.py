"""Equivalence classes: number equal rows alike, count them, merge them, find anonymous subsets.

The values of a row or class are packed into words, a field of bits for each column. The largest
anonymous subset is what is left when all that fails has been dropped, and whatever fails because of
that. Dropping a cell lowers the counts of its own keys alone, so nothing is ever counted again.
"""

import numpy as np

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.jit import in_place, kernel, mix, number
from shoal.kernels.sorting import sort_codes

NONE = -1


@kernel
def number_equal(words: Words) -> tuple[Codes, Codes]:
    """(n,) equal columns of words (w, n) get equal numbers 0, 1, 2, … as they first appear; and
    (numbers,) where each appears first."""
    wide, n = words.shape
    size = 16
    while size < 2 * n:
        size *= 2
    mask, half = np.uint64(size - 1), np.uint64(32)
    # a slot holds a number, counted from 1, below half of the hash: most different
    # rows that meet in a slot are recognised without comparing their words
    slots = np.zeros(size, np.uint64)
    numbers = np.empty(n, np.int32)
    first = np.empty(n, np.int32)
    found = 0
    for i in range(n):
        hashed = np.uint64(0)
        for w in range(wide):
            hashed = mix(hashed, words[w, i])
        at = hashed & mask
        while True:
            slot = slots[at]
            if slot == 0:
                number = np.int64(found)
                first[found] = i
                found += 1
                slots[at] = (hashed >> half) << half | np.uint64(found)
                break
            if slot >> half == hashed >> half:
                number = np.int64(slot & np.uint64(0xFFFFFFFF)) - 1
                same = True
                for w in range(wide):
                    same &= words[w, first[number]] == words[w, i]
                if same:
                    break
            at = (at + np.uint64(1)) & mask
        numbers[i] = number
    return numbers, first[:found].copy()


@kernel
def number_small(words: Words, size: int) -> tuple[Codes, Codes]:
    """The same for single words, all below `size`."""
    of_word = np.full(size, NONE, np.int32)
    numbers = np.empty(len(words), np.int32)
    first = np.empty(len(words), np.int32)
    found = 0
    for i in range(len(words)):
        number = of_word[words[i]]
        if number == NONE:
            number = np.int32(found)
            of_word[words[i]] = number
            first[found] = i
            found += 1
        numbers[i] = number
    return numbers, first[:found].copy()


@kernel
def count_distinct(codes: Codes, size: int) -> int:
    """How many different codes, all below `size`, there are."""
    seen = np.zeros(size, np.bool_)
    for code in codes:
        seen[code] = True
    return int(seen.sum())


@in_place
def lift(words: Words, shift: np.uint64, mask: np.uint64, up: Words) -> None:
    """Replace one field of every word by the node above it, in place."""
    hole = ~(mask << shift)
    for i in range(len(words)):
        words[i] = (words[i] & hole) | (up[(words[i] >> shift) & mask] << shift)


def count_runs(codes: Codes, starts: Ints, size: int, missing: int) -> tuple[Ints, Codes, Ints]:
    """Histogram of each run codes[starts[i]:starts[i+1]]: (g + 1,) entry starts, values, counts.

    Values ascend inside a run; the code `missing` is not counted.
    """
    n = len(codes)
    out_starts, values, counts = np.zeros_like(starts), np.empty(n, np.int32), np.empty(n, np.int64)
    room = np.zeros(size, np.int64), np.empty(min(size, n) + 1, np.int32)
    at = _count_runs(codes, starts, missing, *room, out_starts, values, counts)
    return out_starts, values[:at].copy(), counts[:at].copy()


@in_place
def _count_runs(
    codes: Codes,
    starts: Ints,
    missing: int,
    tally: Ints,
    found: Codes,
    out_starts: Ints,
    values: Codes,
    counts: Ints,
) -> int:
    """`count_runs`, written to arrays with room for all codes; returns how many entries there are.

    tally: (size,) 0. found: room for the codes of a run.
    """
    at = 0
    for run in range(len(starts) - 1):
        n_found = 0
        for i in range(starts[run], starts[run + 1]):
            code = codes[i]
            if code == missing:
                continue
            if tally[code] == 0:
                found[n_found] = code
                n_found += 1
            tally[code] += 1
        sort_codes(found, number(n_found))
        for i in range(n_found):
            values[at] = found[i]
            counts[at] = tally[found[i]]
            tally[found[i]] = 0
            at += 1
        out_starts[run + 1] = at
    return at


@kernel
def count_people(person: Codes, starts: Ints, n_people: int) -> Ints:
    """(g,) how many different people each run person[starts[i]:starts[i+1]] has."""
    n_runs = len(starts) - 1
    seen = np.zeros(n_people, np.int32)
    found = np.zeros(n_runs, np.int64)
    for run in range(n_runs):
        for i in range(starts[run], starts[run + 1]):
            if seen[person[i]] <= run:
                seen[person[i]] = run + 1
                found[run] += 1
    return found


@kernel
def count_values_of_people(
    codes: Codes,
    person: Codes,
    pair: Codes,
    starts: Ints,
    size: int,
    missing: int,
    n_people: int,
    n_pairs: int,
) -> tuple[Ints, Codes, Ints, Ints]:
    """`count_runs` in people: each value once for every person of the run who has it; and (g,) the
    people of the run with a known value.

    pair: (n,) the number of each row's person and value.
    """
    n_runs = len(starts) - 1
    tally = np.zeros(size, np.int64)
    found = np.empty(min(size, len(codes)) + 1, np.int32)
    out_starts = np.zeros(n_runs + 1, np.int64)
    values = np.empty(len(codes), np.int32)
    counts = np.empty(len(codes), np.int64)
    known = np.zeros(n_runs, np.int64)
    seen = np.zeros(n_people, np.int32)
    met = np.zeros(n_pairs, np.int32)
    at = 0
    for run in range(n_runs):
        n_found = 0
        for i in range(starts[run], starts[run + 1]):
            code = codes[i]
            if code == missing or met[pair[i]] > run:
                continue
            met[pair[i]] = run + 1
            if seen[person[i]] <= run:
                seen[person[i]] = run + 1
                known[run] += 1
            if tally[code] == 0:
                found[n_found] = code
                n_found += 1
            tally[code] += 1
        sort_codes(found, number(n_found))
        for i in range(n_found):
            values[at] = found[i]
            counts[at] = tally[found[i]]
            tally[found[i]] = 0
            at += 1
        out_starts[run + 1] = at
    return out_starts, values[:at].copy(), counts[:at].copy(), known


@kernel
def merge_histograms(
    numbers: Codes,
    n_classes: int,
    starts: Ints,
    values: Codes,
    counts: Ints,
    size: int,
) -> tuple[Ints, Codes, Ints]:
    """The histograms of the new classes: (classes + 1,) entry starts, values (all below `size`,
    ascending inside a class) and counts."""
    n = len(numbers)
    begins = np.zeros(n_classes + 1, np.int64)
    for which in numbers:
        begins[which + 1] += 1
    for which in range(n_classes):
        begins[which + 1] += begins[which]
    order = np.empty(n, np.int32)
    place = begins[:-1].copy()
    for i in range(n):
        order[place[numbers[i]]] = i
        place[numbers[i]] += 1
    tally = np.zeros(size, np.int64)
    seen = np.empty(size, np.int32)
    out_starts = np.zeros(n_classes + 1, np.int64)
    out_values = np.empty(len(values), np.int32)
    out_counts = np.empty(len(values), np.int64)
    at = 0
    for which in range(n_classes):
        n_seen = 0
        for member in range(begins[which], begins[which + 1]):
            i = order[member]
            for entry in range(starts[i], starts[i + 1]):
                value = values[entry]
                if tally[value] == 0:
                    seen[n_seen] = value
                    n_seen += 1
                tally[value] += counts[entry]
        sort_codes(seen, n_seen)
        for k in range(n_seen):
            out_values[at] = seen[k]
            out_counts[at] = tally[seen[k]]
            tally[seen[k]] = 0
            at += 1
        out_starts[which + 1] = at
    return out_starts, out_values[:at].copy(), out_counts[:at].copy()


@in_place
def add_counts(
    key: Codes,
    weights: Codes,
    left: Codes,
    counts: Codes,
) -> None:
    """counts[k]: rows of the cells `left` with key k under one constraint."""
    for cell in left:
        counts[key[cell]] += weights[cell]


@in_place
def sweep(
    keys: Codes,
    base: Ints,
    counts: Codes,
    least: Ints,
    weights: Codes,
    left: Codes,
) -> tuple[int, bool]:
    """Look at each of the cells `left` once and drop those that fail; the others move to the front.

    keys (m, n): the key of each cell under each constraint; counts, at base[c] + key: rows with that
    key. A drop lowers them at once, so later cells already feel it. How many are left, and whether
    one of those may fail now, since a key fell below its constraint after some cells had passed.
    """
    m = len(keys)
    kept = 0
    fell = False
    for cell in left:
        holds = True
        for c in range(m):
            if counts[base[c] + keys[c, cell]] < least[c]:
                holds = False
                break
        if holds:
            left[kept] = cell
            kept += 1
            continue
        for c in range(m):
            key = base[c] + keys[c, cell]
            before = counts[key]
            counts[key] = before - weights[cell]
            # a key that falls to nothing has no cell left to fail
            fell |= before >= least[c] > counts[key] > 0
    return kept, fell


@kernel
def chase(
    keys: Codes,
    base: Ints,
    counts: Codes,
    least: Ints,
    weights: Codes,
    left: Codes,
) -> int:
    """The same to the end: from each drop straight to the cells that fail because of it.

    Lists the cells of every key first, so that each cell and each key is visited once.
    """
    m = len(keys)
    starts = np.zeros(base[m] + 1, np.int64)
    for c in range(m):
        for cell in left:
            starts[base[c] + keys[c, cell] + 1] += 1
    starts = np.cumsum(starts)
    at = starts[:-1].copy()
    members = np.empty(m * len(left), np.int32)
    for c in range(m):
        for i in range(len(left)):
            key = base[c] + keys[c, left[i]]
            members[at[key]] = i
            at[key] += 1
    alive = np.ones(len(left), np.bool_)
    queue = np.empty(len(left), np.int32)
    filled = 0
    for i in range(len(left)):
        for c in range(m):
            if counts[base[c] + keys[c, left[i]]] < least[c]:
                alive[i] = False
                queue[filled] = i
                filled += 1
                break
    done = 0
    while done < filled:
        cell = left[queue[done]]
        done += 1
        for c in range(m):
            key = base[c] + keys[c, cell]
            before = counts[key]
            counts[key] -= weights[cell]
            if before >= least[c] > counts[key]:
                for j in members[starts[key] : starts[key + 1]]:
                    if alive[j]:
                        alive[j] = False
                        queue[filled] = j
                        filled += 1
    kept = 0
    for i in range(len(left)):
        if alive[i]:
            left[kept] = left[i]
            kept += 1
    return kept
