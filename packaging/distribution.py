"""The package as others get it: built, installed into an empty environment, and tried there.

    python packaging/distribution.py [--folder dist]

Builds the source distribution and, from it, the wheel; checks names, metadata and contents; installs the
wheel with its studio into a new environment in a temporary folder; and runs the demo, a verification, a
tampered release and the studio's start from there, outside of the source.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).parent.parent
SMOKE = """
import pyarrow as pa
import shoal

table = pa.table({"age": [31, 36, 35, 61, 64, 62], "disease": ["flu", "gout"] * 3})
release = shoal.anonymize(table, quasi="age", sensitive="disease", k=3, l=2, seed=0)
assert release.verified and release.table["age"].unique().to_pylist() == ["[31~36]", "[61~64]"], release
release.write("smoke.csv")
assert shoal.verify("smoke.csv", release.policy).holds
missing = [name for name in shoal.__all__ if getattr(shoal, name, None) is None]
assert not missing, missing
print(shoal.__version__, shoal.__file__)
"""
"""Run by the installed package."""


def build(folder: Path) -> tuple[Path, Path]:
    """Build both distributions, the wheel from the source distribution."""
    run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)])
    (source,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return source, wheel


def check_contents(source: Path, wheel: Path) -> None:
    """The wheel has every module and data file of the package, and nothing else."""
    package = ROOT / "src" / "shoal"
    wanted = {
        path.relative_to(ROOT / "src").as_posix()
        for path in package.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in (".nbi", ".nbc")
    }
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    require(found == wanted, f"the wheel differs from src/shoal: {sorted(found ^ wanted)[:5]}")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "docs/index.md"}
    require(needed <= names, f"the source distribution lacks {sorted(needed - names)}")
    strange = sorted(name for name in names if re.match(r"(\.venv|build|demo|\.git/)", name))
    require(not strange, f"the source distribution has {strange[:5]}")


def check_metadata(wheel: Path) -> None:
    """The metadata is valid by its standard, complete, and says what pyproject.toml says."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        text = archive.read(name)
        licences = [each for each in archive.namelist() if "/licenses/" in each]
    metadata = Metadata.from_email(text, validate=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    require(str(metadata.version) == project["version"], "the version differs")
    require(metadata.license_expression == project["license"], "the licence differs")
    require(bool(licences), "the licence's text is missing")
    require(metadata.description_content_type == "text/markdown", "the description is no Markdown")
    description = BytesParser().parsebytes(text).get_payload()
    require(str(description).startswith("# Shoal"), "the description is not the README")
    extras = set(project["optional-dependencies"])
    require(set(metadata.provides_extra or []) == extras, "the extras differ")


def install(wheel: Path, folder: Path) -> Path:
    """A new environment with the wheel and its studio; returns its folder of programs."""
    run([sys.executable, "-m", "venv", str(folder / "env")])
    programs = folder / "env" / "bin"
    pins = ROOT / "requirements-dev.lock"
    pip = [str(programs / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    run([*pip, f"{wheel}[studio]", "--constraint", str(pins)])
    return programs


def try_out(programs: Path, folder: Path) -> None:
    """What a newcomer does first, with the installed package alone."""
    shoal, python = str(programs / "shoal"), str(programs / "python")
    where = run([python, "-c", SMOKE], folder)
    require(str(folder / "env") in where, f"another Shoal was used: {where}")
    run([shoal, "demo", "--folder", "demo", "--rows", "500"], folder)
    demo = folder / "demo"
    run([shoal, "verify", "release.csv", "policy.yaml", "--certificate", "report.json"], demo)
    lines = (demo / "release.csv").read_text(encoding="utf-8").splitlines()
    (demo / "tampered.csv").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    tampered = [shoal, "verify", "tampered.csv", "policy.yaml", "--certificate", "report.json"]
    run(tampered, demo, expected=4)
    start_studio(shoal, demo)


def start_studio(shoal: str, folder: Path) -> None:
    """The studio starts, says where, and ends when it is asked to."""
    process = subprocess.Popen(
        [shoal, "studio", "hospital.csv", "policy.yaml", "--no-browser"],
        cwd=folder,
        env=environment() | {"PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        require("http://127.0.0.1:" in line, f"the studio printed {line!r}")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(120)


def environment() -> dict[str, str]:
    """The environment without what could lead to the source."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }


def run(command: list[str], folder: Path = ROOT, expected: int = 0) -> str:
    """The output of a command; ends the program with what it printed if its exit code is another."""
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)
    words = f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    require(done.returncode == expected, words)
    return done.stdout


def require(holds: bool, words: str) -> None:
    """End the program with some words unless something holds."""
    if not holds:
        sys.exit(words)


def main() -> None:
    """Build, check, install and try."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "dist", help="where the files go")
    target = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as name:
        built, folder = Path(name) / "built", Path(name) / "tried"
        folder.mkdir()
        source, wheel = build(built)
        check_contents(source, wheel)
        check_metadata(wheel)
        try_out(install(wheel, folder), folder)
        target.mkdir(parents=True, exist_ok=True)
        for path in (source, wheel):
            (target / path.name).write_bytes(path.read_bytes())
            print(f"{target.name}/{path.name}: {path.stat().st_size // 1024} KB")
    print("Installed into an empty environment: demo, verification and studio work.")


if __name__ == "__main__":
    main()
