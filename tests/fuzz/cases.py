"""Random whole runs: a table, a policy and an engine from one integer seed.

Nothing of Shoal is imported here. What a text means (the number it spells, the value that several
spellings share, the leaves under a node) is decided while it is made, so that a judge need not read
it again: it is part of the case.
"""

import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from itertools import chain
from typing import Any

Text = str | None
Engine = str
"""`memory`, `disk` (out of core) or `spark`."""

PARTITIONS = ("least-loss-partition", "flexible-partition", "mondrian")
CLUSTERS = ("k-clustering", "l-clustering", "top-down")
CLIMBERS = ("datafly", "classfly", "classfly-plus", "incognito", "optimal")
QUICK = (*PARTITIONS, *CLUSTERS, *CLIMBERS, "bottom-up")
METHODS = (*QUICK * 4, "local-recoding", "auto")
"""`local-recoding` tries sixteen ways on every small table, and so does `auto`: they take three to five
times as long as the others, and come a quarter as often."""

INVISIBLE = "\u200b"
"""A text of nothing that can be seen: no value of a sensitive column."""
FROM_FILE = 0.06
"""The share of cases in memory that begin and end with a file, which takes twice as long: those out of
core and on Spark all do."""

WORDS = (
    "Ath", "Mons", "Liège", "Lie\u0300ge", "a", "A", "b c", "b  c", " b", "b ", "x,y", "x;y", "x~y",
    "[q]", "{q}", "{q, r}", "[q~r]", "q*", "*q", "*", "**", "\\", "\\*", "a\\b", "\\\\", '"', '""',
    "it's", "two\nlines", "a\tb", "=1+1", "@x", "<missing>", "<b>", "€", "😀", "true", "1-2", "[1-2)",
    "1+", "≤5", "%", INVISIBLE, "\u00a0", "ß", "SS", "ﬁ", "٣", "&amp;", "a|b", "'", "`", "$x", "--", "#",
    "x, y", "{", "}", "[", "]", "~", ",", "(1, 2]", "x" * 200, "", "\r", "r\r\ns", "Ω", "\u2126",
)  # fmt: skip
"""Values of unordered columns, hostile ones among them."""
TOWNS = ("Ath", "Mons", "Spa", "Huy", "Eupen", "Tubize")
ILLNESSES = ("flu", "asthma", "gout", "cancer", "angina", "measles")
MISSING_CODES = ("NA", "?", "-9", "unknown", "N/A")


@dataclass
class Column:
    """A column of the table, and what its texts mean."""

    name: str
    role: str
    texts: list[Text]
    kind: str = "word"
    """How labels of a quasi column are read: `number`, `date`, `word`, `order`, `tree`, `mask`,
    `intervals` or `parts`."""
    settings: dict[str, Any] = field(default_factory=dict)
    meaning: dict[str, Any] = field(default_factory=dict)
    """Of each text the number or day that it is, its place in an order, or the value that it spells."""
    missing: frozenset[str] = frozenset()
    """Texts that stand for a missing value."""
    nodes: dict[str, frozenset[str]] = field(default_factory=dict)
    """The leaves under each node of a hierarchy."""
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of each leaf its nodes on the way to the root, itself first."""
    typed: str = ""
    """The type of the column in a frame, where it is not text: `int` or `date`."""

    def is_missing(self, text: Text) -> bool:
        """Whether a cell holds no value."""
        return text is None or text in self.missing


@dataclass
class Case:
    """One run."""

    seed: int
    engine: Engine
    columns: list[Column]
    policy: dict[str, Any]
    from_file: bool
    files: dict[str, str] = field(default_factory=dict)
    """Hierarchy files, by name."""
    population: list[dict[str, Text]] | None = None
    separator: str = ","
    quote_all: bool = False

    @property
    def n_rows(self) -> int:
        """The rows of the table."""
        return len(self.columns[0].texts)

    @property
    def method(self) -> str:
        """The name of the method."""
        named = self.policy.get("method", "auto")
        return named if isinstance(named, str) else named["name"]

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that are required."""
        return tuple(next(iter(one)) for one in self.policy["constraints"])

    def with_role(self, role: str) -> list[Column]:
        """The columns of a role."""
        return [column for column in self.columns if column.role == role]

    def column(self, name: str) -> Column:
        """A column by its name."""
        return next(column for column in self.columns if column.name == name)


