"""One typed function for each task: the functions of `shoal`, and all that the command line calls.

Everything that a command shows is in the object that the function returns. Importing this module
loads no table library: each function imports what it needs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from shoal.errors import InputError, warn
from shoal.progress import Clock, ProgressCallback, ProgressEvent, displayed
from shoal.results import Result

if TYPE_CHECKING:
    import subprocess

    from shoal.analysis.counts import CountUtility as CountUtility
    from shoal.analysis.pairs import PairUtility as PairUtility
    from shoal.analysis.prediction import PredictionUtility as PredictionUtility
    from shoal.analysis.utility import Utility as Utility
    from shoal.comparison.comparison import Comparison as Comparison
    from shoal.comparison.outcome import Figures as Figures
    from shoal.decoding.decoder import Choice
    from shoal.decoding.files import Decoding as Decoding
    from shoal.engines.label_mapping import LabelMapping as LabelMapping
    from shoal.engines.measured import PersonalReport as PersonalReport
    from shoal.evidence.disclosure import Disclosure as Disclosure
    from shoal.evidence.estimated_risk import EstimatedRisk as EstimatedRisk
    from shoal.evidence.value_counts import ValueCounts as ValueCounts
    from shoal.evidence.weighted import Weighted as Weighted
    from shoal.hierarchy import Hierarchy
    from shoal.methods.base import Method
    from shoal.metrics.base import Metric as Metric
    from shoal.models.base import Model
    from shoal.pipeline.prepared import Prepared as Prepared
    from shoal.plugins import Option as Option
    from shoal.policy import Policy as Policy
    from shoal.policy.reading import Reading
    from shoal.presets.base import Preset
    from shoal.release import Frame, FrameT
    from shoal.release import Release as Release
    from shoal.reproduction.base import Claim as Claim
    from shoal.reproduction.base import Reproduction as Reproduction
    from shoal.risk.assessment import Assessment
    from shoal.risk.assessment import Reidentification as Reidentification
    from shoal.risk.assessment import RiskChange as RiskChange
    from shoal.risk.attack import Attack as Attack
    from shoal.risk.attack import Guess as Guess
    from shoal.risk.attack import Linkage as Linkage
    from shoal.risk.criteria import Criteria as Criteria
    from shoal.risk.criteria import Linkability as Linkability
    from shoal.risk.draft import Draft as Draft
    from shoal.risk.inspection import ColumnReport as ColumnReport
    from shoal.risk.inspection import Inspection as Inspection
    from shoal.risk.population import PopulationUniques as PopulationUniques
    from shoal.risk.uniqueness import MinimalUniques as MinimalUniques
    from shoal.sample import SamplePaths
    from shoal.verification.check import Finding as Finding
    from shoal.verification.check import Strength as Strength
    from shoal.verification.presets import PresetOutcome as PresetOutcome
    from shoal.verification.verification import CertificateCheck as CertificateCheck
    from shoal.verification.verification import Verification as Verification

    PathLike: TypeAlias = str | os.PathLike[str]
    PolicyLike: TypeAlias = Policy | Mapping[str, Any] | PathLike
    Names: TypeAlias = str | Iterable[str]
    Constraint: TypeAlias = Model | Mapping[str, Any]
    HierarchyLike: TypeAlias = Hierarchy | Mapping[str, Any] | PathLike

MethodName = Literal[
    "auto",
    "bottom-up",
    "classfly",
    "classfly-plus",
    "datafly",
    "flexible-partition",
    "incognito",
    "k-clustering",
    "l-clustering",
    "least-loss-partition",
    "local-recoding",
    "mondrian",
    "optimal",
    "top-down",
]
"""The methods that come with Shoal; those of other packages are given as objects."""
MetricName = Literal[
    "average-class-size",
    "cm",
    "dm",
    "dm-kept",
    "general-loss",
    "groups",
    "largest-group",
    "loss",
    "mean-group",
    "mean-ncp",
    "mean-ncp-by-importance",
    "ncp",
    "non-uniform-entropy",
    "precision",
    "query-error",
    "recognition-rate",
    "relative-loss",
    "relative-non-uniform-entropy",
    "suppressed-rows",
]
"""The metrics that come with Shoal; those of other packages are given as objects."""
NumberForm = Literal["midpoint", "bounds", "interval", "expected", "sample", "label"]
"""What ranges of numbers, dates and times can be decoded to."""
CategoryForm = Literal["label", "list", "indicators", "shares", "sample"]
"""What sets and nodes of hierarchies can be decoded to."""
LabelForm = Literal["range", "midpoint", "mean", "median", "mode", "uniform"]
"""The forms of labels of a quasi column."""
PluginKind = Literal["methods", "models", "metrics", "presets"]


def anonymize(
    data: FrameT | PathLike,
    policy: PolicyLike | None = None,
    *,
    identifiers: Names | None = None,
    quasi: Names | None = None,
    sensitive: Names | None = None,
    plain: Names | None = None,
    person: str | None = None,
    weight: str | None = None,
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the field's own letter
    t: float | None = None,
    constraints: Iterable[Constraint] | None = None,
    hierarchies: Mapping[str, HierarchyLike] | None = None,
    kinds: Mapping[str, Literal["ordered", "unordered"]] | None = None,
    orders: Mapping[str, Iterable[str]] | None = None,
    labels: Mapping[str, LabelForm] | None = None,
    importance: Mapping[str, float] | None = None,
    method: MethodName | Method | Mapping[str, Any] | None = None,
    refine: Literal["quick", "thorough"] | int | None = None,
    metrics: Iterable[MetricName | Metric | Mapping[str, Any]] | None = None,
    suppression: float | None = None,
    suppressed: Literal["withheld", "starred"] | None = None,
    order: Literal["sorted", "kept"] | None = None,
    publish: Literal["generalised", "anatomy"] | None = None,
    preset: str | Mapping[str, Any] | Iterable[Any] | None = None,
    default: Literal["drop"] | None = None,
    target: str | None = None,
    predict: str | None = None,
    population: Frame | PathLike | None = None,
    seed: int | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Release[FrameT]:
    """Make a table safe to publish.

    Give a policy, or describe one by keywords. Keywords beside a policy change it for this call.

    Parameters
    ----------
    data
        A pandas, polars, pyarrow, DuckDB or Spark table, the path of a file, or the address of a
        table or query in a database, such as `postgresql://host/db?table=visits`. The release has a
        table of the same kind (of a file or an address, a pyarrow table); the rows of a Spark table
        stay in Spark.
    policy
        A `Policy`, a mapping with its keys, YAML text of several lines, or the path of a YAML file.
    identifiers
        Columns that name a person: never published.
    quasi
        Quasi-identifiers: columns that others may know, and that are generalised. Their order breaks
        ties.
    sensitive
        Columns that nobody must learn about a person: published, and protected by `l` or `t`.
    plain
        Columns that are published unchanged.
    person
        The column that tells which rows are one person's, where people have several: never
        published. People are then counted in place of rows.
    weight
        The column with the sampling weights of a survey, by which the population is estimated;
        published only if the policy says so.
    k
        k-anonymity: every class has at least `k` rows (or people).
    l
        l-diversity: every class has at least `l` different values of each sensitive column.
    t
        t-closeness: in every class the distribution of each sensitive column is at most `t` away
        from that of the whole table.
    constraints
        Privacy models, as objects such as `shoal.Delta(0.5, of="disease")` or as in a policy. Beside
        a policy they replace its constraints.
    hierarchies
        The hierarchy of a column: a `shoal.Hierarchy`, the path of a CSV file, or as in a policy.
    kinds
        Whether a column without a hierarchy is generalised to ranges (`ordered`) or to sets
        (`unordered`).
    orders
        The values of an ordered text column, lowest first.
    labels
        The form of a quasi column's labels: `range` (the default), `midpoint`, `mean`, `median` or
        `mode` of the group, or `uniform`, one set of labels for the whole table.
    importance
        How much the detail of a quasi-identifier counts, as in `{"age": 3, "zip": 0}`: three times as
        much as that of the others, and nothing, so that it is given up first.
    method
        The method that forms the groups: its name, an object with its options, or a mapping with
        `name` and options.
    refine
        Rearrange the rows of the groups afterwards, so that the release loses less: `quick`,
        `thorough`, or how often all rows are looked at.
    metrics
        Metrics to measure in addition to the usual ones.
    suppression
        The largest share of rows that may be suppressed, from 0 to 1.
    suppressed
        Whether suppressed rows are left out, or published with every cell as `*`.
    order
        Whether the rows are sorted by what is published, or kept in the order of the input.
    publish
        `anatomy` publishes exact quasi-identifiers, and sensitive values in tables of their own.
    preset
        What an authority asks for: the name of a preset such as `cell-size-11`, or several, as in a
        policy. Its constraints need not be given.
    default
        `drop` leaves out the columns that have no role; otherwise such columns are an error.
    target
        The column whose classes the metric `cm` counts.
    predict
        The column that analysts will predict: quasi-identifiers count by what they tell about it. It is
        published, and not sensitive.
    population
        A table of the whole population, for `k-map` and `delta-presence`.
    seed
        The seed of all randomness; drawn at random when left out. The release has it as `seed`, for
        a run that is to give the same release again. Keep it private.
    read
        How the table is written, as under `read` in a policy, which it changes: `dates`, `decimal`,
        `thousands` and `missing`, and for files all that `run` takes.
    progress
        `True` shows a bar on a terminal or in a notebook; a function is called with every
        `shoal.ProgressEvent`.

    Returns
    -------
    Release
        The published table, what was verified on it, and what it cost.

    Raises
    ------
    PolicyError
        If the policy or a keyword is not valid, or does not fit the table.
    InputError
        If the table cannot be read.
    Infeasible
        If no release of this table can meet the policy.

    Warns
    -----
    ShoalWarning
        About anything that the publisher should think about; also in `Release.warnings`.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> patients = pd.DataFrame({
    ...     "name": ["Ann", "Ben", "Cem", "Dan", "Eva", "Fay"],
    ...     "age": [31, 36, 35, 61, 64, 62],
    ...     "disease": ["flu", "asthma", "flu", "cancer", "flu", "cancer"],
    ... })
    >>> policy = {
    ...     "columns": {"name": "identifier", "age": "quasi", "disease": "sensitive"},
    ...     "constraints": [{"k": 3}, {"l": 2, "of": "disease"}],
    ... }
    >>> release = shoal.anonymize(patients, policy, seed=0)
    >>> release.table
           age disease
    0  [31~36]     flu
    1  [31~36]     flu
    2  [31~36]  asthma
    3  [61~64]  cancer
    4  [61~64]  cancer
    5  [61~64]     flu

    The same without a policy, and a sweep over k:

    >>> same = shoal.anonymize(
    ...     patients, identifiers="name", quasi="age", sensitive="disease", k=3, l=2
    ... )
    >>> [shoal.anonymize(patients, policy, k=k).groups for k in (2, 3, 6)]
    [2, 2, 1]
    """
    keywords = _given(
        identifiers=identifiers,
        quasi=quasi,
        sensitive=sensitive,
        plain=plain,
        person=person,
        weight=weight,
        k=k,
        l=l,
        t=t,
        constraints=constraints,
        hierarchies=hierarchies,
        kinds=kinds,
        orders=orders,
        labels=labels,
        importance=importance,
        method=method,
        refine=refine,
        metrics=metrics,
        suppression=suppression,
        suppressed=suppressed,
        order=order,
        publish=publish,
        preset=preset,
        default=default,
        target=target,
        predict=predict,
        population=population,
        seed=seed,
    )
    with displayed(progress) as callback:
        from shoal.io.address import Place
        from shoal.pipeline.run import anonymize_table
        from shoal.policy import resolve_policy
        from shoal.policy.reading import reading_of

        def policy_for(names: list[str]) -> Policy:
            return resolve_policy(policy, names, keywords).reading(**(read or {}))

        table, options = _located(data), reading_of(read or {}).file
        if policy is not None and isinstance(table, Place):
            options = policy_for([]).read.file
        release = anonymize_table(table, policy_for, Clock(callback), options)
    warn(release.warnings)
    return release


def run(
    source: PathLike,
    policy: PolicyLike,
    target: PathLike,
    *,
    k: int | None = None,
    l: int | None = None,  # noqa: E741
    t: float | None = None,
    constraints: Iterable[Constraint] | None = None,
    method: MethodName | Method | Mapping[str, Any] | None = None,
    metrics: Iterable[MetricName | Metric | Mapping[str, Any]] | None = None,
    suppression: float | None = None,
    formulas: Literal["kept", "escaped"] | None = None,
    seed: int | None = None,
    seed_file: PathLike | None = None,
    report: PathLike | None = None,
    external_report: PathLike | None = None,
    key: PathLike | None = None,
    mapping: PathLike | None = None,
    force: bool = False,
    engine: str = "local",
    memory: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Release[Any]:
    """Anonymise a file or a database's table into another.

    What was written is read back and verified before it appears under its name. An error leaves
    nothing behind.

    Parameters
    ----------
    source
        A file of any format, a sheet such as `t.xlsx#Patients`, or the address of a table or query in
        a database; with `engine` or `memory` also a folder of part files.
    policy
        As for `anonymize`.
    target
        The file to write, whose extension decides the format (Spark writes a folder), or the address
        of a database's table. With
        `publish: anatomy` the tables of sensitive values are written beside it.
    k, l, t, constraints, method, metrics, suppression, seed
        Changes to the policy, as for `anonymize`.
    formulas
        `escaped` writes texts of a CSV file that a spreadsheet would run with an apostrophe in front, in
        place of the policy's `formulas`.
    seed_file
        A private file that keeps the seed: used if it exists, else written with the release, so that
        the same call gives the same release again.
    report
        Also write a report: a page as .html with its certificate beside it, or the certificate alone
        as .json.
    external_report
        Also write the report for those who get the release, in the same forms. It is made from the
        published rows and says nothing of the table behind them.
    key
        Also write the private key, where the policy has a person column: a .parquet, .csv or .arrow
        file that only its owner may read, with the published rows and a random number for the person
        of each. `verify` counts people with it.
    mapping
        Also write which label stands for which values, as a .json file, where columns have uniform
        labels. `apply` gives the rows of another table these labels.
    force
        Replace files that exist.
    engine
        `local`, `spark`, or the address of a Spark master such as `spark://host:7077`.
    memory
        For tables larger than memory: work on disk under this limit, such as `2GB`.
    separator, quote, encoding
        The format of a CSV file; detected if not given.
    read
        How the table is written, as under `read` in a policy, which it changes: `header`, `names`,
        `footer`, `sheet`, `skip`, `labels`, `separator`, `quote`, `encoding`, `decimal`, `thousands`,
        `dates`, `missing`.
    progress
        As for `anonymize`.

    Returns
    -------
    Release
        Its `output`, `sensitive_outputs`, `reports` and `key_output` are the files that were written.
        With `engine` or `memory` its `table` is None.

    Raises
    ------
    PolicyError, InputError, Infeasible
        As for `anonymize`.
    VerificationFailed
        If the written file does not hold every guarantee.

    Examples
    --------
    >>> import shoal
    >>> sample = shoal.write_sample("hospital", rows=500)
    >>> release = shoal.run(sample.table, sample.policy, "release.csv", k=10)
    >>> release.output.name, release.verified
    ('release.csv', True)
    """
    changes = _given(
        k=k,
        l=l,
        t=t,
        constraints=constraints,
        method=method,
        metrics=metrics,
        suppression=suppression,
        formulas=formulas,
        seed=seed,
    )
    keys = _keys(read, separator, quote, encoding)
    with displayed(progress) as callback:
        from shoal.io.address import place_of
        from shoal.pipeline.run import run_files
        from shoal.policy import Policy

        release = run_files(
            place_of(source),
            Policy.load(policy).with_changes(**changes).reading(**keys),
            place_of(target),
            Clock(callback),
            force=force,
            report=None if report is None else Path(report),
            external_report=None if external_report is None else Path(external_report),
            key=None if key is None else Path(key),
            engine=engine,
            memory=memory,
            seed_file=None if seed_file is None else Path(seed_file),
            mapping=None if mapping is None else Path(mapping),
        )
    warn(release.warnings)
    return release


def apply(
    mapping: LabelMapping | PathLike,
    data: FrameT | PathLike,
    *,
    suppress: bool = False,
    suppression: float | None = None,
    together_with: Release[Any] | Frame | PathLike | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Release[FrameT]:
    """Give the rows of another table the labels of an earlier release, and verify what comes of it.

    Parameters
    ----------
    mapping
        The `mapping` of a release, or the path of the file that it was written to.
    data
        A table with the same columns: a pandas, polars, pyarrow or DuckDB table, or the path of a file.
    suppress
        Leave out rows with a value that has no label, and rows of classes that do not satisfy the
        constraints; otherwise such rows are an error.
    suppression
        The same, up to this share of the rows, in place of the limit of the mapping's policy.
    together_with
        An earlier release by the same mapping: the guarantees must also hold for both as one table.
    read
        How a file is written, as for `run`.
    progress
        As for `anonymize`.

    Returns
    -------
    Release
        As of `anonymize`; the policy is the mapping's.

    Raises
    ------
    InputError
        If the mapping is damaged or for other columns, or values have no label.
    Infeasible
        If classes do not satisfy the constraints.
    VerificationFailed
        If the guarantees do not hold, for the new rows or for both releases together.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> may = pd.DataFrame({"age": [20, 22, 25, 31, 33, 38]})
    >>> release = shoal.anonymize(may, quasi="age", k=3, labels={"age": "uniform"})
    >>> june = pd.DataFrame({"age": [38, 21, 23, 24, 31, 32]})
    >>> shoal.apply(release.mapping, june).table["age"].unique().tolist()
    ['[20~25]', '[31~38]']
    """
    with displayed(progress) as callback:
        from shoal.engines.label_mapping import LabelMapping, read_mapping
        from shoal.pipeline.apply import apply_mapping
        from shoal.policy.reading import reading_of

        known = mapping if isinstance(mapping, LabelMapping) else read_mapping(Path(mapping))
        release = apply_mapping(
            known,
            _located(data),
            Clock(callback),
            suppress=suppress,
            suppression=suppression,
            earlier=together_with,
            options=reading_of(read or {}).file,
        )
    warn(release.warnings)
    return release


def verify(
    release: Release[Any] | Frame | PathLike,
    policy: PolicyLike | None = None,
    *,
    certificate: PathLike | None = None,
    key: Frame | PathLike | None = None,
    seed_file: PathLike | None = None,
    engine: str = "local",
    memory: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Verification:
    """Check what a published table holds, whoever made it.

    Parameters
    ----------
    release
        A `Release`, a frame or the path of a file. The other files of an Anatomy release are found
        beside its file. A Spark frame is checked in Spark.
    policy
        The policy with the guarantees; a `Release` has its own.
    certificate
        The .json file of a report, to be checked as well.
    key
        The private key that was written with the release, where the policy has a person column:
        people are counted with it. Without it only rows can be counted; a `Release` has its own key.
    seed_file
        The private file with the run's seed: the certificate's commitment is checked with it.
    engine, memory, separator, quote, encoding, read, progress
        As for `run`.

    Returns
    -------
    Verification
        A finding for each guarantee, the strongest figure of every other model, and the check of the
        certificate.

    Raises
    ------
    PolicyError
        If there is no policy, or it is not that of the release.
    InputError
        If the key is not that of the release.
    VerificationFailed
        If the release has columns that the policy does not publish.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> published = pd.DataFrame({"age": ["[31~36]"] * 3 + ["[61~64]"] * 2})
    >>> policy = {"columns": {"age": "quasi"}, "constraints": [{"k": 3}]}
    >>> verification = shoal.verify(published, policy)
    >>> verification.holds, verification[0].reached
    (False, 2)
    """
    with displayed(progress) as callback:
        from shoal.engines.anatomy_release import sensitive_files
        from shoal.engines.person_key import key_warnings
        from shoal.io.address import Address, public
        from shoal.pipeline.verify import examine, open_release, policy_of, unread_labels
        from shoal.report.certificate_check import differences_of, read_certificate
        from shoal.seeds import read as read_seed
        from shoal.verification.verification import CertificateCheck, Verification

        given = _reading(read, separator, quote, encoding)
        required, clock = policy_of(release, policy).reading(**given.values), Clock(callback)
        stated = None if certificate is None else read_certificate(Path(certificate))
        if seed_file is not None and stated is None:
            raise InputError(
                "A seed file is checked against the commitment of a certificate: give the certificate "
                "too, with --certificate (in Python certificate=)."
            )
        seed = None if seed_file is None else read_seed(Path(seed_file))
        with open_release(
            _located(release),
            required,
            clock,
            options=required.release_options(given.file),
            engine=engine,
            memory=memory,
            every_column=stated is not None,  # a certificate has a digest of all columns
            key=_located(key),
        ) as table:
            verdict = examine(table, required, clock)
            unread = unread_labels(table, required)
            check = None
            if certificate is not None and stated is not None:
                with clock.step("certificate"):
                    differences = differences_of(
                        stated,
                        required,
                        table,
                        verdict.findings,
                        table.sensitive_tables,
                        seed,
                        verdict.people,
                    )
                check = CertificateCheck(
                    Path(certificate),
                    stated["made"],
                    stated["shoal"],
                    tuple(differences),
                    without_people=required.person is not None and verdict.people is None,
                )
    located = _located(release)
    path = public(located) if isinstance(located, Path | Address) else None
    return Verification(
        findings=verdict.findings,
        strengths=verdict.strengths,
        quasi=required.quasi,
        preferences=tuple(required.preferences),
        largest_share=verdict.largest_share,
        certificate=check,
        path=path,
        sensitive_files={} if path is None else dict(sensitive_files(path, required)),
        person=required.person,
        people=verdict.people,
        warnings=tuple(key_warnings(_located(key))),
        unread=unread,
        presets=verdict.presets,
        starred=verdict.starred,
    )


def decode(
    release: Release[FrameT] | FrameT | PathLike,
    policy: PolicyLike | None = None,
    *,
    numbers: NumberForm = "midpoint",
    categories: CategoryForm = "label",
    forms: Mapping[str, NumberForm | CategoryForm] | None = None,
    seed: int = 0,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
) -> FrameT:
    """Turn the labels of a release into values to compute with.

    Only the release and its policy are used, never the table behind them. Types come back: a column
    that lost nothing has its values, integers as integers and dates as dates.

    Parameters
    ----------
    release
        A `Release`, a frame with published rows, or the path of a file.
    policy
        The policy of the release; a `Release` has its own.
    numbers
        What numbers, dates and times become. `midpoint`: the middle of a range. `bounds`: two columns,
        `age_low` and `age_high`. `interval`: intervals of pandas, else structs of `low` and `high`.
        `expected`: the mean of a range, estimated from the whole column, so that means have little
        bias. `sample`: a plausible value, drawn at random. `label`: the published text.
    categories
        What sets, nodes of hierarchies and ranges of ordered lists become. `label`: the published text.
        `list`: the values that a label stands for. `indicators`: a column per value, such as
        `country=Italy`, with 1 where a label may stand for it. `shares`: the same columns with the
        estimated share of each value. `sample`: a plausible value, drawn at random.
    forms
        The forms of single columns, such as `{"age": "bounds"}`.
    seed
        The seed of samples. Drawn values are in columns whose names end in `_sampled`.
    separator, quote, encoding, read
        As for `run`.

    Returns
    -------
    frame
        Of the kind that came in; of a file, a pyarrow table. Suppressed cells and missing values are
        missing. A label `*` has no midpoint and no bounds.

    Raises
    ------
    PolicyError
        If the policy is not that of the release.
    InputError
        If labels cannot be read, or a column cannot have the form.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> published = pd.DataFrame({"age": ["[31~36]", "40"], "town": ["{Ath, Mons}", "Huy"]})
    >>> policy = {"columns": {"age": "quasi", "town": "quasi"}, "constraints": [{"k": 1}]}
    >>> shoal.decode(published, policy)
        age         town
    0  33.5  {Ath, Mons}
    1  40.0          Huy
    >>> shoal.decode(published, policy, numbers="bounds", categories="indicators")
       age_low  age_high  town=Ath  town=Huy  town=Mons
    0       31        36         1         0          1
    1       40        40         0         1          0
    """
    from shoal.decoding.frames import decode_release
    from shoal.pipeline.verify import policy_of
    from shoal.release import Release as Made

    given = _reading(read, separator, quote, encoding)
    required = policy_of(release, policy).reading(**given.values)
    choice = _choice(numbers, categories, forms, seed)
    place = _located(release)
    if isinstance(place, Made):
        place = place.output if place.table is None else place.table
    decoded, notes = decode_release(place, required, choice, required.release_options(given.file))
    warn(notes)
    result: FrameT = decoded
    return result


def decode_file(
    release: PathLike,
    policy: PolicyLike,
    target: PathLike,
    *,
    numbers: NumberForm = "midpoint",
    categories: CategoryForm = "label",
    forms: Mapping[str, NumberForm | CategoryForm] | None = None,
    seed: int = 0,
    force: bool = False,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Decoding:
    """Decode a release in a file or a database into another file or table.

    The rows are read twice, some at a time, so that a release larger than memory can be decoded.

    Parameters
    ----------
    release
        A file of any format, a folder of part files, or the address of a database's table.
    policy
        The policy of the release.
    target
        The file to write, whose extension decides the format, or the address of a database's table.
        Only .parquet and .arrow files hold lists and intervals.
    numbers, categories, forms, seed
        As for `decode`.
    force
        Replace files that exist.
    separator, quote, encoding, read, progress
        As for `run`.

    Returns
    -------
    Decoding
        The file that was written, and what became of every column.

    Raises
    ------
    PolicyError, InputError
        As for `decode`.

    Examples
    --------
    >>> import shoal
    >>> sample = shoal.write_sample("for-decoding", rows=200)
    >>> release = shoal.run(sample.table, sample.policy, "published.csv", k=5)
    >>> shoal.decode_file("published.csv", sample.policy, "decoded.parquet").rows
    200
    """
    with displayed(progress) as callback:
        from shoal.decoding.files import decode_place
        from shoal.io.address import place_of
        from shoal.policy import Policy

        given = _reading(read, separator, quote, encoding)
        required = Policy.load(policy).reading(**given.values)
        found = decode_place(
            place_of(release),
            required,
            place_of(target),
            _choice(numbers, categories, forms, seed),
            Clock(callback),
            required.release_options(given.file),
            force,
        )
    warn(found.warnings)
    return found


def _choice(numbers: str, categories: str, forms: Mapping[str, str] | None, seed: int) -> Choice:
    """Return what to decode columns to."""
    from shoal.decoding.decoder import Choice

    return Choice(numbers, categories, tuple((forms or {}).items()), seed)


def inspect(
    data: Frame | PathLike,
    *,
    person: str | None = None,
    weight: str | None = None,
    fraction: float | None = None,
    msu: int | None = None,
    engine: str = "local",
    memory: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Inspection:
    """Look at a table before it is published: suggest roles, and count who stands out.

    Parameters
    ----------
    data
        A frame, the path of a file, or the address of a table or query in a database.
    person
        The column that tells which rows are one person's: people are counted in place of rows.
    weight
        The column of sampling weights of a survey, found by its name if not given: the risk in the
        population is estimated from it.
    fraction
        The share of a population that is in the table, to estimate how many people are unique there.
    msu
        The largest number of columns in a minimal sample unique; not searched if not given.
    engine, memory, separator, quote, encoding, read, progress
        As for `run`.

    Returns
    -------
    Inspection
        Counts and column names; no value of the table.

    Raises
    ------
    InputError
        If the table cannot be read or has no rows.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"name": ["Ann", "Ben", "Cem"], "age": [31, 36, 31]})
    >>> {column.name: column.role for column in shoal.inspect(people).columns}
    {'name': 'identifier', 'age': 'quasi'}
    """
    with displayed(progress) as callback:
        from shoal.risk.inspection import inspect

        found = inspect(
            _located(data),
            person=person,
            weight=weight,
            fraction=fraction,
            msu=msu,
            engine=engine,
            memory=memory,
            read=_reading(read, separator, quote, encoding),
            progress=callback,
        )
    warn(found.warnings)
    return found


def draft_policy(
    data: Frame | PathLike,
    path: PathLike | None = None,
    *,
    presets: Names = (),
    undecided: Literal["quasi", "identifier"] | None = None,
    force: bool = False,
    engine: str = "local",
    memory: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Draft:
    """Draft a commented policy for a table, from its column names and counts alone.

    Parameters
    ----------
    data
        A frame, the path of a file, or the address of a table or query in a database.
    path
        Where to write the policy; nothing is written if not given.
    presets
        What an authority asks for: names of presets, which the draft writes.
    undecided
        The role of all columns that the draft would leave undecided: `quasi` takes them as known to
        others, `identifier` leaves them out. Neither publishes a column as it is.
    force
        Replace a file that exists.
    engine, memory, separator, quote, encoding, read, progress
        As for `run`.

    Returns
    -------
    Draft
        Its `text` and `policy` can be given to `anonymize`, once a person has checked the roles.

    Raises
    ------
    InputError
        If the table cannot be read, has nothing to publish, or `undecided` is another role.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"name": list("abcdef"), "age": [31, 36, 35, 61, 64, 62]})
    >>> shoal.draft_policy(people).policy.quasi
    ('age',)
    """
    with displayed(progress) as callback:
        from shoal.risk.draft import draft_policy, write_draft

        given = _reading(read, separator, quote, encoding)
        chosen = [presets] if isinstance(presets, str) else list(presets)
        if path is None:
            return draft_policy(
                _located(data),
                presets=chosen,
                undecided=undecided,
                engine=engine,
                memory=memory,
                read=given,
                progress=callback,
            )
        return write_draft(
            _located(data),
            Path(path),
            force=force,
            presets=chosen,
            undecided=undecided,
            engine=engine,
            memory=memory,
            read=given,
            progress=callback,
        )


def assess(
    data: Release[Any] | Frame | PathLike,
    quasi: Names | None = None,
    *,
    policy: PolicyLike | None = None,
    population: Frame | PathLike | None = None,
    person: str | None = None,
    weight: str | None = None,
    household: str | None = None,
    key: Frame | PathLike | None = None,
    fraction: float | None = None,
    msu: int | None = None,
    threshold: float = 0.2,
    engine: str = "local",
    memory: str | None = None,
) -> Assessment:
    """Estimate the risk that people are re-identified in a table, raw or published.

    Parameters
    ----------
    data
        A `Release`, a frame or the path of a file. A Spark frame is counted in Spark.
    quasi
        The columns that an attacker knows; those of the policy if not given.
    policy
        The policy that the labels of a release are read by; a `Release` has its own.
    population
        A table with these columns and a row per person of the population: the journalist's and the
        marketer's risks are counted in it.
    person
        The column that tells which rows are one person's: people are counted, each where she shares
        her values with the fewest others. A policy may name it.
    weight
        The column of sampling weights of a survey: individual and global risk in the population are
        estimated from it. A policy may name it; of a release without its weights the estimate of the
        run is returned.
    household
        The column that tells which rows are one household's, beside a weight: if somebody is
        re-identified, so is the household.
    key
        The private key of a published table, by which its people are counted; a `Release` has its
        own.
    fraction
        The share of a population that is in the table, to estimate population uniques.
    msu
        The largest number of columns in a minimal sample unique; not searched if not given.
    threshold
        The risk above which a row (or person) counts as risky.
    engine, memory
        As for `run`; `population` and `msu` need a table in memory.

    Returns
    -------
    Assessment
        Prosecutor, journalist and marketer risk, and the estimates that were requested.

    Raises
    ------
    InputError
        If the table cannot be read, or lacks one of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> risk = shoal.assess(pd.DataFrame({"age": [31, 31, 36]}), "age").reidentification
    >>> risk.unique_rows, risk.prosecutor.highest
    (1, 1.0)
    """
    from shoal.risk.assessment import assess

    columns = quasi if quasi is None or isinstance(quasi, str) else list(quasi)
    return assess(
        _located(data),
        columns,
        population=_located(population),
        policy=policy,
        person=person,
        weight=weight,
        household=household,
        key=_located(key),
        fraction=fraction,
        msu=msu,
        threshold=threshold,
        engine=engine,
        memory=memory,
    )


def attack(
    release: Release[Any] | Frame | PathLike,
    policy: PolicyLike | None = None,
    *,
    known: Frame | PathLike,
    raw: Frame | PathLike | None = None,
    on: Names | None = None,
    key: Frame | PathLike | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Attack:
    """Try to find known people in a release, and count what is learnt about them.

    Parameters
    ----------
    release
        A `Release`, a frame or the path of a file.
    policy
        The policy that its labels are read by; a `Release` has its own.
    known
        What the attacker knows: a frame or a file, with a row per person.
    raw
        The raw table, attacked as well for comparison.
    on
        The columns to link on. When left out, all that the release and the known table share but
        sensitive ones, which only this names.
    key
        The private key that was written with the release, where the policy has a person column: it
        tells how many people are pinned to the rows of one person. A `Release` has its own.
    separator, quote, encoding, read, progress
        As for `run`.

    Returns
    -------
    Attack
        Counts; no value of any person.

    Raises
    ------
    InputError, PolicyError
        If a table cannot be read, or the tables share no column to link on.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"age": [31, 36, 61, 64], "disease": ["flu", "flu", "flu", "cancer"]})
    >>> release = shoal.anonymize(people, quasi="age", sensitive="disease", k=2)
    >>> found = shoal.attack(release, known=people, raw=people)
    >>> found.raw.pinned, found.release.pinned
    (4, 0)
    """
    with displayed(progress) as callback:
        from shoal.risk.attack import attack

        found = attack(
            _located(release),
            policy,
            known=_located(known),
            raw=_located(raw),
            on=on,
            key=_located(key),
            read=_reading(read, separator, quote, encoding),
            progress=callback,
        )
    warn(found.warnings)
    return found


def criteria(
    release: Release[Any] | Frame | PathLike,
    policy: PolicyLike | None = None,
    *,
    raw: Frame | PathLike | None = None,
    key: Frame | PathLike | None = None,
    engine: str = "local",
    memory: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Criteria:
    """Measure what opinion 05/2014 asks of a release: singling out, linkability and inference.

    Parameters
    ----------
    release
        A `Release`, a frame or the path of a file.
    policy
        The policy that its labels are read by; a `Release` has its own.
    raw
        The raw table, whose people are linked to the release.
    key
        The private key that was written with the release, where the policy has a person column: people
        are counted with it. A `Release` has its own.
    engine, memory, separator, quote, encoding, read, progress
        As for `run`. A raw table is linked only in memory.

    Returns
    -------
    Criteria
        Counts and shares, each with what it does not show; no value of any person.

    Raises
    ------
    InputError, PolicyError
        If a table cannot be read, or the policy is not that of the release.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"age": [31, 36, 61, 64], "disease": ["flu", "flu", "flu", "cancer"]})
    >>> release = shoal.anonymize(people, quasi="age", sensitive="disease", k=2)
    >>> found = shoal.criteria(release, raw=people)
    >>> found.singling_out.alone_on_quasi, found.linkability.linked_on_quasi
    (0, 0.5)
    >>> found.inference.columns["disease"].certain
    2
    """
    with displayed(progress) as callback:
        from shoal.engines.capabilities import refuse_task
        from shoal.engines.sessions import is_out_of_core, is_spark
        from shoal.pipeline.verify import open_release, policy_of
        from shoal.release import Release as Made
        from shoal.risk.attack import attack
        from shoal.risk.criteria import criteria_of

        given = _reading(read, separator, quote, encoding)
        required, clock = policy_of(release, policy).reading(**given.values), Clock(callback)
        frame = release.table if isinstance(release, Made) else release
        attacked = None
        if raw is not None:
            if is_out_of_core(engine, memory) or is_spark(frame):
                refuse_task("large", "raw")
            attacked = attack(
                _located(release), required, known=_located(raw), key=_located(key), read=given
            )
        with (
            open_release(
                _located(release),
                required,
                clock,
                options=required.release_options(given.file),
                engine=engine,
                memory=memory,
                every_column=True,
                key=_located(key),
            ) as table,
            clock.step("measure"),
        ):
            return criteria_of(table, required, attacked)


def compare(
    data: Frame | PathLike,
    policy: PolicyLike,
    *,
    methods: Names | None = None,
    k: int | Iterable[int] | str | None = None,
    budget: float | None = None,
    by: str | None = None,
    target: str | None = None,
    seed: int | None = None,
    output: PathLike | None = None,
    force: bool = False,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Comparison:
    """Run several methods on one table and recommend one.

    Every release is verified, measured and thrown away.

    Parameters
    ----------
    data
        A frame, the path of a file, or the address of a table or query in a database.
    policy
        As for `anonymize`. Its own method keeps its options; the others have their defaults.
    methods
        Names of methods; all of them if not given.
    k
        One or several k in place of that of every k constraint.
    budget
        Seconds after which a run is stopped.
    by
        What decides: `relative-non-uniform-entropy`, the information lost, if not given; the name of
        another metric, such as `mean-ncp` or `query-error`; or `accuracy`, what a model that is
        trained on the release predicts of raw rows that it has not seen.
    target
        The column that is predicted, for `accuracy`: quasi or plain.
    seed
        A seed in place of the policy's; all methods run with the same one.
    output
        Write the comparison: a page as .html with .json beside it, or .json alone.
    force
        Replace files that exist.
    separator, quote, encoding, read
        As for `run`.
    progress
        As for `anonymize`; the events have a `method` and a `k`.

    Returns
    -------
    Comparison
        What each method loses, how risky it leaves the table, how long it takes, and which to use.

    Raises
    ------
    PolicyError, InputError
        As for `anonymize`. A method that cannot meet the policy is part of the result.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"age": [31, 36, 35, 61, 64, 62]})
    >>> policy = {"columns": {"age": "quasi"}, "constraints": [{"k": 3}]}
    >>> shoal.compare(people, policy, methods=["mondrian"]).recommended.method
    'mondrian'
    """
    from shoal.comparison.child import Child

    with displayed(progress) as callback, Child(models=by == "accuracy") as child:
        from shoal.comparison.comparison import compare
        from shoal.comparison.page import check_output
        from shoal.policy import Policy

        if output is not None:
            source = _located(data)
            check_output(Path(output), force, source if isinstance(source, Path) else None)
        keys = _keys(read, separator, quote, encoding)
        required = Policy.load(policy).with_changes(seed=seed).reading(**keys)
        names = methods if methods is None or isinstance(methods, str) else list(methods)
        ks = k if k is None or isinstance(k, int | str) else list(k)
        found = compare(
            _located(data), required, child, names, ks, budget, callback, by=by, target=target
        )
    warn(found.warnings)
    if output is None:
        return found
    return replace(found, outputs=tuple(found.write(Path(output), force)))


def utility(
    raw: Frame | PathLike,
    release: Release[Any] | Frame | PathLike,
    policy: PolicyLike | None = None,
    *,
    target: str | None = None,
    queries: str | Iterable[str | Iterable[str]] = (),
    held_out: Frame | PathLike | None = None,
    seed: int = 0,
    output: PathLike | None = None,
    force: bool = False,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    read: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback = False,
) -> Utility:
    """Measure what a release is still good for: distributions, associations, counts and models.

    Parameters
    ----------
    raw
        The table that the release was made from.
    release
        A `Release`, a frame or the path of a file.
    policy
        The policy of the release; a `Release` has its own.
    target
        A published column that models predict from all others. The raw rows are split; a release of
        three quarters of them, made by the policy, trains models that are tested on the others.
    queries
        Your own counts: names of columns, separated by commas, such as `"sex, region"`; or several.
    held_out
        Raw rows that have no part in the release. Models are then trained on the release itself and
        tested on these.
    seed
        The seed of drawn values and of the split.
    output
        Write a page (`.html`) with JSON beside it, or the JSON alone (`.json`).
    force
        Replace files that exist.
    separator, quote, encoding, read, progress
        As for `run`.

    Returns
    -------
    Utility
        Figures of both tables; `to_frame()` has a row per column. They are figures of the raw table,
        and not made to be published.

    Raises
    ------
    PolicyError
        If the policy is not that of the release.
    InputError
        If the raw table does not fit the release, or the target is not published.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"age": [31, 36, 61, 64], "sex": ["f", "m", "f", "m"]})
    >>> release = shoal.anonymize(people, quasi=["age", "sex"], k=2)
    >>> found = shoal.utility(people, release, queries="sex")
    >>> [one.column for one in found.columns], found.counts[0].cells
    (['age', 'sex'], 2)
    """
    with displayed(progress) as callback:
        from shoal.analysis.page import check_output
        from shoal.analysis.utility import measure_utility, written

        if output is not None:
            check_output(Path(output), force)
        found = measure_utility(
            _located(raw),
            _located(release),
            policy,
            target=target,
            queries=_queries(queries),
            held_out=_located(held_out),
            seed=seed,
            read=_reading(read, separator, quote, encoding),
            progress=callback,
        )
        if output is not None:
            found = written(found, found.write(Path(output), force))
    warn(found.warnings)
    return found


def _queries(given: str | Iterable[str | Iterable[str]]) -> list[list[str]]:
    """Each query as a list of columns."""
    every = [given] if isinstance(given, str) else list(given)
    return [
        [name.strip() for name in one.split(",")] if isinstance(one, str) else list(one)
        for one in every
    ]


def reproduce(
    name: str,
    *,
    adult: PathLike | None = None,
    quick: bool = False,
    folder: PathLike | None = None,
    force: bool = False,
    progress: bool | ProgressCallback = False,
) -> Reproduction:
    """Run the experiments of a paper again, and compare the results with its claims.

    Parameters
    ----------
    name
        `classfly-plus`, `flexible-partition`, `l-clustering` or `personalised`, or
        `further-questions`, which the papers leave open.
    adult
        The Adult table, a file or its folder, for papers that use it; otherwise a similar table is
        generated.
    quick
        Use less data, for about a minute.
    folder
        Where to write a page, the figures and their data; nothing is written if not given.
    force
        Replace files that exist.
    progress
        As for `anonymize`.

    Returns
    -------
    Reproduction
        The claims with a verdict on each, and the figures.

    Raises
    ------
    InputError
        If there is no such experiment, or the Adult table cannot be read.

    Examples
    --------
    >>> import shoal
    >>> shoal.reproduce("flexible-partitions")
    Traceback (most recent call last):
    shoal.errors.InputError: there is no experiment 'flexible-partitions'; ...
    """
    with displayed(progress) as callback:
        from shoal.reproduction.run import reproduce

        table = None if adult is None else Path(adult)
        place = None if folder is None else Path(folder)
        return reproduce(name, table, quick, place, callback, force=force)


def expected_minutes(name: str, quick: bool = False) -> float:
    """Return about how long `reproduce` takes on two cores."""
    from shoal.reproduction.run import experiment

    return 1 if quick else experiment(name).minutes


def prepare(data: Frame | PathLike) -> Prepared:
    """Keep a table in memory, read and encoded, for many releases under changing policies.

    A change of k, of any constraint or of the method then starts at the grouping.

    Parameters
    ----------
    data
        A frame, the path of a file, or the address of a table or query in a database.

    Returns
    -------
    Prepared
        Its `release` makes a release under a policy.

    Raises
    ------
    InputError
        If it is no table.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> from shoal.api import prepare, read_policy
    >>> people = prepare(pd.DataFrame({"age": [31, 36, 35, 61, 64, 62]}))
    >>> policy = read_policy("{columns: {age: quasi}, constraints: [{k: 2}], seed: 0}")
    >>> [people.release(policy.with_changes(k=k)).groups for k in (2, 3, 6)]
    [2, 2, 1]
    >>> people.encodings
    1
    """
    from shoal.pipeline.prepared import Prepared

    return Prepared(_located(data))


def check_source(data: PathLike) -> None:
    """Raise `InputError` unless a file or a database's table can be read; reads no rows."""
    from shoal.engines.sources import source_at

    source_at(_located(data))


