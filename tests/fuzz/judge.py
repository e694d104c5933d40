"""Whether a release keeps its promises, counted by plain code that shares nothing with Shoal.

The judge gets the case (the raw table, the policy and what every text means) and the published rows as
texts. It reads labels by itself, counts rows, people and values in dictionaries, and compares exact
fractions. Each complaint is a sentence; no complaint means that the release keeps what was promised.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from tests.fuzz.cases import Case, Column, Text

Row = dict[str, Text]
STATISTICS = ("midpoint", "mean", "median", "mode")
CLOSE = 1e-9


def read_csv(text: str, separator: str = ",") -> list[Row]:
    """The rows of a CSV text; an empty field is None unless it is quoted."""
    lines: list[list[Text]] = [[]]
    i, n = 0, len(text)
    while i < n:
        quoted = text[i] == '"'
        field = ""
        if quoted:
            i += 1
            while text[i] != '"' or text[i + 1 : i + 2] == '"':
                field += text[i]
                i += 2 if text[i] == '"' else 1
            i += 1
        else:
            start = i
            while i < n and text[i] not in (separator, "\n", "\r"):
                i += 1
            field = text[start:i]
        lines[-1].append(field if quoted or field else None)
        if i < n and text[i] == separator:
            i += 1
            if i == n or text[i] in "\r\n":
                lines[-1].append(None)
        if i < n and text[i] in "\r\n":
            i += 2 if text[i : i + 2] == "\r\n" else 1
            lines.append([])
    if not lines[-1]:
        lines.pop()
    header = [str(name) for name in lines[0]]
    return [dict(zip(header, line, strict=True)) for line in lines[1:]]


def write_csv(
    names: Sequence[str], rows: Iterable[Sequence[Text]], separator: str, quote_all: bool
) -> str:
    """A CSV text in which a missing value is an empty field, and an empty text is quoted."""

    def cell(text: Text) -> str:
        if text is None:
            return ""
        special = (
            not text or text != text.strip() or any(c in text for c in separator + '"\r\n,;\t|')
        )
        return '"' + text.replace('"', '""') + '"' if special or quote_all else text

    lines = [separator.join(map(cell, names))]
    lines += [separator.join(map(cell, row)) for row in rows]
    return "\n".join(lines) + "\n"


def complaints(
    case: Case, release: list[Row], tables: dict[str, list[Row]] | None = None
) -> list[str]:
    """Everything that is wrong with a release; `tables` are the sensitive ones of an Anatomy release."""
    judge = _Judge(case, release)
    if case.policy.get("publish") == "anatomy":
        return list(judge.anatomy(tables or {}))
    return list(judge.all())


class _Judge:
    def __init__(self, case: Case, release: list[Row]) -> None:
        self.case, self.policy = case, case.policy
        named = self.policy["columns"]
        self.columns = [c for c in case.columns if c.name in named]
        self.quasi = [c for c in self.columns if c.role == "quasi"]
        self.secret = [c for c in self.columns if c.role == "sensitive"]
        self.others = [c for c in self.columns if c.role == "plain"]
        self.raw = [{c.name: c.texts[i] for c in case.columns} for i in range(case.n_rows)]
        kept = [c.name for c in (*self.secret, *self.others)]
        self.kept = kept
        self.rows = release
        self.starred = (
            sum(all(cell == "*" for cell in row.values()) for row in release) if kept else 0
        )
        """Suppressed rows; without other columns they look like rows that are generalised to the top."""
        self.person = next((c for c in case.columns if c.role == "person"), None)
        self.tags = (
            {raw["tag"]: raw for raw in self.raw}
            if any(c.name == "tag" for c in case.columns)
            else {}
        )
        self.behind = [self.tags.get(row.get("tag")) for row in self.rows]
        """The raw row of each published one, where its tag says so."""
        seen = {id(raw) for raw in self.behind}
        self.hidden = [raw for raw in self.raw if id(raw) not in seen]
        """The raw rows that no tag names."""
        self.covered: dict[tuple[str, Text, Text], bool] = {}

    def all(self) -> Iterator[str]:
        expected = {c.name for c in (*self.quasi, *self.secret, *self.others)}
        expected |= {
            c.name
            for c in self.columns
            if c.role == "weight"
            and (c.settings.get("publish") == "exact" or "round" in c.settings)
        }
        for row in self.rows:
            if set(row) != expected:
                yield f"columns {sorted(row)} in place of {sorted(expected)}"
                return
        yield from self.count_rows()
        yield from self.truth()
        yield from self.forms()
        for constraint in self.policy["constraints"]:
            yield from self.constraint(constraint)
        yield from self.suppression()
        if self.person is not None and self.person.settings.get("together"):
            yield from self.together()

    def count_rows(self) -> Iterator[str]:
        n, out = self.case.n_rows, len(self.rows)
        if out > n:
            yield f"{out} rows of {n} were published"
        if self.policy.get("suppressed") == "starred" and out != n:
            yield f"{out} rows of {n} although suppressed rows are starred"
        in_parts = any("on" in one for one in self.policy["constraints"])
        if self.policy.get("suppressed") != "starred" and self.starred and not in_parts:
            yield "starred rows although suppressed rows are withheld"
        seen = [row.get("tag") for row in self.rows if self.tags and row.get("tag") != "*"]
        if len(set(seen)) != len(seen):
            yield "a row was published twice"
        if any(tag not in self.tags for tag in seen):
            yield "a row was invented"

    # truth

    def truth(self) -> Iterator[str]:
        if not self.tags:
            yield from self.matched()
            return
        for row, raw in zip(self.rows, self.behind, strict=True):
            if raw is None:
                continue  # its tag is starred: suppressed in a part of the columns
            wrong = [c.name for c in self.quasi if not self.covers(c, row[c.name], raw[c.name])]
            wrong += [name for name in self.kept if not self.same(name, row[name], raw)]
            if wrong:
                yield f"row {row['tag']} is not true in {wrong}"

    def matched(self) -> Iterator[str]:
        """Every published row is one of the table, each another one (Kuhn's algorithm)."""
        fits = [
            [
                i
                for i, raw in enumerate(self.raw)
                if all(self.covers(c, row[c.name], raw[c.name]) for c in self.quasi)
                and all(row[name] == "*" or self.same(name, row[name], raw) for name in self.kept)
            ]
            for row in self.rows
        ]
        taken: dict[int, int] = {}

        def place(at: int, tried: set[int]) -> bool:
            for i in fits[at]:
                if i not in tried:
                    tried.add(i)
                    if i not in taken or place(taken[i], tried):
                        taken[i] = at
                        return True
            return False

        lost = sum(not place(at, set()) for at in range(len(self.rows)))
        if lost:
            yield f"{lost} rows are none of the table's"

    def same(self, name: str, cell: Text, raw: Row) -> bool:
        """Whether a sensitive or plain cell is the row's own, or what its person chose."""
        column = self.case.column(name)
        chosen = column.settings.get("preference")
        text = raw[name]
        if chosen is None or text is None:
            return cell == text
        level = int(raw[chosen]) if raw[chosen] else 0
        own = column.settings["levels"][text]
        return cell == (column.paths[text][level - 1] if level > own else text)

    def covers(self, column: Column, label: Text, text: Text) -> bool:
        if column.settings.get("labels") in STATISTICS:
            return True
        asked = (column.name, label, text)
        if asked not in self.covered:
            self.covered[asked] = covers(column, label, text)
        return self.covered[asked]

    def classes(self, on: Sequence[str] | None = None) -> dict[tuple[Text, ...], list[int]]:
        """The published rows by their labels; without classes of nothing but suppressed rows."""
        names = [c.name for c in self.quasi] if on is None else on
        component = self.component(names)
        found: dict[tuple[Text, ...], list[int]] = defaultdict(list)
        for i, row in enumerate(self.rows):
            found[tuple(row[name] for name in names)].append(i)

        def suppressed(i: int) -> bool:
            return all(self.rows[i][name] == "*" for name in (*component, *self.kept))

        return {
            labels: members
            for labels, members in found.items()
            if any(label != "*" for label in labels) or not all(map(suppressed, members))
        }

    def component(self, names: Sequence[str]) -> list[str]:
        """The columns that constraints connect with some columns."""
        every = [
            set(one.get("on") or [c.name for c in self.quasi]) for one in self.policy["constraints"]
        ]
        found, grown = set(names), True
        while grown:
            more = found.union(*(each for each in every if each & found))
            found, grown = more, more != found
        return sorted(found)

    # forms of labels

    def forms(self) -> Iterator[str]:
        for column in self.quasi:
            form = column.settings.get("labels")
            if form == "uniform":
                yield from self.uniform(column)
            if form in STATISTICS and self.tags:
                yield from self.statistics(column, form)

    def uniform(self, column: Column) -> Iterator[str]:
        # of a row that is suppressed in these columns alone, those of other constraints are shown
        hidden = (*self.component([column.name]), *self.kept)
        starred = [all(row[name] == "*" for name in hidden) for row in self.rows]
        labels = {
            row[column.name] for row, gone in zip(self.rows, starred, strict=True) if not gone
        }
        for text in {raw[column.name] for raw in self.raw}:
            if sum(covers(column, label, text) for label in labels) > 1:
                yield f"labels of {column.name} overlap"
                return

    def statistics(self, column: Column, form: str) -> Iterator[str]:
        for members in self.classes(self.component([column.name])).values():
            raws = [self.behind[i] for i in members]
            label = self.rows[members[0]][column.name]
            if any(raw is None for raw in raws):
                continue
            texts = [raw[column.name] for raw in raws if raw is not None]
            owners = [self.owner(raw) for raw in raws if raw is not None]
            shares = Counter(owners)
            weights = [Fraction(1, shares[owner]) for owner in owners]
            if not statistic(column, form, label, texts, weights, self.person is not None):
                yield f"{label!r} is not the {form} of its class in {column.name}"
                return

    def owner(self, raw: Row) -> Hashable:
        if self.person is None:
            return id(raw)
        return self.person.meaning[str(raw[self.person.name])]

    # models

    def constraint(self, constraint: dict[str, Any]) -> Iterator[str]:
        name = next(iter(constraint))
        figure = constraint[name]
        if name == "k":
            for members in self.classes(constraint.get("on")).values():
                if self.people(members) < figure:
                    on = constraint.get("on", "")
                    yield f"a class of {self.people(members)} where k = {figure} {on}"
                    return
            return
        if name == "average-risk":
            classes = self.classes()
            total = sum(self.people(members) for members in classes.values())
            if total and Fraction(len(classes), total) > exact(figure):
                yield f"average risk {len(classes)}/{total} above {figure}"
            return
        if name == "estimated-k-map":
            yield from self.estimated(figure)
            return
        if name in ("k-map", "delta-presence"):
            yield from self.population(name, figure)
            return
        yield from self.values(name, constraint)

    def people(self, members: Sequence[int]) -> int:
        """Different people of a class; rows where nobody is told apart."""
        if self.person is None:
            return len(members)
        known = {self.owner(raw) for i in members if (raw := self.behind[i]) is not None}
        starred = [i for i in members if self.behind[i] is None]
        if not starred:
            return len(known)
        # a row whose tag is starred is one of those that are nowhere else, and fits its labels
        fitting = [
            raw
            for raw in self.hidden
            if any(
                all(self.covers(c, self.rows[i][c.name], raw[c.name]) for c in self.quasi)
                for i in starred
            )
        ]
        others = {self.owner(raw) for raw in fitting} - known
        if len(fitting) == len(starred):
            return len(known) + len(others)
        return len(known) + min(len(others), len(starred))

    def estimated(self, figure: float) -> Iterator[str]:
        column = next(c for c in self.case.columns if c.role == "weight")
        if not self.tags:
            return
        for members in self.classes().values():
            weights = {
                self.owner(raw): exact(raw[column.name])
                for i in members
                if (raw := self.behind[i]) is not None
            }
            if all(self.behind[i] is not None for i in members) and sum(weights.values()) < exact(
                figure
            ):
                yield f"weights of a class are {sum(weights.values())}, below {figure}"
                return

    def population(self, name: str, figure: float) -> Iterator[str]:
        assert self.case.population is not None
        for labels, members in self.classes().items():
            matching = sum(
                all(
                    covers(c, label, person[c.name])
                    for c, label in zip(self.quasi, labels, strict=True)
                )
                for person in self.case.population
            )
            if name == "k-map" and matching < figure:
                yield f"k-map {matching} below {figure}"
                return
            if name == "delta-presence" and Fraction(len(members), max(1, matching)) > exact(
                figure
            ):
                yield f"presence {len(members)}/{matching} above {figure}"
                return

    def values(self, name: str, constraint: dict[str, Any]) -> Iterator[str]:
        column = self.case.column(constraint["of"])
        readings: list[bool] = [True]
        if (
            name in ("t", "beta", "delta")
            and column.settings.get("spelling") != "exact"
            and column.kind != "number"
        ):
            readings.append(False)
        classes = self.classes()
        for folded in readings:
            known = [self.value(column, i, folded) for i in range(len(self.rows))]
            everyone = [i for members in classes.values() for i in members]
            whole = self.histogram(everyone, known)
            for members in classes.values():
                group = self.histogram(members, known)
                if not holds(name, constraint, group, whole, column):
                    reading = "" if folded else " by spelling"
                    yield f"{constraint} does not hold{reading}: {dict(group.pairs)} of {group.people}"
                    return

    def value(self, column: Column, i: int, folded: bool) -> Hashable:
        """The value of a row, None where it is missing; where it was raised, the one behind it."""
        text = self.rows[i][column.name]
        if "preference" in column.settings:
            raw = self.behind[i]
            text = None if raw is None else raw[column.name]
        if text == "*" or column.is_missing(text):
            return None
        return column.meaning.get(str(text), text) if folded else text

    def histogram(self, members: Sequence[int], known: Sequence[Hashable]) -> "Histogram":
        if self.person is None:
            counted = Counter(known[i] for i in members if known[i] is not None)
            return Histogram(counted, sum(counted.values()), False)
        pairs = {
            (self.owner(raw), known[i])
            for i in members
            if (raw := self.behind[i]) is not None and known[i] is not None
        }
        return Histogram(Counter(value for _, value in pairs), len({who for who, _ in pairs}), True)

    def suppression(self) -> Iterator[str]:
        share = self.policy.get("suppression")
        if share is None:
            return
        lost = self.case.n_rows - len(self.rows) + self.starred
        if lost > exact(share) * self.case.n_rows:
            yield f"{lost} of {self.case.n_rows} rows suppressed, allowed is {share}"
        if self.person is not None:
            every = set(map(self.owner, self.raw))
            left = {self.owner(raw) for raw in self.behind if raw is not None}
            partly = sum(raw is None for raw in self.behind) - self.starred
            if len(every - left) - partly > exact(share) * len(every):
                yield f"{len(every - left)} of {len(every)} people suppressed, allowed is {share}"

    def together(self) -> Iterator[str]:
        """The classes of a person's rows are shared, all of them, by enough people."""
        k = max(
            (one["k"] for one in self.policy["constraints"] if "k" in one and "on" not in one),
            default=1,
        )
        classes: dict[Hashable, set[tuple[Text, ...]]] = defaultdict(set)
        for labels, members in self.classes().items():
            for i in members:
                if (raw := self.behind[i]) is not None:
                    classes[self.owner(raw)].add(labels)
        for mine in classes.values():
            if sum(mine <= theirs for theirs in classes.values()) < k:
                yield "the rows of a person together single out fewer than k people"
                return
        rows = Counter(map(self.owner, self.raw))
        published = Counter(self.owner(raw) for raw in self.behind if raw is not None)
        if any(published[who] != rows[who] for who in published):
            yield "some rows of a person are published, others not"

    # anatomy

    def anatomy(self, tables: dict[str, list[Row]]) -> Iterator[str]:
        exact_names = [c.name for c in (*self.quasi, *self.others)]
        (group_name,) = set(self.rows[0]) - set(exact_names) if self.rows else ("group",)
        for row, raw in zip(self.rows, self.behind, strict=True):
            if raw is None or any(
                not covers(column, row[column.name], raw[column.name])
                if ruled(column) and not column.is_missing(raw[column.name])
                else row[column.name] != raw[column.name]
                for column in (*self.quasi, *self.others)
            ):
                yield "a row of the table of people is not true"
                return
        if set(tables) != {c.name for c in self.secret}:
            yield "sensitive tables are missing"
            return
        members: dict[Text, list[Row]] = defaultdict(list)
        for row, raw in zip(self.rows, self.behind, strict=True):
            assert raw is not None
            members[row[group_name]].append(raw)
        for column in self.secret:
            counts: dict[Text, Counter[Text]] = defaultdict(Counter)
            for row in tables[column.name]:
                group, value, count = row.values()
                counts[group][value] += int(str(count))
            own = {
                group: Counter(raw[column.name] for raw in raws) for group, raws in members.items()
            }
            if counts != own:
                yield f"the table of {column.name} does not count its groups"
        for constraint in self.policy["constraints"]:
            name = next(iter(constraint))
            column = self.case.column(constraint["of"])
            exactly = column.settings.get("spelling") == "exact" or column.kind == "number"
            for folded in (
                (True,) if exactly or name not in ("t", "beta", "delta") else (True, False)
            ):

                def of(
                    raws: Iterable[Row], column: Column = column, folded: bool = folded
                ) -> Histogram:
                    texts = [
                        raw[column.name] for raw in raws if not column.is_missing(raw[column.name])
                    ]
                    counted: Counter[Hashable] = Counter(
                        column.meaning[str(t)] if folded else t for t in texts
                    )
                    return Histogram(counted, sum(counted.values()), False)

                whole = of(raw for raws in members.values() for raw in raws)
                if not all(
                    holds(name, constraint, of(raws), whole, column) for raws in members.values()
                ):
                    yield f"{constraint} does not hold in a group"
                    break
        yield from self.suppression()


class Histogram:
    """How many rows (or people) of a class have each value, and how many have any."""

    def __init__(self, pairs: Counter[Hashable], people: int, by_person: bool) -> None:
        self.pairs, self.people, self.by_person = pairs, people, by_person


def exact(figure: Any) -> Fraction:
    """A figure of a policy as it is written."""
    return Fraction(str(figure))


def holds(
    name: str, constraint: dict[str, Any], group: Histogram, whole: Histogram, column: Column
) -> bool:
    """Whether a model of sensitive values holds in a class, by the definition of its paper."""
    figure, counts = constraint[name], group.pairs
    total = sum(counts.values())
    if name == "alpha":
        levels = column.settings.get("levels")
        if levels is not None:
            by_level: Counter[Hashable] = Counter()
            level_of = {column.meaning[text]: level for text, level in levels.items()}
            for value, count in counts.items():
                by_level[level_of[value]] += count
            counts = by_level
        return all(
            min(count, group.people) <= exact(figure) * group.people for count in counts.values()
        )
    if not total:
        return False
    if name == "l":
        enough = len(counts) >= figure
        return enough and (not group.by_person or group.people - max(counts.values()) >= figure - 1)
    if name == "entropy-l":
        entropy = -sum(c / total * math.log(c / total) for c in counts.values())
        return entropy >= math.log(figure) - 2 * CLOSE
    if name == "recursive-l":
        falling = sorted(counts.values(), reverse=True)
        return falling[0] < exact(constraint["c"]) * sum(falling[figure - 1 :])
    if name == "t":
        return distance(constraint.get("distance", "equal"), counts, whole.pairs, column) <= exact(
            figure
        )
    p = {value: Fraction(count, whole.people) for value, count in whole.pairs.items()}
    q = {value: Fraction(counts[value], group.people) for value in p}
    if name == "beta":
        growth = {value: (q[value] - p[value]) / p[value] for value in p}
        if any(float(g) > figure + CLOSE for g in growth.values()):
            return False
        return not constraint.get("enhanced") or all(
            float(growth[v]) <= -math.log(p[v]) + CLOSE for v in p if q[v] > 0
        )
    assert name == "delta"
    return all(q[v] > 0 and abs(math.log(q[v] / p[v])) < figure + CLOSE for v in p)


def distance(
    kind: str, group: Counter[Hashable], whole: Counter[Hashable], column: Column
) -> Fraction:
    """The earth mover's distance of a class from the published table."""
    n, everyone = sum(group.values()), sum(whole.values())

    def half(mine: Counter[Hashable], all_of: Counter[Hashable]) -> Fraction:
        return (
            sum(
                (abs(Fraction(mine[v], n) - Fraction(all_of[v], everyone)) for v in all_of),
                Fraction(0),
            )
            / 2
        )

    if kind == "ordered":
        places = sorted(whole)  # type: ignore[type-var]
        moved, mine, theirs = Fraction(0), 0, 0
        for place in places:
            mine, theirs = mine + group[place], theirs + whole[place]
            moved += abs(Fraction(mine, n) - Fraction(theirs, everyone))
        return moved / max(1, len(places) - 1)
    if kind == "hierarchical":
        height = max(len(path) for path in column.paths.values()) - 1
        summed = Fraction(0)
        for level in range(height):
            mine, theirs = Counter[Hashable](), Counter[Hashable]()
            for value, count in group.items():
                mine[column.paths[str(value)][level]] += count
            for value, count in whole.items():
                theirs[column.paths[str(value)][level]] += count
            summed += half(mine, theirs)
        return summed / max(1, height)
    return half(group, whole)


# labels


def bare(text: str) -> list[tuple[str, bool]]:
    """The characters of a label, and whether each has a meaning: no backslash stands before it."""
    found, escaped = [], False
    for character in text:
        if character == "\\" and not escaped:
            escaped = True
        else:
            found.append((character, not escaped))
            escaped = False
    return found


def split(characters: list[tuple[str, bool]], at: str) -> list[str]:
    parts = [""]
    for character, is_bare in characters:
        if character == at and is_bare:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def unescaped(text: str) -> str:
    return "".join(character for character, _ in bare(text))


def covers(column: Column, label: Text, text: Text) -> bool:
    """Whether a label may stand for a raw value of its column."""
    value = None if column.is_missing(text) else text
    if label == "*":
        return True
    if label is None:
        return value is None
    characters = bare(label)
    if characters and characters[0] == ("{", True) and characters[-1] == ("}", True):
        # a comma between members is bare, and so is the first character of <missing>
        members: list[list[tuple[str, bool]]] = [[]]
        for pair in characters[1:-1]:
            if pair == (",", True):
                members.append([])
            else:
                members[-1].append(pair)
        members = [m[1:] if i and m[:1] == [(" ", True)] else m for i, m in enumerate(members)]
        for member in members:
            word = "".join(character for character, _ in member)
            if word == "<missing>" and member[0][1]:
                if value is None:
                    return True
            elif value is not None and one(column, word, value):
                return True
        return False
    if value is None:  # the root stands for everything
        return column.kind == "tree" and any(path[-1] == label for path in column.paths.values())
    if column.nodes.get(label, frozenset()) and value in column.nodes[label]:
        return True
    if one(column, unescaped(label), value):
        return True
    if column.kind == "mask":
        return masked(column, characters, value)
    if column.kind in ("parts", "date") and isinstance(column.meaning.get(value), date):
        span = part(label)
        if span and span[0] <= column.meaning[value] <= span[1]:
            return True
    return ranged(column, label, characters, value)


def one(column: Column, word: str, value: str) -> bool:
    """Whether a text alone stands for a value: the same text, number or day."""
    if word == value and not ruled(column):
        return True
    mine = place(column, value)
    return (
        mine is not None
        and not isinstance(mine, str)
        and column.kind in ("number", "date", "intervals", "parts")
        and end(column, word) == (mine, mine)
    )


def ruled(column: Column) -> bool:
    return any(rule in column.settings for rule in ("top", "bottom", "round"))


def place(column: Column, value: str) -> Any:
    """Where a value stands in the order of its column, after the column's rules."""
    found = column.meaning.get(value)
    if column.kind == "number" and isinstance(found, Fraction) and ruled(column):
        settings = column.settings
        if "round" in settings:
            base = exact(settings["round"])
            whole = int(abs(found) / base + Fraction(1, 2)) * base
            found = whole if found >= 0 else -whole
        if "top" in settings and found >= exact(settings["top"]):
            return math.inf
        if "bottom" in settings and found <= exact(settings["bottom"]):
            return -math.inf
    return found


def end(column: Column, text: str) -> tuple[Any, Any] | None:
    """The places that one end of a range (or a value) covers: a point, unless it is open."""
    if column.kind == "order":
        found = column.meaning.get(text)
        return None if found is None else (found, found)
    if column.kind in ("date", "parts"):
        try:
            day = date.fromisoformat(text)
        except ValueError:
            day = column.meaning.get(text)  # type: ignore[assignment]
        return None if day is None else (day, day)
    if "top" in column.settings and text == f"{column.settings['top']}+":
        return math.inf, math.inf
    if "bottom" in column.settings and text == f"≤{column.settings['bottom']}":
        return -math.inf, -math.inf
    if text in column.meaning and not ruled(column):
        return column.meaning[text], column.meaning[text]
    number = decimal(text)
    return None if number is None else (number, number)


def decimal(text: str) -> Fraction | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return Fraction(found) if found.is_finite() else None


def ranged(column: Column, label: str, characters: list[tuple[str, bool]], value: str) -> bool:
    """`[a~b]` with both ends, `[a-b)` without the upper one."""
    mine = place(column, value)
    if mine is None or len(characters) < 3 or characters[0] != ("[", True):
        return False
    if characters[-1] == ("]", True):
        ends = split(characters[1:-1], "~")
        low, high = (end(column, each) for each in ends) if len(ends) == 2 else (None, None)
        return low is not None and high is not None and low[0] <= mine <= high[1]
    if label.endswith(")"):
        inner = label[1:-1]
        for at in range(1, len(inner)):
            low, high = decimal(inner[:at]), decimal(inner[at + 1 :])  # type: ignore[assignment]
            if inner[at] == "-" and low is not None and high is not None:
                return low <= mine < high  # type: ignore[operator]
    return False


def masked(column: Column, characters: list[tuple[str, bool]], value: str) -> bool:
    """`021**`: as many characters as the longest value, those that are shown in their places."""
    side = column.settings["hierarchy"]["mask"]
    stars = [character == "*" and is_bare for character, is_bare in characters]
    hidden = sum(stars)
    shown = "".join(
        character for (character, _), star in zip(characters, stars, strict=True) if not star
    )
    if not hidden or len(value) > len(shown) + hidden:
        return False
    if side == "right":
        return not any(stars[: len(shown)]) and value.startswith(shown)
    return not any(stars[hidden:]) and value.endswith(shown)


def part(label: str) -> tuple[date, date] | None:
    """The first and the last day of `1964-03`, `1964-Q1`, `1964` or `1960s`."""
    year, rest = label[:4], label[4:]
    if not year.isdigit():
        return None
    first, months = date(int(year), 1, 1), 12
    if rest == "s":
        months = 120
    elif rest.startswith("-Q") and rest[2:] in ("1", "2", "3", "4"):
        first, months = date(int(year), int(rest[2:]) * 3 - 2, 1), 3
    elif rest.startswith("-") and len(rest) == 3 and rest[1:].isdigit():
        first, months = date(int(year), int(rest[1:]), 1), 1
    elif rest:
        return None
    after = first.month - 1 + months
    return first, date(first.year + after // 12, after % 12 + 1, 1) - timedelta(1)


def statistic(
    column: Column, form: str, label: Text, texts: list[Text], weights: list[Fraction], people: bool
) -> bool:
    """Whether a label is the statistic of the values of a class."""
    values = [None if column.is_missing(text) else text for text in texts]
    known = [value for value in values if value is not None]
    if form == "mode":
        # the values of an unordered column are its texts: 10 and 10.0 are two
        as_written = column.settings.get("kind") == "unordered"

        def counted(value: Text) -> Any:
            at = None if value is None or as_written else place(column, value)
            return value if at is None else at

        votes: dict[Any, Fraction] = defaultdict(Fraction)
        for value, weight in zip(values, weights, strict=True):
            votes[counted(value)] += weight
        best = {value for value, weight in votes.items() if weight == max(votes.values())}
        return any(covers(column, label, v) for v in {*values} if counted(v) in best)
    if len(known) < len(values):
        return label == ("*" if known else None)
    places = [place(column, value) for value in known]
    if len(set(places)) == 1:
        return covers(column, label, known[0])
    if column.kind == "date":
        numbers = [Fraction(day.toordinal()) for day in places]
        grain = Fraction(1)
    else:
        numbers = places
        grain = grain_of(column)
    if form == "midpoint":
        figure = (min(numbers) + max(numbers)) / 2
    elif form == "mean":
        figure = sum((x * w for x, w in zip(numbers, weights, strict=True)), Fraction(0)) / sum(
            weights
        )
    elif people:
        return True  # the median of shares of people is not counted here
    else:
        rising = sorted(numbers)
        figure = (rising[(len(rising) - 1) // 2] + rising[len(rising) // 2]) / 2
    rounded = math.floor(figure / grain + Fraction(1, 2)) * grain
    if column.kind == "date":
        return label == date.fromordinal(int(rounded)).isoformat()
    return label is not None and decimal(label) == rounded


def grain_of(column: Column) -> Fraction:
    """What figures of a column are rounded to."""
    if "round" in column.settings:
        return exact(column.settings["round"])
    numbers = [
        column.meaning[t] for t in column.texts if t is not None and not column.is_missing(t)
    ]
    digits = 0
    while any((number * 10**digits).denominator > 1 for number in numbers):
        digits += 1
    while digits > 0 and (max(numbers) - min(numbers)) * 10**digits > 100_000:
        digits -= 1
    return Fraction(1, 10**digits)
