"""Conformance checks for methods, models, metrics and presets.

Each check applies a plug-in to small random tables and raises an `AssertionError` that lists
everything the plug-in does wrong. All randomness has fixed seeds, and neither pytest nor hypothesis
is needed. The test of a plug-in begins with one line::

    from shoal.testing import check_model

    def test_conformance():
        check_model(Known)
"""

import dataclasses
import inspect
import math
import pickle
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter, ValidationError

import shoal
from shoal.arrays import Codes, Ints
from shoal.encoding.cells import Cells, encode, subset
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.counts import SCALE, Counts
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import SUPPRESSED, Grouping, rows_by_group, spans_of
from shoal.errors import Infeasible, PolicyError, ShoalWarning
from shoal.hierarchy.parsing import parse_hierarchy
from shoal.hierarchy.tree import HierarchyTree
from shoal.io.arrow import one_chunk
from shoal.methods.base import Method, counts_of_runs
from shoal.metrics.base import AdditiveMetric, Metric, Node, ReleaseView, add_sums
from shoal.models.base import Model
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from shoal.plugins import Plugin, describe
from shoal.policy import Policy
from shoal.presets.base import Preset

HIERARCHIES: Mapping[str, Any] = {
    "age": {"intervals": [5, 10, 20]},
    "zip": {"mask": "right"},
    "town": {"tree": {"north": ["t0", "t1"], "south": ["t2", {"coast": ["t3", "t4"]}]}},
}
"""The quasi-identifiers of `random_table`, with a hierarchy for each."""
LAYOUTS = (frozenset({"zip"}), frozenset(HIERARCHIES))
"""The columns that have their hierarchy: some, or all, as full-domain methods need it."""
CONSTRAINTS: tuple[tuple[Model, ...], ...] = ((K(3),), (K(2), L(2, "ill")), (L(3, "ill"),))
IMPOSSIBLE: tuple[tuple[Model, ...], ...] = ((K(61),), (L(9, "ill"),))
"""Constraints that no release of a `random_table` satisfies."""
TREE = ((0, 1, 2, 3, 4, 5, 6), (0, 0, 1, 1, 2, 3, 3), (0, 0, 0, 0, 1, 1, 1), (0,) * 7)
"""The hierarchy of `histograms`: seven leaves under four nodes under two under the root."""
STEP = 1.1e-4
"""Figures are stated with four decimals: made stronger by this, what is reached no longer holds."""

Values = Sequence[int | None]
Faults = Iterator[str]


def check_method(method: type[Method] | Method, *, tables: int = 6) -> None:
    """Check that a method keeps to what every method promises.

    Parameters
    ----------
    method
        A subclass of `Method`, which is then used with its default options, or an instance.
    tables
        The number of random tables.

    Raises
    ------
    AssertionError
        If a group does not satisfy the requirement, in rows or in people, a row is lost, the same
        seed gives two results, the order of the rows matters, progress runs backwards, the input is
        changed, an impossible requirement is not refused, or the class is not declared as a plug-in
        should be.
    """
    _raise_faults(method, _method_faults(method, tables))


def check_model(model: type[Model] | Model, *, tables: int = 40) -> None:
    """Check that a model is what it declares, on random groups.

    Parameters
    ----------
    model
        A subclass of `Model`, which is then checked on its `examples()`, or an instance.
    tables
        The number of random sets of groups.

    Raises
    ------
    AssertionError
        If `holds_when_merged`, `compares_with_table` or another declared fact is not true, `reached`
        contradicts `holds`, a group's result depends on other groups, `min_rows` is too large, or
        the class is not declared as a plug-in should be.
    """
    _raise_faults(model, _model_faults(model, tables))


def check_metric(metric: type[Metric] | Metric, *, tables: int = 20) -> None:
    """Check that a metric is what it declares, on random releases.

    Parameters
    ----------
    metric
        A subclass of `Metric`, which is then used with its default options, or an instance.
    tables
        The number of random releases.

    Raises
    ------
    AssertionError
        If `sums` over the parts of a release do not give the figure of the whole, `of_node` differs
        from `measure`, a metric with `only_worsens` improves, the order of the rows matters, the
        input is changed, or the class is not declared as a plug-in should be.
    """
    _raise_faults(metric, _metric_faults(metric, tables))