def read_policy(
    text: str,
    *,
    name: str = "policy.yaml",
    folder: PathLike = ".",
    columns: Iterable[str] | None = None,
) -> Policy:
    """Read and check the text of a policy, as the command line does with its file.

    Parameters
    ----------
    text
        YAML.
    name
        What messages call the file.
    folder
        Where relative paths in the policy start.
    columns
        The table's columns, which the policy must fit; not checked if not given.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    PolicyError
        With every mistake on a line of its own, each with its line in the text.
    """
    from shoal.policy import Policy

    policy = Policy.from_text(text, name, Path(folder))
    if columns is not None:
        from shoal.pipeline.run import check_policy

        check_policy(policy, list(columns))
    return policy


def risk_change(release: Release[Any], threshold: float = 0.2) -> RiskChange:
    """Compare the re-identification risks of a release with those of its table.

    Parameters
    ----------
    release
        A release that was made in memory.
    threshold
        The risk above which a row (or person) counts as risky.

    Returns
    -------
    RiskChange
        The risks of the three attackers before and after, and how many rows (or people) are in
        classes of each size.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> from shoal.api import risk_change
    >>> release = shoal.anonymize(pd.DataFrame({"age": [31, 31, 36, 61]}), quasi="age", k=2)
    >>> change = risk_change(release)
    >>> change.raw.prosecutor.highest, change.now.prosecutor.highest, change.below(2)
    (1.0, 0.5, (2, 0))
    """
    from shoal.risk.assessment import risk_change

    return risk_change(release, threshold)


