"""HIPAA Safe Harbor: the 18 identifiers of 45 CFR 164.514(b)(2).

What the policy says is refused before any work where a column's name is that of an identifier or of a
place smaller than a state. What was published is then checked by its text alone: labels are taken apart
here, without anything of the code that made them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass as plain_dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.encoding.vocabulary import (
    AGE_GROUPS,
    AGES,
    BIRTH_YEARS,
    BIRTHS,
    DATE_ENDS,
    DATE_PARTS,
    DATES,
    PLACES,
    SHORT_TIMES,
    WHOLE_BIRTHS,
    hint_of,
    is_postal,
    meaning_of,
    runs_of,
    words_of,
)
from shoal.encoding.zip_areas import read_large_areas
from shoal.models.base import Model
from shoal.presets.base import (
    DeclaredColumn,
    DeclaredPolicy,
    FieldPath,
    Preset,
    Refusal,
    Rule,
    Source,
    ValueCheck,
)
from shoal.presets.identifiers import FORMS, plain, shows

OLDEST = 89
"""Ages above it are published together."""
TOGETHER = OLDEST + 1


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


NAMES: dict[str, frozenset[str]] = {
    "names": _set(
        """
        firstname lastname surname forename fullname givenname familyname middlename maidenname
        patientname personname membername mothername fathername spousename relativename doctorname
        physicianname nursename employername contactname nickname initials
        fname lname mname firstnm lastnm patientnm ptname
        """
    ),
    "phone numbers": _set("phone telephone tel mobile cellphone phonenumber"),
    "fax numbers": _set("fax faxnumber"),
    "e-mail addresses": _set("email mail emailaddress"),
    "social security numbers": _set("ssn socialsecurity socialsecuritynumber socialsecno socsecno"),
    "medical record numbers": _set(
        """
        mrn medicalrecord recordnumber patientid patientno patientnumber subjectid chartnumber
        encounterid visitid admissionid hadmid caseid casenumber
        patid ptid recordid studyid medrecno medrecnumber chartno chartid
        """
    ),
    "health plan beneficiary numbers": _set(
        """
        beneficiaryid beneficiarynumber memberid membernumber memberno healthplanid insuranceid
        insurancenumber policynumber medicareid medicaidid hicn mbi subscriberid
        """
    ),
    "account numbers": _set(
        "accountnumber accountno accountid acctno acctnumber iban creditcard cardnumber"
    ),
    "certificate and licence numbers": _set(
        "license licence licensenumber licencenumber driverslicense certificatenumber passport npi"
    ),
    "vehicle identifiers": _set("vin licenseplate licenceplate numberplate vehicleid"),
    "device identifiers": _set("deviceid deviceserial serialnumber imei udi macaddress"),
    "web addresses": _set("url website homepage webpage"),
    "network addresses": _set("ip ipaddress"),
    "biometric identifiers": _set("fingerprint voiceprint biometric faceid retinascan"),
    "photographs": _set("photo photograph picture faceimage"),
    "other unique codes": _set(
        """
        uuid guid personid userid username login customerid clientid employeeid studentid
        respondentid participantid nationalid
        """
    ),
    "places smaller than a state": PLACES,
    "parts of dates other than the year": DATE_PARTS,
}
"""What a column holds by a run of words in its name."""
WHOLE_NAMES = {
    "name": "names",
    "names": "names",
    "id": "other unique codes",
    "identifier": "other unique codes",
    **dict.fromkeys(
        ("month", "monat", "mois", "mes", "mese", "maand", "miesiac", "maned", "manad", "kuukausi"),
        "parts of dates other than the year",
    ),
}
"""What a column holds by its whole name."""
OTHER_HINTS: dict[str, str] = {
    "person": "names, numbers, codes or addresses of one person",
    "household": "numbers of households",
}
"""What a column holds that a draft takes for an identifier, in any of its languages."""
NUMBERS_OF_PEOPLE = re.compile(
    r"(?:patient|fall|kunde|klient|mitglied|versicher|kranken|akte|personal|ausweis|konto|client|"
    r"pasient|potilas|kund|medlem|dossier|polis|rekening|klant|lidmaatschap|forsakring|forsikring|"
    r"journal)\w*(?:nummer|nr|numero|kennung)"
)
"""Numbers of people that are one long word, as in `Krankenkassennummer`."""

UNIT_AFTER = AGES | {"in", "en", "i", "w"}
"""What stands before the unit of an age: `age_months`, `age in weeks`; not `age_last_month`."""

HALF_OPEN = re.compile(r"\[(-?[\d.]+)-(-?[\d.]+)\)")
CUT = re.compile(r"[\[(](-?[\d.]+), (-?[\d.]+)([\])])")
DASHED = re.compile(r"(\d+(?:\.\d+)?) ?[-–] ?(\d+(?:\.\d+)?)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
AGE = re.compile(
    r"(?P<from>≥ ?|>= ?)?(?<![\d.])(?P<number>\d+(?:[.,]\d+)?) ?(?P<after>\+|[^\W\d_]*)"
)
"""An age in a label, whatever stands around it: `95`, `95+`, `95 years`, `aged 95`."""
OR_OLDER = re.compile(
    r"\+|\b(?:older|over|more|up|älter|aelter|mehr|plus|más|mas|mayores|oltre|più|piu|ouder|meer|mais|"
    r"velhos|starsi|więcej|ældre|eldre|äldre|mer|vanhemmat|enemmän)\b"
)
"""What follows 90 where all older people are published with it."""
MONTHS = re.compile(r"m|kuu")
"""How words for months begin, of those for short times."""
YEARS = re.compile(r"≤?\d{4}s?\+?")
MONTH = (
    r"(?:jan|feb|fév|mar|mär|maart|mrt|apr|avr|abr|may|mai|maj|mag|mei|jun|juin|giu|jul|juil|lug|aug|"
    r"aoû|aou|ago|sep|set|oct|okt|out|ott|nov|dec|déc|dez|des|dic|ene|gen|stycz|lut|kwie|czerw|lip|"
    r"sierp|wrze|paźdz|listop|grud|tammi|helmi|maalis|huhti|touko|kesä|heinä|elo|syys|loka|marras|"
    r"joulu)[^\W\d_]*\.?"
)
NTH = r"\d{1,2}(?:st|nd|rd|th|er|\.|º)?"
YEAR = r"(?:1[89]|20)\d\d"
FULL_DATE = re.compile(
    rf"(?<![\d.]){YEAR}([-/._])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])(?!\d)"
    rf"|(?<![\d.])(?:0?[1-9]|[12]\d|3[01])([-/._])(?:0?[1-9]|[12]\d|3[01])\2{YEAR}(?!\d)"
    rf"|(?<!\d){YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])T\d\d"
    rf"|\b(?:{NTH}[ -]?(?:of |de |di )?{MONTH}|{MONTH}[ -]{NTH})(?:,? |-)?(?:de |del )?{YEAR}\b"
    rf"|\b{YEAR}[ -]{MONTH}[ -]{NTH}\b|\b\d\d?-{MONTH}-\d\d\b",
    re.IGNORECASE,
)


def members(label: str) -> list[str]:
    """The values that a label names: both ends of a range, the members of a set, or itself."""
    inside = label[1:-1]
    if label[:1] + label[-1:] == "[]" and "~" in label:
        return [each.strip() for each in inside.split("~")]
    if label[:1] + label[-1:] == "{}":
        return [each.strip() for each in inside.split(",")]
    return [label.strip()]


@plain_dataclass(frozen=True)
class IdentifierCheck(ValueCheck):
    """No text of a column shows an identifier of a kind by its form."""

    kind: str

    def broken(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text contains such an identifier."""
        return [shows(self.kind, text) for text in texts]

    @property
    def words(self) -> str:
        """What is wrong with such texts."""
        return (
            f"{self.kind} in its published values, by their form; give it the role identifier, which "
            "drops it, or, if they are none, list it under `not_identifiers`"
        )