def check_preset(preset: type[Preset] | Preset) -> None:
    """Check that a preset is what it declares.

    Parameters
    ----------
    preset
        A subclass of `Preset`, which is then used with nothing stated, or an instance.

    Raises
    ------
    AssertionError
        If it names no title, sources, requirements or what a person must judge; if a weaker constraint
        beside it is accepted, or a policy with it cannot be written and read again; if its checks cannot
        be sent to another process, or find something wrong with suppressed cells; or if the class is not
        declared as a plug-in should be.
    """
    _raise_faults(preset, _preset_faults(preset))


def random_table(seed: int, rows: int = 60) -> pa.Table:
    """Return a table with the quasi-identifiers age, zip and town and the sensitive column ill.

    Some values are missing, and some rows are equal in all quasi-identifiers.
    """
    rng = np.random.default_rng(seed)
    copied = np.where(rng.random(rows) < 0.3, rng.integers(0, rows, rows), np.arange(rows))

    def column(values: Sequence[Any], order: Ints) -> pa.Array:
        drawn = pa.array(values).take(pa.array(rng.integers(0, len(values), rows)))
        missing = pa.array(rng.random(rows) < 0.05)
        return pc.if_else(missing, None, drawn).take(pa.array(order))

    return pa.table(
        {
            "age": column(range(20, 60), copied),
            "zip": column([f"{i:03}" for i in range(0, 1000, 37)], copied),
            "town": column([f"t{i}" for i in range(5)], copied),
            "ill": column([f"i{i}" for i in range(4)], np.arange(rows)),
        }
    )


def encoded(table: pa.Table, trees: Collection[str] = (), people: int | None = None) -> Cells:
    """Return a `random_table` as methods see it; the columns `trees` have their hierarchy.

    With `people` every row belongs to one of so many people.
    """
    quasi = {
        name: ColumnSpec(hierarchy=parse_hierarchy(tree)) if name in trees else ColumnSpec()
        for name, tree in HIERARCHIES.items()
    }
    if people is not None:
        ids = np.random.default_rng(people).integers(0, people, table.num_rows)
        table = table.append_column("id", pa.array(ids))
    person = None if people is None else "id"
    sensitive = {"ill": ColumnSpec()}
    return encode(lambda name: one_chunk(table[name]), quasi, sensitive, [], seed=0, person=person)


def histograms(
    groups: Sequence[Values],
    others: Values = (),
    tree: Sequence[Sequence[int]] | None = TREE,
    size: int = len(TREE[0]),
) -> Counts:
    """Return the histograms of groups of values, as models see them.

    Parameters
    ----------
    groups
        The sensitive values of each group, as codes; None is a missing value.
    others
        The values of the other rows of the table.
    tree
        The hierarchy of the values, level by level; None for values in an order.
    size
        The number of values of the column.

    Notes
    -----
    The population holds as many people equal to a row as its value leaves over when divided by 3; the
    sampling weight of a row is one more than what it leaves over when divided by 4.
    """
    tables = [sorted(Counter(v for v in group if v is not None).items()) for group in groups]
    entries = [entry for table in tables for entry in table]
    present = [v for group in (*groups, others) for v in group if v is not None]
    texts = pa.array([str(i) for i in range(size)], pa.string())
    domain = Domain("ill", Kind.RANGE, texts, -1)
    if tree is not None:
        labels = (tuple(f"{i}.{n}" for n in sorted(set(row))) for i, row in enumerate(tree))
        hierarchy = HierarchyTree(tuple(labels), np.array(tree, np.int32))
        domain = Domain("ill", Kind.TREE, texts, -1, hierarchy=hierarchy)
    return Counts(
        np.array([len(group) for group in groups], np.int64),
        np.concatenate([[0], np.cumsum([len(table) for table in tables])]).astype(np.int64),
        np.array([value for value, _ in entries], np.int32),
        np.array([count for _, count in entries], np.int64),
        domain,
        np.bincount(np.array(present, np.int64), minlength=size),
        population=np.array([sum((v or 0) % 3 for v in group) for group in groups], np.int64),
        weights=np.array([sum(1 + (v or 0) % 4 for v in group) for group in groups], np.int64)
        * SCALE,
    )


