"""Personalised (α,l)-diversity beside its two simpler models: loss, recognition rate and time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.reproduction.adult import HIERARCHIES, KNOWN_ROWS
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
from shoal.reproduction.timing import Stopwatch

QUASI = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex")
LEVELS = {
    4: ["HIV", "Cancer"],
    3: ["Phthisis", "Hepatitis"],
    2: ["Heart Disease", "Asthma"],
    1: ["Flu", "Indigestion"],
}
TREE = {
    "any disease": {
        "cardio-respiratory": {
            "respiratory infection": ["Flu", "Phthisis"],
            "chest disease": ["Asthma", "Heart Disease"],
        },
        "other": {
            "digestive disease": ["Indigestion", "Hepatitis"],
            "systemic disease": ["HIV", "Cancer"],
        },
    }
}
DISEASES = [disease for diseases in LEVELS.values() for disease in diseases]
DIVERSE = [{"l": 4, "of": "disease"}, {"alpha": 0.8, "of": "disease"}]
PLAIN, DIVERSITY, PERSONAL = "plain", "diverse", "personal"
MODELS = {PLAIN: "k-anonymity", DIVERSITY: "(α,l)-diversity", PERSONAL: "personalised"}
TREES, RANGES = "tree", "range"
FORMS = {TREES: "ages in a tree of height 6", RANGES: "ages as ranges"}
"""How ages are generalised: as the paper's Table 8 has it, and as its loss of numbers is defined."""
# the thresholds of the claims are ours
MEETING = 0.02
"""Losses that differ by less than this share have met."""
FLAT = 0.05
"""Rates that differ by less than this share are flat."""
CLOSE = 0.25
"""Times that differ by less than this share are close."""


@dataclass(frozen=True)
class Sizes:
    """How much is run; by default what the paper runs, as far as it says."""

    rows: int = KNOWN_ROWS
    """Of the figures against k; all the paper has."""
    k: tuple[int, ...] = (4, 5, 10, 15, 20, 25, 30)
    growing: tuple[int, ...] = (5_000, 10_000, 15_000, 20_000, 25_000, 30_000)
    """Rows of the figures against rows, as far as there are so many."""
    growing_k: int = 5
    repeats: int = 10
    range_repeats: int = 3
    """The same with ages as ranges, which the paper does not run."""


QUICK = Sizes(4_000, (4, 5, 10, 20, 30), (1_000, 2_000, 4_000), repeats=3, range_repeats=1)


@dataclass(frozen=True)
class Point:
    """One model at one setting, averaged over the repeats."""

    loss: float
    """NCP, summed over rows and columns, the sensitive one too."""
    rate: float
    """Of recognition, averaged over groups."""
    seconds: float
    suppressed: float
    """Rows that fit into no group."""


@dataclass(frozen=True)
class Measurements:
    """All points, by model and k or rows."""

    sizes: Sizes
    by_k: Mapping[tuple[str, int], Point]
    by_rows: Mapping[tuple[str, int], Point]

    def lines(self, quantity: str, along: str) -> dict[str, list[float]]:
        """One quantity of each model along `k` or `rows`."""
        x, points = self._along(along)
        return {
            name: [float(getattr(points[model, at], quantity)) for at in x]
            for model, name in MODELS.items()
        }

    def places(self, along: str) -> Sequence[int]:
        """The k, or the numbers of rows."""
        return self._along(along)[0]

    def settings(self) -> list[dict[str, Point]]:
        """The models side by side, at each k and each number of rows."""
        return [
            {model: points[model, at] for model in MODELS}
            for x, points in map(self._along, ("k", "rows"))
            for at in x
        ]

    def _along(self, along: str) -> tuple[Sequence[int], Mapping[tuple[str, int], Point]]:
        if along == "k":
            return self.sizes.k, self.by_k
        return self.sizes.growing, self.by_rows


