"""Made-up people: seeded draws, and how their age, origin, education, work and illness are distributed.

Whole columns are drawn at a time, so millions of rows take seconds. The figures are our own. They are
shaped like those of a rich country with immigration (a few values common, a long tail rare), because
skew is what makes people stand out; they describe no real place. First and family names are drawn
independently of each other: any likeness to real people is chance.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Floats, Ints
from shoal.errors import InputError


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FEMALE = _words(
    "Mary Anna Linda Emma Olivia Sarah Grace Alice Chloë Zoë Amélie Inès Solvår Åsa Käthe "
    "Łucja Małgorzata Šárka Željka Ólöf Đurđa Élodie Noémie Núria Begoña Conceição Ainhoa "
    "Ayşe Gülşen Şebnem Ngọc Thảo Aisha Fatima Layla Amina Priya Ananya Lakshmi Mei Yuki Hana "
    "Ji-woo Eun-ji Siobhán Aoife Wanjirũ Adaeze Ngozi Tala Leilani Мария Ольга Софія Ελένη Μαρία "
    "שרה نور Rosa Lucía Ximena Guadalupe Keisha Imani"
)

MALE = _words(
    "James John Bill Sam Noah Liam Ethan Jack Henry Théo François Jérôme Søren Åke Björn Jürgen "
    "Łukasz Paweł Jiří Željko Ólafur Đorđe Zoltán Gergő João Nuno José Ángel Iñaki Mehmet Çağrı "
    "Özgür Quốc Đức Omar Yusuf Ali Ibrahim Arjun Rohan Ravi Wei Haruto Kenji Min-jun Seán Oisín "
    "Kamau Chidi Emeka Kofi Keanu Tane Иван Дмитро Γιώργος Νίκος דוד يوسف Luis Mateo Diego "
    "Andrés DeShawn Malik"
)

FAMILY = _words(
    "Smith Johnson Brown Garcia Miller Davis Martínez López Wilson Anderson Thomas Taylor Moore "
    "Nguyễn Trần Kim Park Lee Chen Wang Patel Singh Khan Sharma Rahman Fernando Tanaka Satō Suzuki "
    "O'Brien O'Neill MacDonald D'Angelo Müller Schröder Weiß Groß Lefèvre Béranger L'Hôte "
    "Kowalski Wójcik Dvořák Novák Horváth Szabó Ionescu Țurcanu Petrović Đukić Øverland Lindström "
    "Jónsdóttir Gonçalves Araújo Muñoz Peña Yılmaz Öztürk Hosseini Haddad al-Masri Cohen Levi "
    "Okafor Adeyemi Mensah Kamau Tesfaye Traoré Diallo Baptiste Joseph Kealoha Tuilagi Begay "
    "Иванов Шевченко Παπαδόπουλος Smith-Jones García-Márquez"
)

SEXES = ("female", "male")

RACES = {
    "White": 62.0,
    "Black": 13.0,
    "East Asian": 6.0,
    "Mixed": 6.0,
    "South Asian": 5.0,
    "Southeast Asian": 3.0,
    "Other": 2.5,
    "Native American": 1.5,
    "Pacific Islander": 1.0,
}

HOME = "United States"
ABROAD = {
    "White": "Canada, United Kingdom, Germany, Poland, Ukraine, Italy, Russia, Ireland, France, "
    "Greece, Portugal, Sweden, Türkiye, Iran, Brazil, Argentina",
    "Black": "Haiti, Jamaica, Nigeria, Ethiopia, Ghana, Kenya, Côte d'Ivoire, Somalia",
    "East Asian": "China, South Korea, Japan, Taiwan",
    "South Asian": "India, Pakistan, Bangladesh, Nepal, Sri Lanka",
    "Southeast Asian": "Philippines, Viet Nam, Thailand, Cambodia",
    "Pacific Islander": "Samoa, Tonga",
    "Mixed": "Mexico, Dominican Republic, Cuba, Colombia, El Salvador, Peru",
}
NATIONALITIES = (HOME, *(name for names in ABROAD.values() for name in names.split(", ")))
FOREIGN = {"White": 0.05, "Black": 0.09, "Native American": 0.01, "Mixed": 0.3, "Other": 0.35}
"""Share of foreigners; where not named, half."""

EDUCATION = {
    "no schooling": (0, 1.0),
    "primary school": (11, 4.0),
    "lower secondary": (15, 9.0),
    "upper secondary": (18, 30.0),
    "vocational training": (19, 12.0),
    "some college": (19, 14.0),
    "bachelor": (21, 19.0),
    "master": (23, 9.0),
    "doctorate": (27, 2.0),
}
"""Each level with the earliest age at which it is reached, and its weight among adults."""

YEARLY_PAY = (19e3, 21e3, 24e3, 31e3, 36e3, 37e3, 52e3, 66e3, 84e3)
"""The pay of each level of education with 40 hours a week in mid-life, before chance."""

WORKING_AGE = 16

LEVELS = {
    "HIV": 4,
    "Cancer": 4,
    "Phthisis": 3,
    "Hepatitis": 3,
    "Heart Disease": 2,
    "Asthma": 2,
    "Flu": 1,
    "Indigestion": 1,
}
"""How sensitive each disease is, 4 being the most."""

DISEASES = tuple(LEVELS)

OLDEST = (14, 29, 44, 59, 74, 99)
BY_AGE = (
    (0.1, 1, 0.5, 1, 0.5, 25, 48, 24),
    (2, 2, 3, 5, 1.5, 16, 42, 28.5),
    (3.5, 6, 4, 8, 6, 12, 33, 27),
    (2, 14, 4, 8, 17, 9, 24, 22),
    (0.7, 22, 4, 5, 30, 7, 17, 14),
    (0.2, 24, 5, 3, 37, 5, 16, 10),
)
"""Weights of the diseases, one line per age band that ends at `OLDEST`."""
FOR_MEN = (2.5, 1, 1.6, 1.4, 1.4, 0.85, 1, 0.9)
"""How many times as often each affects men."""

STATES_A_LEVEL = (0.21, 0.24, 0.3, 0.36)
"""Share of people who state a preference, by the level of their disease."""
LEVEL_STATED = ((4.0, 3, 2, 1), (3, 4, 2, 1), (1, 2, 4, 3), (1, 1, 3, 5))
"""Weights of the level they state, one line per level of their disease: people with more to hide
mostly ask for more."""


def seeded(rows: int, seed: int) -> np.random.Generator:
    """The random generator of a table; raises `InputError` for negative rows or seeds."""
    if rows < 0 or seed < 0:
        raise InputError(
            f"A sample table needs rows and a seed of 0 or more; found rows {rows}, seed {seed}."
        )
    return np.random.default_rng(seed)


def pick(rng: np.random.Generator, rows: int, weights: Sequence[float] | Floats) -> Ints:
    """(rows,) numbers 0..m-1, each as likely as its weight."""
    return pick_given(rng, np.zeros(rows, dtype=np.int64), np.array([weights], dtype=np.float64))


def pick_given(rng: np.random.Generator, given: Ints, weights: Floats) -> Ints:
    """(rows,) numbers 0..m-1; row i draws by the weights in line given[i] of the (g, m) matrix.

    The cumulative sums of line g are placed between g and g + 1, so one search serves all rows.
    """
    sums = np.cumsum(weights, axis=1)
    lines = sums / sums[:, -1:] + np.arange(len(weights))[:, None]
    found = np.searchsorted(lines.ravel(), given + rng.random(len(given)), side="right")
    # given + chance may round up to the next line: keep it in its own
    picked: Ints = np.clip(found - given * weights.shape[1], 0, weights.shape[1] - 1)
    return picked


def falling(m: int, power: float = 1.0) -> Floats:
    """(m,) weights that fall off as towns and names do: the i-th has 1 / i**power."""
    weights: Floats = np.arange(1, m + 1, dtype=np.float64) ** -power
    return weights


def texts(words: Sequence[str], codes: Ints) -> pa.Array:
    """(rows,) string: the word of each code."""
    return pa.array(words, pa.string()).take(pa.array(codes))


def with_gaps(rng: np.random.Generator, values: pa.Array, share: float) -> pa.Array:
    """The values with about this share of them missing."""
    return pc.if_else(pa.array(rng.random(len(values)) >= share), values, None)


def ages(weights: dict[int, float]) -> Floats:
    """(100,) the weight of each age 0..99, drawn as lines between the ages given."""
    return np.interp(np.arange(100), list(weights), list(weights.values()))


def nationality_given_race() -> Floats:
    """(races, nationalities) weights: each race has its own lands, and a few of every other."""
    weights = np.empty((len(RACES), len(NATIONALITIES)))
    for i, race in enumerate(RACES):
        lands = ABROAD.get(race, "").split(", ")
        near = [falling(len(lands))[lands.index(n)] if n in lands else 0.01 for n in NATIONALITIES]
        share = FOREIGN.get(race, 0.5)
        weights[i] = share * np.array(near) / sum(near[1:])
        weights[i, 0] = 1 - share
    return weights


def education_given_age() -> Floats:
    """(100, levels) weights: nothing before its time, and less schooling in the older years."""
    earliest, weight = (np.array(column) for column in zip(*EDUCATION.values(), strict=True))
    age, level = np.arange(100)[:, None], np.arange(len(EDUCATION))
    weights: Floats = weight * (age >= earliest) * np.exp(-np.maximum(age - 45, 0) * level / 150)
    return weights


def work_hours(rng: np.random.Generator, age: Ints) -> Ints:
    """(rows,) hours of paid work a week: none, part-time, the usual 40, or long."""
    share_working = ages({15: 0, 16: 0.25, 24: 0.75, 30: 0.82, 55: 0.78, 66: 0.2, 80: 0.02})[age]
    share_working[age < WORKING_AGE] = 0
    part = 6 + np.minimum(28, (rng.random(len(age)) * 30).astype(np.int64))
    long = 41 + (35 * rng.random(len(age)) ** 3).astype(np.int64)
    usual = np.full(len(age), 40)
    young_or_old = ((age < 23) | (age > 62)).astype(np.int64)
    kind = pick_given(rng, young_or_old, np.array([[0.22, 0.5, 0.28], [0.65, 0.27, 0.08]]))
    hours = np.choose(kind, [part, usual, long])
    return np.where(rng.random(len(age)) < share_working, hours, 0)


def salary(rng: np.random.Generator, age: Ints, education: Ints, hours: Ints) -> Ints:
    """(rows,) pay a year in whole hundreds, 0 without work: a long tail to the right."""
    in_mid_life = ages({16: 0.6, 25: 0.8, 45: 1.1, 60: 1.1, 70: 0.9})[age]
    usual = np.array(YEARLY_PAY)[education] * in_mid_life * hours / 40
    hundreds = np.rint(usual * np.exp(0.4 * rng.standard_normal(len(age))) / 100)
    return np.where(hours > 0, np.maximum(hundreds, 1), 0).astype(np.int64) * 100


def disease(rng: np.random.Generator, age: Ints, sex: Ints) -> Ints:
    """(rows,) a disease each; `sex` is 1 for men."""
    by_age = np.array(BY_AGE, dtype=np.float64)
    weights = np.concatenate([by_age, by_age * FOR_MEN])
    band = np.searchsorted(np.array(OLDEST), age)
    return pick_given(rng, band + len(by_age) * sex, weights)


def protection_level(rng: np.random.Generator, ill_with: Ints) -> tuple[Ints, Floats]:
    """(rows,) the level 1..4 a person would state, and the chance that they do."""
    level = np.array(list(LEVELS.values()))[ill_with] - 1
    stated = pick_given(rng, level, np.array(LEVEL_STATED)) + 1
    return stated, np.array(STATES_A_LEVEL)[level]