def _raise_faults(plugin: Any, faults: Faults) -> None:
    """Report all faults at once, each once; an exception of the plug-in is a fault as well."""
    listed: dict[str, None] = {}
    cause = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ShoalWarning
            )  # about the random tables, not the plug-in
            for fault in faults:
                listed.setdefault(fault)
    except Exception as error:
        cause = error
        listed.setdefault(f"{type(error).__name__}: {error}")
    if listed:
        lines = "\n".join(f"- {fault}" for fault in listed)
        raise AssertionError(f"{_class_of(plugin).__name__} does not conform:\n{lines}") from cause


def _class_of(plugin: Any) -> Any:
    return plugin if inspect.isclass(plugin) else type(plugin)


def _class_faults(plugin: Any, base: type[Plugin]) -> Faults:
    """The class: derived from its base, frozen, named and described."""
    cls = _class_of(plugin)
    if not issubclass(cls, base):
        raise TypeError(f"the class does not derive from {base.__name__}")
    if not (dataclasses.is_dataclass(_class_of(plugin)) and cls.__dataclass_params__.frozen):
        raise TypeError("the class is not a frozen dataclass, so its options can be changed")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", cls.name):
        yield f"the name '{cls.name}' is not in kebab case"
    text = inspect.cleandoc(vars(cls).get("__doc__") or "")
    if not text or text.startswith(f"{cls.__name__}("):
        yield "the class has no docstring of its own"
    elif not text.partition("\n")[0].endswith("."):
        yield "the first line of the docstring is not a whole sentence"
    elif base not in (Metric, Preset) and "Source:" not in text:
        yield "the docstring names no `Source:`"
    for option in describe(cls).options:
        if not option.text:
            yield f"the option '{option.name}' has no docstring"


def _instance_faults(plugin: Plugin) -> Faults:
    """An instance: pickled for worker processes, and written to the canonical policy."""
    copy = pickle.loads(pickle.dumps(plugin))
    if copy != plugin or hash(copy) != hash(plugin):
        yield f"{plugin} differs from its pickled copy"
    adapter = TypeAdapter(type(plugin))
    try:
        same = adapter.validate_python(adapter.dump_python(plugin, mode="json")) == plugin
    except ValidationError:
        same = False
    if not same:
        yield f"{plugin} cannot be read back from the JSON of its options"


# Methods.


def _method_faults(method: type[Method] | Method, tables: int) -> Faults:
    yield from _class_faults(method, Method)
    chosen = method if isinstance(method, Method) else method()
    yield from _instance_faults(chosen)
    accepted = [
        (trees, models)
        for models in CONSTRAINTS
        for trees in LAYOUTS
        if _accepts(chosen, trees, models)
    ]
    if not accepted:
        yield "check() refuses k and l, even if every column has a hierarchy"
        return
    for seed in range(tables):
        trees, models = accepted[seed % len(accepted)]
        yield from _grouping_faults(chosen, random_table(seed), trees, models, seed)
        yield from _release_faults(chosen, random_table(seed), trees, models, seed)
    alone = [one for one in accepted if all(isinstance(model, K) for model in one[1])]
    yield from _people_faults(chosen, *(alone or accepted)[0])
    yield from _infeasible_faults(chosen, accepted[0][0])


def _accepts(method: Method, trees: Collection[str], models: tuple[Model, ...]) -> bool:
    try:
        method.check(Requirement(models), {name: name in trees for name in HIERARCHIES})
    except PolicyError:
        return False
    return True


def _grouping_faults(
    method: Method, table: pa.Table, trees: Collection[str], models: tuple[Model, ...], seed: int
) -> Faults:
    """One call of `group`, and a second one with the same seed."""
    cells, requirement = encoded(table, trees), Requirement(models)
    before, shares = _frozen(cells), list[float]()
    groupings = method.group(cells, requirement, seed, shares.append)
    if _frozen(cells) != before:
        yield "group() changes the cells"
    if shares != sorted(shares) or any(not 0 <= share <= 1 for share in shares):
        yield "progress is not reported in ascending shares from 0 to 1"
    again = method.group(encoded(table, trees), requirement, seed, lambda _: None)
    if [one.group.tolist() for one in again] != [one.group.tolist() for one in groupings]:
        yield "two calls with the same seed give different groups"
    if sorted(c for one in groupings for c in one.columns) != list(range(len(cells.domains))):
        yield "the groupings do not cover every column exactly once"
    for grouping in groupings:
        yield from _group_faults(method, cells, requirement, grouping)


