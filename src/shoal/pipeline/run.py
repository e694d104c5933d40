"""The steps of a run: read, encode, group, publish, measure, write, verify, report.

They are the same on every engine; what differs is behind `Engine`.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal import plugins
from shoal.allocation import reusing
from shoal.drawing.page import require_drawing
from shoal.encoding.domain import Domain, Kind
from shoal.engines.anatomy_release import anatomy_notes, sensitive_files
from shoal.engines.base import Engine, Expected, require_same_rows
from shoal.engines.capabilities import check_capabilities, check_method, refuse_task
from shoal.engines.changes import changes_of
from shoal.engines.formats.base import format_of, located
from shoal.engines.formula_cells import check_formulas
from shoal.engines.label_mapping import NONE, has_mapping
from shoal.engines.measured import (
    Measured,
    people_warnings,
    personal_warnings,
    report_constraints,
)
from shoal.engines.memory import MemoryEngine
from shoal.engines.originals import require_same
from shoal.engines.release_table import (
    MemoryRelease,
    ReleaseTable,
    Verdict,
    with_presets,
    with_starred,
)
from shoal.engines.selection import choose_engine, engine_for_frame
from shoal.engines.sessions import LOCAL, is_spark, part_of
from shoal.engines.sources import Source, source_at
from shoal.engines.table_size import limit_words, too_large
from shoal.engines.targets import check_targets, targets_of
from shoal.errors import Infeasible, InputError, ShoalError, VerificationFailed, listed, warn
from shoal.evidence.detail import Detail, column_detail, many_values_warnings
from shoal.evidence.label_forms import label_reader
from shoal.io.address import Place, as_place, public, shown_name
from shoal.io.commit import replacing_all
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.output_names import is_page, report_files
from shoal.kernels.jit import expecting
from shoal.models.requirement import Requirement, in_both_spellings
from shoal.pipeline.withheld_weights import stated_findings, stated_measures
from shoal.policy import Policy
from shoal.progress import Clock, Progress, no_progress
from shoal.release import Release, RunSummary
from shoal.seeds import Seed, choose, seed_warnings
from shoal.verification.check import require
from shoal.verification.presets import require_presets

MANY_SUPPRESSED = 0.05
"""Above this share of suppressed rows a run without a limit warns."""
NEARLY_ALL = 0.9
"""Above this mean NCP a run warns that hardly any detail is left."""
READ_BACK = 0.2
"""The share of verification that reads the release back."""
COUNTED = 0.9
"""The share of verification after which only the disclosure is counted."""


def anonymize_table(
    data: Any,
    policy: Policy | Callable[[list[str]], Policy],
    clock: Clock,
    options: CsvOptions = DETECT,
) -> Release[Any]:
    """Anonymise a frame into another of the same kind, or a file into a frame.

    `policy` may be a function of the table's column names. `options`: how a file is written.
    """
    engine: Engine
    data = as_place(data)
    if isinstance(data, Place):
        source = source_at(data, options)
        engine = MemoryEngine()
        policy = _policy(policy, list(source.names), engine)
        engine.check_source(source, policy)
        seed = choose(policy.seed)
        engine.seed = seed.value
        with clock.step("read") as progress:
            engine.read(source, policy, clock, progress)
        return hand_over(engine, policy, seed, clock, source)
    engine = engine_for_frame(data)
    policy = _policy(policy, engine.names, engine)
    seed = choose(policy.seed)
    engine.seed = seed.value
    with engine.opened(clock):
        engine.load(policy, clock)
        return hand_over(engine, policy, seed, clock)


def _policy(
    policy: Policy | Callable[[list[str]], Policy], names: list[str], engine: Engine
) -> Policy:
    """The policy, checked against the table and the engine."""
    known = policy if isinstance(policy, Policy) else policy(names)
    check_policy(known, names, engine.capability)
    return known


def check_policy(policy: Policy, names: Sequence[str], engine: str = "memory") -> None:
    """Raise what is wrong with a policy for a table and an engine, before any work."""
    policy.check(list(names))
    check_capabilities(engine, policy)
    check_method(policy)
    changes_of(policy)  # the key of pseudonyms must be there


def hand_over(
    engine: Engine, policy: Policy, seed: Seed, clock: Clock, source: Source | None = None
) -> Release[Any]:
    """The release of a table that an engine holds, verified as it is handed over."""
    measured = _release_steps(engine, policy, clock, evidence=True)
    with clock.step("verify") as progress:
        table = engine.published()
        verdict = _verified(table, policy, engine.expected, part_of(progress, 0, COUNTED))
        measured = _with_published(measured, engine, table, policy)
    with clock.step("truth") as progress:
        engine.require_truth(table, progress)
    return _release(engine, policy, seed, measured, verdict, clock, source)


def rehearse(
    engine: MemoryEngine,
    policy: Policy,
    seed: Seed,
    clock: Clock,
    source: Source | None = None,
    file: Path | None = None,
) -> Release[Any]:
    """Make a release of the table that an engine holds, as a run would, and hand it over.

    source: where the table was read from.
    file: write the release to this private file, which the caller removes, and verify what is read
    back from it; None verifies the rows in memory.
    """
    engine.seed = seed.value
    check_policy(policy, engine.names, engine.capability)
    engine.load(policy, clock)
    if file is None:
        return hand_over(engine, policy, seed, clock, source)
    measured = _release_steps(engine, policy, clock, evidence=True)
    paths = [file, *(file.with_name(f"{i}-{file.name}") for i in range(len(policy.sensitive)))]
    written = DETECT.for_output(file)
    with clock.step("write") as progress:
        engine.write(paths[: len(engine.expected)], written, progress)
    with clock.step("verify") as progress:
        table = engine.read_back(
            paths[: len(engine.expected)], written, part_of(progress, 0, READ_BACK)
        )
        verdict = _verified(table, policy, engine.expected, part_of(progress, READ_BACK, COUNTED))
        measured = _with_published(measured, engine, table, policy)
    with clock.step("truth") as progress:
        engine.require_truth(table, progress)
    return _release(engine, policy, seed, measured, verdict, clock, source)


def run_files(
    source: Place,
    policy: Policy,
    target: Place,
    clock: Clock,
    *,
    options: CsvOptions | None = None,
    force: bool = False,
    report: str | Path | None = None,
    external_report: str | Path | None = None,
    key: Path | None = None,
    engine: str = LOCAL,
    memory: str | None = None,
    seed_file: Path | None = None,
    mapping: Path | None = None,
) -> Release[Any]:
    """Anonymise a file, a folder of part files or a table of a database into another.

    `options` take the place of what the policy says about the file. The release is verified before it
    appears under its name; a `report`, a `key` and a `mapping` appear with it, or none of them, and so
    does a `seed_file` that does not exist yet.
    """
    options = policy.read.file if options is None else options
    if isinstance(source, Path):
        source, options = located(source, options)
    chosen = choose_engine(engine, memory, target)
    # what can be checked without starting Spark is checked before
    chosen.check_target(target)
    targets = [target, *sensitive_files(target, policy).values()]
    reports = check_reports(report, external_report, policy)
    keys = check_key(key, policy, chosen)
    seed = choose(policy.seed, seed_file)
    maps = check_mapping(mapping, policy, chosen)
    kept = _new_seed_file(seed, [*targets, *keys, *reports, *maps])
    others = [*keys, *reports, *maps, *kept]
    check_targets(targets, others, force, source, folder=chosen.writes_folders)
    check_capabilities(chosen.capability, policy)
    found = source_at(source, options)
    check_policy(policy, found.names, chosen.capability)
    if isinstance(chosen, MemoryEngine):
        chosen = _engine_that_fits(chosen, found, policy, target, key, mapping)
    if isinstance(target, Path):
        format_of(target).check_columns(target, policy.published(found.names))
    chosen.check_source(found, policy)
    with chosen.opened(clock), reusing(_bytes_in_memory(chosen, found)):
        return run_with(
            chosen,
            found,
            policy,
            target,
            clock,
            force=force,
            report=report,
            external_report=external_report,
            key=key,
            seed=seed,
            mapping=mapping,
        )


def _bytes_in_memory(engine: Engine, source: Source) -> int:
    """The bytes of the file that an engine reads into this process, as it is; 0 for other engines."""
    first = source.files[0]
    return (
        first.stat().st_size if isinstance(engine, MemoryEngine) and isinstance(first, Path) else 0
    )


def _engine_that_fits(
    engine: MemoryEngine,
    source: Source,
    policy: Policy,
    target: Place,
    key: Path | None,
    mapping: Path | None,
) -> Engine:
    """The engine in memory, or where the table does not fit there the one that keeps it on disk.

    Raises `InputError` where it does not fit and the policy, or what is to be written, needs memory.
    """
    first = source.files[0]
    if len(source.files) > 1 or not isinstance(first, Path):
        return engine
    words = too_large(first, len(policy.needed(source.names)))
    if not words:
        return engine
    on_disk = choose_engine(memory=limit_words(), target=target)
    try:
        check_capabilities(on_disk.capability, policy)
        on_disk.check_target(target)
        check_key(key, policy, on_disk)
        check_mapping(mapping, policy, on_disk)
    except ShoalError as error:
        raise InputError(
            f"{words}, and it cannot be worked on where it is, on disk:\n{error}"
        ) from None
    on_disk.notes = (f"{words}: rows were kept on disk, as with --memory {limit_words()}.",)
    return on_disk


def run_with(
    engine: Engine,
    source: Source,
    policy: Policy,
    target: Place,
    clock: Clock,
    *,
    force: bool = False,
    report: str | Path | None = None,
    external_report: str | Path | None = None,
    key: Path | None = None,
    seed: Seed | None = None,
    mapping: Path | None = None,
) -> Release[Any]:
    """Anonymise a table with an engine that is open; without a seed, it is chosen by the policy."""
    seed = choose(policy.seed) if seed is None else seed
    engine.seed = seed.value
    check_policy(policy, source.names, engine.capability)
    targets = [target, *sensitive_files(target, policy).values()]
    reports = check_reports(report, external_report, policy)
    keys = check_key(key, policy, engine)
    maps = check_mapping(mapping, policy, engine)
    kept = _new_seed_file(seed, [*targets, *keys, *reports, *maps])
    others = [*keys, *reports, *maps, *kept]
    private = [*keys, *kept]
    folder = engine.writes_folders
    with targets_of(targets, others, force, source.place, folder=folder, private=private) as places:
        with clock.step("read") as progress:
            engine.read(source, policy, clock, progress)
        engine.key_asked = bool(keys)
        engine.keeps_types = isinstance(target, Path) and format_of(target).keeps_types
        evidence = engine.free_evidence or report is not None
        measured = _release_steps(engine, policy, clock, evidence)
        written = _options_for(source.options, target, policy)
        with clock.step("write") as progress:
            engine.write(places.tables, written, progress)
        with clock.step("verify") as progress:
            files = [place for place in places.tables if isinstance(place, Path)]
            digests = file_digests(files)
            table = engine.read_back(places.tables, written, part_of(progress, 0, READ_BACK))
            left = part_of(progress, READ_BACK, COUNTED)
            verdict = _verified(table, policy, engine.expected, left)
            places.describe(table)
            measured = _with_published(measured, engine, table, policy)
            formulas = check_formulas(table, policy, files, written)
        with clock.step("truth") as progress:
            engine.require_truth(table, progress)
        read_back = table if keys or reports else None
        del table  # a wide one takes as much memory as the release
        release = _release(engine, policy, seed, measured, verdict, clock, source)
        warnings = (*release.run.warnings, *formulas)
        release = replace(
            release, run=replace(release.run, output=public(target), warnings=warnings)
        )
        waiting = list(places.others)
        if keys and read_back is not None:
            with clock.step("key"):
                how_written = source.options.for_output(keys[0])
                _write_key(engine, waiting.pop(0), how_written, read_back, policy, verdict)
        if reports and read_back is not None:
            with clock.step("report"):
                pages = [waiting.pop(0) for _ in reports]
                published = engine.published()
                require_same_rows(published, read_back)
                internal = check_report(report, policy)
                write_report_files(release, reports, pages, published, len(internal))
        if maps:
            waiting.pop(0).write_text(release.mapping.to_json(maps[0].parent), encoding="utf-8")
        for path in waiting:
            path.write_text(seed.to_text(), encoding="utf-8")
        require_unchanged(files, digests)
        places.commit()
    beside = sensitive_files(target, policy)
    how = replace(
        release.run,
        seconds=dict(clock.seconds),
        sensitive_outputs={name: public(place) for name, place in beside.items()},
        reports=tuple(reports),
        key_output=key,
    )
    return replace(release, run=how)


def _options_for(options: CsvOptions, target: Place, policy: Policy) -> CsvOptions:
    """How a target is written; a database leaves nothing open."""
    if not isinstance(target, Path):
        return options
    return replace(options.for_output(target), formulas=policy.formulas == "escaped")


def _write_key(
    engine: Engine,
    path: Path,
    options: CsvOptions,
    table: ReleaseTable,
    policy: Policy,
    verdict: Verdict,
) -> None:
    """Write the key of a release; raise unless what was verified is found with it in the release."""
    engine.write_key(path, options)
    found = engine.read_key_back(path, options, table).verify(policy)
    if found.findings != verdict.findings:
        raise VerificationFailed(
            "The key as written does not count the people that were verified in the release. Write "
            "both in another format."
        )


def write_release(
    release: Release[Any],
    target: Place,
    force: bool = False,
    report: str | Path | None = None,
    key: Path | None = None,
    external_report: str | Path | None = None,
) -> Place:
    """Write the rows of a release to a file or a table, verified before it appears under its name;
    those of a Spark frame to a folder of files."""
    if release.table is None:
        raise InputError(
            "This release holds no rows: they are in the files that the run wrote. Copy these."
        )
    policy = release.policy
    targets = [target, *sensitive_files(target, policy).values()]
    engine = _engine_of(release)
    engine.check_target(target)
    reports = check_reports(report, external_report, policy)
    keys = check_key(key, policy, engine)
    clock, written = Clock(), _options_for(DETECT, target, policy)
    others, folder = [*keys, *reports], engine.writes_folders
    with (
        targets_of(targets, others, force, folder=folder, private=keys) as places,
        engine.opened(clock),
    ):
        expected = engine.expected
        with clock.step("write") as progress:
            engine.write(places.tables, written, progress)
            files = [place for place in places.tables if isinstance(place, Path)]
            digests = file_digests(files)
            table = engine.read_back(places.tables, written, progress)
            places.describe(table)
        if policy.preferences or policy.checks_hidden_weights:
            # the models were checked on the original values, or the weights, of these very rows
            for rows, what in (
                (engine.published(), "The release's table"),
                (table, "The written file"),
            ):
                assert isinstance(rows, MemoryRelease)
                require_same(rows.read(), release.digest, what)
        elif policy.person is not None and release.key is None:
            # in Spark: people were counted on these very rows, and stayed behind
            if table.fingerprint.digest != release.digest:
                raise VerificationFailed(
                    "The release as written does not have the rows that were verified when it was "
                    "made. Make the release again."
                )
        elif expected[0].rows != release.published_rows:
            raise VerificationFailed(
                f"The release's table has {expected[0].rows:,} rows, but {release.published_rows:,} "
                "were verified when it was made. Make the release again."
            )
        else:
            verdict = _verified(table, policy, expected)
            engine.require_written(table)
            require_as_made(release, table)
            if keys:
                how_written = DETECT.for_output(keys[0])
                _write_key(engine, places.others[0], how_written, table, policy, verdict)
        if reports:
            published = table if engine.writes_folders else engine.published()
            waiting = places.others[len(keys) :]
            internal = check_report(report, policy)
            named = replace(release, run=replace(release.run, output=public(target)))
            write_report_files(named, reports, waiting, published, len(internal))
        formulas = check_formulas(table, policy, files, written)
        require_unchanged(files, digests)
        places.commit()
    warn(formulas)
    return public(target)


def require_as_made(release: Release[Any], rows: ReleaseTable) -> None:
    """Raise `VerificationFailed` where rows are known to be others than those that were verified, and
    compared with the input, when the release was made."""
    if release.run.content and release.run.content != rows.content:
        raise VerificationFailed(
            "The release's table was changed after the release was made: it is not what was verified, "
            "and cannot be compared with the input again. Make the release again, and change a copy of "
            "its table where you need other values."
        )


def write_key(release: Release[Any], target: Path, force: bool = False) -> Path:
    """Write the private key of a release, whose rows may be written by other means."""
    engine = _engine_of(release)
    keys = check_key(target, release.policy, engine)
    with replacing_all(keys, force, private=keys) as places:
        engine.write_key(places.paths[0], DETECT.for_output(target))
        places.commit()
    return target


def _engine_of(release: Release[Any]) -> Engine:
    """An engine that holds the rows of a release."""
    if is_spark(release.table):
        from shoal.engines.selection import SparkEngine

        return SparkEngine.holding(release.table, release.published_rows)
    tables = [release.table, *release.sensitive_tables.values()]
    if release.policy.person is not None and release.key is None:
        raise VerificationFailed(
            "This release does not know any more whose row is whose, so its people cannot be counted "
            "again. Make the release again."
        )
    try:
        return MemoryEngine.holding(tables, release.policy, release.key)
    except InputError:
        raise VerificationFailed(
            "The release's table is not what was verified when it was made, so its people cannot be "
            "counted again. Make the release again."
        ) from None


def _release_steps(engine: Engine, policy: Policy, clock: Clock, evidence: bool) -> Measured:
    """From the table that an engine holds to the release that it holds."""
    with clock.step("encode") as progress:
        clock.rows = rows = engine.encode(progress)
    limit = None if policy.suppression is None else int(policy.suppression * rows)
    models = in_both_spellings(policy.constraints, engine.sensitive_domains)
    requirement = Requirement(models, limit, policy.person is not None, policy.together)
    policy = engine.choose_method(policy, requirement, rows)
    with expecting(rows):
        with clock.step("group") as progress:
            suppressed = engine.group(requirement, progress)
        if suppressed is not None:
            check_suppression(engine, policy, suppressed, rows)
        if policy.refine is not None:
            with clock.step("refine") as progress:
                engine.refine(requirement, progress)
        with clock.step("publish") as progress:
            engine.publish(evidence, progress)
        with clock.step("measure") as progress:
            measured = engine.measure(progress)
    check_suppression(engine, policy, measured.suppressed_rows, rows)
    check_suppressed_people(engine, policy, measured)
    return measured


def _with_published(
    measured: Measured, engine: Engine, table: ReleaseTable, policy: Policy
) -> Measured:
    """What is measured, with what others can do with the release and what an analyst finds in it."""
    domains = {one.name: one for one in engine.domains}
    readers = {name: label_reader(policy.column_spec(name), domains[name]) for name in policy.quasi}
    forms = engine.label_forms(table, readers)
    found = Detail({name: column_detail(forms[name], readers[name].unit) for name in policy.quasi})
    withheld = measured.rows - engine.expected[0].rows
    return replace(
        measured,
        detail=found.with_withheld(withheld),
        disclosure=engine.disclosure(table),
    )


def _verified(
    table: ReleaseTable,
    policy: Policy,
    expected: Sequence[Expected],
    progress: Progress = no_progress,
) -> Verdict:
    """The findings about a release; raises unless it holds every guarantee, and exactly the columns
    and rows that it must."""
    verdict = with_presets(table, policy, table.verify(policy, progress=progress))
    verdict = with_starred(table, policy, verdict)
    require(verdict.findings)
    if verdict.starred is not None:
        verdict.starred.require()
    require_presets(verdict.presets)
    tables = (table, *table.sensitive_tables.values())
    for i, (found, wanted) in enumerate(zip(tables, expected, strict=True)):
        if tuple(found.names) != wanted.names:
            raise VerificationFailed(
                f"The written file has the columns {listed(found.names)}, but "
                f"{listed(wanted.names)} were to be published."
            )
        rows = verdict.rows if i == 0 and verdict.rows is not None else found.n_rows
        if rows != wanted.rows:
            raise VerificationFailed(
                f"The written file has {rows:,} rows, but {wanted.rows:,} were to be published."
            )
    return verdict


def file_digests(paths: Sequence[Path]) -> list[str]:
    """A hash of the bytes of each file, or of all files of each folder."""
    found = []
    for path in paths:
        digest = hashlib.sha256()
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                with file.open("rb") as opened:
                    content = hashlib.file_digest(opened, "sha256").hexdigest()
                digest.update(f"{file.relative_to(path)}:{content};".encode())
        found.append(digest.hexdigest())
    return found


def require_unchanged(paths: Sequence[Path], digests: Sequence[str]) -> None:
    """Raise `VerificationFailed` unless the files are those that were verified, byte for byte."""
    if file_digests(paths) != list(digests):
        raise VerificationFailed(
            "The written file was changed after it was verified, so it is not published. Run again, "
            "and write to a folder that no other program changes."
        )


def _release(
    engine: Engine,
    policy: Policy,
    seed: Seed,
    measured: Measured,
    verdict: Verdict,
    clock: Clock,
    source: Source | None = None,
) -> Release[Any]:
    table, sensitive = engine.frames()
    findings = stated_findings(verdict.findings, policy)
    return Release(
        table=table,
        sensitive_tables=sensitive,
        policy=policy,
        findings=findings,
        constraints=report_constraints(policy, measured.components, findings),
        presets=verdict.presets,
        largest_share=verdict.largest_share,
        measured=stated_measures(measured, policy),
        key=engine.key,
        row_weights=engine.weights,
        found_mapping=engine.mapping,
        run=RunSummary(
            method=plugins.name_of(type((engine.choice or policy).method)),
            private_seed=seed,
            engine=engine.label,
            published_rows=engine.expected[0].rows,
            seconds=dict(clock.seconds),
            warnings=(
                *(() if source is None else source.warnings),
                *policy.warnings(),
                *seed_warnings(seed),
                *(text for one in engine.sensitive_domains.values() for text in one.warnings()),
                *suppression_warnings(policy, measured),
                *uniform_warnings(policy, engine.domains, measured),
                *loss_warnings(measured.metrics["mean-ncp"]),
                *many_values_warnings(_unordered(policy, engine.domains)),
                *personal_warnings(measured.personal),
                *people_warnings(policy, measured),
                *(() if measured.weighted is None else measured.weighted.warnings()),
                *weight_warnings(policy, measured),
                *measured.disclosure.warnings,
            ),
            notes=(
                *engine.notes,
                *(() if engine.choice is None else (engine.choice.note,)),
                *measured.notes,
                *prediction_notes(policy, engine.domains),
                *reading_notes(engine.domains),
                *(f"Column '{name}': {rule.words}." for name, rule in policy.column_rules.items()),
                *anatomy_notes(policy, verdict.largest_share),
            ),
            digest=engine.digest,
            content=engine.content,
            input_name=None if source is None else shown_name(source.place),
        ),
    )


def _unordered(policy: Policy, domains: Sequence[Domain]) -> dict[str, int]:
    """How many values each unordered quasi column has that may be published as sets."""
    if policy.publish == "anatomy":
        return {}
    return {
        one.name: one.size - (one.missing >= 0)
        for one in domains
        if one.kind == Kind.SET and one.name in policy.quasi
    }


def prediction_notes(policy: Policy, domains: Sequence[Domain]) -> list[str]:
    """By what the columns count, where they are to predict a target."""
    known = [(domain.name, domain.bits) for domain in domains if domain.bits is not None]
    if policy.predict is None:
        return []
    if not known:
        return [f"predict: no quasi column tells anything about {policy.predict}; all count alike."]
    ranked = sorted(known, key=lambda each: -each[1])
    words = ", ".join(f"{name} {bits:.3f}" for name, bits in ranked)
    return [
        f"predict: columns count by what they tell about {policy.predict} beyond columns that tell "
        f"more, in bits: {words}."
    ]


def reading_notes(domains: Sequence[Domain]) -> list[str]:
    """How columns of texts were read, where that is not as plain numbers or ISO dates."""
    return [f"Column '{one.name}' was read as {one.read_as}." for one in domains if one.read_as]


def check_suppression(engine: Engine, policy: Policy, suppressed: int, rows: int) -> None:
    """Raise `Infeasible` where more rows are suppressed than the policy allows."""
    if suppressed == rows:
        raise Infeasible(
            f"All {rows:,} rows would have to be suppressed: nothing would be left to publish. "
            f"{engine.otherwise.capitalize()}."
        )
    _check_share(engine, policy, suppressed, rows, "rows")


def check_suppressed_people(engine: Engine, policy: Policy, measured: Measured) -> None:
    """Raise `Infeasible` where more people lose all of their rows than the policy allows."""
    if measured.people is not None and measured.suppressed_people is not None:
        whole = measured.people
        _check_share(engine, policy, measured.suppressed_people, whole, "people", measured)


def _check_share(
    engine: Engine,
    policy: Policy,
    suppressed: int,
    whole: int,
    what: str,
    measured: Measured | None = None,
) -> None:
    """Raise `Infeasible` where a larger share is suppressed than the policy allows."""
    if policy.suppression is None or suppressed <= policy.suppression * whole:
        return
    share, besides = suppressed / whole, ""
    if measured is not None:
        besides = f", with {measured.suppressed_rows:,} of {measured.rows:,} rows"
    raise Infeasible(
        f"{suppressed:,} of {whole:,} {what} ({share:.1%}{besides}) would have to be suppressed, but "
        f"the policy allows {policy.suppression:.1%}"
        f"{' of the rows and of the people' if policy.person is not None else ''}. Raise "
        f"{engine.suppression_limit} to at least {np.ceil(share * 1000) / 1000:g}, or "
        f"{engine.otherwise}."
    )


def suppression_warnings(policy: Policy, measured: Measured) -> list[str]:
    """A warning where many rows or people are suppressed and the policy sets no limit."""
    rows = measured.suppressed_rows / measured.rows
    people = (measured.suppressed_people or 0) / (measured.people or 1)
    if policy.suppression is not None or max(rows, people) <= MANY_SUPPRESSED:
        return []
    whose = ""
    if measured.people is not None and measured.suppressed_people is not None:
        whose = (
            f", and {measured.suppressed_people:,} of {measured.people:,} people ({people:.1%}) have "
            "no row left"
        )
    return [
        f"{measured.suppressed_rows:,} of {measured.rows:,} rows ({rows:.1%}) are suppressed{whose}; "
        "set `suppression` to limit them."
    ]


def weight_warnings(policy: Policy, measured: Measured) -> list[str]:
    """A warning where a published weight is one of the columns by which rows are alone."""
    found = measured.disclosure
    if policy.weight is None or policy.weight not in found.plain or not found.alone:
        return []
    return [
        f"The sampling weight {policy.weight} is published and is one of the columns by which "
        f"{found.alone:,} {found.units} are alone: round it to a larger step, or withhold it."
    ]


def uniform_warnings(policy: Policy, domains: Sequence[Domain], measured: Measured) -> list[str]:
    """A warning for each uniform column of which nothing is left because some values are missing."""
    uniform, found = policy.columns_labelled("uniform"), []
    for domain in domains:
        lost = measured.column_loss.get(domain.name, 0.0) >= 1
        if domain.name in uniform and domain.missing >= 0 and lost:
            found.append(
                f"Column '{domain.name}' is published as * throughout: with `labels: uniform` its "
                "missing values need a label of their own, and too few rows have one. Set "
                "`suppression`, or raise it, to let these rows go."
            )
    return found


def loss_warnings(mean: float | None) -> list[str]:
    """A warning where hardly any detail is left."""
    if mean is None or mean <= NEARLY_ALL:
        return []
    return [
        f"Nearly all detail of the quasi columns is lost ({mean:.1%} by mean NCP). Loosen the "
        "constraints, allow more `suppression`, list fewer quasi columns, or try another method."
    ]


def _new_seed_file(seed: Seed, others: Sequence[Place]) -> list[Path]:
    """The seed file, where it is still to be written; checked before any work."""
    if seed.file is None or seed.file.exists():
        return []
    if seed.file.resolve() in [other.resolve() for other in others if isinstance(other, Path)]:
        raise InputError(
            f"{seed.file} cannot hold both the seed and the release or its report. Keep the seed in a "
            "file of its own."
        )
    return [seed.file]


def check_report(path: str | Path | None, policy: Policy) -> list[Path]:
    """The files of a report, none where none is asked for; checked before any work."""
    if path is None:
        return []
    files = report_files(Path(path))
    for file in files:
        if file.exists() and Path(policy.read_from).exists() and file.samefile(policy.read_from):
            raise InputError(f"{file} is the policy itself. Write the report to another file.")
    if is_page(files[0]):
        require_drawing("A report as a page (a certificate alone, as a .json file, does not)")
    return files


def check_key(path: Path | None, policy: Policy, engine: Engine) -> list[Path]:
    """The file of a key, none where none is asked for; checked before any work."""
    if path is None:
        return []
    if policy.person is None:
        raise InputError(
            f"{path}: a key tells which rows are one person's, but no column of the policy has the "
            "role person. Give it to the column with the ids of people, or leave the key out."
        )
    engine.check_key(path)
    return [path]


def check_mapping(path: Path | None, policy: Policy, engine: Engine) -> list[Path]:
    """The file of a mapping, none where none is asked for; checked before any work."""
    if path is None:
        return []
    refuse_task(engine.capability, "mapping")
    if path.suffix != ".json":
        raise InputError(
            f"{path}: a mapping is written as JSON. Give it a name that ends in .json."
        )
    if not has_mapping(policy):
        raise InputError(f"{path}: {NONE}")
    return [path]


def check_reports(
    report: str | Path | None, external: str | Path | None, policy: Policy
) -> list[Path]:
    """The files of both reports, the internal one first; checked before any work."""
    first, second = check_report(report, policy), check_report(external, policy)
    if twice := {one.resolve() for one in first} & {one.resolve() for one in second}:
        raise InputError(
            f"{min(twice)} cannot be part of both reports. Give the external report another name."
        )
    return [*first, *second]


def write_report_files(
    release: Release[Any],
    targets: Sequence[Path],
    paths: Sequence[Path],
    table: ReleaseTable,
    internal: int,
) -> None:
    """Write the files of reports; `paths` are where they wait for their names in `targets`.

    internal: how many of them are files of the internal report; the others are of the external one.
    """
    texts = [
        *release.report_texts(targets[:internal], table),
        *release.report_texts(targets[internal:], table, external=True),
    ]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