class Personalised(Experiment):
    """Three models, one search: k-anonymity, (α,l)-diversity, and people's preferences on top."""

    name = "personalised"
    title = "Personalised (α,l)-diversity k-anonymity"
    source = (
        "Cao, Zhang, Bi and Zhao, “Personalized (α,l)-diversity k-anonymity model for privacy "
        "preservation”, Computer Science 45(11), 2018"
    )
    adult_columns = QUASI
    minutes = 12.0

    def __init__(self, sizes: Sizes | None = None) -> None:
        self.sizes = sizes

    def run(self, adult: pa.Table | None, quick: bool, progress: StepProgress) -> Findings:
        """Run the paper's experiments; `quick` on less, for about a minute."""
        assert adult is not None
        sizes = self.sizes or (QUICK if quick else Sizes())
        rows = min(adult.num_rows, sizes.rows)
        growing = tuple(n for n in sizes.growing if n <= adult.num_rows) or (rows,)
        sizes = replace(sizes, rows=rows, growing=growing)
        trees = measure(adult, sizes, TREES, progress)
        fewer = replace(sizes, repeats=sizes.range_repeats)
        ranges = measure(adult, fewer, RANGES, progress)
        most = max(
            point.suppressed
            for found in (trees, ranges)
            for at in found.settings()
            for point in at.values()
        )
        notes = (
            f"{rows:,} rows: those of Adult's first part that are complete in the seven "
            "quasi-identifiers, which gives the paper's 30,169 rows, its numbers of values and its "
            "span of 74 years.",
            f"Every figure is the mean of {sizes.repeats} runs ({sizes.range_repeats} with ages as "
            "ranges), each with its own rows, diseases, preferences and seed; l = 4 and α = 0.8.",
            "All three models group with “top-down”. Every column climbs a tree of our own with the "
            "height of the paper's Table 8; of ages the paper also defines a loss by ranges, so they "
            "are run in both forms, and a claim is judged on both.",
            f"Rows that fit nowhere are withheld: at most {most:.3g} on average. NCP counts them in "
            "full.",
            "Time is that of the processor, over all threads, for grouping and publishing (where the "
            "personal rule is applied), after compiling.",
        )
        claims = both_forms(judge(trees), judge(ranges))
        return Findings(claims, (*figures(trees), *figures_of_ranges(ranges)), notes)


def measure(table: pa.Table, sizes: Sizes, form: str, progress: StepProgress) -> Measurements:
    """Run all settings; the models take turns, so that other work of the machine slows all of them."""
    settings = [(k, sizes.rows) for k in sizes.k]
    settings += [(sizes.growing_k, rows) for rows in sizes.growing]
    settings = list(dict.fromkeys(settings))
    for model in MODELS:  # the first run compiles
        _run(sample(table, min(500, sizes.rows), 0), model, form, sizes.growing_k, 0)
    found: dict[tuple[str, int, int], Point] = {}
    for at, (k, rows) in enumerate(settings):
        runs: dict[str, list[tuple[float, ...]]] = {model: [] for model in MODELS}
        for seed in range(sizes.repeats):
            progress(FORMS[form], (at + seed / sizes.repeats) / len(settings))
            people = sample(table, rows, seed)
            for model in MODELS:
                runs[model].append(_run(people, model, form, k, seed))
        for model in MODELS:
            found[model, k, rows] = Point(*np.mean(runs[model], axis=0).tolist())
    return Measurements(
        sizes,
        {(m, k): found[m, k, sizes.rows] for m in MODELS for k in sizes.k},
        {(m, n): found[m, sizes.growing_k, n] for m in MODELS for n in sizes.growing},
    )


