"""A release whose frame was changed after it was made is neither written nor certified."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal


def people() -> pd.DataFrame:
    drawn = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "age": drawn.integers(0, 90, 60),
            "ill": drawn.choice(["flu", "gout", "angina"], 60),
            "visits": drawn.integers(0, 5, 60),
        }
    )


def released(**others: Any) -> shoal.Release[pd.DataFrame]:
    roles: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "plain": "visits"}
    return shoal.anonymize(people(), **roles, l=2, seed=1, **others)


def change_plain(table: pd.DataFrame) -> None:
    table.loc[3, "visits"] = 77


def change_label(table: pd.DataFrame) -> None:
    # every guarantee still holds, but nobody is so old
    table.loc[table["age"] == table.loc[0, "age"], "age"] = "[900~901]"


def exchange_values(table: pd.DataFrame) -> None:
    table["visits"] = table["visits"].to_numpy()[::-1]


@pytest.mark.parametrize("order", ["sorted", "kept"])
@pytest.mark.parametrize("change", [change_plain, change_label, exchange_values])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_changed_rows_are_not_written(
    tmp_path: Path, change: Callable[[pd.DataFrame], None], order: Any
) -> None:
    release = released(k=3, order=order)
    change(release.table)
    with pytest.raises(shoal.VerificationFailed, match="changed after the release was made"):
        release.write(tmp_path / "out.csv")
    for external in (False, True):
        with pytest.raises(shoal.VerificationFailed, match="changed after the release was made"):
            release.report(tmp_path / "report.html", external=external)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("change", ["one cell", "a label", "a column"])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_changed_rows_of_polars_are_not_written(tmp_path: Path, change: str) -> None:
    roles: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "plain": "visits"}
    release = shoal.anonymize(pl.from_pandas(people()), **roles, k=3, l=2, seed=1)
    release.write(tmp_path / "out.csv")
    (tmp_path / "out.csv").unlink()
    table = release.table
    if change == "one cell":
        table[3, "visits"] = 77
    elif change == "a label":
        table[(table["age"] == table["age"][0]).arg_true().to_list(), "age"] = "[900~901]"
    else:
        table.replace_column(table.get_column_index("visits"), table["visits"].reverse())
    with pytest.raises(shoal.VerificationFailed, match="changed after the release was made"):
        release.write(tmp_path / "out.csv")
    with pytest.raises(shoal.VerificationFailed, match="changed after the release was made"):
        release.report(tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_changed_tables_of_sensitive_values_are_not_written(tmp_path: Path) -> None:
    release = released(publish="anatomy")
    values = release.sensitive_tables["ill"]
    values["ill"] = values["ill"].replace("gout", "heart failure")  # in its place in the order
    with pytest.raises(shoal.VerificationFailed, match="changed after the release was made"):
        release.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_the_input_may_change_once_the_release_is_made(tmp_path: Path) -> None:
    table, plain = people(), {"quasi": "age", "sensitive": "ill", "plain": "visits"}
    release = shoal.anonymize(table, **plain, k=3, order="kept", seed=1)
    before = table["visits"].tolist()
    table.loc[:, "visits"] = 99
    release.write(tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["visits"].tolist() == before


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_rows_in_another_order_are_the_same_rows(tmp_path: Path) -> None:
    release = released(k=3)
    ordered = release.table.sort_values("visits")
    for name in ordered:
        release.table[name] = ordered[name].to_numpy()
    release.write(tmp_path / "out.csv", report=tmp_path / "report.json")
    found = shoal.verify(tmp_path / "out.csv", release.policy, certificate=tmp_path / "report.json")
    assert found.certificate is not None
    assert found.certificate.fits