@plain_dataclass(frozen=True)
class DateCheck(ValueCheck):
    """No date of a column is finer than its year."""

    of_dates: bool
    """Whether the column holds dates by its name or its settings: then nothing but years is allowed.
    Elsewhere only whole dates are recognised."""

    def broken(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is finer than a year."""
        return [self._is_finer(text) for text in texts]

    def _is_finer(self, text: str) -> bool:
        if not self.of_dates:
            return FULL_DATE.search(plain(text)) is not None
        if HALF_OPEN.fullmatch(text) or CUT.fullmatch(text):
            return any(len(year) != 4 for year in re.findall(r"[\d.]+", text))
        digits = (part for part in members(text) if re.search(r"\d", part))
        return any(YEARS.fullmatch(part) is None for part in digits)

    @property
    def words(self) -> str:
        """What is wrong with such texts."""
        return (
            "published dates that are finer than a year; write `part: year`, or, if they are no dates "
            "of people, list it under `not_identifiers`"
        )


@plain_dataclass(frozen=True)
class AgeCheck(ValueCheck):
    """No age above 89 can be told from another."""

    def broken(self, texts: Sequence[str]) -> list[bool]:
        """Whether each label names an age above 89 by more than `90 or older`."""
        return [_tells_old_age(text.strip()) for text in texts]

    @property
    def words(self) -> str:
        """What is wrong with such texts."""
        return f"published ages above {OLDEST} that can be told apart; write `top: {TOGETHER}`"


def _tells_old_age(label: str) -> bool:
    if match := HALF_OPEN.fullmatch(label):
        return float(match[2]) > TOGETHER
    if match := CUT.fullmatch(label):
        return float(match[2]) > TOGETHER or (match[3] == "]" and float(match[2]) >= TOGETHER)
    if match := DASHED.fullmatch(label):
        return float(match[2]) >= TOGETHER
    return any(_names_old_age(part.casefold()) for part in members(plain(label)))


def _names_old_age(part: str) -> bool:
    """Whether a value names an age above 89 by more than `90 or older`, in whatever words."""
    if part.startswith("-"):  # a code for a missing age
        return False
    for match in AGE.finditer(part):
        number, unit = float(match["number"].replace(",", ".")), match["after"]
        if unit in SHORT_TIMES:
            number = number / 12 if MONTHS.match(unit) else 0
        is_open = match["from"] is not None or OR_OLDER.search(part, match.end("number"))
        if number > TOGETHER or (number == TOGETHER and not is_open):
            return True
    return False


@plain_dataclass(frozen=True)
class BirthYearCheck(ValueCheck):
    """No year of birth tells an age above 89."""

    last: int
    """Years up to here are published together."""

    def broken(self, texts: Sequence[str]) -> list[bool]:
        """Whether each label names a year up to the last one by more than `that or before`."""
        return [self._tells(text.strip()) for text in texts]

    def _tells(self, label: str) -> bool:
        if HALF_OPEN.fullmatch(label) or CUT.fullmatch(label):
            return float(re.findall(r"[\d.]+", label)[0]) <= self.last
        return any(self._tells_part(part) for part in members(label))

    def _tells_part(self, part: str) -> bool:
        match = re.match(r"(≤)?(\d{4})(?!\d)", part)
        if match is None:
            match = re.fullmatch(r"()\d{1,2}[-/.]\d{1,2}[-/.](\d{4}).*", part)
        if match is None:
            return False
        return int(match[2]) < self.last if match[1] else int(match[2]) <= self.last

    @property
    def words(self) -> str:
        """What is wrong with such texts."""
        return (
            f"published years of birth that tell an age above {OLDEST}; write `bottom: {self.last}`"
        )


@plain_dataclass(frozen=True)
class ZipCheck(ValueCheck):
    """No zip code is finer than an area with enough people."""

    large: frozenset[str]
    """The three digits of areas with enough people."""

    def broken(self, texts: Sequence[str]) -> list[bool]:
        """Whether each label names an area that is too small."""
        return [any(self._is_small(part) for part in members(text)) for text in texts]

    def _is_small(self, part: str) -> bool:
        if not re.search(r"\d", part):
            return False
        match = re.fullmatch(r"(\d{1,3})(\**)", part)
        if match is None or (len(match[1]) < 3 and not match[2]):
            return True
        digits = match[1]
        return digits != "000" and not any(area.startswith(digits) for area in self.large)

    @property
    def words(self) -> str:
        """What is wrong with such texts."""
        return (
            "published zip codes of more than three digits, or of areas with 20,000 people or fewer; "
            "write `zip3` with a table of people by area"
        )


@dataclass(frozen=True)
class HipaaSafeHarbor(Preset):
    """Health information in the United States without the 18 identifiers of Safe Harbor.

    Drops names, numbers and addresses, publishes dates by their year, ages above 89 together, and zip
    codes by their first three digits where these cover more than 20,000 people. It asks for no class
    size: add a constraint or a preset that does.
    """

    name: ClassVar[str] = "hipaa-safe-harbor"
    title: ClassVar[str] = "De-identified health information (HIPAA Safe Harbor)"
    sources: ClassVar[tuple[Source, ...]] = (
        Source("45 CFR 164.514, HIPAA Privacy Rule", "(b)(2), safe harbor", 2013),
        Source(
            "US Department of Health and Human Services, Guidance regarding methods for "
            "de-identification of protected health information",
            "satisfying the safe harbor method",
            2012,
        ),
    )
    asks: ClassVar[tuple[str, ...]] = (
        "No published column is, by its name, a name, a number or an address of the 18 identifiers, and "
        "no published text is an e-mail, web or network address, a phone, social security, card, "
        "account or vehicle number or a unique code by its form.",
        "No published column is, by its name, a place smaller than a state; zip codes have three digits "
        "and cover more than 20,000 people by a table that the policy names, and are 000 elsewhere.",
        "Dates are published by their year; columns with a month or a weekday are refused by their "
        "names.",
        "Ages above 89 are published together as 90+, and years of birth that tell such an age too.",
        "No column is published as pseudonyms: these are codes made from an identifier.",
    )
    judged_by_people: ClassVar[tuple[str, ...]] = (
        "Nobody at the publisher knows that the rest could identify a person (actual knowledge).",
        "Texts hold no names of patients, relatives, employers or household members, and no other "
        "identifier that has no form of its own, such as a record number.",
        "No other column tells a place smaller than a state, such as a hospital, a school or a region.",
        "No other column is a unique code, number or characteristic of a person; the report names plain "
        "columns in which most values belong to one row.",
        "No other column holds a part of a date, such as a month, a week or days since an event whose "
        "date is known.",
        "No other column tells an age above 89, such as the years since retirement.",
        "The table of people by zip code is the current one of the Bureau of the Census.",
        "Photographs, scans and biometric data are not published beside the table.",
    )

    dates_by_year: ClassVar[bool] = True

    zip_codes: str | None = None
    """The path of a CSV file with the first three digits of zip codes and the people of each area; no
    zip code can be published without it."""
    year: Annotated[int, Field(ge=1900, le=2200)] | None = None
    """The year of the data: who was born 90 years before it or earlier is published together."""
    not_identifiers: tuple[str, ...] = ()
    """Columns that hold no identifier, place or date of a person, though they look like it, as a person
    has found. They are not checked, and every report lists them."""

    @property
    def files(self) -> tuple[str, ...]:
        """The table of people by zip code."""
        return () if self.zip_codes is None else (self.zip_codes,)

    def constraints(self) -> tuple[Model, ...]:
        """None: Safe Harbor asks for no class size."""
        return ()

    def column_settings(self, policy: DeclaredPolicy) -> Mapping[str, Mapping[str, Any]]:
        """Years of dates, ages from 90 on together, and areas of zip codes."""
        found: dict[str, dict[str, Any]] = {}
        for name, column in _published(policy):
            settings: dict[str, Any] = {}
            if self._is_zip(name) and self.zip_codes is not None:
                settings["zip3"] = self.zip_codes
            if self._is_age(name):
                settings["top"] = TOGETHER
            if self._is_date(name, column):
                settings["part"] = "year"
            if self._is_birth(name) and self.year is not None:
                settings["bottom"] = self.year - TOGETHER
            if settings:
                found[name] = settings
        return found

    def unpublished(self, name: str) -> str:
        """Why a draft leaves a column of this name out."""
        what = self._identifier(name)
        return f"by its name it holds {what}, which {self.name} does not publish" if what else ""

    def refusals(self, policy: DeclaredPolicy) -> Iterator[Refusal]:
        """Identifiers by their names, pseudonyms, and settings that publish too much."""
        for name, column in _published(policy):
            path: FieldPath = ("columns", name)
            if column.role == "pseudonym":
                yield Refusal(
                    path,
                    "pseudonyms are codes made from an identifier, which the preset "
                    f"{self.name} does not allow; write identifier, or person to count people",
                )
            elif what := self._identifier(name):
                yield Refusal(
                    path,
                    f"by its name it holds {what}, which the preset {self.name} does not publish; write "
                    f"identifier to leave it out, or, if it holds none, `not_identifiers: [{name}]` "
                    "beside the preset's name",
                )
            yield from self._weaker(path, name, column)
        unknown = [name for name in self.not_identifiers if name not in policy.columns]
        for name in unknown:
            yield Refusal(("preset",), f"{self.name}: `not_identifiers` has no column '{name}'")

    def _weaker(self, path: FieldPath, name: str, column: DeclaredColumn) -> Iterator[Refusal]:
        if self._is_age(name) and column.top is not None and column.top > TOGETHER:
            yield Refusal(
                (*path, "top"),
                f"found {column.top:g}; the preset {self.name} publishes ages above {OLDEST} together: "
                f"write {TOGETHER} or less, or leave it out",
            )
        if self._is_zip(name) and self.zip_codes is None and column.zip3 is None:
            yield Refusal(
                path,
                f"the preset {self.name} publishes zip codes only by areas of more than 20,000 people; "
                "name a table of these, as in `preset: {name: hipaa-safe-harbor, zip_codes: zip3.csv}`, "
                "or write identifier",
            )
        if not self._is_birth(name):
            return
        if self.year is None:
            yield Refusal(
                path,
                f"the preset {self.name} publishes years of birth together that tell an age above "
                f"{OLDEST}; say of which year the data are, as in `preset: {{name: {self.name}, year: "
                "2024}`, or write identifier",
            )
        elif column.bottom is not None and column.bottom < self.year - TOGETHER:
            yield Refusal(
                (*path, "bottom"),
                f"found {column.bottom:g}; by the preset {self.name} years of birth up to "
                f"{self.year - TOGETHER} tell an age above {OLDEST}: write that or more, or leave it "
                "out",
            )

    def rules(self, policy: DeclaredPolicy) -> tuple[Rule, ...]:
        """What is checked on the published texts."""
        columns = {n: c for n, c in _published(policy) if n not in self.not_identifiers}
        forms = tuple(
            IdentifierCheck("identifiers", name, kind) for name in columns for kind in FORMS
        )
        dates = {n for n, c in columns.items() if self._is_date(n, c) or self._is_birth(n)}
        found = [
            Rule(
                "identifiers",
                f"No published text contains any of these by their form: {', '.join(FORMS)}. Phone "
                "numbers are found with a country code or a leading 0, and as written in North America.",
                checks=forms,
                looks_for="published column",
            ),
            Rule(
                "zip codes",
                "Zip codes are published by three digits that cover more than 20,000 people, or as "
                "000.",
                checks=tuple(
                    ZipCheck("zip codes", name, self._areas(policy, column))
                    for name, column in columns.items()
                    if self._is_zip(name)
                ),
                looks_for="column of zip codes",
            ),
            Rule(
                "dates",
                "Dates are published by their year, or more coarsely."
                if dates
                else "No published text contains a whole date by its form.",
                checks=tuple(DateCheck("dates", name, name in dates) for name in columns),
                looks_for="published column",
            ),
            Rule(
                "ages",
                f"Ages above {OLDEST} are published together.",
                checks=tuple(
                    AgeCheck("ages", name)
                    for name in columns
                    if self._is_age(name) or self._says(name, AGE_GROUPS)
                ),
                looks_for="column of ages",
            ),
            Rule(
                "years of birth",
                f"No year of birth tells an age above {OLDEST}.",
                checks=tuple(
                    BirthYearCheck("years of birth", name, self.year - TOGETHER)
                    for name in columns
                    if self._is_birth(name) and self.year is not None
                ),
                looks_for="column of dates or years of birth",
            ),
        ]
        if not dates:
            by_year = "Dates are published by their year, or more coarsely."
            found.insert(3, Rule("columns of dates", by_year, looks_for="column of dates"))
        return tuple(found)

    def to_judge(self, policy: DeclaredPolicy) -> tuple[str, ...]:
        """What a person must still judge, and what a person has stated."""
        stated = [name for name in self.not_identifiers if policy.columns[name].is_published]
        if not stated:
            return self.judged_by_people
        return (
            f"The published columns {', '.join(stated)} hold no identifiers, places or parts of dates, "
            "though their names say so: the policy states it.",
            *self.judged_by_people,
        )

    def _areas(self, policy: DeclaredPolicy, column: DeclaredColumn) -> frozenset[str]:
        """The areas with enough people, read again for the check."""
        path = self.zip_codes or column.zip3
        return frozenset() if path is None else read_large_areas(policy.folder / path)

    def _identifier(self, name: str) -> str | None:
        """What a column holds by its name; None where a person has found it to be no identifier."""
        if name in self.not_identifiers:
            return None
        known = WHOLE_NAMES.get("".join(words_of(name))) or meaning_of(name, NAMES)
        if known is not None or self._is_zip(name) or self._is_birth(name):
            return known
        hint = hint_of(name)
        if hint is not None and hint[0] in OTHER_HINTS:
            return OTHER_HINTS[hint[0]]
        if any(NUMBERS_OF_PEOPLE.fullmatch(word) for word in words_of(name)):
            return OTHER_HINTS["person"]
        return None

    def _says(self, name: str, known: frozenset[str]) -> bool:
        return name not in self.not_identifiers and meaning_of(name, {"it": known}) is not None

    def _is_zip(self, name: str) -> bool:
        return name not in self.not_identifiers and is_postal(name)

    def _is_age(self, name: str) -> bool:
        *_, before, last = ["", "", *words_of(name)]
        return self._says(name, AGES) and not (last in SHORT_TIMES and before in UNIT_AFTER)

    def _is_birth(self, name: str) -> bool:
        if name in self.not_identifiers:
            return False
        return self._says(name, BIRTHS) or "".join(words_of(name)) in WHOLE_BIRTHS

    def _is_date(self, name: str, column: DeclaredColumn) -> bool:
        if name in self.not_identifiers or self._says(name, BIRTH_YEARS):
            return False
        declared = column.type == "date" or column.dates is not None
        by_hierarchy = column.hierarchy is not None and column.hierarchy.reads == "date"
        return declared or by_hierarchy or self._says_date(name)

    def _says_date(self, name: str) -> bool:
        return self._says(name, DATES) or any(run.endswith(DATE_ENDS) for run in runs_of(name))


def _published(policy: DeclaredPolicy) -> Iterator[tuple[str, DeclaredColumn]]:
    return ((name, column) for name, column in policy.columns.items() if column.is_published)
