"""Individual and global risk beside the figures that sdcMicro's reference pages print.

`SHOAL_SDCMICRO` names a folder with `testdata.csv`: the data set `testdata` of the R package sdcMicro,
written with `write.csv(testdata, "testdata.csv", row.names = FALSE)`. The printed figures are those of
the reference pages of `measure_risk` and `print.sdcMicroObj`, version 5.8.
"""

import json
import os
import sys
from datetime import date
from pathlib import Path

from pyarrow import csv

import shoal

HERE = Path(__file__).parent
KEYS = ["urbrur", "roof", "walls", "water", "sex"]
PRINTED = {
    "expected": "1.53",
    "percent": "0.03",
    "households": "7.18",
    "households_percent": "0.16",
    "risk of row 1": "2.793218e-05",
    "risk of row 5": "6.249609e-05",
    "unweighted": "93.00",
    "unweighted_percent": "2.03",
}


def figures(path: Path) -> dict[str, str]:
    """The same figures, as Shoal estimates them, with the digits that are printed there."""
    table = csv.read_csv(path)
    found = shoal.assess(table, KEYS, weight="sampling_weight", household="ori_hid").estimated
    plain = shoal.assess(table, KEYS).reidentification
    assert found is not None
    assert found.households is not None
    rows = list(zip(*(table[key].to_pylist() for key in KEYS), strict=True))
    weights = table["sampling_weight"].to_pylist()

    def risk_of(place: int) -> float:
        """The risk of a row: that of its class as a table."""
        mine = [i for i, row in enumerate(rows) if row == rows[place]]
        alone = shoal.assess(table.take(mine), KEYS, weight="sampling_weight").estimated
        assert alone is not None
        assert alone.population == sum(weights[i] for i in mine)
        return alone.highest

    return {
        "expected": f"{found.expected:.2f}",
        "percent": f"{100 * found.share:.2f}",
        "households": f"{found.households:.2f}",
        "households_percent": f"{100 * found.households / found.sample:.2f}",
        "risk of row 1": f"{risk_of(0):.6e}",
        "risk of row 5": f"{risk_of(4):.6e}",
        "unweighted": f"{plain.marketer * plain.rows:.2f}",
        "unweighted_percent": f"{100 * plain.marketer:.2f}",
    }


def main() -> None:
    """Compare, and write the result."""
    if "SHOAL_SDCMICRO" not in os.environ:
        sys.exit("sdcMicro's data are not there: set SHOAL_SDCMICRO to the folder of testdata.csv.")
    found = figures(Path(os.environ["SHOAL_SDCMICRO"]) / "testdata.csv")
    each = {
        name: {"printed": printed, "found": found[name], "equal": printed == found[name]}
        for name, printed in PRINTED.items()
    }
    result = {"date": date.today().isoformat(), "figures": each}
    (HERE / "results" / "sdcmicro_risk.json").write_text(json.dumps(result, indent=2) + "\n")
    for name, one in each.items():
        print(
            f"{name:20} {one['printed']:>14} {one['found']:>14} {'' if one['equal'] else 'DIFFERS'}"
        )
    if not all(one["equal"] for one in each.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