def call_when_compiling(announce: Callable[[], None]) -> None:
    """Have a function called whenever a loop is about to be compiled.

    That happens once per machine and loop and can take seconds; compiled loops are kept on disk.

    Parameters
    ----------
    announce
        Called in the thread that waits for the compiler; it must not raise.
    """
    from shoal.kernels.jit import on_compile

    on_compile.append(announce)


def write_sample(
    folder: PathLike, rows: int = 10_000, seed: int = 7, *, force: bool = False
) -> SamplePaths:
    """Write a generated hospital table with two policies for it.

    Parameters
    ----------
    folder
        Where to write; it is created if it does not exist.
    rows
        The number of patients.
    seed
        Another seed generates other patients.
    force
        Replace the files of an earlier sample.

    Returns
    -------
    SamplePaths
        The files: `table`, `policy`, `personal` (a policy with personal preferences) and
        `hierarchies`.

    Raises
    ------
    InputError
        If the files exist already.

    Examples
    --------
    >>> import shoal
    >>> shoal.write_sample("sample", rows=100).policy.name
    'policy.yaml'
    """
    from shoal.sample import write_sample

    return write_sample(Path(folder), rows, seed, force=force)


class Studio:
    """A studio that was started from Python: its address, its policy, and how to stop it."""

    def __init__(self, process: subprocess.Popen[str], address: str, policy: Path, folder: str):
        self.address = address
        """To be opened in a browser; it works once."""
        self.policy = policy
        """The file that the studio edits, for `anonymize` and `run`."""
        import atexit

        self._process, self._folder = process, folder
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the studio, and remove its copy of the table."""
        import atexit
        import shutil
        import subprocess

        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        atexit.unregister(self.stop)

    def __repr__(self) -> str:
        if self._process.poll() is not None:
            return "A studio that was stopped"
        return f"The studio is at {self.address}\nIts policy: {self.policy}"


def studio(
    data: Frame | PathLike,
    policy: PathLike | None = None,
    *,
    port: int | None = None,
    browser: bool = True,
) -> Studio:
    """Open the studio on a table: see and steer a release in the browser.

    It runs in a process of its own, on 127.0.0.1 alone, until it or Python is stopped.

    Parameters
    ----------
    data
        A frame, the path of a file, or the address of a table in a database. A frame is copied to a
        private file that is removed when the studio stops.
    policy
        The file with the policy, which is drafted if it does not exist: by default beside the file,
        and for a frame `table.policy.yaml` in the working folder.
    port
        The port on 127.0.0.1; a free one if not given.
    browser
        Open the address in the default browser.

    Returns
    -------
    Studio
        Its `policy` is the file that the studio edits.

    Raises
    ------
    InputError
        If the table cannot be read, or the packages of `shoal[studio]` are not installed.

    Examples
    --------
    >>> import shoal
    >>> running = shoal.studio("hospital.csv")  # doctest: +SKIP
    >>> running.stop()  # doctest: +SKIP
    """
    import subprocess
    import tempfile
    import webbrowser

    from shoal.io.address import Place

    place = _located(data)
    folder = tempfile.mkdtemp(prefix="shoal-studio-")
    if not isinstance(place, Place):
        import pyarrow.parquet as pq

        target = Path(folder) / "table.parquet"
        pq.write_table(prepare(place).table(), target)
        target.chmod(0o600)
        place, policy = target, policy or Path("table.policy.yaml")
    named = policy_beside(str(place)) if policy is None else Path(policy)
    command = [sys.executable, "-P", "-m", "shoal.cli.app", "studio", str(place), str(named)]
    options = ["--no-browser", *([] if port is None else ["--port", str(port)])]
    path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
    process = subprocess.Popen(
        [*command, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    if "http://" not in line:
        words = process.stderr.read().removeprefix("Error: ").strip()
        Studio(process, "", named, folder).stop()  # and remove the copy of the table
        raise InputError(words or "The studio could not be started.")
    process.stderr.close()
    address = line[line.index("http://") :].strip()
    if browser:
        webbrowser.open(address)
    return Studio(process, address, named.resolve(), folder)


def policy_beside(place: str, folder: PathLike = ".") -> Path:
    """Where the studio keeps the policy of a table, unless it is told otherwise.

    Parameters
    ----------
    place
        The file of the table, or its address in a database.
    folder
        Where the policy of a table in a database is kept.

    Returns
    -------
    Path
        `patients.policy.yaml` beside `patients.csv`; `policy.yaml` for a database.
    """
    path = Path(place)
    if not path.is_file():  # a database
        return Path(folder) / "policy.yaml"
    return path.with_name(f"{path.name.split('.')[0]}.policy.yaml")


@dataclass(frozen=True, repr=False)
class Demo(Result):
    """The files of a sample, and the release that was made from them."""

    sample: SamplePaths
    release: Release[Any]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        release, sample = self.release, self.sample
        files = {"table": sample.table, "policy": sample.policy, "output": release.output}
        named = {name: str(path) for name, path in files.items()}
        return release.to_dict() | named | {"report": [str(path) for path in release.reports]}

    def _records(self) -> list[dict[str, Any]]:
        return [{"file": str(path)} for path in (*self.sample, self.release.output)]

    def _headline(self) -> str:
        return repr(self.release)


def demo(
    folder: PathLike = "shoal-demo",
    *,
    rows: int = 10_000,
    seed: int = 7,
    force: bool = False,
    progress: bool | ProgressCallback = False,
) -> Demo:
    """Write a sample, anonymise it, verify the release and report on it.

    Parameters
    ----------
    folder, rows, seed
        As for `write_sample`.
    force
        Replace files even if the policy was edited; those of an earlier demo are always replaced.
    progress
        As for `anonymize`.

    Returns
    -------
    Demo
        The sample's files, and the release with its report (if reports can be drawn).

    Raises
    ------
    InputError
        If the folder has a policy that was edited.

    Examples
    --------
    >>> import shoal
    >>> shoal.demo("my-demo", rows=500).release.verified
    True
    """
    from importlib.resources import files

    folder = Path(folder)
    policy, shipped = folder / "policy.yaml", files("shoal.sample") / "policy.yaml"
    unchanged = policy.is_file() and policy.read_bytes() == shipped.read_bytes()
    with displayed(progress) as callback:
        from shoal.drawing.page import can_draw

        callback(ProgressEvent("make up", 0.0))
        sample = write_sample(folder, rows, seed, force=force or unchanged)
        release = run(
            sample.table,
            sample.policy,
            folder / "release.csv",
            force=force or unchanged,
            report=folder / "report.html" if can_draw() else None,
            progress=callback,
        )
    return Demo(sample, release)


@dataclass(frozen=True)
class Entry:
    """A method, model, metric or preset in words."""

    name: str
    summary: str
    text: str
    """The whole description; paragraphs are separated by empty lines."""
    options: tuple[Option, ...]
    on_request: bool
    """Whether it takes long, so that it is used only where a policy names it."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "name": self.name,
            "summary": self.summary,
            "text": self.text,
            "options": [option._asdict() for option in self.options],
            "on_request": self.on_request,
        }


