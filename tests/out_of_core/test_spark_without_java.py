"""The parts of the Spark engine that can be tested without Spark."""

import logging
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import accumulate, pairwise
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from py4j.protocol import Py4JError, Py4JNetworkError

from shoal import errors
from shoal.engines import table_size
from shoal.engines.spark.arrow import schema_in_spark, type_in_spark
from shoal.engines.spark.connection import open_frame, open_spark
from shoal.engines.spark.daemon import without_archives
from shoal.engines.spark.failures import (
    failure_of_frame,
    known_failure,
    packed,
    translated_errors,
    unpack_error,
)
from shoal.engines.spark.launch import (
    DAEMON,
    DRIVER_MEMORY,
    JAVA_OPTIONS,
    QUICK_COMPILATION,
    Launched,
    call_with_timeout,
    is_loopback,
    java_megabytes,
    java_memory,
    master_addresses,
    preferences,
    quick_compilation,
)
from shoal.engines.spark.packages import decoded, rows_of
from shoal.engines.spark.row_work import SCATTERED_ROWS, gathering, scattering
from shoal.engines.spark.session import shuffle_partitions, slot_bounds
from shoal.errors import InputError


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=60), slots=st.integers(1, 20))
def test_slots_hold_all_keys_and_about_equal_rows(sizes: list[int], slots: int) -> None:
    slots = min(slots, len(sizes))
    bounds = slot_bounds(sizes, slots)
    assert bounds == sorted(set(bounds))
    assert len(bounds) < slots or slots == 1
    filled = [0] * (len(bounds) + 1)
    for key, rows in enumerate(sizes):
        filled[sum(bound <= key for bound in bounds)] += rows
    assert min(filled) > 0
    assert max(filled) <= sum(sizes) / slots + max(sizes)


def test_equal_groups_use_every_slot() -> None:
    for slots in range(1, 17):
        assert len(slot_bounds([5] * 16, slots)) == slots - 1


@given(message=st.text(), kind=st.sampled_from(["InputError", "Infeasible", "VerificationFailed"]))
def test_errors_are_packed_and_unpacked(message: str, kind: str) -> None:
    sent: errors.ShoalError = getattr(errors, kind)(message)
    back = unpack_error(f"PythonException: Traceback\nRuntimeError: {packed(sent)}\n at x")
    assert type(back) is type(sent)
    assert str(back) == message


def test_known_failures_do_not_quote_spark() -> None:
    told = known_failure("ModuleNotFoundError: No module named 'shoal' row=(secret)", "PLACE")
    assert "Install it there" in str(told)
    assert "secret" not in str(told)
    assert known_failure("a bug", "PLACE") is None
    assert unpack_error("a bug") is None


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.float16(), pa.duration("s"), pa.timestamp("ns"), pa.timestamp("us", "Europe/Zurich")),
        *(
            pa.decimal256(50, 0),
            pa.list_(pa.int8()),
            pa.time64("us"),
            pa.null(),
            pa.decimal128(5, -1),
        ),
    ],
    ids=str,
)
def test_types_that_spark_would_change(kind: pa.DataType) -> None:
    assert type_in_spark(kind) is None
    with pytest.raises(InputError, match="column 'ward' has the type"):
        schema_in_spark(pa.schema([("ward", kind)]))


def test_addresses() -> None:
    assert master_addresses("spark://a:7077,[::1]:1") == [("a", 7077), ("::1", 1)]
    assert is_loopback("spark://localhost:7077")
    assert not is_loopback("spark://127.0.0.1:1,there:1")
    for wrong in ("spark://", "spark://a", "spark://a:b", "spark://:7077", "spark://a:70777"):
        with pytest.raises(InputError, match="is not the address of a Spark master"):
            open_spark(wrong)
    with pytest.raises(InputError, match="'sparc' is not a Spark engine"):
        open_spark("sparc")


