"""Top-down splitting and its repair, written out row by row; and the worst case of a release."""

from collections.abc import Callable, Sequence
from itertools import product

from tests import naive
from tests.seeds.plain import WORD, plain_derived, plain_key, plain_sip_hash

Group = list[int]
MASK = (1 << 64) - 1


def mix(state: int, word: int) -> int:
    z = ((state ^ word) + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class TopDown:
    def __init__(self, columns: Sequence[naive.Column], rows: Sequence[naive.Row]) -> None:
        self.columns, self.rows = columns, rows

    def cost(self, group: Group) -> int:
        """Loss of one label over the group, not times its rows."""
        return sum(
            naive.cost(column, sorted({self.rows[i][j] for i in group}))
            for j, column in enumerate(self.columns)
        )

    def groups(self, rows: Group, k: int, seed: int) -> list[Group]:
        """All groups of a round are split before those of the next; the finished ones are numbered."""
        front, done = [(rows, seed % WORD)], []
        while front:
            done += [rows for rows, _ in front if len(rows) < 2 * k]
            if seed >= WORD:
                key = plain_key(seed, "halves")
                front = [(r, plain_sip_hash(key, [s])) for r, s in front]
            halves = [(self.split(r, k, s), s) for r, s in front if len(r) >= 2 * k]
            front = [(half, mix(s, 1 + i)) for two, s in halves for i, half in enumerate(two)]
        return done

    def farthest(self, rows: Group, start: int) -> int:
        return max((r for r in rows if r != start), key=lambda r: (self.cost([start, r]), -r))

    def split(self, rows: Group, k: int, state: int) -> tuple[Group, Group]:
        n = len(rows)
        state = mix(state, n)
        first = rows[state % n]
        second = self.farthest(rows, first)
        for _ in range(2):
            first, second = second, self.farthest(rows, second)
        sides = [[first], [second]]
        waiting = [r for r in rows if r not in (first, second)]
        for left in range(len(waiting) - 1, -1, -1):
            state = mix(state, left)
            pick = state % (left + 1)
            row = waiting[pick]
            waiting[pick] = waiting[left]
            growth = [self.cost([*side, row]) - self.cost(side) for side in sides]
            sizes = [len(side) for side in sides]
            to = 1 if (growth[1], sizes[1]) < (growth[0], sizes[0]) else 0
            sides[to].append(row)
        small = 0 if len(sides[0]) < len(sides[1]) else 1
        if n > 48 * k and 8 * len(sides[small]) < n:
            lean = {r: self.cost([first, r]) - self.cost([second, r]) for r in rows}
            order = sorted(rows, key=lambda r: (lean[r], r))
            half = (n + 1) // 2
            sides = [order[:half], order[half:]]
        need = k - len(sides[small])
        stride = -(-need // 16)
        while need > 0:
            side, others = sides[small], sorted(sides[1 - small])
            near = sorted(others, key=lambda r: (self.cost([*side, r]) - self.cost(side), r))
            taken = near[: min(need, stride)]
            sides[small] = side + taken
            sides[1 - small] = [r for r in others if r not in taken]
            need -= len(taken)
        return sorted(sides[0]), sorted(sides[1])

    def repaired(
        self, k: int, seed: int, holds: Callable[[Group], bool]
    ) -> tuple[list[Group], Group]:
        """Groups that hold, and the rows that fit nowhere."""
        everyone = list(range(len(self.rows)))
        found = self.groups(everyone, k, fresh(seed, 0))
        good = [g for g in found if holds(g)]
        pool = sorted(r for g in found if not holds(g) for r in g)
        size, number = k, 0
        while len(pool) >= size and (not good or len(pool) >= 2 * size):
            number += 1
            found = self.groups(pool, size, fresh(seed, number))
            new = [g for g in found if holds(g)]
            if new:
                good += new
                pool = sorted(r for g in found if not holds(g) for r in g)
            elif good:
                break
            else:
                size = min(2 * size, len(pool)) if size < len(pool) else len(pool) + 1
        moved = True
        while moved:
            moved = False
            for row in list(pool):
                able = [g for g in range(len(good)) if holds([*good[g], row])]
                if able:
                    best = min(able, key=lambda g: self.growth(good[g], row))
                    good[best].append(row)
                    pool.remove(row)
                    moved = True
        return [sorted(g) for g in good], pool

    def growth(self, group: Group, row: int) -> int:
        return self.cost([*group, row]) - self.cost(group)


def fresh(seed: int, number: int) -> int:
    if seed >= WORD:
        return 2**128 + int.from_bytes(plain_derived(seed, "round", number), "little")
    return (seed * 0x9E3779B9 + number * 0x85EBCA6B + 1) & MASK


def fewest_values(possible: Sequence[set[str]]) -> int:
    """The fewest different values that rows may have, each one of its own set: tried out."""
    return min(len(set(chosen)) for chosen in product(*possible))


def most_of_a_level(possible: Sequence[set[str]], level: dict[str, int]) -> int:
    """The most rows that may share a level."""
    return max(
        sum(any(level[value] == sid for value in values) for values in possible)
        for sid in set(level.values())
    )