@dataclass(frozen=True)
class PresetEntry(Entry):
    """A preset in words."""

    title: str
    sources: tuple[str, ...]
    """Where its figures come from: title, section and year."""
    asks: tuple[str, ...]
    """What it requires and checks, a sentence each."""
    to_judge: tuple[str, ...]
    """What a person must judge, a sentence each."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return super().to_dict() | {
            "title": self.title,
            "sources": list(self.sources),
            "asks": list(self.asks),
            "to_judge": list(self.to_judge),
        }


@dataclass(frozen=True, repr=False)
class Listing(Result):
    """Methods, models, metrics or presets, by name."""

    kind: PluginKind
    entries: tuple[Entry, ...]
    not_available: tuple[str, ...] = ()
    """Why other plug-ins cannot be used: a broken distribution, or a name used twice."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {self.kind: [entry.to_dict() for entry in self.entries]}

    def _records(self) -> list[dict[str, Any]]:
        return [{"name": entry.name, "summary": entry.summary} for entry in self.entries]

    def _headline(self) -> str:
        return f"{len(self.entries)} {self.kind}"


def list_methods(name: str | None = None) -> Listing:
    """List the methods, those of other packages included, or describe the one of a name.

    Examples
    --------
    >>> import shoal
    >>> shoal.list_methods("mondrian").entries[0].options[0].name
    'strict'
    """
    return _listing("methods", name)