def case_of(seed: int, engine: Engine = "memory") -> Case:
    """The case of a seed; the same on every machine."""
    return _Maker(seed, engine).case()


class _Maker:
    def __init__(self, seed: int, engine: Engine) -> None:
        self.seed, self.engine = seed, engine
        self.random = random.Random(f"{engine}:{seed}")
        self.n = self.random.choice((4, 5, 6, 7, 8, 10, 12, 15, 20, 40))
        self.files: dict[str, str] = {}

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def case(self) -> Case:
        method = self.random.choice(METHODS)
        if self.engine != "memory" and method == "bottom-up":
            method = "mondrian"
        memory = self.engine == "memory"
        climbs = method in CLIMBERS
        anatomy = memory and not climbs and self.chance(0.04)
        people = not anatomy and self.chance(0.2)
        if people and not memory and method not in PARTITIONS:
            method, climbs = self.random.choice(PARTITIONS), False
        columns = [
            self.quasi(f"q{i}", climbs, forms=memory and not anatomy)
            for i in range(self.random.choice((1, 1, 2, 2, 2, 3, 3, 4)))
        ]
        personal = memory and not (anatomy or people) and self.chance(0.04)
        wanted = (
            1
            if anatomy or personal or method == "l-clustering"
            else self.random.choice((0, 1, 1, 2))
        )
        for i in range(wanted):
            columns += self.personal(f"s{i}") if personal and not i else [self.sensitive(f"s{i}")]
        for i in range(self.random.choice((0, 0, 1, 1, 2))):
            columns.append(self.plain(f"p{i}"))
        tagged = people or personal or anatomy or self.chance(0.7)
        if tagged:
            tags = [f"r{i:03}" for i in range(self.n)]
            self.random.shuffle(tags)
            columns.append(Column("tag", "plain", list(tags), settings={"type": "text"}))
        if people:
            columns.append(self.person())
        weighted = memory and not anatomy and self.chance(0.06)
        if weighted:
            columns.append(self.weight(columns))
        if self.chance(0.1):
            names = [f"Person {self.random.randrange(9)}" for _ in range(self.n)]
            columns.append(Column("name", "identifier", list(names)))
        self.random.shuffle(columns)
        policy: dict[str, Any] = {
            "columns": {c.name: {"role": c.role, **c.settings} for c in columns},
            "constraints": self.constraints(columns, method, anatomy, weighted),
            "seed": self.random.choice((0, 1, 7, 2**64 + 5, self.random.getrandbits(128))),
        }
        if method != "auto" or self.chance(0.5):
            policy["method"] = self.method(method)
        self.settings(policy, columns, method, anatomy)
        case = Case(
            self.seed, self.engine, columns, policy,
            from_file=not memory or self.chance(FROM_FILE), files=self.files,
            separator=self.random.choice(",,,;\t|"), quote_all=self.chance(0.1),
        )  # fmt: skip
        if memory and not anatomy and not people and self.chance(0.05):
            self.people_of(case)
        return case

    # policies

    def method(self, name: str) -> Any:
        options: dict[str, Any] = {}
        if name in ("k-clustering", "l-clustering", "top-down", "local-recoding") and (
            (self.engine != "memory" and name != "local-recoding") or self.chance(0.2)
        ):
            options["block_rows"] = self.random.choice((2, 5, 12, 100))
        if name == "l-clustering" and self.chance(0.3):
            options["loss"] = "ncp"
        if name == "mondrian" and self.chance(0.3):
            options["strict"] = False
        if name == "flexible-partition" and self.chance(0.3):
            options["dimension"] = "widest"
        if name == "classfly-plus":
            options["variant"] = self.random.choice(("complete", "partial", "naive"))
        if name in ("optimal", "incognito") and self.chance(0.3):
            options["metric"] = self.random.choice(("dm", "precision", "groups"))
        return {"name": name, **options} if options else name

    def settings(
        self, policy: dict[str, Any], columns: list[Column], method: str, anatomy: bool
    ) -> None:
        if self.chance(0.4):
            policy["suppression"] = self.random.choice((0, 0.05, 0.1, 0.3, 0.6, 1))
        if self.chance(0.3) and not anatomy:
            policy["suppressed"] = "starred"
        if self.chance(0.05) and self.engine == "memory" and not anatomy:
            policy["order"] = "kept"
        if anatomy:
            policy["publish"] = "anatomy"
        refinable = method not in CLIMBERS and not anatomy
        if refinable and self.engine == "memory" and self.chance(0.1):
            policy["refine"] = self.random.choice(("quick", 1, 3))
        plain = [c for c in columns if c.role == "plain" and c.name != "tag"]
        if plain and not anatomy and self.chance(0.1):
            policy["predict"] = plain[0].name
        if self.chance(0.05):
            policy["columns"].pop(next((c.name for c in plain), ""), None)
            policy["default"] = "drop"
            if policy.get("predict") not in policy["columns"]:
                policy.pop("predict", None)

    def constraints(
        self, columns: list[Column], method: str, anatomy: bool, weighted: bool
    ) -> list[dict[str, Any]]:
        quasi = [c.name for c in columns if c.role == "quasi"]
        sensitive = [c for c in columns if c.role == "sensitive"]
        pick = self.random.choice
        found: list[dict[str, Any]] = []
        only_k = method in ("datafly", "classfly", "classfly-plus")
        if method == "l-clustering":
            figure = pick((2, 2, 3))
            found.append({"l": figure, "of": sensitive[0].name})
            if self.chance(0.5):
                found.append({"k": self.random.randint(1, figure)})
            return found
        if not anatomy and (only_k or not sensitive or self.chance(0.85)):
            found.append({"k": pick((1, 2, 2, 3, 3, 4, 5, 8))})
        if not anatomy and len(quasi) > 1 and self.chance(0.5 if only_k else 0.1):
            for _ in range(pick((1, 1, 2))):
                on = self.random.sample(quasi, self.random.randint(1, len(quasi)))
                found.append({"k": pick((2, 3, 4, 5)), "on": on})
            if len(found) > 1 and method == "classfly-plus" and self.chance(0.5):
                found.pop(0)
        if only_k:
            return found
        for column in sensitive:
            if not anatomy and self.chance(0.15):
                continue
            found += [self.model(column) for _ in range(pick((1, 1, 1, 2)))]
        if not anatomy and self.chance(0.04):
            found.append({"average-risk": pick((0.1, 0.25, 0.5, 1))})
        if weighted and self.chance(0.5):
            found.append({"estimated-k-map": pick((1, 5, 40, 300))})
        return found or [{"k": 2}]

    def model(self, column: Column) -> dict[str, Any]:
        of, pick = column.name, self.random.choice
        named = ["l", "l", "l", "alpha"]
        if "preference" not in column.settings:
            named += ["l", "entropy-l", "recursive-l", "t", "t", "beta", "delta"]
        name = pick(named)
        if name == "l":
            return {"l": pick((1, 2, 2, 2, 3, 4)), "of": of}
        if name == "alpha":
            return {"alpha": pick((0.25, 0.4, 0.5, 0.6, 0.75, 1)), "of": of}
        if name == "entropy-l":
            return {"entropy-l": pick((1, 1.5, 2, 2.5, 3)), "of": of}
        if name == "recursive-l":
            return {"recursive-l": pick((1, 2, 2, 3)), "c": pick((0.5, 1, 1.5, 2, 4)), "of": of}
        if name == "beta":
            return {"beta": pick((0, 0.5, 1, 2, 4)), "of": of, "enhanced": self.chance(0.3)}
        if name == "delta":
            return {"delta": pick((0.3, 0.7, 1.5, 3)), "of": of}
        distances = ["equal"]
        if column.kind == "number":
            distances = ["ordered", "equal"]
        elif column.kind == "tree":
            distances = ["hierarchical", "hierarchical", "equal"]
        return {"t": pick((0, 0.1, 0.2, 0.3, 0.5, 0.8)), "of": of, "distance": pick(distances)}

    def people_of(self, case: Case) -> None:
        """A population: everybody of the table, and others with the same values."""
        quasi = case.with_role("quasi")
        if any("labels" in c.settings or c.typed for c in quasi):
            return
        rows = [{c.name: c.texts[i] for c in quasi} for i in range(self.n)]
        more = [
            {c.name: self.random.choice(c.texts) for c in quasi}
            for _ in range(self.random.choice((0, 5, 30)))
        ]
        case.population = rows + more
        self.random.shuffle(case.population)
        pick = self.random.choice
        asked = {"k-map": pick((1, 2, 5, 10))}
        case.policy["constraints"].append(
            asked if self.chance(0.5) else {"delta-presence": pick((0.3, 0.6, 0.9, 1))}
        )

    # columns

    def holes(self, texts: Sequence[str], share: float) -> list[Text]:
        """The same with some values missing."""
        if not self.chance(share):
            return list(texts)
        rate = self.random.choice((0.05, 0.2, 0.6))
        return [None if self.chance(rate) else text for text in texts]

    def coded(self, column: Column, share: float) -> Column:
        """Some missing values as a code that the policy declares."""
        if self.chance(share) and not column.typed:
            code = self.random.choice(MISSING_CODES)
            if code in column.meaning or code in column.nodes:
                return column
            rate = self.random.choice((0.1, 0.3))
            column.texts = [code if self.chance(rate) else text for text in column.texts]
            column.settings["missing"] = [code]
            column.missing = frozenset({code})
        return column

    def quasi(self, name: str, climbs: bool, forms: bool) -> Column:
        makers: list[Callable[[str], Column]]
        trees = [self.tree, self.tree, self.csv, self.mask, self.intervals, self.parts]
        if climbs and self.chance(0.95):
            makers = trees
        else:
            makers = [*[self.number] * 5, self.day, self.day, *[self.word] * 3, self.order, *trees]
        column = self.random.choice(makers)(name)
        if column.kind in ("tree", "mask") and not climbs and self.chance(0.1):
            column.settings["kind"] = "unordered"
        if column.kind in ("intervals", "parts") and not climbs and self.chance(0.1):
            column.settings["kind"] = "ordered"
        column.texts = self.holes([t for t in column.texts if t is not None], 0.2)
        self.coded(column, 0.06)
        if forms and self.chance(0.12):
            allowed = ["mode", "uniform"]
            if column.kind in ("number", "date", "intervals"):
                allowed += ["midpoint", "mean", "median"]
            column.settings["labels"] = self.random.choice(allowed)
        elif self.chance(0.06):
            column.settings["importance"] = self.random.choice((0, 0.5, 3, 100))
        return column

    def of(self, values: Sequence[str]) -> list[Text]:
        """A text for every row; some values far more often than others."""
        if self.chance(0.4):
            few = self.random.sample(values, min(len(values), 2))
            return [self.random.choice(few if self.chance(0.7) else values) for _ in range(self.n)]
        return [self.random.choice(values) for _ in range(self.n)]

    def numbers(self) -> dict[str, Fraction]:
        """Texts of numbers in one of several styles, and the numbers."""
        style, draw = self.random.randrange(12), self.random
        top = draw.choice((3, 10, 60))
        if style < 5:
            return {str(n): Fraction(n) for n in (draw.randint(0, top) for _ in range(14))}
        if style == 5:
            return {str(n): Fraction(n) for n in (draw.randint(-top, top) for _ in range(14))}
        if style == 6:
            return {
                f"{n / 10:.1f}": Fraction(n, 10)
                for n in (draw.randint(-top, top * 9) for _ in range(14))
            }
        if style == 7:
            return {
                f"{n / 100:.2f}": Fraction(n, 100)
                for n in (draw.randint(0, top * 99) for _ in range(14))
            }
        if style == 8:
            base = draw.choice((2**53, 2**63 - 20, 10**17))
            return {
                str(base + n): Fraction(base + n) for n in (draw.randint(0, 19) for _ in range(9))
            }
        if style == 9:
            return {
                text: Fraction(n)
                for n in (draw.randint(1, top) for _ in range(9))
                for text in draw.sample((str(n), f"{n}.0", f"+{n}", f"{n}.00"), 2)
            }
        if style == 10:
            return {
                f"{n // 10},{n % 10}": Fraction(n, 10)
                for n in (draw.randint(0, 300) for _ in range(9))
            }
        return {f"{n} %": Fraction(n) for n in (draw.randint(0, 100) for _ in range(9))}

    def number(self, name: str) -> Column:
        meaning = self.numbers()
        whole = all(text.lstrip("-").isdigit() and abs(int(text)) < 2**31 for text in meaning)
        column = Column(name, "quasi", self.of(list(meaning)), "number", meaning=meaning)
        if whole and self.chance(0.5):
            column.typed = "int"
        if whole and self.chance(0.1):
            places = sorted(meaning.values())
            cut = int(self.random.choice(places))
            column.settings |= self.random.choice(
                (
                    {"top": cut},
                    {"bottom": cut},
                    {"round": 5},
                    {"round": 10, "top": cut},
                    {"bottom": cut, "top": cut + 20},
                )
            )
            column.typed = ""
        elif self.chance(0.1):
            column.settings["kind"] = self.random.choice(("ordered", "unordered"))
        return column

    def days(self) -> dict[str, date]:
        first = self.random.choice(
            (date(1964, 3, 1), date(1999, 12, 20), date(2020, 2, 20), date(1900, 1, 1))
        )
        span = self.random.choice((5, 60, 4000))
        found = [first + timedelta(self.random.randint(0, span)) for _ in range(12)]
        if self.chance(0.15):
            return {f"{d:%d.%m.%Y}": d for d in found}
        return {d.isoformat(): d for d in found}

    def day(self, name: str) -> Column:
        meaning = self.days()
        column = Column(name, "quasi", self.of(list(meaning)), "date", meaning=meaning)
        if all("-" in text for text in meaning) and self.chance(0.4):
            column.typed = "date"
        return column

    def word(self, name: str) -> Column:
        pool = TOWNS if self.chance(0.3) else WORDS
        values = self.random.sample(pool, self.random.randint(1, min(8, len(pool))))
        column = Column(name, "quasi", self.of(values), "word", {"type": "text"})
        if self.chance(0.7):
            column.settings = {"kind": "unordered"}
        return column

    def order(self, name: str) -> Column:
        values = self.random.sample([w for w in WORDS if w.strip()], self.random.randint(2, 7))
        settings = {"order": values}
        meaning = {value: i for i, value in enumerate(values)}
        return Column(name, "quasi", self.of(values), "order", settings, dict(meaning))

    def names(self, count: int) -> list[str]:
        """Different texts, some of them hostile, that no node has by accident."""
        pool = [w for w in WORDS if w.strip() and w not in ("*", "true", "false")]
        hostile = self.random.sample(pool, min(count, self.random.choice((0, 2, 6))))
        return [*hostile, *(f"leaf {i}" for i in range(count - len(hostile)))]

    def branches(self, leaves: Sequence[str], depth: int) -> dict[str, tuple[str, ...]]:
        """Of each leaf its nodes up to the root `*`, on `depth` levels above the leaves."""
        paths = {leaf: [leaf] for leaf in leaves}
        groups, wide = [[leaf] for leaf in leaves], self.random.choice((2, 3))
        for level in range(1, depth):
            if len(groups) < 2:
                break
            joined = [[*chain(*groups[i : i + wide])] for i in range(0, len(groups), wide)]
            for i, members in enumerate(joined):
                for leaf in members:
                    paths[leaf].append(f"node {level}.{i}")
            groups = joined
        return {leaf: (*path, "*") for leaf, path in paths.items()}

    def with_nodes(self, column: Column, paths: dict[str, tuple[str, ...]]) -> Column:
        nodes: dict[str, set[str]] = {}
        column.paths = paths
        for leaf, path in paths.items():
            for node in path[1:]:
                nodes.setdefault(node, set()).add(leaf)
        column.nodes = {node: frozenset(leaves) for node, leaves in nodes.items()}
        return column

    def tree(self, name: str, role: str = "quasi") -> Column:
        leaves = self.names(self.random.randint(2, 9))
        paths = self.branches(leaves, self.random.choice((1, 2, 2, 3)))
        column = Column(
            name, role, self.of(leaves), "tree", {"hierarchy": {"tree": _nested(paths)}}
        )
        return self.with_nodes(column, paths)

    def csv(self, name: str) -> Column:
        leaves = [
            leaf
            for leaf in self.names(self.random.randint(2, 9))
            if "\n" not in leaf and "\r" not in leaf
        ] or ["leaf"]
        paths = self.branches(leaves, self.random.choice((1, 2, 3)))
        lines = [";".join(_quoted(text) for text in path) for path in paths.values()]
        self.files[f"{name}.csv"] = "\n".join(lines) + "\n"
        settings = {"hierarchy": {"csv": f"{name}.csv", "separator": ";"}}
        return self.with_nodes(Column(name, "quasi", self.of(leaves), "tree", settings), paths)

    def mask(self, name: str) -> Column:
        side, digits = self.random.choice(("right", "left")), self.random.choice((2, 3, 5))
        pool = "0123456789" if self.chance(0.8) else "0a*\\é"
        values = ["".join(self.random.choices(pool, k=digits)) for _ in range(10)]
        if self.chance(0.2):
            values += [value[:-1] for value in values[:4] if len(value) > 1]
        settings = {"hierarchy": {"mask": side}}
        return Column(name, "quasi", self.of(sorted(set(values))), "mask", settings)

    def intervals(self, name: str) -> Column:
        meaning = {str(n): Fraction(n) for n in (self.random.randint(-20, 90) for _ in range(12))}
        widths = self.random.choice(([5, 10, 20], [10], [2, 4], [5, 50], [2.5, 10]))
        shape: dict[str, Any] = {"intervals": widths}
        if self.chance(0.3):
            shape["from"] = self.random.choice((1, -20, 0.5))
        return Column(
            name, "quasi", self.of(list(meaning)), "intervals", {"hierarchy": shape}, dict(meaning)
        )

    def parts(self, name: str) -> Column:
        chosen = self.random.choice(
            (
                ["month", "year", "decade"],
                ["year"],
                ["quarter", "year"],
                ["month", "quarter", "year"],
                ["decade"],
            )
        )
        meaning = {text: day for text, day in self.days().items() if "-" in text}
        meaning = meaning or {"1964-03-07": date(1964, 3, 7)}
        settings = {"hierarchy": {"date": chosen}}
        return Column(name, "quasi", self.of(list(meaning)), "parts", settings, dict(meaning))

    def sensitive(self, name: str) -> Column:
        shape = self.random.random()
        if shape < 0.15:
            column = self.tree(name, "sensitive")
            column.meaning = {leaf: leaf for leaf in column.paths}
            column.missing = frozenset({INVISIBLE} & set(column.paths))
            column.settings["spelling"] = "exact"
            column.texts = self.holes([t for t in column.texts if t is not None], 0.3)
            return column
        if shape < 0.35:
            amounts = [self.random.choice((1000, 500, 20)) * i for i in range(1, 6)]
            meaning = {text: Fraction(n) for n in amounts for text in self.spelled_number(n)}
            column = Column(
                name,
                "sensitive",
                self.of(list(meaning)),
                "number",
                {"kind": "ordered"},
                dict(meaning),
            )
        else:
            values = self.random.sample(ILLNESSES, self.random.randint(2, 6))
            meaning = {text: value for value in values for text in self.spelled(value)}
            column = Column(name, "sensitive", self.of(list(meaning)), meaning=dict(meaning))
            if self.chance(0.15):
                column.settings["spelling"] = "exact"
                column.meaning = {text: text for text in meaning}
            elif self.chance(0.2):
                levels = {value: self.random.randint(1, 3) for value in values}
                column.settings["levels"] = {text: levels[value] for text, value in meaning.items()}
        column.texts = self.holes([t for t in column.texts if t is not None], 0.3)
        if self.chance(0.2):
            column.texts = [" " if t is None and self.chance(0.3) else t for t in column.texts]
            column.missing |= {" "}
        code = self.random.choice(MISSING_CODES[:2])
        if self.chance(0.15):
            column.texts = [code if self.chance(0.2) else text for text in column.texts]
            column.settings["missing"] = [code]
            column.missing |= {code}
        return column

    def spelled(self, value: str) -> list[str]:
        """Some spellings of one value."""
        if self.chance(0.75):
            return [value]
        other = (value.upper(), f" {value}", f"{value} ", value.title(), value.replace("a", "ａ"))
        return [value, *self.random.sample(other, 2)]

    def spelled_number(self, n: int) -> list[str]:
        if self.chance(0.75):
            return [str(n)]
        return [str(n), *self.random.sample((f"{n}.0", f"{n}.00", f" {n}"), 1)]

    def personal(self, name: str) -> list[Column]:
        """A sensitive column of which people chose the level at which it is published."""
        values = list(ILLNESSES)
        self.random.shuffle(values)
        height = self.random.choice((2, 3))
        if height == 2:
            tree: Any = {"any illness": values}
            paths = {value: (value, "any illness") for value in values}
        else:
            halves = {"lung": values[:3], "other": values[3:]}
            tree = {"any illness": halves}
            paths = {
                v: (v, half, "any illness") for half, members in halves.items() for v in members
            }
        levels = {value: self.random.randint(1, height) for value in values}
        levels[values[0]] = height
        column = Column(
            name, "sensitive", self.of(values), "tree",
            {"levels": levels, "hierarchy": {"tree": tree}, "preference": f"{name} level"},
            {value: value for value in values},
        )  # fmt: skip
        self.with_nodes(column, paths)
        chosen = [self.random.choice((None, None, "1", "2", str(height))) for _ in range(self.n)]
        return [column, Column(f"{name} level", "preference", list(chosen))]

    def plain(self, name: str) -> Column:
        # a plain `*` would read like a suppressed cell
        values = self.random.sample([w for w in WORDS if w != "*"], self.random.randint(1, 6))
        return Column(
            name,
            "plain",
            self.holes([str(t) for t in self.of(values)], 0.3),
            settings={"type": "text"},
        )

    def person(self) -> Column:
        people = self.random.randint(max(2, self.n // 4), self.n)
        meaning: dict[str, Hashable] = {}
        for i in range(people):
            forms = (f"Pat {i}", f"pat {i}", f" Pat  {i}", f"Ｐat {i}")
            for text in self.random.sample(forms, self.random.choice((1, 1, 1, 2))):
                meaning[text] = i
        settings: dict[str, Any] = {}
        if self.engine == "memory" and self.chance(0.15):
            settings["together"] = True
        return Column(
            "id", "person", self.of(list(meaning)), settings=settings, meaning=dict(meaning)
        )

    def weight(self, columns: Sequence[Column]) -> Column:
        people = next((c for c in columns if c.role == "person"), None)
        amounts = {}
        texts: list[Text] = []
        for i in range(self.n):
            who = i if people is None else people.meaning[str(people.texts[i])]
            amounts.setdefault(who, self.random.choice((1, 2.5, 10, 40, 120)))
            texts.append(f"{amounts[who]:g}")
        settings = self.random.choice(({}, {"publish": "exact"}, {"round": 0.5}))
        return Column("weight", "weight", texts, "number", dict(settings))


def _nested(paths: dict[str, tuple[str, ...]]) -> Any:
    """The paths as a policy writes a tree: mappings of mappings, and lists of leaves."""
    found: dict[str, Any] = {}
    for path in paths.values():
        below = found
        for node in path[-2:0:-1]:
            below = below.setdefault(node, {})
        below[path[0]] = None
    return {"*": _written(found)} if found else []


def _written(below: dict[str, Any]) -> Any:
    if all(inner is None for inner in below.values()):
        return list(below)
    return [{name: _written(inner)} if inner else name for name, inner in below.items()]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ';",\t \\') else text
