"""Which releases are golden: small made-up tables, what is asked of them, and where they are made.

A case says all in plain data, as a user would write it. Nothing of Shoal is imported here, so that the
cases stay the same however its code is moved about.
"""

from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

from tests.golden.tables import COUNTRIES, ILLNESSES, JOBS, ODD, SIZES

MEMORY, OUT_OF_CORE, SPARK = "memory", "out of core", "spark"
FILES = ("csv", "parquet")
FRAMES = ("pyarrow", "pandas", "polars")
FOLDER = "folder"
"""A folder of Parquet files, which a command has Spark read."""
FRAME = "frame"
"""A frame of the user's own Spark session."""

Columns = dict[str, Any]
Constraints = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A table, what is asked of it, and where the release is made."""

    asked: str
    """Method, constraints and columns, to be read by people."""
    policy: str | dict[str, Any]
    """As a file has it, or as plain data."""
    table: str = "people"
    rows: int = 200
    seed: int = 1
    """Of the made-up table; the policy has its own."""
    engine: str = MEMORY
    source: str = "csv"
    """The kind of file, or of frame."""
    more_people: int = 0
    """Where there is a population: how many people it has that the table has not."""
    arguments: tuple[str, ...] = field(default=())
    """More arguments of the command."""

    @property
    def key(self) -> str:
        """What a case shares with the same case elsewhere."""
        return f"{self.asked}/{self.table}{self.rows}-seed{self.seed}"

    @property
    def id(self) -> str:
        """How the release is named in the JSON file."""
        return f"{self.key}/{self.engine}, {self.source}"

    @property
    def twin(self) -> str | None:
        """The case in memory that publishes the same rows."""
        if self.engine == MEMORY:
            return None
        source = "pyarrow" if self.source == FRAME else self.source.replace(FOLDER, "parquet")
        return replace(self, engine=MEMORY, source=source).id


# Columns -----------------------------------------------------------------------------------------

QUASI = "quasi"
ORDERED = {"role": QUASI, "kind": "ordered"}
UNORDERED = {"role": QUASI, "kind": "unordered"}


def _tree(content: Any) -> Columns:
    return {"role": QUASI, "hierarchy": content}


AGE = _tree({"intervals": [5, 10, 20, 40]})
HOURS = _tree({"intervals": [4, 20, 40]})
HEIGHT = _tree({"intervals": [2.5, 10, 50], "from": 100})
BIRTH = _tree({"date": ["month", "quarter", "year", "decade"]})
ZIP = _tree({"mask": "right"})
LEFT = _tree({"mask": "left"})
COUNTRY = _tree("countries.csv")
BARRED = _tree({"csv": "countries.txt", "separator": "|"})
SIZE = _tree({"tree": [{"at most medium": list(SIZES[:3])}, {"above": list(SIZES[3:])}]})
JOB = _tree({"tree": {"any job": {"indoors": list(JOBS[:3]), "outdoors": list(JOBS[3:])}}})
SEX = _tree({"tree": {"any": ["f", "m"]}})

HIERARCHY_FILES = {
    "countries.csv": "".join(f"{name};{part};Europe\n" for name, part in COUNTRIES.items()),
    "countries.txt": "".join(f"{name}|{part}|*\n" for name, part in COUNTRIES.items()),
}
"""What lies beside every policy."""

LOOKS: dict[str, Columns] = {
    "numbers": {"age": ORDERED, "hours": QUASI},
    "decimals+dates": {"height": QUASI, "birth": QUASI},
    "order+sets": {
        "size": {"role": QUASI, "order": list(SIZES)},
        "country": UNORDERED,
        "sex": QUASI,
    },
    "mixed": {"age": QUASI, "zip": ZIP, "country": UNORDERED, "sex": QUASI},
    "numbers+tree": {"age": ORDERED, "job": JOB},
    "trees": {"age": AGE, "zip": ZIP, "job": JOB, "sex": SEX},
    "files": {"country": COUNTRY, "birth": BIRTH, "height": HEIGHT},
    "left": {"hours": HOURS, "zip": LEFT, "size": SIZE, "country": BARRED},
    "everything": {
        "age": QUASI,
        "hours": HOURS,
        "height": QUASI,
        "birth": BIRTH,
        "size": {"role": QUASI, "order": list(SIZES)},
        "country": COUNTRY,
        "zip": ZIP,
        "job": UNORDERED,
        "sex": SEX,
    },
}
CLIMBED = ("trees", "files", "left")
"""Looks in which every column has a hierarchy."""
OTHERS: Columns = {
    "name": "identifier",
    "illness": "sensitive",
    "ward": "plain",
    "paid": "plain",
}
ILL_TREE = {
    "tree": {"any illness": {"lung": ["flu", "cold", "asthma"], "gut": ["ulcer", "gastritis"]}}
}
ILL_TREE["tree"]["any illness"]["whole body"] = ["gout", "cancer", "HIV"]
SENSITIVE: Columns = {
    "illness": {"role": "sensitive", "hierarchy": ILL_TREE},
    "salary": {"role": "sensitive", "kind": "ordered"},
}
LEVELS = {name: 1 + i // 2 for i, name in enumerate(ILLNESSES)}

# Constraints -------------------------------------------------------------------------------------

ILL = {"of": "illness"}
PAY = {"of": "salary"}
PLAIN_ASKED: dict[str, Constraints] = {
    "k2": [{"k": 2}],
    "k5": [{"k": 5}],
    "k3-l2": [{"k": 3}, {"l": 2, **ILL}],
    "k10": [{"k": 10}],
    "k5-l3": [{"k": 5}, {"l": 3, **ILL}],
    "l3": [{"l": 3, **ILL}],
    "k3": [{"k": 3}],
}
MODELS: dict[str, Constraints] = {
    "k4-l3-l4": [{"k": 4}, {"l": 3, **ILL}, {"l": 4, **PAY}],
    "entropy-l2.5": [{"entropy-l": 2.5, **ILL}],
    "k3-entropy-l3": [{"k": 3}, {"entropy-l": 3, **PAY}],
    "recursive-l3-c2": [{"recursive-l": 3, "c": 2, **ILL}],
    "recursive-l2-c0.8": [{"k": 2}, {"recursive-l": 2, "c": 0.8, **PAY}],
    "t0.3": [{"k": 3}, {"t": 0.3, **ILL}],
    "t0.2-ordered": [{"k": 3}, {"t": 0.2, "distance": "ordered", **PAY}],
    "t0.25-hierarchical": [{"t": 0.25, "distance": "hierarchical", **ILL}],
    "beta2": [{"k": 2}, {"beta": 2, **ILL}],
    "beta1-enhanced": [{"beta": 1, "enhanced": True, **ILL}],
    "delta1.5": [{"delta": 1.5, **ILL}],
    "average-risk0.15": [{"k": 2}, {"average-risk": 0.15}],
    "alpha0.5": [{"k": 3}, {"alpha": 0.5, **ILL}],
    "alpha0.4-l3": [{"alpha": 0.4, **ILL}, {"l": 3, **PAY}],
    "many": [
        {"k": 4},
        {"l": 2, **ILL},
        {"alpha": 0.6, **ILL},
        {"t": 0.4, "distance": "ordered", **PAY},
    ],
    "k4-on": [{"k": 4, "on": ["zip"]}, {"k": 2}, {"l": 2, **ILL}],
}

# Methods -----------------------------------------------------------------------------------------

WIDEST = {"name": "flexible-partition", "dimension": "widest"}
RELAXED = {"name": "mondrian", "strict": False}
FREE: tuple[Any, ...] = (
    "least-loss-partition",
    "flexible-partition",
    WIDEST,
    "mondrian",
    RELAXED,
    "top-down",
    "bottom-up",
    "k-clustering",
)
"""Methods that take any policy."""


def _named(method: Any) -> str:
    if isinstance(method, str):
        return method
    options = (f"{key}={value}" for key, value in method.items() if key != "name")
    return " ".join([method["name"], *(text.replace("/", "-") for text in options)])


def _case(
    method: Any,
    constraints: tuple[str, Constraints],
    look: str,
    columns: Columns | None = None,
    keys: dict[str, Any] | None = None,
    **case: Any,
) -> Case:
    """A case of people; `keys` are more keys of the policy, which the id tells too."""
    called, wanted = constraints
    spoken = {one["of"] for one in wanted if "of" in one}
    more = {name: SENSITIVE[name] for name in SENSITIVE if name in spoken}
    policy = {
        "columns": LOOKS[look] | OTHERS | more | (columns or {}),
        "default": "drop",
        "constraints": wanted,
        "method": method,
        **(keys or {}),
    }
    told = [f"{key}={_short(value)}" for key, value in (keys or {}).items()]
    asked = "/".join([_named(method), called, look, *([" ".join(told)] if told else [])])
    return Case(asked, policy, **case)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values())
    if isinstance(value, list):
        return "+".join(_short(part) for part in value)
    return str(value)


def _usual() -> list[Case]:
    """Every method that takes any policy, with columns of every kind."""
    asked, sources = cycle(PLAIN_ASKED.items()), cycle(FILES + FRAMES)
    found = []
    for i, method in enumerate(FREE):
        for j, look in enumerate(LOOKS):
            rows = 120 if look == "everything" or method == "bottom-up" else 200 + 40 * (j % 4)
            found.append(
                _case(
                    method,
                    next(asked),
                    look,
                    keys={"seed": i + j},
                    rows=rows,
                    seed=1 + (3 * i + j) % 7,
                    source=next(sources),
                )
            )
    return found


def _models() -> list[Case]:
    """Every model with some of the methods, over and over."""
    methods, sources = cycle((*FREE, "optimal", "incognito")), cycle(FILES + FRAMES)
    found = []
    for i, constraints in enumerate(MODELS.items()):
        on_some = constraints[0] == "k4-on"
        for j in range(4):
            method = next(methods)
            climbs = method in ("optimal", "incognito")
            if climbs and on_some:
                method = "least-loss-partition"
            look = "trees" if climbs or on_some else ("mixed", "numbers", "trees")[(i + j) % 3]
            found.append(
                _case(
                    method,
                    constraints,
                    look,
                    keys={"seed": j} | ({"suppression": 0.2} if climbs else {}),
                    rows=180 if method == "bottom-up" else 260,
                    seed=11 + i % 3,
                    source=next(sources),
                )
            )
    return found


SETS: dict[str, Constraints] = {
    "k5 on age zip, k3 on job sex": [
        {"k": 5, "on": ["age", "zip"]},
        {"k": 3, "on": ["job", "sex"]},
    ],
    "k4 on age zip, k6 on zip job": [
        {"k": 4, "on": ["age", "zip"]},
        {"k": 6, "on": ["zip", "job"]},
        {"k": 2, "on": ["sex"]},
    ],
    "k3 on all, k12 on job sex": [{"k": 3}, {"k": 12, "on": ["job", "sex"]}],
}
METRICS = (
    "mean-ncp",
    "dm",
    "loss",
    "precision",
    "general-loss",
    "non-uniform-entropy",
    "average-class-size",
)


def _climbing() -> list[Case]:
    """The methods that climb hierarchies, with their variants and metrics."""
    found = []
    for variant in ("complete", "partial", "naive"):
        method = {"name": "classfly-plus", "variant": variant}
        found += [_case(method, asked, "trees", rows=400, seed=21) for asked in SETS.items()]
    first = next(iter(SETS.items()))
    found.append(_case("classfly", first, "trees", rows=400, seed=22, source="parquet"))
    found.append(_case("datafly", first, "trees", rows=400, seed=22, source="pyarrow"))
    for i, look in enumerate(CLIMBED):
        k5, k3 = ("k5", [{"k": 5}]), ("k3", [{"k": 3}])
        found.append(_case("classfly", k5, look, rows=300, seed=23 + i))
        found.append(_case("classfly-plus", k3, look, rows=300, seed=23 + i, source="polars"))
        found.append(_case("datafly", k5, look, rows=300, seed=23 + i, source="pandas"))
        some = {"suppression": 0.1}
        found.append(_case("datafly", k3, look, keys=some, rows=300, seed=23 + i))
    for i, metric in enumerate(METRICS):
        look = CLIMBED[i % 3]
        asked = ("k4-l2", [{"k": 4}, {"l": 2, **ILL}]) if i % 2 else ("k6", [{"k": 6}])
        for name in ("optimal", "incognito"):
            keys = {"suppression": 0.15} if (i + (name == "optimal")) % 2 else {}
            method = {"name": name, "metric": metric}
            found.append(_case(method, asked, look, keys=keys, rows=200, seed=31 + i))
    return found


def _l_clustering() -> list[Case]:
    l3, l2 = ("l3", [{"l": 3, **ILL}]), ("k2-l2", [{"k": 2}, {"l": 2, **ILL}])
    both = ("l2-l3", [{"l": 2, **ILL}, {"l": 3, **PAY}])
    weighed = {"name": "l-clustering", "weights": {"age": 2, "zip": 0.5}}
    blocks = {"name": "l-clustering", "block_rows": 60}
    return [
        _case("l-clustering", l3, "mixed", seed=41),
        _case("l-clustering", l2, "numbers", seed=42, source="parquet"),
        _case("l-clustering", both, "order+sets", seed=43, source="pandas"),
        _case("l-clustering", l3, "decimals+dates", seed=44, source="pyarrow"),
        _case("l-clustering", both, "everything", rows=120, seed=45, source="polars"),
        _case(weighed, l3, "mixed", seed=46),
        _case(weighed, l2, "trees", seed=47),
        _case(blocks, l2, "trees", rows=400, seed=48),
        _case(blocks | {"weights": {"sex": 0}}, l3, "mixed", rows=400, seed=49),
    ]


FEW: Columns = {
    "age": QUASI,
    "sex": QUASI,
    "country": COUNTRY,
    "zip": ZIP,
    "illness": "sensitive",
}


def _blocks_and_seeds() -> list[Case]:
    asked = ("k3-l2", [{"k": 3}, {"l": 2, **ILL}])
    found = [
        _case({"name": name, "block_rows": rows}, asked, look, rows=600, seed=51)
        for name in ("top-down", "k-clustering")
        for rows, look in ((50, "mixed"), (150, "trees"), (150, "numbers"))
    ]
    for name in (*FREE, "l-clustering"):
        wanted = ("l2", [{"l": 2, **ILL}]) if name == "l-clustering" else asked
        coarse = {
            "columns": FEW,
            "default": "drop",
            "constraints": wanted[1],
            "method": name,
        }
        for seed in (1, 12345):
            called = f"{_named(name)}/{wanted[0]}/few values/seed={seed}"
            found.append(Case(called, coarse | {"seed": seed}, "coarse", 300, 52))
        # a table of two columns in which chance has a say
        found.append(_case(name, wanted, "numbers+tree", keys={"seed": 99}, rows=150, seed=53))
    return found


ODD_COLUMNS: Columns = {
    "free": QUASI,
    "ranked": {"role": QUASI, "order": list(ODD)},
    "leaf": _tree({"tree": {"* any": {"[a~c]": list(ODD[:6]), "{z, 1}": list(ODD[6:])}}}),
    "masked": ZIP,
    "number": QUASI,
    "secret": {"role": "sensitive", "missing": []},
    'note, with "quotes"': "plain",
}
ODD_TREES = ODD_COLUMNS | {
    "free": "plain",
    "ranked": _tree({"tree": [{"one, two": list(ODD[:9])}, {"Ø": list(ODD[9:])}]}),
    "number": _tree({"intervals": [5, 15], "from": -15}),
}


def _odd() -> list[Case]:
    """Values that look like labels, or that files must quote."""
    sources = cycle(FILES + FRAMES)
    found = []
    for i, method in enumerate((*FREE, "classfly-plus", "datafly", "optimal")):
        climbs = method in ("classfly-plus", "datafly", "optimal")
        constraints: Constraints = [{"k": 3}]
        if i % 2 and not climbs:
            constraints = [{"k": 2}, {"l": 2, "of": "secret"}]
        policy = {
            "columns": ODD_TREES if climbs else ODD_COLUMNS,
            "constraints": constraints,
            "method": method,
            "suppressed": "starred",
            "suppression": 0.3,
        }
        called = f"{_named(method)}/{'k2-l2' if len(constraints) == 2 else 'k3'}/odd values"
        found.append(Case(called, policy, "odd", 160, 61 + i % 2, source=next(sources)))
        if i < 4:
            found.append(Case(called, policy, "odd", 160, 63))
    return found


def _suppression() -> list[Case]:
    """Rows that are withheld or starred, and rows that stay in their order."""
    hard = ("k4-alpha0.3", [{"k": 4}, {"alpha": 0.3, **ILL}])
    sets = [{"k": 40, "on": ["age", "zip"]}, {"k": 50, "on": ["job", "sex"]}]
    found = []
    for how in ("withheld", "starred"):
        keys = {"suppressed": how, "suppression": 0.3}
        for name, asked, look in (
            ("top-down", hard, "mixed"),
            ("k-clustering", hard, "mixed"),
            ("optimal", ("k5-l3", [{"k": 5}, {"l": 3, **ILL}]), "trees"),
            ("incognito", ("k4", [{"k": 4}]), "files"),
            ("datafly", ("k7", [{"k": 7}]), "trees"),
            ("classfly-plus", ("k40 on age zip, k50 on job sex", sets), "trees"),
        ):
            found.append(_case(name, asked, look, keys=keys, rows=240, seed=71))
            kept = keys | {"order": "kept"}
            source = "pyarrow" if how == "starred" else "parquet"
            found.append(_case(name, asked, look, keys=kept, rows=180, seed=72, source=source))
    for name in ("least-loss-partition", "mondrian"):
        kept = {"order": "kept"}
        found.append(_case(name, ("k4", [{"k": 4}]), "mixed", keys=kept, seed=73))
    return found


PERSONAL: Columns = {
    "illness": {
        "role": "sensitive",
        "levels": LEVELS,
        "preference": "wish",
        "hierarchy": {
            "tree": {
                "any illness": {
                    "common": {"short": ["flu", "cancer"], "breath": ["cold", "asthma"]},
                    "rare": {"belly": ["ulcer", "gastritis", "HIV"], "joints": ["gout"]},
                }
            }
        },
    },
    "wish": "preference",
}
PERSONAL_TEXT = """
# levels written the other way round, comments, and a text as YAML 1.2 reads it
columns:
  age: {role: quasi, kind: ordered}
  zip: {role: quasi, hierarchy: {mask: right}}
  sex: quasi
  illness:
    role: sensitive
    levels:
      1: [flu, cold]
      2: [asthma, ulcer]
      3: [gastritis, gout]
      4: [cancer, HIV]
    hierarchy:
      tree:
        any illness:
          inside: {above: [flu, asthma], below: [gastritis, HIV]}
          elsewhere: {skin: [cold, ulcer], limbs: [gout, cancer]}
    preference: wish
  wish: preference
  ward: plain