def list_models(name: str | None = None) -> Listing:
    """List the privacy models, those of other packages included, or describe the one of a name."""
    return _listing("models", name)


def list_metrics(name: str | None = None) -> Listing:
    """List the metrics, those of other packages included, or describe the one of a name."""
    return _listing("metrics", name)


def list_presets(name: str | None = None) -> Listing:
    """List the presets, which hold what authorities ask of a release, or explain the one of a name.

    Each entry has its sources, what it requires and checks, and what a person must still judge.

    Examples
    --------
    >>> import shoal
    >>> shoal.list_presets("cell-size-11").entries[0].title
    'Cells of at least 11 people (CMS)'
    """
    return _listing("presets", name)


def _listing(kind: PluginKind, name: str | None) -> Listing:
    from shoal import plugins

    every = {
        "methods": plugins.methods,
        "models": plugins.models,
        "metrics": plugins.metrics,
        "presets": plugins.presets,
    }
    chosen = list(every[kind]().values()) if name is None else [plugins.find(kind, name)]
    entries = [_preset_entry(one) if kind == "presets" else _entry(one) for one in chosen]
    problems = plugins.problems(kind).values() if name is None else ()
    return Listing(kind, tuple(entries), tuple(problems))


def _entry(plugin: type[Any]) -> Entry:
    import inspect

    from shoal import plugins

    described = plugins.describe(plugin)
    text = (inspect.getdoc(plugin) or "").split("\n\n")
    return Entry(
        described.name,
        described.summary,
        "\n\n".join(" ".join(paragraph.split()) for paragraph in text),
        tuple(described.options),
        described.on_request,
    )


