"""The parsers of what comes from outside, each as a function of bytes, and a fuzzer for them.

    python -m tests.fuzz.parsers policy --seconds 600

A parser may accept its input or refuse it with an error of Shoal's own; any other exception is a bug.
The corpus beside this file has an input per line of thought, and what was ever found. With `atheris`
(dependency group `fuzz`) inputs are mutated towards code that no input has reached; the tests replay the
corpus, and some mutations of it, without.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def _file(data: bytes, name: str) -> Path:
    path = Path(tempfile.gettempdir()) / f"shoal-parser-{os.getpid()}-{name}"
    path.write_bytes(data)
    return path


def policy(data: bytes) -> None:
    """A policy, and the policy that it writes of itself."""
    from shoal.policy import Policy

    loaded = Policy.from_text(data.decode("utf-8", "replace"), "policy", Path())
    again = Policy.from_text(loaded.to_yaml(), "policy", Path())
    assert again.fingerprint() == loaded.fingerprint(), "a policy reads itself in another way"


def preset(data: bytes) -> None:
    """The presets of a policy, beside columns that they may concern."""
    from shoal.policy import Policy

    text = data.decode("utf-8", "replace").replace("\n", " ")
    Policy.from_text(f"columns: {{age: quasi, ill: sensitive}}\npreset: {text}\n", "policy", Path())


def hierarchy(data: bytes) -> None:
    """A file of a hierarchy, asked for what it says about its own first values."""
    from shoal.hierarchy import Hierarchy

    path = _file(data, "hierarchy.csv")
    lines = data.decode("utf-8", "replace").splitlines()[:3]
    values = [line.replace('"', "").partition(";")[0].partition(",")[0] for line in lines]
    Hierarchy.from_csv(path).paths(values or ["a"])


def csv(data: bytes) -> None:
    """A CSV file, whose format is detected: read as a whole and batch by batch, alike."""
    from shoal.engines.duckdb.csv import csv_batches, read_csv, settle
    from shoal.io.csv_dialect import DETECT

    path = _file(data, "table.csv")
    options, _ = settle(path, DETECT)
    whole = read_csv(path, options)
    batches = csv_batches(path, options, whole.column_names)
    parts = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    rows = list(zip(*(column.to_pylist() for column in whole.columns), strict=True))
    assert parts == rows, "batches have other rows than the whole"


def label(data: bytes) -> None:
    """Labels of a release, in a column of each kind."""
    from shoal.encoding.columns import ColumnSpec
    from shoal.hierarchy import Hierarchy
    from shoal.publish.label_parser import parse_labels

    texts = list(dict.fromkeys(data.decode("utf-8", "replace").split("\x1f")))
    labels, values = [*texts, None], texts[: len(texts) // 2 + 1]
    for spec in (
        ColumnSpec(),
        ColumnSpec(kind="ordered"),
        ColumnSpec(kind="unordered"),
        ColumnSpec(kind="ordered", order=tuple(values)),
        ColumnSpec(hierarchy=Hierarchy.mask("right")),
        ColumnSpec(hierarchy=Hierarchy.intervals([5, 10])),
        ColumnSpec(hierarchy=Hierarchy.dates(["month", "year"])),
    ):
        found = parse_labels("column", labels, values, spec)
        covered = found.covers()
        assert covered.shape == (len(values) + 1, len(labels))
        star = labels.index("*") if "*" in labels else None
        assert star is None or covered[:, star].all(), "a star covers everything"


def certificate(data: bytes) -> None:
    """The certificate of a report."""
    from shoal.report.certificate_check import read_certificate

    read_certificate(_file(data, "certificate.json"))


def address(data: bytes) -> None:
    """The address of a database's table; what is shown of it has no password."""
    from shoal.io.address import place_of, public, shown_name

    text = data.decode("utf-8", "replace").replace("\x00", "")
    place = public(place_of(text))
    head, *chosen = re.split("[?&](?:query|table)=", text, maxsplit=1, flags=re.IGNORECASE)
    server = re.split("[/?#]", head.partition("://")[2])[0]
    user, _, password = server.rpartition("@")[0].partition(":")
    if "hunter2" not in password:
        return  # it is no password here
    others = re.sub("(?i)password=[^&]*", "", head.rpartition("@")[2])
    if "hunter2" in "".join([user, others, *chosen]):
        return  # it is also the name of a user, a host or a database or in a query, which are shown
    assert "hunter2" not in f"{place} {place!r} {shown_name(place)}", "a password is shown"