default: drop
constraints: [{k: 3}, {l: 2, of: illness}, {alpha: 0.7, of: illness}]
method: {name: top-down}
metrics: [{name: recognition-rate, per: row}]
seed: 5
"""


def _personal() -> list[Case]:
    asked = ("k3-l2-alpha0.6", [{"k": 3}, {"l": 2, **ILL}, {"alpha": 0.6, **ILL}])
    sources = cycle(("csv", "pandas", "parquet", "pyarrow", "polars"))
    found = [
        _case(
            name,
            (f"personal {asked[0]}", asked[1]),
            "trees" if name == "optimal" else "mixed",
            PERSONAL,
            {"suppression": 0.5} if name in ("optimal", "top-down", "k-clustering") else {},
            rows=220,
            seed=81,
            source=next(sources),
        )
        for name in ("top-down", "least-loss-partition", "k-clustering", "mondrian", "optimal")
    ]
    levels = {"illness": {"role": "sensitive", "levels": LEVELS}}
    by_level = ("alpha0.6 of levels", [{"k": 3}, {"alpha": 0.6, **ILL}])
    found += [
        _case(name, by_level, "mixed", levels, rows=220, seed=82)
        for name in ("least-loss-partition", "bottom-up", "flexible-partition")
    ]
    text = PERSONAL_TEXT.replace("[{k: 3}", "[{k: 1}").replace("0.7", "0.95")
    found.append(Case("top-down/personal from YAML", PERSONAL_TEXT, rows=200, seed=83))
    found.append(Case("top-down/personal from YAML, weak", text, rows=200, seed=84))
    return found


def _anatomy() -> list[Case]:
    keys = {"publish": "anatomy", "seed": 7061952}
    one = ("l2", [{"l": 2, **ILL}])
    two = ("l3-l3", [{"l": 3, **ILL}, {"l": 3, **PAY}])
    shares = ("alpha0.5", [{"alpha": 0.5, **ILL}])
    close = ("t0.3", [{"t": 0.3, **ILL}])
    found = [
        _case("least-loss-partition", one, "mixed", keys=keys, seed=91),
        _case("least-loss-partition", two, "everything", keys=keys, rows=150, seed=91),
        _case("mondrian", one, "numbers", keys=keys, seed=92, source="parquet"),
        _case("flexible-partition", shares, "mixed", keys=keys, seed=92),
        _case(WIDEST, two, "decimals+dates", keys=keys, seed=93),
        _case(RELAXED, one, "order+sets", keys=keys, seed=93, source="pyarrow"),
        _case("top-down", two, "mixed", keys=keys, seed=94),
        _case("k-clustering", close, "mixed", keys=keys, seed=94),
        _case("l-clustering", one, "mixed", keys=keys, seed=95, source="pandas"),
        _case("bottom-up", one, "numbers+tree", keys=keys, rows=150, seed=95),
        _case("optimal", one, "trees", keys=keys | {"suppression": 0.1}, seed=96),
    ]
    odd = {
        "columns": ODD_COLUMNS,
        "constraints": [{"l": 2, "of": "secret"}],
        "method": "least-loss-partition",
        "publish": "anatomy",
        "seed": 77,
    }
    return [*found, Case("least-loss-partition/l2/odd values apart", odd, "odd", 150, 97)]


POPULATION = {"population": "population.csv"}


def _population() -> list[Case]:
    asked: dict[str, Constraints] = {
        "k-map6": [{"k-map": 6}],
        "k2-k-map10": [{"k": 2}, {"k-map": 10}],
        "delta-presence0.5": [{"delta-presence": 0.5}],
        "k-map5-delta-presence0.4": [{"k-map": 5}, {"delta-presence": 0.4}, {"l": 2, **ILL}],
    }
    methods = cycle((*FREE, "incognito", "optimal"))
    found = [
        _case("mondrian", next(iter(asked.items())), "mixed", None, POPULATION, more_people=900)
    ]
    for called, constraints in asked.items():
        for _ in range(4):
            method = next(methods)
            policy = {
                "columns": FEW | {"age": _tree({"intervals": [20, 40]}), "sex": SEX},
                "default": "drop",
                "constraints": constraints,
                "method": method,
                "suppression": 0.5,
                **POPULATION,
            }
            name = f"{_named(method)}/{called}/few values"
            found.append(Case(name, policy, "coarse", 240, 101, more_people=900))
    return found


def _measured() -> list[Case]:
    """Metrics with options, a target, and what the command line can say instead of the policy."""
    k4 = ("k4", [{"k": 4}])
    metrics = [
        "query-error",
        {"name": "general-loss", "aggregate": "rank"},
        {"name": "recognition-rate", "per": "group"},
    ]
    queries = {"metrics": [{"name": "query-error", "queries": 200, "columns": 2}]}
    return [
        _case("least-loss-partition", k4, "mixed", keys={"metrics": metrics}, seed=111),
        _case("top-down", k4, "trees", keys=queries, seed=112),
        _case("mondrian", k4, "mixed", keys={"target": "ward"}, seed=113),
        _case({"name": "optimal", "metric": "cm"}, k4, "files", keys={"target": "ward"}, seed=114),
        _case("top-down", k4, "numbers", seed=115, arguments=("--seed", "77")),
        _case("top-down", k4, "mixed", seed=116, arguments=("--method", "k-clustering")),
        _case("mondrian", k4, "mixed", seed=117, arguments=("--metric", "query-error")),
    ]


def _chosen() -> list[Case]:
    """Local recoding, and what is chosen where no method is named."""
    found = []
    sources, asked = cycle(FILES + FRAMES), cycle(PLAIN_ASKED.items())
    for i, look in enumerate(LOOKS):
        rows, source = 120 if look == "everything" else 200 + 20 * i, next(sources)
        for method in ("local-recoding", "auto"):
            keys = {"seed": i}
            found.append(
                _case(method, next(asked), look, None, keys, rows=rows, seed=151, source=source)
            )
    for called in ("alpha0.5", "t0.3", "entropy-l2.5", "average-risk0.15"):
        some = (called, MODELS[called])
        found.append(_case("auto", some, "mixed", keys={"seed": 1}, rows=150, seed=152))
    few = ("k3", [{"k": 3}])
    found.append(_case("auto", few, "mixed", keys={"seed": 1}, rows=60, seed=153))
    refined = {"seed": 2, "refine": 3}
    found.append(_case("least-loss-partition", few, "mixed", keys=refined, rows=150, seed=154))
    return found


def _impossible() -> list[Case]:
    """What no release can hold."""
    return [
        _case("least-loss-partition", ("k500", [{"k": 500}]), "mixed", seed=121),
        _case("mondrian", ("l9", [{"l": 9, **ILL}]), "numbers", seed=122),
        _case("optimal", ("l9", [{"l": 9, **ILL}]), "trees", seed=123),
        _case("top-down", ("alpha0.1", [{"alpha": 0.1, **ILL}]), "numbers", seed=124),
        _case("datafly", ("k500", [{"k": 500}]), "trees", seed=125),
        _case("l-clustering", ("l9", [{"l": 9, **ILL}]), "mixed", seed=126),
    ]


# Elsewhere ---------------------------------------------------------------------------------------


def _blocked(name: str, rows: int) -> dict[str, Any]:
    return {"name": name, "block_rows": rows}


def _large() -> list[tuple[Any, tuple[str, Constraints], str, dict[str, Any]]]:
    """Method, constraints, columns and more keys of releases that are made on every engine."""
    k5, k4_l2 = ("k5", [{"k": 5}]), ("k4-l2", [{"k": 4}, {"l": 2, **ILL}])
    first = next(iter(SETS.items()))
    return [
        ("least-loss-partition", k5, "mixed", {}),
        ("least-loss-partition", k4_l2, "everything", {}),
        ("least-loss-partition", ("t0.3", MODELS["t0.3"]), "numbers", {}),
        ("flexible-partition", k5, "order+sets", {}),
        (WIDEST, ("alpha0.5", MODELS["alpha0.5"]), "mixed", {}),
        ("mondrian", k4_l2, "decimals+dates", {}),
        ("mondrian", ("many", MODELS["many"]), "mixed", {"target": "ward"}),
        (RELAXED, ("l2", [{"l": 2, **ILL}]), "mixed", {}),
        (_blocked("top-down", 80), k4_l2, "mixed", {"seed": 3}),
        (_blocked("k-clustering", 80), ("k4-alpha0.5", MODELS["alpha0.5"]), "trees", {}),
        (_blocked("l-clustering", 80), ("l2", [{"l": 2, **ILL}]), "mixed", {}),
        ("datafly", ("k12", [{"k": 12}]), "trees", {"suppression": 0.05}),
        ("classfly", k5, "files", {}),
        ("classfly-plus", first, "trees", {"suppressed": "starred"}),
        ("incognito", k4_l2, "trees", {"suppression": 0.1}),
        ("optimal", k4_l2, "left", {"suppression": 0.1, "suppressed": "starred"}),
        ("optimal", ("entropy-l2.5", MODELS["entropy-l2.5"]), "files", {"suppression": 0.2}),
        ("auto", k5, "trees", {}),
        ("auto", k4_l2, "mixed", {"seed": 3}),
        ("local-recoding", k4_l2, "files", {}),
        (_blocked("local-recoding", 80), k5, "mixed", {"refine": "quick"}),
    ]


MORE_OUT_OF_CORE = ("k10", "k3-l2", "recursive-l3-c2", "beta2", "delta1.5", "average-risk0.15")


def _out_of_core() -> list[Case]:
    sources = cycle(FILES)
    found = [
        _case(*asked, None, keys, rows=360, seed=131, source=next(sources))
        for *asked, keys in _large()
    ]
    methods = cycle(("least-loss-partition", "mondrian", "flexible-partition"))
    for name in MORE_OUT_OF_CORE:
        constraints = (PLAIN_ASKED | MODELS)[name]
        found.append(
            _case(next(methods), (name, constraints), "mixed", seed=132, source=next(sources))
        )
    odd = {"columns": ODD_COLUMNS, "constraints": [{"k": 3}], "method": "mondrian"}
    found.append(Case("mondrian/k3/odd values on disk", odd, "odd", 160, 133, source="csv"))
    found.append(Case("mondrian/k3/odd values on disk", odd, "odd", 160, 133, source="parquet"))
    return [replace(case, engine=engine) for case in found for engine in (MEMORY, OUT_OF_CORE)]


def _spark() -> list[Case]:
    frames = [
        _case(*asked, None, keys, rows=300, seed=141, source=FRAME) for *asked, keys in _large()
    ]
    odd = {"columns": ODD_COLUMNS, "constraints": [{"k": 3}], "method": "mondrian"}
    frames.append(Case("mondrian/k3/odd values in Spark", odd, "odd", 160, 142, source=FRAME))
    k4_l2 = ("k4-l2", [{"k": 4}, {"l": 2, **ILL}])
    folders = [
        _case("least-loss-partition", k4_l2, "trees", seed=143, source=FOLDER),
        _case("classfly-plus", next(iter(SETS.items())), "trees", seed=143, source=FOLDER),
    ]
    found = []
    for case in frames + folders:
        source = "pyarrow" if case.source == FRAME else "parquet"
        found += [replace(case, source=source), replace(case, engine=SPARK)]
    return found


CASES: tuple[Case, ...] = (
    *_usual(),
    *_models(),
    *_climbing(),
    *_l_clustering(),
    *_blocks_and_seeds(),
    *_odd(),
    *_suppression(),
    *_personal(),
    *_anatomy(),
    *_population(),
    *_measured(),
    *_impossible(),
    *_chosen(),
    *_out_of_core(),
    *_spark(),
)
HERE = tuple(case for case in CASES if case.engine != SPARK)
THERE = tuple(case for case in CASES if case.engine == SPARK)