def _people_faults(method: Method, trees: Collection[str], models: tuple[Model, ...]) -> Faults:
    """One call of `group` on a table in which people have several rows, unless `check` refuses it."""
    requirement = Requirement(models, counts_people=True)
    try:
        method.check(requirement, {name: name in trees for name in HIERARCHIES})
    except PolicyError:
        return
    cells = encoded(random_table(0, rows=120), trees, people=40)
    for grouping in method.group(cells, requirement, 0, lambda _: None):
        for fault in _group_faults(method, cells, requirement, grouping):
            yield f"{fault}, where people have several rows and are counted"


def _group_faults(
    method: Method, cells: Cells, requirement: Requirement, grouping: Grouping
) -> Faults:
    group, n_groups = grouping.group, grouping.n_groups
    if len(group) != cells.n_rows:
        yield f"a grouping has {len(group)} rows, the table {cells.n_rows}"
        return
    if not np.array_equal(np.unique(group[group != SUPPRESSED]), np.arange(n_groups)):
        yield "groups are not numbered from 0 to n_groups - 1, each with some row"
        return
    counts = counts_of_runs(cells, requirement, *rows_by_group(group, n_groups))
    if not requirement.holds(counts).all():
        names = ", ".join(f"{model.name} = {model.figure:g}" for model in requirement.models)
        yield f"some groups do not satisfy {names}"
    cell = np.repeat(np.arange(cells.n_cells), cells.counts)
    if method.only_counts and (np.diff(group)[np.diff(cell) == 0] != 0).any():
        yield "only_counts is declared, but equal rows are in different groups"
    if grouping.levels is not None:
        lowest = spans_of(cells, dataclasses.replace(grouping, levels=None)).levels
        if grouping.levels.shape != lowest.shape or (grouping.levels < lowest).any():
            yield "the levels of some group are too low to cover its rows"


def _release_faults(
    method: Method, table: pa.Table, trees: Collection[str], models: tuple[Model, ...], seed: int
) -> Faults:
    """A whole run, verified on the published table, with the rows in two orders."""
    quasi = {
        name: {"role": "quasi", **({"hierarchy": tree} if name in trees else {})}
        for name, tree in HIERARCHIES.items()
    }
    policy = {
        "columns": {**quasi, "ill": "sensitive"},
        "constraints": models,
        "method": method,
        "seed": seed,
    }
    release = shoal.anonymize(table, policy)
    if release.published_rows + release.suppressed_rows != table.num_rows:
        yield "some rows are neither published nor suppressed"
    order = np.random.default_rng(seed).permutation(table.num_rows)
    if not release.table.equals(shoal.anonymize(table.take(pa.array(order)), policy).table):
        yield "the release depends on the order of the input rows"


def _infeasible_faults(method: Method, trees: Collection[str]) -> Faults:
    models = next(models for models in IMPOSSIBLE if _accepts(method, trees, models))
    try:
        method.group(encoded(random_table(0), trees), Requirement(models), 0, lambda _: None)
    except Infeasible:
        return
    yield f"{models[0].name} = {models[0].figure:g} is impossible, but Infeasible is not raised"


def _frozen(cells: Cells) -> bytes:
    """What no plug-in may change."""
    return pickle.dumps((cells.codes, cells.starts, cells.rows, cells.hashes, cells.sensitive))


# Models.


def _model_faults(model: type[Model] | Model, tables: int) -> Faults:
    yield from _class_faults(model, Model)
    cls = _class_of(model)
    if "high_is_strong" not in dir(cls):
        yield "high_is_strong is not declared"
        return
    first = dataclasses.fields(cls)[0].name.replace("_", "-")
    if first != cls.name:
        yield f"the first field is '{first}', but the model is '{cls.name}'"
    examples = [model] if isinstance(model, Model) else list(model.examples())
    if not examples:
        yield "examples() yields no instance"
    for example in examples:
        yield from _instance_faults(example)
        for seed in range(tables):
            rng = np.random.default_rng(seed)
            groups, others = _random_groups(rng), _random_groups(rng)[0]
            for fault in _judgement_faults(example, groups, others):
                yield f"{example}: {fault}"