def sample(table: pa.Table, rows: int, seed: int) -> pa.Table:
    """Some of the rows, each with a random disease, and a random quarter with a random preference."""
    rng = np.random.default_rng(seed)
    some = table.take(pa.array(np.sort(rng.permutation(table.num_rows)[:rows])))
    disease = pa.array(DISEASES).take(pa.array(rng.integers(0, len(DISEASES), rows)))
    quarter = np.zeros(rows, bool)
    quarter[rng.permutation(rows)[: rows // 4]] = True
    wish = pa.array(rng.integers(1, 5, rows), pa.int8(), mask=~quarter)
    return some.append_column("disease", disease).append_column("wish", wish)


def _run(table: pa.Table, model: str, form: str, k: int, seed: int) -> tuple[float, ...]:
    from shoal.pipeline.run import anonymize_table
    from shoal.policy import Policy
    from shoal.progress import Clock

    watch = Stopwatch()
    policy = Policy.load(_policy(model, form, k) | {"seed": seed})
    release = anonymize_table(table, policy, Clock(watch))
    loss, rate = release.metrics["ncp"], release.metrics["recognition-rate"]
    assert loss is not None
    assert rate is not None
    seconds = watch.seconds["group"] + watch.seconds["publish"]
    return loss, rate, seconds, release.suppressed_rows


def _policy(model: str, form: str, k: int) -> dict[str, Any]:
    """By `top-down`: all by our trees, ages by theirs or as ranges."""
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": HIERARCHIES[name]} for name in QUASI
    }
    if form == RANGES:
        columns["age"] = {"role": "quasi", "kind": "ordered"}
    columns["disease"] = {"role": "sensitive", "levels": LEVELS, "hierarchy": {"tree": TREE}}
    if model == PERSONAL:
        columns["disease"]["preference"] = "wish"
        columns["wish"] = "preference"
    return {
        "columns": columns,
        "constraints": [{"k": k}, *([] if model == PLAIN else DIVERSE)],
        "method": "top-down",
        "metrics": ["ncp", "recognition-rate"],
        "default": "drop",
    }


def figures(found: Measurements) -> tuple[Figure, ...]:
    """Figures 2 to 7 of the paper."""
    quantities = (
        ("loss", "Loss", "NCP of the table"),
        ("rate", "Recognition rate", "average recognition rate"),
        ("seconds", "Time", "seconds"),
    )
    fixed = {"k": f"{found.sizes.rows:,} rows", "rows": f"k = {found.sizes.growing_k}"}
    return tuple(
        Figure(
            f"{title.lower().replace(' ', '-')}-by-{along}",
            f"{title} against {along}",
            f"Fig. {2 * i + j}: {fixed[along]}",
            along,
            label,
            lines_of(found.places(along), found.lines(quantity, along)),
        )
        for i, (quantity, title, label) in enumerate(quantities, 1)
        for j, along in enumerate(("k", "rows"))
    )


def figures_of_ranges(found: Measurements) -> tuple[Figure, ...]:
    """Loss and rate against k, with ages as ranges."""
    return tuple(
        replace(
            figure,
            name=f"{figure.name}-ranges",
            title=f"{figure.title}, {FORMS[RANGES]}",
            shows=f"{figure.shows.replace(':', ' in the other form:')}",
        )
        for figure in figures(found)
        if figure.x_label == "k" and figure.y_label != "seconds"
    )


def judge(found: Measurements) -> tuple[Claim, ...]:
    """Every claim of the paper, in the order of its figures."""
    return (*_judge_loss(found), *_judge_rate(found), *_judge_time(found))


def both_forms(trees: Sequence[Claim], ranges: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims as judged with both forms of ages."""
    return tuple(map(_both, trees, ranges))


def _both(tree: Claim, other: Claim) -> Claim:
    found = f"{tree.found}. With {FORMS[RANGES]}: {other.found}"
    if tree.verdict == other.verdict:
        return replace(tree, found=found, reason=f"{tree.reason} With {FORMS[RANGES]}, too.")
    reason = f"{tree.verdict} with {FORMS[TREES]}, {other.verdict} with {FORMS[RANGES]}."
    return Claim(tree.text, "depends", found, reason[0].upper() + reason[1:])


def _judge_loss(found: Measurements) -> list[Claim]:
    settings, k = found.settings(), found.sizes.k
    ordered = [at[PERSONAL].loss >= at[DIVERSITY].loss >= at[PLAIN].loss for at in settings]
    gaps = [found.by_k[DIVERSITY, at].loss / found.by_k[PLAIN, at].loss - 1 for at in k]
    return [
        judged(
            "Loss: personalised at least (α,l), (α,l) at least k-anonymity",
            all(ordered),
            "personalised loses "
            + between([at[PERSONAL].loss / at[PLAIN].loss for at in settings])
            + " times as much as k-anonymity",
            f"This is the order at {sum(ordered)} of {len(settings)} settings.",
        ),
        _judge_trend("Loss grows with k", found, "k", "loss", ",.0f"),
        _judge_trend("Loss grows with rows", found, "rows", "loss", ",.0f"),
        judged(
            f"The losses of (α,l) and k-anonymity meet for large k (within {100 * MEETING:.0f} %)",
            abs(gaps[-1]) < MEETING,
            f"apart by {100 * gaps[0]:.1f} % at k = {k[0]}, by {100 * gaps[-1]:.1f} % at k = {k[-1]}",
            f"At the largest k they are apart by {100 * gaps[-1]:.1f} %.",
        ),
    ]


def _judge_rate(found: Measurements) -> list[Claim]:
    settings = found.settings()
    lowest = [at[PERSONAL].rate <= min(at[DIVERSITY].rate, at[PLAIN].rate) for at in settings]
    spread = {name: max(y) / min(y) - 1 for name, y in found.lines("rate", "rows").items()}
    return [
        judged(
            "Recognition rate: personalised lowest",
            all(lowest),
            between([at[PERSONAL].rate / at[DIVERSITY].rate for at in settings])
            + " times that of (α,l)",
            f"It is the lowest at {sum(lowest)} of {len(settings)} settings.",
        ),
        _judge_trend("Recognition rate falls with k", found, "k", "rate", ".3f", up=False),
        judged(
            f"Recognition rate is flat in rows (within {100 * FLAT:.0f} %)",
            max(spread.values()) < FLAT,
            "; ".join(f"{name} within {100 * share:.1f} %" for name, share in spread.items()),
            f"The rates of each model lie within {100 * max(spread.values()):.1f} %.",
        ),
    ]


def _judge_time(found: Measurements) -> list[Claim]:
    k = found.sizes.k
    larger = k[len(k) // 2 :]
    columns = zip(*found.lines("seconds", "k").values(), strict=True)
    spread = {at: max(seconds) / min(seconds) - 1 for at, seconds in zip(k, columns, strict=True)}
    return [
        judged(
            f"Times are close for larger k (from k = {larger[0]} within {100 * CLOSE:.0f} %)",
            all(spread[at] < CLOSE for at in larger),
            "; ".join(f"within {100 * share:.0f} % at k = {at}" for at, share in spread.items()),
            f"From k = {larger[0]} on the three lie within "
            f"{100 * max(spread[at] for at in larger):.0f} %.",
        ),
        _judge_trend("Time grows with rows", found, "rows", "seconds", ".2g"),
    ]


def _judge_trend(
    text: str, found: Measurements, along: str, quantity: str, form: str, up: bool = True
) -> Claim:
    """Whether the lines of all models go up (or down) at every step."""
    lines = found.lines(quantity, along)
    ends = [f"{name} {line[0]:{form}} to {line[-1]:{form}}" for name, line in lines.items()]
    sign = 1 if up else -1
    wrong = falls(found.places(along), {m: [sign * y for y in line] for m, line in lines.items()})
    way = "grow" if up else "fall"
    steps = len(found.places(along)) - 1
    return judged(
        text,
        not wrong,
        "; ".join(ends),
        f"The figures of all three models {way} at each of {steps} steps.",
        f"The figures do not {way} at every step: {wrong}.",
    )