def _preset_entry(preset: type[Preset]) -> PresetEntry:
    entry = _entry(preset)
    return PresetEntry(
        entry.name,
        entry.summary,
        entry.text,
        entry.options,
        entry.on_request,
        title=preset.title,
        sources=tuple(map(str, preset.sources)),
        asks=preset.asks,
        to_judge=preset.judged_by_people,
    )


def _given(**keywords: Any) -> dict[str, Any]:
    """Return the keywords that are not None."""
    return {name: value for name, value in keywords.items() if value is not None}


def _located(data: Any) -> Any:
    """Return a path as `Path`, an address as `Address`, and anything else as it is."""
    from shoal.io.address import as_place

    return as_place(data)


def command_line_place(text: str) -> Any:
    """Return the file or the database's table that a command names.

    Raises
    ------
    InputError
        If an address has a password: other users could read it in the list of processes.
    """
    from shoal.io.address import place_of, refuse_secrets

    return refuse_secrets(place_of(text))


def _keys(
    read: Mapping[str, Any] | None, separator: str | None, quote: str | None, encoding: str | None
) -> dict[str, Any]:
    """Return what was said about how a table is written, as keys of `read`."""
    return {**(read or {}), **_given(separator=separator, quote=quote, encoding=encoding)}


def _reading(
    read: Mapping[str, Any] | None, separator: str | None, quote: str | None, encoding: str | None
) -> Reading:
    from shoal.policy.reading import reading_of

    return reading_of(_keys(read, separator, quote, encoding))
