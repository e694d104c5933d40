"""The pictures of the site, from real runs, for light and for dark pages.

    python -m docs.illustrations

Needs Chromium. `release` is the example of the front page, `tutorial-*` and `studio-*` are screens of
the studio, `report` is the first page of a report, and `loss-and-time` draws
`benchmarks/results/adult.json`.
"""

import html
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright
from tests.studio.process import studio

import shoal

PICTURES = Path(__file__).parent / "pictures"
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PATIENTS = pd.DataFrame(
    {
        "name": ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gus", "Hal"],
        "age": [29, 31, 34, 35, 52, 57, 61, 63],
        "zip": ["02138", "02139", "02141", "02139", "01602", "01602", "01604", "01609"],
        "disease": ["flu", "asthma", "flu", "cancer", "asthma", "flu", "cancer", "flu"],
    }
)
STYLE = """
:root {
  color-scheme: light dark;
  --ink: light-dark(#1d2a2e, #e6eef0); --dim: light-dark(#5f7278, #93a6ac);
  --paper: light-dark(#ffffff, #12181b); --line: light-dark(#d9e2e4, #2b373c);
  --even: light-dark(#e3f4f1, #12322d); --odd: light-dark(#fdf1dc, #3a2d14);
  --good: light-dark(#0b7a5f, #3ecfa8);
}
body {
  background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;
  margin: 0; padding: 14px; width: 640px;
}
main { align-items: center; display: grid; gap: 12px; grid-template-columns: 1fr auto 1fr; }
h2 { font-size: 15px; margin: 0 0 6px; }
p { color: var(--dim); margin: 10px 0 0; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: 4px 7px; text-align: left; }
th { color: var(--dim); font-weight: 500; }
.even td { background: var(--even); }
.odd td { background: var(--odd); }
.arrow { color: var(--dim); font-size: 30px; }
.good { color: var(--good); font-weight: 600; }
"""
TO_THE_TOP = "element => element.scrollIntoView({block: 'start'})"
CURVES_ARE_DRAWN = """() => [...document.querySelectorAll(".nicegui-echart")].every(element => {
  const chart = getElement(Number(element.id.slice(1)))?.chart;
  return chart && !JSON.stringify(chart.getOption().title ?? "").includes("Computing");
})"""


def example() -> str:
    """The page with a table and its release side by side."""
    release = shoal.anonymize(
        PATIENTS,
        identifiers="name",
        quasi=["age", "zip"],
        sensitive="disease",
        hierarchies={"zip": {"mask": "right"}},
        k=2,
        l=2,
        seed=0,
    )
    labels = release.table[["age", "zip"]].agg(" ".join, axis=1)
    numbers = labels.ne(labels.shift()).cumsum()
    found = ", ".join(f"{each.model} = {each.reached}" for each in release.findings)
    return (
        f"<!doctype html><style>{STYLE}</style><main>"
        f"<section><h2>The table</h2>{_table(PATIENTS)}</section>"
        f'<span class="arrow">➜</span><section><h2>The release</h2>{_table(release.table, numbers)}'
        f'</section></main><p><span class="good">✔ Verified on what was published:</span> '
        f"{html.escape(found)}. Nobody is alone, and no disease can be read off.</p>"
    )


def _table(frame: pd.DataFrame, numbers: "pd.Series[int] | None" = None) -> str:
    """A table of HTML, its classes told apart by colour."""
    head = "".join(f"<th>{name}</th>" for name in frame.columns)
    lines = []
    for place, row in enumerate(frame.itertuples(index=False)):
        shade = "" if numbers is None else ("even" if numbers.iloc[place] % 2 else "odd")
        cells = "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row)
        lines.append(f'<tr class="{shade}">{cells}</tr>')
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def save(shot: bytes, name: str, scheme: Scheme) -> None:
    """Keep a screenshot as a small file."""
    path = PICTURES / f"{name}{'-dark' if scheme == 'dark' else ''}.webp"
    Image.open(io.BytesIO(shot)).save(path, "webp", quality=82, method=6)
    print(f"{path.name}: {path.stat().st_size // 1024} KB")


def new_page(
    browser: Any, scheme: Scheme, width: int = 1280, height: int = 860, scale: int = 1
) -> Any:
    """A page of a size, in a scheme."""
    viewport = {"width": width, "height": height}
    page = browser.new_page(viewport=viewport, color_scheme=scheme, device_scale_factor=scale)
    page.set_default_timeout(300_000)
    return page


def draw_example(browser: Any) -> None:
    """`release`: a table and its release."""
    content = example()
    for scheme in SCHEMES:
        page = new_page(browser, scheme, width=668, scale=2)
        page.set_content(content)
        save(page.locator("body").screenshot(), "release", scheme)
        page.close()


