"""Tables of offices as they are: dates as they are written there, and files without a header."""

import random
from pathlib import Path

import pytest

import shoal
from shoal.errors import InputError

POLICY = {
    "columns": {"born": "quasi", "town": "quasi", "ill": "sensitive"},
    "constraints": [{"k": 5}, {"l": 2, "of": "ill"}],
    "seed": 1,
}


def people(days: int, form: str) -> list[str]:
    """Lines of 120 people, born on one of the first days of a month."""
    chosen = random.Random(5)
    lines = []
    for _ in range(120):
        day, month, year = (
            chosen.randint(1, days),
            chosen.randint(1, 12),
            chosen.randint(1940, 2005),
        )
        town, ill = chosen.choice(["Mons", "Huy", "Ath"]), chosen.choice(["flu", "gout", "cold"])
        lines.append(f"{form.format(d=day, m=month, y=year)},{town},{ill}")
    return lines


@pytest.mark.parametrize("memory", [None, "500MB"])
@pytest.mark.parametrize(
    "form", ["{d:02}/{m:02}/{y}", "{m}/{d}/{y}", "{d:02}.{m:02}.{y}", "{y}-{m:02}-{d:02}"]
)
def test_birthdays_become_ranges_of_iso_dates(
    tmp_path: Path, form: str, memory: str | None
) -> None:
    """Not sets of exact birthdays, whichever way the dates are written."""
    source, out = tmp_path / "t.csv", tmp_path / "out.csv"
    source.write_text("\n".join(["born,town,ill", *people(28, form)]) + "\n")
    release = shoal.run(source, POLICY, out, memory=memory)
    iso = tmp_path / "iso.csv"
    iso.write_text("\n".join(["born,town,ill", *people(28, "{y}-{m:02}-{d:02}")]) + "\n")
    plain = shoal.run(iso, POLICY, tmp_path / "plain.csv")
    assert sorted(out.read_text().splitlines()) == sorted(plain.output.read_text().splitlines())
    assert release.metrics["mean-ncp"] > 0.01
    labels = {line.split(",")[0] for line in out.read_text().splitlines()[1:]}
    assert all(label.startswith(("[19", "[20")) for label in labels)
    if not form.startswith("{y}"):
        assert any("'born' was read as dates written as" in note for note in release.notes)


@pytest.mark.parametrize("memory", [None, "500MB"])
def test_dates_that_could_be_either_are_asked(tmp_path: Path, memory: str | None) -> None:
    source, out = tmp_path / "t.csv", tmp_path / "out.csv"
    source.write_text("\n".join(["born,town,ill", *people(12, "{d:02}/{m:02}/{y}")]) + "\n")
    with pytest.raises(InputError, match="day first or with the month first") as asked:
        shoal.run(source, POLICY, out, memory=memory)
    assert '`read: {dates: "%d/%m/%Y"}` or `read: {dates: "%m/%d/%Y"}`' in str(asked.value)
    assert not out.exists()
    answered = {**POLICY, "read": {"dates": "%d/%m/%Y"}}
    assert shoal.run(source, answered, out, memory=memory).verified


@pytest.mark.parametrize("memory", [None, "500MB"])
def test_the_first_person_does_not_become_the_column_names(
    tmp_path: Path, memory: str | None
) -> None:
    source, out = tmp_path / "t.csv", tmp_path / "out.csv"
    lines = people(28, "{d:02}/{m:02}/{y}")
    source.write_text("\n".join(lines) + "\n")
    for call in (shoal.inspect, shoal.draft_policy):
        with pytest.raises(InputError, match=r"`read: \{header: false\}`") as asked:
            call(source, memory=memory)
        assert not any(value in str(asked.value) for value in lines[0].split(","))
    with pytest.raises(InputError, match="looks like data"):
        shoal.run(source, POLICY, out, memory=memory)
    assert not out.exists()
    named = {**POLICY, "read": {"header": False, "names": ["born", "town", "ill"]}}
    release = shoal.run(source, named, out, memory=memory)
    assert release.rows == 120
    assert out.read_text().splitlines()[0] == "born,town,ill"
    assert shoal.verify(out, named).holds
    draft = shoal.draft_policy(source, read=named["read"])
    assert draft.decided("sensitive").policy.read.header is False


def test_a_draft_writes_down_how_the_table_is_written(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    rows = [
        f"{day:02}/01/1990;{day / 4:.2f}".replace(".", ",") + f";{day % 9:03};{seen:02}/05/2020"
        for day, seen in zip(range(1, 29), [*range(1, 13), *range(1, 13), 1, 2, 3, 4], strict=True)
    ]
    source.write_text("born;bmi;ward;seen\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = shoal.inspect(source)
    by_name = {column.name: column for column in found.columns}
    assert by_name["born"].read_as == "all values are dates written as %d/%m/%Y"
    assert by_name["bmi"].read_as == "all values are numbers with a decimal comma"
    assert by_name["ward"].read_as == "numbers would lose leading zeros"
    assert by_name["seen"].question
    assert found.read == {"separator": ";", "decimal": ","}
    draft = shoal.draft_policy(source)
    assert draft.undecided == ("bmi", "ward")
    draft = draft.decided("sensitive")
    assert draft.policy.read.decimal == ","
    assert draft.policy.columns["born"].dates == "%d/%m/%Y"
    assert '#   read: {dates: "%d/%m/%Y"}' in draft.text
    with pytest.raises(InputError, match="Column 'seen'"):
        shoal.anonymize(source, draft.policy)