def _random_groups(rng: np.random.Generator) -> list[list[int | None]]:
    """Two to six groups of up to 12 values, some missing; some groups have few different values."""
    groups: list[list[int | None]] = []
    for _ in range(rng.integers(2, 7)):
        different = rng.integers(1, 8)
        drawn = rng.integers(-1 if rng.random() < 0.5 else 0, different, rng.integers(1, 13))
        groups.append([None if v < 0 else int(v) for v in drawn])
    return groups


def _judgement_faults(model: Model, groups: Sequence[Values], others: Values) -> Faults:
    """What the model says of some groups of a table."""
    counts = histograms(groups, others)
    before = pickle.dumps(counts)
    held: Any = model.holds(counts)
    if np.asarray(held).dtype != np.bool_ or np.shape(held) != (len(groups),):
        yield "holds() does not give one truth value per group"
        return
    if pickle.dumps(counts) != before:
        yield "holds() changes the counts"
    if not np.array_equal(model.holds(counts), held):
        yield "holds() gives two different results"
    if (held & (counts.sizes < model.min_rows) & (counts.distinct() > 0)).any():
        yield "a group with fewer rows than min_rows holds"
    if (held & (counts.distinct() < model.min_values) & (counts.distinct() > 0)).any():
        yield "a group with fewer different values than min_values holds"
    enough = (counts.sizes >= model.min_rows) & (counts.distinct() >= model.min_values)
    if model.holds_with_values and (enough & ~held).any():
        yield "holds_with_values is declared, but a group with enough rows and values does not hold"
    if model.max_share < 1 and (held & (counts.largest() > model.max_share * counts.sizes)).any():
        yield "a group holds in which a value has more than max_share of the rows"
    if model.holds(histograms([], others)).tolist() != []:
        yield "holds() of no groups is not empty"
    yield from _dependence_faults(model, counts, groups, others)
    merged = histograms([[*groups[0], *groups[1]], *groups[2:]], others)
    if not model.holds(merged)[0]:
        if model.holds_when_merged and held[:2].all():
            yield "holds_when_merged is declared, but two groups that hold do not when merged"
        if model.holds_when_joined and held[:2].any():
            yield "holds_when_joined is declared, but a group that holds does not when joined"
    if model.stricter_when_folded:
        folded = histograms([_folded(group) for group in groups], _folded(others))
        if (model.holds(folded) & ~held).any():
            yield (
                "stricter_when_folded is declared, but a group holds with two values as one, and not "
                "without"
            )
    yield from _reached_faults(model, counts)
    everyone = histograms([[value for group in groups for value in group]])
    if not model.holds(everyone).all():
        if not model.advice(everyone).strip():
            yield "advice() is empty"
        needed = model.least_suppressed(everyone)
        if needed is not None and not 0 < needed <= everyone.sizes[0]:
            yield "least_suppressed() is not a number of rows"


def _folded(values: Values) -> list[int | None]:
    """The values, two of them as one."""
    return [0 if value == 1 else value for value in values]


def _dependence_faults(
    model: Model, counts: Counts, groups: Sequence[Values], others: Values
) -> Faults:
    """What a group's result may depend on besides its histogram is what the model declares."""

    def differs(other: Counts) -> bool:
        try:
            return not np.array_equal(model.holds(other), model.holds(counts))
        except AssertionError:  # what is not there was needed
            return True

    turned = dataclasses.replace(histograms(groups[::-1], others), totals=counts.totals)
    if not np.array_equal(model.holds(turned)[::-1], model.holds(counts)):
        yield "the result of a group depends on the other groups"
    if not model.compares_with_table and differs(dataclasses.replace(counts, totals=None)):
        yield "groups are compared with the table, but compares_with_table is not declared"
    if not model.needs_population and differs(dataclasses.replace(counts, population=None)):
        yield "the population is used, but needs_population is not declared"
    if not model.needs_weights and differs(dataclasses.replace(counts, weights=None)):
        yield "sampling weights are used, but needs_weights is not declared"
    sizes = histograms([[None] * len(group) for group in groups])
    sizes = dataclasses.replace(sizes, population=counts.population, weights=counts.weights)
    if not model.column and differs(sizes):
        yield "sensitive values are used, but the model names no column: use SensitiveModel"


