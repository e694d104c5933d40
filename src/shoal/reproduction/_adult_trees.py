"""Trees of more general values for the columns of Adult, ours.

Their heights, counted in levels of nodes with the leaves and `*`, are those of the paper on
personalised protection: age 6, sex 2, race 3, marital status 3, education 4, country 3, work class 3.
"""

from typing import Any

AGE = {"intervals": [5, 10, 20, 40]}
RACE = {
    "white": ["White"],
    "other race": ["Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
}
MARITAL = {
    "married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
    "was married": ["Divorced", "Separated", "Widowed"],
    "never married": ["Never-married"],
}
EDUCATION = {
    "school": {
        "primary school": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
        "high school begun": ["9th", "10th", "11th", "12th"],
        "high school done": ["HS-grad"],
    },
    "college": {
        "no degree of four years": ["Some-college", "Assoc-voc", "Assoc-acdm"],
        "first degree": ["Bachelors"],
        "higher degree": ["Masters", "Prof-school", "Doctorate"],
    },
}
COUNTRY = {
    "North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"],
    "Central America": ["Mexico", "El-Salvador", "Guatemala", "Nicaragua", "Honduras"],
    "Caribbean": [
        "Puerto-Rico",
        "Cuba",
        "Jamaica",
        "Dominican-Republic",
        "Haiti",
        "Trinadad&Tobago",
    ],
    "South America": ["Columbia", "Peru", "Ecuador"],
    "western Europe": [
        "Germany",
        "England",
        "Italy",
        "Portugal",
        "Greece",
        "France",
        "Ireland",
        "Scotland",
        "Holand-Netherlands",
    ],
    "eastern Europe": ["Poland", "Yugoslavia", "Hungary"],
    "eastern Asia": ["China", "Japan", "Taiwan", "Hong", "South"],
    "southern Asia": [
        "Philippines",
        "India",
        "Vietnam",
        "Iran",
        "Thailand",
        "Cambodia",
        "Laos",
    ],
}
WORKCLASS = {
    "employed": ["Private"],
    "self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
    "government": ["Federal-gov", "State-gov", "Local-gov"],
    "unpaid": ["Without-pay", "Never-worked"],
}

HIERARCHIES: dict[str, dict[str, Any]] = {
    "age": AGE,
    "sex": {"tree": ["Male", "Female"]},
    "race": {"tree": RACE},
    "marital-status": {"tree": MARITAL},
    "education": {"tree": EDUCATION},
    "native-country": {"tree": COUNTRY},
    "workclass": {"tree": WORKCLASS},
    "salary-class": {"tree": ["<=50K", ">50K"]},
}
"""By column, as a policy takes them."""