def test_a_master_that_is_not_there() -> None:
    # nobody listens on port 1
    with pytest.raises(InputError, match=r"spark://127\.0\.0\.1:1 cannot be reached"):
        open_spark("spark://127.0.0.1:1")


def test_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(InputError, match="needs Java 17"):
        open_spark()


def test_a_call_times_out() -> None:
    stopped: list[bool] = []

    def work() -> None:
        while not stopped:
            time.sleep(0.01)

    assert call_with_timeout(0.05, work, lambda: stopped.append(True)) == (False, None)
    assert stopped == [True]
    assert call_with_timeout(60, lambda: 5, lambda: None) == (True, 5)
    with pytest.raises(ZeroDivisionError):
        call_with_timeout(60, lambda: 1 // 0, lambda: None)


@given(rows=st.integers(0, 10**11), cores=st.integers(1, 5_000))
def test_parts_follow_from_rows_and_cores(rows: int, cores: int) -> None:
    parts = shuffle_partitions(rows, cores)
    assert parts == 4_000 or parts >= max(6, 3 * cores, rows / 500_000)
    assert parts <= 4_000
    assert parts <= max(6, 3 * cores) or (parts - 1) * 500_000 < rows


def test_java_has_a_quarter_of_the_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert [java_megabytes(gb << 30) for gb in (0, 3, 16, 20, 1000)] == [
        1024,
        1024,
        4096,
        5120,
        8192,
    ]
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(table_size, "CONTAINER", (tmp_path / "none", limit))
    monkeypatch.delenv(DRIVER_MEMORY, raising=False)
    limit.write_text("max\n")
    whole = table_size.machine_memory()
    assert whole > 1 << 28
    limit.write_text(f"{whole - 5}\n")
    assert table_size.machine_memory() == whole - 5
    with java_memory():
        assert os.environ[DRIVER_MEMORY] == f"{java_megabytes(whole - 5)}m"
    assert DRIVER_MEMORY not in os.environ
    monkeypatch.setenv(DRIVER_MEMORY, "3g")
    with java_memory():
        assert os.environ[DRIVER_MEMORY] == "3g"
    assert os.environ[DRIVER_MEMORY] == "3g"


@pytest.mark.parametrize("mine", [None, "-XX:TieredStopAtLevel=4"])
def test_options_for_java_of_the_user_come_last(
    monkeypatch: pytest.MonkeyPatch, mine: str | None
) -> None:
    monkeypatch.delenv(JAVA_OPTIONS, raising=False)
    if mine is not None:
        monkeypatch.setenv(JAVA_OPTIONS, mine)
    with quick_compilation():
        expected = QUICK_COMPILATION if mine is None else f"{QUICK_COMPILATION} {mine}"
        assert os.environ[JAVA_OPTIONS] == expected
    assert os.environ.get(JAVA_OPTIONS) == mine


def test_only_a_spark_of_this_machine_is_given_our_daemon_and_sockets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module, enabled = "spark.python.daemon.module", "spark.python.unix.domain.socket.enabled"
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    short, long = Path("/tmp/shoal-spark-x"), Path("/tmp", "x" * 60)
    assert preferences("local[2]", short).items() >= {module: DAEMON, enabled: "true"}.items()
    assert preferences("local[2]", long)[module] == DAEMON
    assert enabled not in preferences("local[2]", long)
    assert not {module, enabled} & preferences("spark://there:7077", short).keys()
    monkeypatch.setenv("PYSPARK_PYTHON", "/other/python")  # it may have another version of ours
    assert module not in preferences("local[2]", short)


def test_an_archive_of_pyspark_is_left_out_where_the_package_is(tmp_path: Path) -> None:
    packages, other = tmp_path / "packages", tmp_path / "spark"
    for home in (packages / "pyspark", other):
        (home / "python" / "lib").mkdir(parents=True)
    (packages / "pyspark" / "__init__.py").touch()
    copies = [
        str(packages / "pyspark" / "python" / "lib" / f"{n}.zip") for n in ("pyspark", "py4j")
    ]
    alone = str(other / "python" / "lib" / "pyspark.zip")
    kept = ["", alone, str(tmp_path / "mine.zip"), str(packages)]
    assert without_archives([*copies, *kept]) == kept
    assert without_archives([*copies, alone]) == [*copies, alone]


@given(sizes=st.lists(st.integers(0, 9000), max_size=6), slots=st.integers(1, 4))
def test_a_row_goes_to_the_same_slot_whatever_the_batches_are(sizes: list[int], slots: int) -> None:
    ends = list(accumulate(sizes, initial=0))
    batches = [pa.record_batch({"n": range(a, b)}) for a, b in pairwise(ends)]
    found = {
        n: package[0]
        for package in scattering(slots)(iter(batches))
        for n in rows_of(package).column("n").to_pylist()
    }
    assert found == {n: n // SCATTERED_ROWS % slots for n in range(ends[-1])}


def test_texts_that_repeat_are_gathered_as_codes() -> None:
    batches = [
        pa.record_batch({"often": ["a", None, "", "a"], "once": [f"{i}-{j}" for j in range(4)]})
        for i in range(3)
    ]
    (package,) = gathering(iter(batches))
    rows = rows_of(package)
    assert [pa.types.is_dictionary(kind) for kind in rows.schema.types] == [True, False]
    assert decoded(rows).to_pylist() == [row for batch in batches for row in batch.to_pylist()]
    assert list(gathering(iter(batches[:0]))) == []


def test_errors_during_ctrl_c_are_ctrl_c(caplog: pytest.LogCaptureFixture) -> None:
    def work(first: BaseException) -> None:
        try:
            raise first
        finally:
            logging.getLogger("py4j.clientserver").error("a row")
            raise ConnectionError("Spark went away")

    with pytest.raises(KeyboardInterrupt), translated_errors("PLACE"):
        work(KeyboardInterrupt())
    with pytest.raises(ConnectionError), translated_errors("PLACE"):
        work(ValueError())
    assert not caplog.records
    logging.getLogger("py4j.clientserver").error("a row")
    assert len(caplog.records) == 1


def test_a_frame_of_spark_connect_is_refused_by_name() -> None:
    kind = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})
    with pytest.raises(InputError, match="of Spark Connect, which is not supported"):
        open_frame(kind())