def _reached_faults(model: Model, counts: Counts) -> Faults:
    """`reached`, `holds` and `holds_over` must agree."""
    reached, over = model.reached(counts), model.holds_over(counts)
    enough = reached >= model.figure if model.high_is_strong else reached <= model.figure
    if enough and not over:
        yield "reached() is as strong as required, but some group does not hold"
    if model.release_wide and model.holds(counts).all() and not over:
        yield "every group holds, but holds_over() does not: holds() must be sufficient"
    if not model.release_wide and over != model.holds(counts).all():
        yield "holds_over() differs from every group, but release_wide is not declared"
    if model.over(counts.n_groups, int(counts.sizes.sum())) not in (None, (over, reached)):
        yield "over() differs from holds_over() and reached()"
    stated = _with_figure(model, reached)
    if stated is not None and not stated.holds_over(counts):
        yield "what reached() states does not hold"
    step = 1.0 if isinstance(reached, int) else STEP * max(1.0, abs(reached) / 100)
    stronger = _with_figure(model, reached + step if model.high_is_strong else reached - step)
    if stronger is not None and stronger.holds_over(counts):
        yield "a stronger figure than what reached() states holds as well"


def _with_figure(model: Model, figure: float) -> Model | None:
    """The same model with another figure; None where it is not allowed."""
    try:
        return model.with_figure(figure) if math.isfinite(figure) else None
    except ValidationError:
        return None


# Metrics.


def _metric_faults(metric: type[Metric] | Metric, tables: int) -> Faults:
    yield from _class_faults(metric, Metric)
    chosen = metric if isinstance(metric, Metric) else metric()
    yield from _instance_faults(chosen)
    if "high_is_good" not in dir(chosen):
        yield "high_is_good is not declared"
        return
    for seed in range(tables):
        yield from _figure_faults(chosen, seed)
        yield from _node_faults(chosen, seed)


def _preset_faults(preset: type[Preset] | Preset) -> Faults:
    yield from _class_faults(preset, Preset)
    chosen = preset if isinstance(preset, Preset) else preset()
    yield from _instance_faults(chosen)
    for what in ("asks", "judged_by_people"):
        sentences = getattr(type(chosen), what, ())
        if not sentences or not all(text.endswith(".") for text in sentences):
            yield f"`{what}` does not hold whole sentences"
    if not getattr(type(chosen), "title", "") or not getattr(type(chosen), "sources", ()):
        yield "`title` or `sources` is not declared"
    own = [{"l": 2, "of": "ill"}]
    keys: dict[str, Any] = {"columns": {"years": "quasi", "ill": "sensitive"}, "preset": [chosen]}
    policy = Policy.load({**keys, "constraints": own})
    if Policy.load({**keys, "constraints": list(policy.constraints)}) != policy:
        yield "a policy with it is another one once its constraints are written"
    for model in chosen.constraints():
        if model not in policy.constraints:
            yield f"its constraint {model} is not in a policy with it"
        weaker = _weaker(model)
        if weaker is not None and not _refuses(chosen, {**keys, "constraints": [*own, weaker]}):
            yield f"a policy with the weaker {weaker} is accepted"
    for check in (check for rule in chosen.rules(policy) for check in rule.checks):
        if pickle.loads(pickle.dumps(check)) != check:
            yield f"{check} differs from its pickled copy"
        if any(check.broken(["*"])):
            yield f"{check} finds something wrong with a suppressed cell"


def _weaker(model: Model) -> Model | None:
    """A model with a weaker figure that its class accepts."""
    figure = model.figure - 1 if model.high_is_strong else model.figure * 2
    try:
        return model.with_figure(figure)
    except ValidationError:
        return None


def _refuses(preset: Preset, keys: Mapping[str, Any]) -> bool:
    """Whether a policy is refused by the name of a preset."""
    try:
        Policy.load(keys)
    except PolicyError as error:
        return preset.name in str(error)
    return False


def _view(cells: Cells, group: Codes, levels: Codes | None = None) -> ReleaseView:
    """A release of the cells in these groups, with a target class for every row."""
    n_groups = int(group.max(initial=-1)) + 1
    grouping = Grouping(group, n_groups, tuple(range(len(cells.domains))), levels)
    target = (cells.hashes % np.uint64(3)).astype(np.int32)
    spans = spans_of(cells, grouping)
    return ReleaseView(cells, (grouping,), (spans,), n_groups, group == SUPPRESSED, target)


