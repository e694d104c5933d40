"""A campaign of random whole runs, which can be interrupted and goes on where it stopped.

    python -m tests.fuzz.campaign memory --seconds 3600     # or disk, spark
    python -m tests.fuzz.campaign memory --seed 4711        # one case, with everything about it
    python -m tests.fuzz.campaign memory --shard 1          # beside others, each with seeds of its own
    python -m tests.fuzz.campaign memory --gather DIR       # add up what shards left in a folder

Every case follows from one integer. The next one and all counts are kept in `benchmarks/results`, a part
of the repository: whoever commits them lets others go on from there. A run counts as `released` if the
judge had no complaint, as `infeasible` or `refused` if it ended with an error of Shoal's own that gives
nothing away; everything else is a finding, kept with its seed.

Several processes share a campaign as shards: shard `n` begins at seed `n * SHARD`, and goes on where the
file of all counts, or its own in `SHOAL_FUZZ_STATE`, says that it stopped.
"""

import argparse
import gc
import json
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa

import shoal
from shoal.errors import Infeasible, ShoalError, VerificationFailed
from shoal.kernels.jit import interpreting
from tests.fuzz.cases import Case, case_of
from tests.fuzz.judge import Row, complaints, read_csv, write_csv

SAMPLE = 20
"""One release in so many is made again from shuffled rows, and verified by `shoal.verify`."""
INTERPRETED = 10
"""The kernels of one case in so many are interpreted."""
COSTLY = {"local-recoding": 4, "auto": 4}
"""Methods whose kernels take a second where they are interpreted: so many times less often."""
SHARD = 10_000_000
"""Seeds of a shard; none comes near the end of its own."""
FAST = next(path for path in (Path("/dev/shm"), Path(tempfile.gettempdir())) if path.is_dir())
"""Where the files of the cases are: in memory, where there is such a folder."""
ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "benchmarks" / "results"
STATE = Path(os.environ.get("SHOAL_FUZZ_STATE", RESULTS))


LOST = 75
"""The exit code of a process whose Spark does not answer any more: its runs would all be refused."""


class Finding(Exception):  # noqa: N818 - what fuzzers have
    """A promise that was broken."""


class Lost(Exception):  # noqa: N818 - no fault of the package
    """Spark does not answer any more."""


def frame_of(case: Case, order: list[int] | None = None) -> pa.Table:
    """The table of a case, as typed as its columns are."""
    rows = order or list(range(case.n_rows))
    arrays = {}
    for column in case.columns:
        texts = [column.texts[i] for i in rows]
        if column.typed == "int":
            arrays[column.name] = pa.array(
                [None if t is None else int(t) for t in texts], pa.int64()
            )
        elif column.typed == "date":
            days = [None if t is None else date.fromisoformat(t) for t in texts]
            arrays[column.name] = pa.array(days, pa.date32())
        else:
            arrays[column.name] = pa.array(texts, pa.string())
    return pa.table(arrays)


def rows_of(table: pa.Table) -> list[Row]:
    """A published table as texts."""
    columns = {
        name: [None if cell is None else str(cell) for cell in table[name].to_pylist()]
        for name in table.column_names
    }
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def write_case(case: Case, folder: Path, order: list[int] | None = None) -> Path:
    """The table of a case as a CSV file."""
    rows = order or list(range(case.n_rows))
    path = folder / "table.csv"
    lines = [[column.texts[i] for column in case.columns] for i in rows]
    names = [column.name for column in case.columns]
    path.write_text(
        write_csv(names, lines, case.separator, case.quote_all), encoding="utf-8", newline=""
    )
    return path


def policy_of(case: Case, folder: Path) -> dict[str, Any]:
    """The policy with the paths of its files."""
    for name, text in case.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    policy = {**case.policy, "columns": dict(case.policy["columns"])}
    for name, settings in policy["columns"].items():
        hierarchy = settings.get("hierarchy")
        if isinstance(hierarchy, dict) and "csv" in hierarchy:
            inside = {**hierarchy, "csv": str(folder / hierarchy["csv"])}
            policy["columns"][name] = {**settings, "hierarchy": inside}
    if case.from_file:
        policy["read"] = {"header": True, "separator": case.separator, "footer": 0}
    if case.population is not None:
        quasi = [c.name for c in case.with_role("quasi")]
        people = [[row[name] for name in quasi] for row in case.population]
        if case.from_file:
            path = folder / "population.csv"
            path.write_text(
                write_csv(quasi, people, case.separator, False), encoding="utf-8", newline=""
            )
            policy["population"] = str(path)
        else:
            arrays = {
                name: pa.array([row[i] for row in people], pa.string())
                for i, name in enumerate(quasi)
            }
            policy["population"] = pa.table(arrays)
    return policy