def draw_studio(browser: Any, folder: Path) -> None:
    """`tutorial-columns` and `tutorial-protect`: screens of the studio on the hospital."""
    shoal.write_sample(folder, rows=2000)
    for scheme in SCHEMES:
        with studio(folder / "hospital.csv", folder / "policy.yaml", cwd=folder) as running:
            page = new_page(browser, scheme)
            page.goto(running.address)
            page.click("text=Each row is one person")
            page.wait_for_selector("[data-answer='each row']")
            for screen in ("columns", "protect"):
                page.click(f".steps a[href='/{screen}']")
                page.wait_for_selector(f".steps a.here[href='/{screen}']")
                page.wait_for_selector("[data-state=verified]")
                page.get_by_text("Counting who stands out").first.wait_for(state="hidden")
                page.wait_for_function(CURVES_ARE_DRAWN)
                save(page.screenshot(), f"tutorial-{screen}", scheme)
            page.close()


def draw_screens(browser: Any, folder: Path) -> None:
    """`studio-*`: the screens that the page on the studio describes."""

    def go(screen: str) -> None:
        page.click(f".steps a[href='/{screen}']")
        page.wait_for_selector(f".steps a.here[href='/{screen}']")
        page.wait_for_selector("[data-state=verified]")

    with studio(folder / "hospital.csv", folder / "policy.yaml", cwd=folder) as running:
        page = new_page(browser, "light", 1180, 760)
        page.goto(running.address)
        page.click("text=Each row is one person")
        page.wait_for_selector("[data-answer='each row']")
        page.wait_for_selector("[data-detected=age]:has-text('whole numbers')")
        go("open")
        save(page.screenshot(), "studio-open", "light")
        go("coarsen")
        page.click("[data-quasi=race]")
        page.wait_for_selector("[data-node='White']")
        save(page.screenshot(), "studio-coarsen", "light")
        go("protect")
        page.wait_for_function(CURVES_ARE_DRAWN)
        save(page.screenshot(), "studio-protect", "light")
        page.click("#prices summary")
        page.wait_for_selector("#prices >> text=/Computed on [^;]*\\.$/")
        page.locator("#prices").evaluate(TO_THE_TOP)
        save(page.screenshot(), "studio-prices", "light")
        go("compare")
        page.wait_for_selector("#compare:text-is('Compare again')")
        save(page.screenshot(), "studio-compare", "light")
        page.click("#measure")
        page.wait_for_selector("[data-measured]")
        page.locator("#usefulness").evaluate(TO_THE_TOP)
        save(page.screenshot(), "studio-usefulness", "light")
        go("attack")
        page.click("#find-one")
        page.locator("#person").evaluate(TO_THE_TOP)
        save(page.screenshot(), "studio-attack", "light")
        page.close()


def draw_report(browser: Any, folder: Path) -> None:
    """`report`: the first page of a report."""
    release = shoal.anonymize(folder / "hospital.csv", folder / "policy.yaml", seed=1)
    release.report(folder / "report.html", force=True)
    for scheme in SCHEMES:
        page = new_page(browser, scheme, width=1100, height=800)
        page.goto((folder / "report.html").as_uri())
        save(page.screenshot(), "report", scheme)
        page.close()


def draw_loss_and_time() -> None:
    """`loss-and-time`: what methods lose on the Adult table, and how long they take."""
    import matplotlib.pyplot as plt

    text = (PICTURES.parent.parent / "benchmarks/results/adult.json").read_text(encoding="utf-8")
    points = [
        (each["group_seconds"], each["mean_ncp"], each["method"])
        for each in json.loads(text)["results"]
        if (each["k"], each["labels"]) == (5, "sets")
    ]
    for scheme in SCHEMES:
        ink, paper = ("#1d2a2e", "#ffffff") if scheme == "light" else ("#e6eef0", "#12181b")
        colours = {"text.color": ink, "axes.labelcolor": ink, "axes.edgecolor": ink}
        colours |= {"xtick.color": ink, "ytick.color": ink, "axes.facecolor": paper}
        with plt.rc_context(colours | {"figure.facecolor": paper, "font.size": 10}):
            figure, axes = plt.subplots(figsize=(6.6, 3.6), dpi=200, layout="constrained")
            for seconds, loss, name in points:
                axes.plot(seconds, loss, "o", color="#0f9d83")
                side = "right" if seconds > 1 else "left"
                shift = (-7, 5) if seconds > 1 else (7, 4)
                axes.annotate(name, (seconds, loss), shift, textcoords="offset points", ha=side)
            axes.set(
                xscale="log",
                xlabel="seconds to form the groups",
                ylabel="mean NCP",
                xlim=(0.01, 30),
            )
            axes.set_ylim(0, 1.2 * max(loss for _, loss, _ in points))
            axes.spines[["top", "right"]].set_visible(False)
            shot = io.BytesIO()
            figure.savefig(shot)
            plt.close(figure)
        save(shot.getvalue(), "loss-and-time", scheme)


def main() -> None:
    """Draw all pictures."""
    draw_loss_and_time()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium is not installed; the pictures are left as they are.")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium)
        draw_example(browser)
        draw_studio(browser, Path(folder))
        draw_screens(browser, Path(folder))
        draw_report(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