def test_a_failure_of_a_frame_is_named_by_its_kind_alone() -> None:
    python = 'PythonException: \n  An exception was thrown\n  File "udf.py"\nValueError: secret'
    found = failure_of_frame(python)
    assert found is not None
    assert "(ValueError)" in str(found)
    assert "secret" not in str(found)
    assert "(DIVIDE_BY_ZERO)" in str(failure_of_frame("[DIVIDE_BY_ZERO] Division of secret"))
    # an error in a function of ours is a bug, and not one of the frame
    assert failure_of_frame('File "/lib/shoal/engines/queries.py"\nKeyError: 1') is None


@pytest.mark.parametrize(
    "error",
    [
        Py4JNetworkError("Error while sending or receiving: row=(secret)"),
        Py4JError("org.apache.spark.Something does not exist in the JVM"),
        ConnectionResetError(104, "Connection reset by peer"),
    ],
)
def test_a_java_that_died_is_told_in_our_words(error: Exception) -> None:
    with (
        pytest.raises(InputError, match=r"^PLACE stopped responding") as told,
        translated_errors("PLACE"),
    ):
        raise error
    assert "secret" not in str(told.value)


def test_a_session_whose_java_died_ends_without_an_error() -> None:
    """What went wrong is told by the run, not by its clean-up."""

    class Session:
        def stop(self) -> None:
            raise Py4JNetworkError("Answer from Java side is empty")

    process = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    with ExitStack() as files:
        log = files.enter_context(tempfile.TemporaryFile())
        Launched(Session(), SimpleNamespace(proc=process), files.pop_all()).end()
    assert log.closed
    assert process.returncode == 0