def release_of(
    case: Case, folder: Path, order: list[int] | None = None
) -> tuple[list[Row], dict[str, list[Row]], bytes]:
    """The published rows, the sensitive tables of Anatomy, and the bytes that were written."""
    policy = policy_of(case, folder)
    if case.from_file:
        for old in folder.glob("out*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        source, target = write_case(case, folder, order), folder / "out.csv"
        engine = {"memory": {}, "disk": {"memory": "150MB"}, "spark": {"engine": "spark"}}[
            case.engine
        ]
        release = shoal.run(source, policy, target, force=True, **engine)
        paths = sorted(p for p in target.glob("*.csv")) if target.is_dir() else [target]
        written = b"".join(path.read_bytes() for path in paths)
        rows = [
            row for path in paths for row in read_csv(path.read_bytes().decode(), case.separator)
        ]
        tables = {}
        if policy.get("publish") == "anatomy":
            names = [c.name for c in case.with_role("sensitive")]
            others = [
                folder / ("out.sensitive.csv" if len(names) == 1 else f"out.{name}.csv")
                for name in names
            ]
            tables = {
                name: read_csv(path.read_bytes().decode(), case.separator)
                for name, path in zip(names, others, strict=True)
            }
        return rows, tables, written
    release = shoal.anonymize(frame_of(case, order), policy)
    tables = {name: rows_of(table) for name, table in (release.sensitive_tables or {}).items()}
    return rows_of(release.table), tables, repr((rows_of(release.table), tables)).encode()


def outcome_of(case: Case, folder: Path) -> str:
    """How a run ended; raises `Finding` where it broke a promise."""
    try:
        rows, tables, written = release_of(case, folder)
    except VerificationFailed as error:
        if "nothing to verify" in str(error):
            return "refused"  # every cell would read `*`
        raise Finding(f"the run failed its own verification: {error}") from error
    except ShoalError as error:
        if case.engine == "spark" and "stopped responding" in str(error):
            raise Lost from error
        check_words(case, str(error))
        if case.from_file and any((*folder.glob("out*"), *folder.glob(".*"))):
            raise Finding("a run that failed left a file") from error
        return "infeasible" if isinstance(error, Infeasible) else "refused"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise Finding(
            f"{type(error).__name__} at {Path(where.filename).name}:{where.name}: {error}"
        ) from error
    if any(folder.glob(".*")):
        raise Finding("a run left a hidden file")
    found = complaints(case, rows, tables)
    if found:
        raise Finding("; ".join(found))
    if case.seed % SAMPLE == 0 and case.policy.get("order") != "kept":
        order = list(range(case.n_rows))
        order = order[case.seed % 7 :][::-1] + order[: case.seed % 7]
        if release_of(case, folder, order)[2] != written:
            raise Finding("another order of rows gave another release")
    return "released"


def check_words(case: Case, words: str) -> None:
    """An error names no value of the table that fewer than ten rows share, unless the policy does."""
    declared = repr(case.policy)
    rows: Counter[str] = Counter()
    for column in case.columns:
        rows |= Counter(text for text in column.texts if text)
    for text, count in rows.items():
        if len(text) > 6 and count < 10 and text in words and text not in declared:
            raise Finding("an error repeats a value of the table")


COUNTS = ("outcomes", "methods", "models", "features", "sources")


class State:
    """Counts of a shard of a campaign and its next seed, kept in a file."""

    def __init__(self, path: Path, engine: str, shard: int = 0) -> None:
        self.path, self.engine, self.shard = path, engine, str(shard)
        read = json.loads(path.read_text()) if path.exists() else {}
        self.shards: dict[str, dict[str, Any]] = read.get("shards", {})
        kept = self.shards.get(self.shard, {})
        self.next: int = kept.get("next", shard * SHARD)
        self.seconds: float = kept.get("cpu_seconds", 0.0)
        self.outcomes = Counter(kept.get("outcomes", {}))
        self.methods = Counter(kept.get("methods", {}))
        self.models = Counter(kept.get("models", {}))
        self.features = Counter(kept.get("features", {}))
        self.sources = Counter(kept.get("sources", {}))
        self.mended: int = kept.get("mended", 0)
        self.findings: dict[str, list[int]] = kept.get("findings", {})

    def count(self, case: Case, outcome: str) -> None:
        """Add a run that kept its promises."""
        self.next = case.seed + 1
        self.outcomes[outcome] += 1
        self.methods[f"{case.method} {outcome}"] += 1
        if outcome == "released":
            self.models.update(set(case.models))
            self.features.update(features(case))

    def find(self, case: Case, words: str) -> None:
        """Add a finding."""
        self.next = case.seed + 1
        self.outcomes["finding"] += 1
        seeds = self.findings.setdefault(words[:160], [])
        seeds.append(case.seed)

    def of_shard(self) -> dict[str, Any]:
        """What is known of this shard, for JSON."""
        return {
            "next": self.next,
            "cpu_seconds": round(self.seconds, 1),
            **{name: dict(sorted(getattr(self, name).items())) for name in COUNTS},
            "mended": self.mended,
            "findings": self.findings,
        }

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON: the counts of all shards together, and each for itself."""
        self.shards[self.shard] = self.of_shard()
        return together(self.engine, self.shards)

    def keep(self) -> None:
        """Write the state."""
        write(self.path, self.to_dict())


def together(engine: str, shards: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The counts of all shards, and each for itself."""
    shards = dict(sorted(shards.items(), key=lambda pair: int(pair[0])))
    counts: dict[str, Counter[str]] = {name: Counter() for name in COUNTS}
    findings: dict[str, list[int]] = {}
    for shard in shards.values():
        for name in COUNTS:
            counts[name].update(shard[name])
        for words, seeds in shard["findings"].items():
            findings.setdefault(words, []).extend(seeds)
    return {
        "engine": engine,
        "runs": sum(counts["outcomes"].values()),
        "cpu_seconds": round(sum(shard["cpu_seconds"] for shard in shards.values()), 1),
        **{name: dict(sorted(counts[name].items())) for name in COUNTS},
        "mended": sum(shard["mended"] for shard in shards.values()),
        "findings": findings,
        "shards": shards,
    }


def write(path: Path, state: dict[str, Any]) -> None:
    """Write a state; an interruption leaves the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(state, indent=1) + "\n")
    new.replace(path)


def gather(path: Path, engine: str, folder: Path) -> dict[str, Any]:
    """Put what files of a folder know of their shards into the file of all counts."""
    shards = State(path, engine).shards
    for other in sorted(folder.glob(f"fuzz-{engine}-*.json")):
        for shard, kept in json.loads(other.read_text())["shards"].items():
            if kept["next"] >= shards.get(shard, kept)["next"]:
                shards[shard] = kept
    state = together(engine, shards)
    write(path, state)
    return state


def features(case: Case) -> set[str]:
    """What a case used beside its method and models."""
    policy = case.policy
    found = {f"column: {column.kind}" for column in case.with_role("quasi")}
    found |= {f"labels: {s['labels']}" for s in policy["columns"].values() if "labels" in s}
    found |= {f"role: {c.role}" for c in case.columns}
    keys = ("publish", "refine", "suppressed", "suppression", "predict", "default", "order")
    found |= {key for key in keys if key in policy}
    for rule in (
        "top",
        "bottom",
        "round",
        "missing",
        "importance",
        "preference",
        "levels",
        "spelling",
        "together",
    ):
        found |= {rule for s in policy["columns"].values() if rule in s}
    found.add("from a file" if case.from_file else "from a frame")
    found |= {"population"} if case.population is not None else set()
    return found


@contextmanager
def opened(engine: str) -> Iterator[None]:
    """Start Spark once, where it is needed: every run uses it, and drops its tables at the end."""
    if engine != "spark":
        yield
        return
    from shoal.engines.spark import connection
    from shoal.engines.spark.session import SparkTables

    # what Spark takes for a table of some rows is planning, compiling and handing over tasks
    settings = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.ui.enabled": "false",
        # a process that is paused for minutes is not lost
        "spark.network.timeout": "7200s",
        "spark.executor.heartbeatInterval": "1800s",
        "spark.shuffle.compress": "false",
        "spark.python.worker.reuse": "true",
        "spark.python.worker.idleTimeoutSeconds": "600",
    }
    usual = connection.open_spark
    spark = usual("spark", settings, cores=1)
    connection.open_spark = lambda *_, **__: SparkTables(spark._spark, spark._place, 1, None)
    try:
        yield
    finally:
        connection.open_spark = usual
        spark.close()


def source() -> str:
    """What is tried: git's name of the package's folder, with a plus where it was edited."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout

    named = git("rev-parse", "--short=10", "HEAD:src/shoal").strip()
    return (named or "unknown") + ("+" if git("status", "--porcelain", "src/shoal") else "")


@contextmanager
def kernels(case: Case) -> Iterator[None]:
    """Interpret the kernels of one case in ten: an index out of bounds is an error there, and in
    compiled code memory that belongs to somebody else."""
    if case.seed % (INTERPRETED * COSTLY.get(case.method, 1)) == 3:
        with interpreting():
            yield
    else:
        yield


def run(engine: str, count: int | None, seconds: float, state: State, folder: Path) -> State:
    """Take cases until the time is over, or as many as were asked for."""
    begin = time.monotonic()
    for words, seeds in list(state.findings.items()):
        for seed in list(seeds):
            again(state, words, case_of(seed, engine), folder)
    seed, done, kept, made_of = state.next, 0, time.monotonic(), source()
    taken = Mark(state.path)
    # most objects of a run are freed with it; looking for cycles takes a tenth of the time
    usual = gc.get_threshold()
    gc.set_threshold(50_000, 20, 20)
    while (count is None or done < count) and time.monotonic() - begin < seconds:
        case, started = case_of(seed, engine), time.process_time()
        taken.set(seed)
        try:
            with kernels(case):
                state.count(case, outcome_of(case, folder))
        except Finding as finding:
            state.find(case, str(finding))
        state.seconds += time.process_time() - started
        state.sources[made_of] += 1
        seed, done = seed + 1, done + 1
        if time.monotonic() - kept > 20:
            state.keep()
            kept = time.monotonic()
            gc.collect()
    gc.set_threshold(*usual)
    state.keep()
    return state


def again(state: State, words: str, case: Case, folder: Path) -> None:
    """Take a case once more that was a finding; where it is mended, it is none any more."""
    latest = state.next
    try:
        with kernels(case):
            state.count(case, outcome_of(case, folder))
    except Finding:
        return
    finally:
        state.next = latest
    state.outcomes["finding"] -= 1
    state.mended += 1
    state.findings[words].remove(case.seed)
    if not state.findings[words]:
        del state.findings[words]


def marked(state: Path) -> Path:
    """Where the seed of the case is that is being taken."""
    return FAST / f"shoal-fuzz-{crc32(str(state.resolve()).encode()):08x}.now"


class Mark:
    """Which case is being taken, where another process finds it if this one does not survive it."""

    def __init__(self, state: Path) -> None:
        path = marked(state)
        path.write_bytes(bytes(8))
        with path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 8)

    def set(self, seed: int) -> None:
        """Note the seed."""
        self.memory[:] = seed.to_bytes(8, "little")