def _figure_faults(metric: Metric, seed: int) -> Faults:
    """The figure of a release in any groups: of the whole, of its parts, and in two orders."""
    rng, table = np.random.default_rng(seed), random_table(seed)
    cells = encoded(table, {"zip"})
    drawn = np.append(SUPPRESSED, rng.integers(SUPPRESSED, 6, cells.n_rows))
    group = (np.unique(drawn, return_inverse=True)[1][1:] - 1).astype(np.int32)
    view, before = _view(cells, group), (_frozen(cells), group.tobytes())
    figure = metric.measure(view)
    if figure is not None and not (isinstance(figure, float | int) and math.isfinite(figure)):
        yield f"measure() gives {figure}, not a finite number or None"
        return
    if (_frozen(cells), group.tobytes()) != before:
        yield "measure() changes the release"
    if metric.measure(view) != figure:
        yield "measure() gives two different figures"
    shuffled = table.take(pa.array(rng.permutation(table.num_rows)))
    if not _close(metric.measure(_view(encoded(shuffled, {"zip"}), group)), figure):
        yield "the figure depends on the order of the input rows"
    if isinstance(metric, AdditiveMetric):
        part = np.where(group < 0, np.arange(len(group)) % 3, group % 3)
        parts = [_part(view, np.flatnonzero(part == i)) for i in range(3) if (part == i).any()]
        summed = metric.figure(add_sums(metric.sums(one) for one in parts), view.totals)
        if not _close(summed, figure):
            yield "sums() over the parts do not give the figure of the whole"


def _part(view: ReleaseView, rows: Ints) -> ReleaseView:
    """Whole groups of a release, and some of its suppressed rows."""
    group = view.groupings[0].group[rows]
    numbers = np.unique(group[group >= 0])
    renumbered = np.where(group < 0, SUPPRESSED, np.searchsorted(numbers, group)).astype(np.int32)
    return dataclasses.replace(_view(subset(view.cells, rows), renumbered), whole=view.totals)


def _node_faults(metric: Metric, seed: int) -> Faults:
    """Full-domain releases: a node of the lattice, one above it, and this with suppressed classes."""
    if not (metric.measures_nodes or metric.only_worsens):
        return
    rng, cells = np.random.default_rng(seed), encoded(random_table(seed), HIERARCHIES)
    heights = [domain.hierarchy.height for domain in cells.domains if domain.hierarchy]
    low = tuple(int(rng.integers(0, height + 1)) for height in heights)
    high = tuple(int(rng.integers(a, height + 1)) for a, height in zip(low, heights, strict=True))
    figures = []
    for levels, least in ((low, 1), (high, 1), (high, 3)):
        view, node = _full_domain(cells, levels, least)
        figures.append(metric.measure(view) if len(node.sizes) else None)
        if metric.measures_nodes and not _close(metric.of_node(node), metric.measure(view)):
            yield "of_node() differs from measure() of the same release"
    for better, worse in pairwise(figures):
        if metric.only_worsens and better is not None and worse is not None:
            improves = worse > better if metric.high_is_good else worse < better
            if improves and not _close(worse, better):
                yield "only_worsens is declared, but merging or suppressing improves the figure"


def _full_domain(cells: Cells, levels: tuple[int, ...], least: int) -> tuple[ReleaseView, Node]:
    """A release with each column at its level, without classes of fewer than `least` rows."""
    trees = [domain.hierarchy for domain in cells.domains if domain.hierarchy]
    columns = list(zip(trees, levels, cells.codes.T, strict=True))
    nodes = np.stack([tree.nodes[level][codes] for tree, level, codes in columns], axis=1)
    number = np.unique(nodes, axis=0, return_inverse=True)[1].ravel()
    sizes = np.bincount(number, cells.counts).astype(np.int64)
    kept = sizes >= least
    place = np.where(kept, np.cumsum(kept) - 1, SUPPRESSED).astype(np.int32)
    fixed = np.tile(np.array(levels, np.int32), (int(kept.sum()), 1))
    view = _view(cells, np.repeat(place[number], cells.counts), fixed)

    def rows_at(column: int) -> Ints:
        tree, level, _ = columns[column]
        rows, width = cells.counts * kept[number], int(tree.nodes[level].max()) + 1
        return np.bincount(nodes[:, column], rows, width).astype(np.int64)

    return view, Node(cells, levels, sizes[kept], rows_at)


def _close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
