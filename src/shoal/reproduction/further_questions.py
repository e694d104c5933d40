"""Questions that the papers leave open: several sensitive columns, the price of protection, sizes of
groups under other models, and releases of a table that grows.

The third paper names several sensitive attributes and the relation between utility and protection as
future work, the fourth bounds on group sizes under other models. What two releases give away together is
asked by nobody there, but by everybody who publishes a table again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools
from shoal.encoding.cells import Cells, encode
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.grouping import Grouping, rows_by_group
from shoal.errors import listed, percent
from shoal.methods.base import Method
from shoal.methods.flexible_partition import FlexiblePartition
from shoal.methods.least_loss_partition import LeastLossPartition
from shoal.methods.mondrian import Mondrian
from shoal.methods.top_down import TopDown
from shoal.models.alpha import Alpha
from shoal.models.base import Model
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from shoal.reproduction.adult import HIERARCHIES
from shoal.reproduction.base import (
    Claim,
    Experiment,
    Figure,
    Findings,
    StepProgress,
    between,
    falls,
    judged,
    lines_of,
)
from shoal.reproduction.flexible_partition import bound
from shoal.reproduction.personalised import DISEASES, LEVELS, QUASI, TREE

COLUMNS = ("disease", "second disease")
"""Two sensitive columns, drawn apart from each other."""
CASES = {0: "k alone", 1: "one column", 2: "two columns"}
"""How many sensitive columns are protected, with preferences."""
SAME_RATE = 0.05
"""Recognition rates that differ by less than this share are the same."""
ALPHA, ELL, SHARE, LEVEL = "alpha", "l", "share", "level"
PRICES = {
    ALPHA: ("α", "A smaller α"),
    ELL: ("l", "A larger l"),
    SHARE: ("share of people with a preference, %", "A larger share of people with a preference"),
    LEVEL: ("level that all these people ask for", "A higher level asked for"),
}
"""What is changed: the axis, and what it is in a sentence."""
SIZED = {"disease": "even values (disease)", "occupation": "skewed values (occupation)"}
GROWN: dict[str, Method] = {
    "top-down": TopDown(),
    "least-loss-partition": LeastLossPartition(),
    "flexible-partition": FlexiblePartition(),
    "mondrian": Mondrian(),
}


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: int = 10_000
    repeats: int = 3
    many_k: tuple[int, ...] = (5, 10, 20, 30)
    """Of the releases with several sensitive columns."""
    price_k: int = 10
    alphas: tuple[float, ...] = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3)
    ells: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    shares: tuple[int, ...] = (0, 25, 50, 75, 100)
    levels: tuple[int, ...] = (1, 2, 3, 4)
    sized_k: tuple[int, ...] = (5, 10, 20)
    sized_l: tuple[int, ...] = (1, 2, 3, 4, 5)
    sized_alpha: tuple[float, ...] = (1.0, 0.8, 0.6, 0.5, 0.4)
    growth: tuple[int, ...] = (1, 5, 10, 25, 50, 100)
    """Rows that come in between two releases, in per cent of the first."""
    grown_k: int = 5
    grown_l: int = 4


QUICK = Sizes(rows=3_000, repeats=1, many_k=(5, 20), growth=(1, 10, 50))


@dataclass(frozen=True)
class Price:
    """A release by `top-down`, averaged over the repeats."""

    loss: float
    """Mean NCP of a quasi-identifier and row."""
    rate: float
    """Of recognition."""
    suppressed: float


@dataclass(frozen=True)
class GroupSizes:
    """The rounded partition under k and one more model."""

    groups: int
    largest: int


@dataclass(frozen=True)
class Together:
    """What two releases leave of the values that somebody may have, who is in both."""

    certain: float
    """The share of people with one value left."""
    fewer: float
    """The share with fewer values than l."""
    alone: int
    """The fewest values of a group of either release."""


@dataclass
class Measurements:
    """All that was measured."""

    sizes: Sizes
    rows: int
    many: dict[tuple[int, int], Price] = field(default_factory=dict)
    """By protected columns and k."""
    prices: dict[tuple[str, float], Price] = field(default_factory=dict)
    """By what is changed, and to what."""
    sized: dict[tuple[str, str, int, float], GroupSizes] = field(default_factory=dict)
    """By sensitive column, model, k and its figure."""
    grown: dict[tuple[str, int], Together] = field(default_factory=dict)
    """By method and growth."""

    def along(self, what: str) -> tuple[Sequence[float], list[Price]]:
        """Where a price was measured, and the prices there."""
        x = self.places(what)
        return x, [self.prices[what, at] for at in x]

    def places(self, what: str) -> Sequence[float]:
        """The values that something was changed to, from the weakest."""
        sizes = self.sizes
        return {
            ALPHA: sizes.alphas,
            ELL: sizes.ells,
            SHARE: sizes.shares,
            LEVEL: sizes.levels,
        }[what]


class FurtherQuestions(Experiment):
    """Four experiments that go past the papers, on Adult."""

    name = "further-questions"
    title = "Further questions: what the papers leave open"
    source = (
        "Future work that the papers on personalised protection and on the rounded partition name, and "
        "what two releases of a growing table give away together"
    )
    is_paper = False
    minutes = 2.0

    def __init__(self, sizes: Sizes | None = None) -> None:
        self.sizes = sizes

    def run(self, adult: pa.Table | None, quick: bool, progress: StepProgress) -> Findings:
        """Run all four; `quick` on less."""
        assert adult is not None
        sizes = self.sizes or (QUICK if quick else Sizes())
        found = measure(adult, sizes, progress)
        notes = (
            f"{found.rows:,} rows of Adult, drawn at random, with the quasi-identifiers, diseases, "
            "levels and trees of the paper on personalised protection; ages as ranges. Releases by "
            f"“top-down” are the mean of {sizes.repeats} runs, each with its own rows, diseases and "
            "preferences.",
            "What is claimed here are our expectations, written down before the run.",
            "Several sensitive columns: two diseases of each person, drawn apart from each other, each "
            "with a preference of a quarter of the people; l = 4 and α = 0.8 for each.",
            f"The price of protection: k = {sizes.price_k}, α = 0.8, l = 2 and a quarter of the people "
            "with a random level, of which one is changed at a time. Loss is the mean NCP over "
            "quasi-identifiers and rows, with what the personal rule adds for the disease.",
            "Sizes of groups: a cut that breaks a model is not taken, so Theorems 1 and 2 speak of k "
            "alone. There is no bound under other models that every table keeps: where one value is too "
            "common, no cut may be possible at all.",
            f"Growing tables: k = {sizes.grown_k}, l = {sizes.grown_l}; both releases hold this by "
            "themselves. The attacker knows that a person is in both, and which group it is in: the "
            "person has one of the values that both groups have. This is the worst case, where no other "
            "group covers the person.",
        )
        return Findings(judge(found), figures(found), notes)


def measure(table: pa.Table, sizes: Sizes, progress: StepProgress) -> Measurements:
    """Run all four experiments."""
    rows = min(sizes.rows, table.num_rows)
    found = Measurements(sizes, rows)
    _measure_columns(found, table, progress)
    _measure_prices(found, table, progress)
    _measure_sizes(found, table, progress)
    _measure_growth(found, table, progress)
    return found


def people(
    table: pa.Table, rows: int, seed: int, share: float = 0.25, level: int | None = None
) -> pa.Table:
    """Some rows with two random diseases each, and for each of these preferences of some people."""
    rng = np.random.default_rng(seed)
    some = table.take(pa.array(rng.permutation(table.num_rows)[:rows]))
    for name in COLUMNS:
        disease = pa.array(DISEASES).take(pa.array(rng.integers(0, len(DISEASES), rows)))
        asked = np.zeros(rows, bool)
        asked[rng.permutation(rows)[: round(share * rows)]] = True
        wishes = rng.integers(1, 5, rows) if level is None else np.full(rows, level)
        some = some.append_column(name, disease)
        some = some.append_column(f"{name} wish", pa.array(wishes, pa.int8(), mask=~asked))
    return some


def _release(
    table: pa.Table, protected: int, models: Sequence[Mapping[str, Any]], k: int, seed: int
) -> tuple[float, float, float]:
    from shoal.pipeline.run import anonymize_table
    from shoal.policy import Policy
    from shoal.progress import Clock, ignore_event

    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": HIERARCHIES[name]} for name in QUASI
    }
    columns["age"] = {"role": "quasi", "kind": "ordered"}
    for i, name in enumerate(COLUMNS[: max(1, protected)]):
        columns[name] = {"role": "sensitive", "levels": LEVELS, "hierarchy": {"tree": TREE}}
        if i < protected:
            columns[name]["preference"] = f"{name} wish"
            columns[f"{name} wish"] = "preference"
    policy = Policy.load(
        {
            "columns": columns,
            "constraints": [{"k": k}, *models],
            "method": "top-down",
            "metrics": ["ncp", "recognition-rate"],
            "default": "drop",
            "seed": seed,
        }
    )
    release = anonymize_table(table, policy, Clock(ignore_event))
    loss, rate = release.metrics["ncp"], release.metrics["recognition-rate"]
    assert loss is not None
    assert rate is not None
    return loss / len(QUASI) / table.num_rows, rate, release.suppressed_rows


def _averaged(runs: Sequence[tuple[float, float, float]]) -> Price:
    return Price(*np.mean(runs, axis=0).tolist())


def _measure_columns(found: Measurements, table: pa.Table, progress: StepProgress) -> None:
    sizes = found.sizes
    for at, k in enumerate(sizes.many_k):
        progress("several columns", at / len(sizes.many_k))
        for protected in CASES:
            models: list[Mapping[str, Any]] = []
            for name in COLUMNS[:protected]:
                models += [{"l": 4, "of": name}, {"alpha": 0.8, "of": name}]
            found.many[protected, k] = _averaged(
                [
                    _release(people(table, found.rows, seed), protected, models, k, seed)
                    for seed in range(sizes.repeats)
                ]
            )


def _measure_prices(found: Measurements, table: pa.Table, progress: StepProgress) -> None:
    sizes = found.sizes
    settings = [(what, value) for what in PRICES for value in found.places(what)]
    for at, (what, value) in enumerate(settings):
        progress("the price", at / len(settings))
        alpha = value if what == ALPHA else 0.8
        ell = int(value) if what == ELL else 2
        share = value / 100 if what == SHARE else 0.25
        level = int(value) if what == LEVEL else None
        models = [{"l": ell, "of": "disease"}, {"alpha": alpha, "of": "disease"}]
        found.prices[what, value] = _averaged(
            [
                _release(
                    people(table, found.rows, seed, share, level), 1, models, sizes.price_k, seed
                )
                for seed in range(sizes.repeats)
            ]
        )


def _measure_sizes(found: Measurements, table: pa.Table, progress: StepProgress) -> None:
    sizes = found.sizes
    cells = _cells(people(table, found.rows, 0))
    for at, k in enumerate(sizes.sized_k):
        progress("sizes of groups", at / len(sizes.sized_k))
        for column in SIZED:
            asked: dict[tuple[str, float], Model] = {
                (ELL, float(ell)): L(ell, column) for ell in sizes.sized_l
            }
            asked |= {(ALPHA, alpha): Alpha(alpha, column) for alpha in sizes.sized_alpha}
            for (model, figure), one in asked.items():
                (grouping,) = FlexiblePartition().group(
                    cells, Requirement((K(k), one)), 0, lambda _: None
                )
                found.sized[column, model, k, figure] = GroupSizes(
                    grouping.n_groups, int(np.bincount(grouping.group).max())
                )


def _cells(table: pa.Table) -> Cells:
    quasi = {name: ColumnSpec(kind="ordered" if name == "age" else "unordered") for name in QUASI}
    columns = {name: table[name].combine_chunks() for name in (*QUASI, "disease", "occupation")}
    sensitive = {name: ColumnSpec() for name in ("disease", "occupation")}
    return encode(columns.__getitem__, quasi, sensitive, [], 0)


def _measure_growth(found: Measurements, table: pa.Table, progress: StepProgress) -> None:
    sizes = found.sizes
    first = found.rows // 2
    every = people(table, found.rows, 1)
    requirement = Requirement((K(sizes.grown_k), L(sizes.grown_l, "disease")))
    before = {
        name: _values(every.slice(0, first), one, requirement, 0) for name, one in GROWN.items()
    }
    for at, growth in enumerate(sizes.growth):
        progress("growing tables", at / len(sizes.growth))
        grown = every.slice(0, first + first * growth // 100)
        for seed, (name, method) in enumerate(GROWN.items(), 1):
            after = _values(grown, method, requirement, seed)
            left = (before[name] & after[:first]).sum(axis=1)
            found.grown[name, growth] = Together(
                float((left == 1).mean()),
                float((left < sizes.grown_l).mean()),
                int(min(before[name].sum(axis=1).min(), after.sum(axis=1).min())),
            )


def _values(table: pa.Table, method: Method, requirement: Requirement, seed: int) -> Bools:
    """(rows, diseases) which values the group of each input row has."""
    cells = _cells(table)
    (grouping,) = method.group(cells, requirement, seed, lambda _: None)
    held = values_of_groups(cells, grouping)
    found = np.ones((cells.n_rows, held.shape[1]), np.bool_)  # of who is withheld nothing is learnt
    kept = grouping.group >= 0
    found[cells.rows[kept]] = held[grouping.group[kept]]
    return found


def values_of_groups(cells: Cells, grouping: Grouping) -> Bools:
    """(groups, diseases) which values each group has, by the order of `DISEASES`."""
    domain = cells.sensitive_domains["disease"]
    place = [DISEASES.index(text) for text in domain.texts.to_pylist()]
    held = np.zeros((grouping.n_groups, len(DISEASES)), np.bool_)
    rows, starts = rows_by_group(grouping.group, grouping.n_groups)
    group = np.repeat(np.arange(grouping.n_groups), np.diff(starts))
    held[group, np.array(place)[cells.sensitive["disease"][rows]]] = True
    return held


def figures(found: Measurements) -> tuple[Figure, ...]:
    """Two or more of each experiment."""
    return (
        *_figures_of_columns(found),
        *_figures_of_prices(found),
        *_figures_of_sizes(found),
        *_figures_of_growth(found),
    )


def _figures_of_columns(found: Measurements) -> list[Figure]:
    k = found.sizes.many_k
    return [
        Figure(
            f"columns-{name}",
            f"{title} against k, by how many sensitive columns are protected",
            "Future work of the paper on personalised protection",
            "k",
            label,
            lines_of(
                k,
                {
                    case: [getattr(found.many[protected, at], quantity) for at in k]
                    for protected, case in CASES.items()
                },
            ),
        )
        for quantity, name, title, label in (
            ("loss", "loss", "Loss", "mean NCP"),
            ("rate", "recognition-rate", "Recognition rate", "average recognition rate"),
        )
    ]


def _figures_of_prices(found: Measurements) -> list[Figure]:
    """Loss against recognition rate would hide what was changed, so both stand against it."""
    return [
        Figure(
            f"price-{what}-{name}",
            f"{title} against {axis.partition(',')[0]}",
            f"Utility against protection: k = {found.sizes.price_k}",
            axis,
            label,
            lines_of(x, {"top-down": [getattr(price, quantity) for price in prices]}),
        )
        for what, (axis, _) in PRICES.items()
        for x, prices in [found.along(what)]
        for quantity, name, title, label in (
            ("loss", "loss", "Loss", "mean NCP"),
            ("rate", "recognition-rate", "Recognition rate", "average recognition rate"),
        )
    ]


def _figures_of_sizes(found: Measurements) -> list[Figure]:
    sizes = found.sizes
    return [
        Figure(
            f"sizes-{model}-{column}",
            f"The largest group against {axis}, {SIZED[column]}",
            f"The rounded partition under k and {model}, {found.rows:,} rows",
            axis,
            "rows of the largest group, times k",
            lines_of(
                x,
                {
                    f"k = {k}": [found.sized[column, model, k, float(at)].largest / k for at in x]
                    for k in sizes.sized_k
                },
            ),
            log=True,
        )
        for column in SIZED
        for model, axis, x in ((ELL, "l", sizes.sized_l), (ALPHA, "α", sizes.sized_alpha))
    ]


def _figures_of_growth(found: Measurements) -> list[Figure]:
    x = found.sizes.growth
    return [
        Figure(
            f"growth-{name}",
            title,
            f"Two releases, each with l = {found.sizes.grown_l}",
            "rows added, % of the first release",
            "% of the people in both",
            lines_of(
                x,
                {
                    method: [100 * getattr(found.grown[method, at], quantity) for at in x]
                    for method in GROWN
                },
            ),
        )
        for quantity, name, title in (
            ("certain", "certain", "People whose value two releases give away"),
            ("fewer", "fewer", "People of whom two releases leave fewer than l values"),
        )
    ]


def judge(found: Measurements) -> tuple[Claim, ...]:
    """Our expectations, in the order of the experiments."""
    return (
        *_judge_columns(found),
        *(_judge_price(found, what) for what in PRICES),
        _judge_cheapest(found),
        *_judge_sizes(found),
        *_judge_growth(found),
    )


def _judge_columns(found: Measurements) -> list[Claim]:
    k = found.sizes.many_k
    none, one, two = ([found.many[case, at] for at in k] for case in CASES)
    first = [b.loss - a.loss for a, b in zip(none, one, strict=True)]
    second = [b.loss - a.loss for a, b in zip(one, two, strict=True)]
    cheaper = [b <= a for a, b in zip(first, second, strict=True)]
    rates = [b.rate / a.rate for a, b in zip(one, two, strict=True)]
    most = max(price.suppressed for price in two)
    return [
        judged(
            "Several sensitive columns: a second one with levels and preferences of its own can be "
            "protected at every k, and nobody is withheld",
            most == 0,
            f"mean NCP {between([p.loss for p in two])}, beside {between([p.loss for p in one])} with "
            "one column",
            f"At most {most:.3g} rows are withheld on average.",
        ),
        judged(
            "Several sensitive columns: the second adds no more loss than the first",
            all(cheaper),
            f"the first adds {between([100 * each for each in first])} points of NCP, the second "
            f"{between([100 * each for each in second])}",
            f"True at {sum(cheaper)} of {len(k)} values of k.",
        ),
        judged(
            "Several sensitive columns: each is recognised as seldom as when it is the only one (within "
            f"{100 * SAME_RATE:.0f} %)",
            all(abs(rate - 1) <= SAME_RATE for rate in rates),
            f"the mean rate of both is {between(rates)} times that of one",
            f"The rates differ by {100 * max(abs(rate - 1) for rate in rates):.1f} % at most.",
        ),
    ]


def _judge_price(found: Measurements, what: str) -> Claim:
    x, prices = found.along(what)
    losses, rates = [p.loss for p in prices], [p.rate for p in prices]
    wrong = falls(x, {"loss": losses, "recognition rate": [-rate for rate in rates]})
    moved = losses[-1] > losses[0] and rates[-1] < rates[0]
    return judged(
        f"{PRICES[what][1]} lowers the recognition rate and raises the loss, at every step",
        moved and not wrong,
        f"rate {rates[0]:.3f} to {rates[-1]:.3f}, mean NCP {losses[0]:.4f} to {losses[-1]:.4f}",
        "Both move as expected at every step.",
        f"Not at every step: {wrong}." if wrong else "One of the two does not move.",
    )


def _judge_cheapest(found: Measurements) -> Claim:
    """What a point of recognition rate costs, by what is changed."""
    cost = {}
    for what in PRICES:
        _, prices = found.along(what)
        gained = prices[0].rate - prices[-1].rate
        if gained > 0:
            cost[what] = (prices[-1].loss - prices[0].loss) / gained
    parts = "; ".join(
        f"{PRICES[what][0].partition(',')[0]}: {each:.3f}" for what, each in cost.items()
    )
    cheapest = min(cost, key=lambda what: cost[what])
    return judged(
        "Preferences lower the recognition rate for less loss than l does",
        SHARE in cost and ELL in cost and cost[SHARE] < cost[ELL],
        f"points of NCP for one point of rate, from the weakest to the strictest: {parts}",
        f"The cheapest is: {PRICES[cheapest][0].partition(',')[0]}.",
    )


def _judge_sizes(found: Measurements) -> list[Claim]:
    sizes = found.sizes
    claims = []
    for column, values in SIZED.items():
        within, total, worst = 0, 0, (0.0, "")
        for (name, model, k, figure), at in found.sized.items():
            if name != column or (model == ELL and 2 * figure > k):
                continue
            total += 1
            within += at.largest < 2 * k
            shown = f"{'l' if model == ELL else 'α'} = {figure:g} and k = {k}"
            worst = max(worst, (at.largest / k, shown))
        free = [found.sized[column, ELL, k, float(sizes.sized_l[0])] for k in sizes.sized_k]
        theorem = all(
            at.largest <= bound(found.rows, k) for k, at in zip(sizes.sized_k, free, strict=True)
        )
        claims.append(
            judged(
                f"Sizes of groups: with {values}, l up to k/2 or any α the largest group stays below "
                "2k rows",
                within == total,
                f"at most {worst[0]:.3g} times k, at {worst[1]}; with l = 1 the bound of Theorem 2 is "
                f"{'kept' if theorem else 'not kept'}",
                f"True at {within} of {total} settings.",
            )
        )
    shares = [
        (
            at.groups / (found.rows // k),
            f"{column}, {'l' if model == ELL else 'α'} = {figure:g}, k = {k}",
        )
        for (column, model, k, figure), at in found.sized.items()
        if model == ALPHA or 2 * figure <= k
    ]
    least, where = min(shares)
    return [
        *claims,
        judged(
            "Sizes of groups: under the same models at least half of the ⌊n/k⌋ groups are made",
            least >= 0.5,
            f"{percent(least)} to {percent(max(shares)[0])} of them",
            f"The fewest are made with {where}: {percent(least)}.",
        ),
    ]


def _judge_growth(found: Measurements) -> list[Claim]:
    x, ell = found.sizes.growth, found.sizes.grown_l
    certain = {name: [found.grown[name, at].certain for at in x] for name in GROWN}
    fewer = {name: [found.grown[name, at].fewer for at in x] for name in GROWN}
    alone = min(at.alone for at in found.grown.values())
    safest = min(certain, key=lambda name: mean(certain[name]))
    ranges = listed(
        [f"{name} {percent(min(y))} to {percent(max(y))}" for name, y in certain.items()], 4
    )
    shrinks = [name for name, y in certain.items() if any(b < a for a, b in pairwise(y))]
    return [
        judged(
            f"Growing tables: two releases with l = {ell} each still leave {ell} values for everybody",
            max(map(max, fewer.values())) == 0,
            "fewer are left for "
            + listed(
                [f"{name} {percent(min(y))} to {percent(max(y))}" for name, y in fewer.items()], 4
            ),
            f"Every group has {alone} values or more, but two groups seldom have {ell} in common.",
        ),
        judged(
            "Growing tables: two such releases make nobody's value certain",
            max(map(max, certain.values())) == 0,
            f"certain for {ranges}",
            f"Up to {percent(max(map(max, certain.values())))} of the people have one value left.",
        ),
        judged(
            "Growing tables: least is given away where groups do not depend on chance and equal values "
            "stay together (mondrian)",
            safest == "mondrian",
            f"certain for {ranges}",
            f"Least is given away by {safest}.",
        ),
        judged(
            "Growing tables: the more rows come in between, the more is given away",
            not shrinks,
            f"certain for {ranges}",
            f"It grows at every step with {len(certain) - len(shrinks)} of {len(certain)} methods.",
        ),
    ]