def supervise(asked: argparse.Namespace, path: Path) -> None:
    """Take cases in a process of its own; one that dies is a finding, and another goes on."""
    begin = time.monotonic()
    while (left := asked.seconds - (time.monotonic() - begin)) > 0:
        command = [sys.executable, "-m", "tests.fuzz.campaign", asked.engine, "--alone"]
        command += ["--seconds", str(left), "--state", str(path), "--shard", str(asked.shard)]
        command += ["--count", str(asked.count)] if asked.count else []
        code = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
        if code == 0:
            return
        if code == LOST:
            continue
        if code == 1:
            raise SystemExit("The campaign itself failed; see above.")
        state = State(path, asked.engine, asked.shard)
        seed = int.from_bytes(marked(path).read_bytes(), "little")
        state.find(case_of(seed, asked.engine), f"the process died with code {code}")
        state.keep()


def show(engine: str, seed: int, folder: Path) -> None:
    """One case: its table, its policy, and how it ended."""
    case = case_of(seed, engine)
    print(json.dumps(case.policy, ensure_ascii=False, indent=1, default=str))
    print(
        write_csv(
            [c.name for c in case.columns],
            zip(*(c.texts for c in case.columns), strict=True),
            ",",
            False,
        )
    )
    print({c.name: c.typed for c in case.columns if c.typed}, "file" if case.from_file else "frame")
    try:
        rows, tables, _ = release_of(case, folder)
        print(*rows, sep="\n")
        print(tables or "")
        print(complaints(case, rows, tables))
    except ShoalError as error:
        print(type(error).__name__, error)
    with kernels(case):
        print(outcome_of(case, folder))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=("memory", "disk", "spark"))
    parser.add_argument("--alone", action="store_true", help="in this process, unsupervised")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--shard", type=int, default=0, help="the part of all seeds to take")
    parser.add_argument("--gather", type=Path, help="a folder with the states of shards")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="shoal-fuzz-", dir=FAST))
    try:
        if asked.seed is not None:
            with opened(asked.engine):
                show(asked.engine, asked.seed, folder)
            return
        every = STATE / f"fuzz-{asked.engine}.json"
        if asked.gather:
            found = gather(asked.state or every, asked.engine, asked.gather)
        else:
            alone = STATE / f"fuzz-{asked.engine}-{asked.shard}.json" if asked.shard else every
            path = asked.state or alone
            kept = State(RESULTS / every.name, asked.engine).shards.get(str(asked.shard))
            if kept and asked.shard and not path.exists():
                write(path, together(asked.engine, {str(asked.shard): kept}))
            state = State(path, asked.engine, asked.shard)
            if asked.alone:
                with opened(asked.engine):
                    try:
                        run(asked.engine, asked.count, asked.seconds, state, folder)
                    except Lost:
                        state.keep()
                        os._exit(LOST)  # there is nothing to close
                return
            supervise(asked, path)
            found = State(path, asked.engine, asked.shard).to_dict()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({name: each for name, each in found.items() if name != "shards"}, indent=1))
    sys.exit(1 if found["findings"] else 0)


if __name__ == "__main__":
    main()
