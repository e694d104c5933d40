"""A new format is one file: it is found, read, written and verified like the others."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from shoal.engines import formats
from shoal.errors import InputError

SOURCE = '''
"""Lines with bars between the values."""

from contextlib import contextmanager

import pyarrow as pa

from shoal.engines.formats.base import FileFormat


class Barred(FileFormat):
    """Values between bars."""

    endings = (".bar",)
    title = "a file with bars"
    exact = False

    def _rows(self, path):
        return [line.split("|") for line in path.read_text().splitlines()]

    def names(self, path, options):
        return self._rows(path)[0]

    def schema(self, path, options, columns):
        return pa.schema([(name, pa.string()) for name in columns])

    def batches(self, path, options, columns, size):
        names, *rows = self._rows(path)
        at = [names.index(name) for name in columns]
        values = [[row[j] or None for row in rows] for j in at]
        yield pa.record_batch([pa.array(v, pa.string()) for v in values], names=list(columns))

    @contextmanager
    def writer(self, path, schema, options):
        with path.open("w") as stream:
            stream.write("|".join(schema.names) + "\\n")

            class Writer:
                def write_batch(self, batch):
                    for row in batch.to_pylist():
                        stream.write("|".join("" if v is None else str(v) for v in row.values()) + "\\n")

            yield Writer()
'''


@pytest.fixture
def barred(tmp_path: Path) -> Iterator[None]:
    folder = tmp_path / "formats"
    folder.mkdir()
    (folder / "barred.py").write_text(SOURCE)
    formats.__path__.append(str(folder))
    importlib.invalidate_caches()
    yield
    formats.__path__.remove(str(folder))
    sys.modules.pop("shoal.engines.formats.barred", None)
    vars(formats).pop("barred", None)


POLICY = {"columns": {"age": "quasi", "town": "plain"}, "constraints": [{"k": 2}], "seed": 1}


@pytest.mark.usefixtures("barred")
@pytest.mark.parametrize("memory", [None, "300MB"])
def test_one_file_is_enough(tmp_path: Path, memory: str | None) -> None:
    source, target = tmp_path / "t.bar", tmp_path / "o.bar"
    source.write_text("age|town\n31|Ath\n36|\n61|Huy\n64|Ath\n")
    release = shoal.run(source, POLICY, target, memory=memory)
    assert release.verified
    lines = target.read_text().splitlines()
    assert lines[0] == "age|town"
    assert sorted(lines[1:]) == ["[31~36]|", "[31~36]|Ath", "[61~64]|Ath", "[61~64]|Huy"]
    assert shoal.verify(target, POLICY).holds


def test_without_it_the_extension_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "t.bar").write_text("age|town\n31|Ath\n")
    with pytest.raises(InputError, match=r"the extension '\.bar' is unknown"):
        shoal.inspect(tmp_path / "t.bar")
