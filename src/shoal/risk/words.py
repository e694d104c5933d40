"""What a column's name says about people.

A name is split into plain words (`birthDate`, `birth-date`, `birth_date`: birth, date), and runs of
up to three of them are looked up, written together. Where several speak, the last one wins: it is
what the name is about (a `health region` is a region).
"""

import re
from itertools import pairwise
from typing import Literal

Hint = Literal["person", "quasi", "sensitive", "preference"]

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
LONGEST_RUN = 3


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


PERSON = _set(
    """
    surname forename firstname lastname fullname givenname familyname middlename maidenname
    nickname username login email mail emailaddress phone telephone tel mobile cellphone fax ssn
    socialsecurity passport licence license licenceplate licenseplate plate vin iban bic
    accountnumber accountno creditcard cardnumber ip ipaddress macaddress deviceid imei uuid guid
    mrn medicalrecord recordnumber nhsnumber insurancenumber policynumber taxid taxnumber
    nationalid nationalinsurance personnummer address addressline homeaddress street url website
    homepage photo picture signature fingerprint twitter facebook
    """
)
"""Names one person, whatever the values look like."""

PEOPLE = _set(
    """
    first last full given family middle maiden legal birth display person people patient
    customer client user employee worker staff member student pupil teacher citizen resident
    applicant respondent subject participant donor passenger contact mother father parent child
    spouse partner doctor physician nurse
    """
)
"""Beside `name` or `id` these make a name or number of one person."""
NAME_WORDS = _set("name names")
ID_WORDS = _set("id ids identifier key number no nr num code")

QUASI = _set(
    """
    age ages agegroup sex gender birth birthdate birthday birthyear birthplace dateofbirth
    placeofbirth dob yob born deathdate zip zipcode postcode postalcode postal plz race ethnicity
    ethnic ethnicgroup nationality citizenship country nativecountry origin immigrant city town
    village county state province region district municipality borough neighbourhood neighborhood
    area location residence latitude longitude lat lon lng geo education educationlevel degree
    school schooling qualification university marital maritalstatus married civilstatus
    occupation job jobtitle profession position employment employer workclass industry hours
    workhours workinghours hoursperweek language mothertongue household householdsize children
    kids dependents relationship familysize height admission admitted discharge discharged
    visit visitdate tenure rank department housing vehicle car veteran eyecolour eyecolor haircolour
    haircolor
    """
)
"""What neighbours, colleagues or another table may know about somebody."""

SENSITIVE = _set(
    """
    disease diseases diagnosis diagnoses illness condition symptom symptoms complaint treatment
    therapy medication medicine drug drugs prescription procedure surgery icd hiv disability
    disorder allergy allergies pregnancy pregnant health medical vaccination bloodtype
    mentalhealth smoker smoking alcohol salary income wage wages pay payment earnings revenue
    bonus credit creditscore debt loan balance wealth assets mortgage capitalgain capitalloss
    religion religious faith belief denomination politics political party vote union
    sexualorientation orientation sexuality criminal crime offence offense conviction arrest
    sentence genetic genotype dna gene biometric testresult labresult outcome
    """
)
"""What somebody may want to keep to themselves."""

PREFERENCE = _set(
    """
    protectionlevel protectionlevels privacylevel privacypreference privacypreferences
    protectionpreference ppl guardingnode protection privacy
    """
)
"""What people asked for."""

POSTAL = _set("zip zipcode postcode postalcode postal plz")
"""Codes that grow coarser when characters are hidden from the right."""

LOOKED_UP: dict[str, Hint] = {
    **dict.fromkeys(SENSITIVE, "sensitive"),
    **dict.fromkeys(QUASI, "quasi"),
    **dict.fromkeys(PERSON, "person"),
    **dict.fromkeys(PREFERENCE, "preference"),
}


def words_of(name: str) -> list[str]:
    """The words of a column's name, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


def hint_of(name: str) -> tuple[Hint, str] | None:
    """What the name says, and the words that say it; None where it says nothing."""
    words = words_of(name)
    if _names_a_person(words):
        return "person", " ".join(words)
    best: tuple[int, int, Hint, str] | None = None
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_RUN, len(words)) + 1):
            hint = LOOKED_UP.get("".join(words[start:end]))
            # the last word wins; of two runs that end there, the longer one says more
            if hint and (best is None or (end, end - start) > best[:2]):
                best = (end, end - start, hint, " ".join(words[start:end]))
    return best and (best[2], best[3])


def is_number_name(name: str) -> bool:
    """Whether the name ends as those of running numbers and keys do: `ward_id`, `case no`."""
    words = words_of(name)
    return bool(words) and words[-1] in ID_WORDS


def is_postal(name: str) -> bool:
    """Whether the name is that of a postal code."""
    words = words_of(name)
    pairs = ["".join(pair) for pair in pairwise(words)]
    return not POSTAL.isdisjoint([*words, *pairs])


def _names_a_person(words: list[str]) -> bool:
    """`name`, `patient name`, `id`, `patient id`; not `country name`, `ward id` or `code`."""
    if not words or not set(words[:-1]) <= PEOPLE:
        return False
    if words[-1] in NAME_WORDS or words in (["id"], ["ids"], ["identifier"]):
        return True
    return len(words) > 1 and words[-1] in ID_WORDS