def mapping(data: bytes) -> None:
    """A file of labels and their values."""
    from shoal.engines.label_mapping import read_mapping

    read_mapping(_file(data, "mapping.json"))


def seed(data: bytes) -> None:
    """A file with a seed."""
    from shoal import seeds

    path = _file(data, "run.seed")
    path.chmod(0o600)
    seeds.read(path)


PARSERS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each
    for each in (policy, preset, hierarchy, csv, label, certificate, address, mapping, seed)
}


def inputs(name: str) -> list[bytes]:
    """The corpus of a parser."""
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


def accepts(name: str, data: bytes) -> bool:
    """Whether a parser takes an input; False where it refuses it in Shoal's own words."""
    from shoal.errors import ShoalError

    try:
        PARSERS[name](data)
    except ShoalError as error:
        if not str(error).strip():
            raise AssertionError("an error without words") from error
        return False
    return True


def mutated(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """An input a few steps away: bytes changed, left out, doubled, or joined with another input."""
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(found) + 1)
        end = min(len(found), at + draw.choice((1, 1, 2, 8, 40)))
        step = draw.randrange(6)
        if step == 0:
            del found[at:end]
        elif step == 1:
            found[at:at] = bytes(
                draw.choice(b"\x00\n\r\t\"'\\{}[]*~,;:-0\xff\xef\xbb\xbf") for _ in range(2)
            )
        elif step == 2:
            found[at:at] = found[at:end] * draw.choice((1, 2, 30))
        elif step == 3 and at < len(found):
            found[at] = draw.randrange(256)
        elif step == 4:
            other = draw.choice(others)
            cut = draw.randrange(len(other) + 1)
            found[at:] = other[cut : cut + 200]
        else:
            found[at:end] = draw.choice(
                (b"99999999999999999999", b"-1", b"1e999", b"nan", b"null", b"\xc3\xa9")
            )
    return bytes(found[:5000])


def fuzz(name: str, seconds: int) -> None:
    """Let atheris look for inputs; a bug ends the process, and the input is kept where it runs."""
    import atheris

    with atheris.instrument_imports(include=["shoal"], enable_loader_override=False):
        accepts(name, inputs(name)[0])

    found = Path(os.environ.get("SHOAL_FUZZ_STATE", Path.home() / ".cache" / "shoal-fuzz")) / name
    found.mkdir(parents=True, exist_ok=True)
    arguments = [sys.argv[0], f"-max_total_time={seconds}", "-max_len=5000", "-timeout=60"]
    arguments += [f"-artifact_prefix={found}/bug-", str(found), str(CORPUS / name)]
    atheris.Setup(arguments, lambda data: accepts(name, data))
    atheris.Fuzz()


def wander(name: str, seconds: float, first: int) -> int:
    """Try mutations of the corpus without atheris; how many there were."""
    begin, number, corpus = time.monotonic(), first, inputs(name)
    while time.monotonic() - begin < seconds:
        draw = random.Random(f"{name}:{number}")
        data = mutated(draw.choice(corpus), corpus, draw)
        try:
            accepts(name, data)
        except BaseException:
            print(f"{name} {number}: {data!r}")
            raise
        number += 1
    return number - first


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parser", choices=sorted(PARSERS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument(
        "--plain", type=int, metavar="FIRST", help="without atheris, from this number"
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.plain is not None:
        print(asked.parser, wander(asked.parser, asked.seconds, asked.plain), "inputs")
    else:
        fuzz(asked.parser, asked.seconds)


if __name__ == "__main__":
    main()
