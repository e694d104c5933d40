"""Nothing that leaves with a release holds its seed, or a hash by which it could be found."""

import hashlib
import json
import os
import pickle
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import seeds
from shoal.errors import InputError
from tests.golden.making import command

POLICY = """\
columns: {age: {role: quasi, kind: ordered}, sex: quasi, ill: sensitive}
constraints: [{k: 3}]
method: k-clustering
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    # letters alone, so that no value can contain the digits of a seed
    rows = ["age,sex,ill"]
    for _ in range(40):
        rows.append(f"{rng.integers(20, 60)},{'mf'[rng.integers(2)]},{'abcd'[rng.integers(4)]}")
    (tmp_path / "table.csv").write_text("\n".join([*rows, ""]))
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def run(*arguments: str) -> str:
    code, printed = command(["run", "table.csv", "policy.yaml", *arguments])
    assert code == 0, printed
    return printed


def outside(folder: Path, *private: str) -> bytes:
    """All bytes that a run wrote, but those of the input and of private files."""
    kept = {"table.csv", "policy.yaml", *private}
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.name not in kept)


def forms(seed: int) -> list[bytes]:
    """How a seed could be written."""
    return [str(seed).encode(), f"{seed:x}".encode(), f"{seed:X}".encode(), f"{seed:,}".encode()]


@pytest.mark.parametrize("how", ["drawn", "policy", "option", "file"])
def test_no_byte_that_leaves_holds_the_seed(folder: Path, how: str, drawn_seed: int) -> None:
    seed, more = 918273645546372819, list[str]()
    if how == "drawn":
        seed = drawn_seed
    elif how == "policy":
        (folder / "policy.yaml").write_text(POLICY + f"seed: {seed}\n")
    elif how == "option":
        more = ["--seed", str(seed)]
    else:
        (folder / "seed").write_text(seeds.Seed(seed).to_text())
        more = ["--seed-file", "seed"]
    shown = run("-o", "a.csv", "--report", "a.html", *more)
    as_json = run("-o", "b.csv", "--report", "b.json", "--json", *more)
    left = outside(folder, "seed") + shown.encode() + as_json.encode()
    for form in forms(seed):
        assert form not in left, form
    assert "seed" not in json.loads(as_json)
    assert str(seed) in run("-o", "c.csv", "--show-seed", *more)
    found = json.loads(run("-o", "d.csv", "--json", "--show-seed", *more))
    assert int(found["seed"]) == seed


def hashes_of(seed: int) -> set[str]:
    """What somebody would try who looks for a small seed."""
    texts = [str(seed), f"seed: {seed}", f'{{"seed":{seed}}}', f'{{"seed": {seed}}}']
    return {hashlib.new(name, t.encode()).hexdigest() for t in texts for name in ("md5", "sha256")}


def test_no_hash_that_leaves_depends_on_a_small_seed_alone(folder: Path) -> None:
    """All that depends on the seed is the commitment, and that has a new salt in every run."""
    found = []
    for seed, name in ((42, "a"), (42, "b"), (43, "c")):
        (folder / "policy.yaml").write_text(POLICY + f"seed: {seed}\n")
        (folder / name).mkdir()
        run("-o", f"{name}/r.csv", "--report", f"{name}/r.json")
        found.append(json.loads((folder / name / "r.json").read_text()))
    texts = [json.dumps(one) for one in found]
    assert not set(re.findall(r"[0-9a-f]{32,}", texts[0])) & hashes_of(42)
    policies = [json.dumps(one["policy"]) for one in found]
    assert policies[0] == policies[1] == policies[2]
    assert all("seed" not in one["policy"]["data"] for one in found)
    assert len({one["seed_commitment"] for one in found}) == 3
    # nothing but times, the rows themselves and hashes over the commitment tells two runs apart
    left_out = ("seed_commitment", "seal", "seconds")
    a, b = ({k: v for k, v in one.items() if k not in left_out} for one in found[:2])
    assert a == b


def test_objects_do_not_show_the_seed() -> None:
    table = pa.table({"age": [30, 31, 40, 41]})
    seed = 55512345678901234567
    release = shoal.anonymize(table, quasi="age", k=2, seed=seed)
    assert release.seed == release.run.seed == seed
    shown = [repr(release), repr(release.run), str(release), json.dumps(release.to_dict())]
    shown += [repr(release.policy), release._repr_html_() or "", repr(release.to_frame())]
    shown += [json.dumps(shoal.compare(table, release.policy, methods=["mondrian"]).to_dict())]
    assert all(str(seed) not in one for one in shown)


def test_a_drawn_seed_repeats_the_release(folder: Path) -> None:
    release = shoal.run("table.csv", "policy.yaml", "a.csv")
    assert release.policy.seed is None
    again = shoal.run("table.csv", "policy.yaml", "b.csv", seed=release.seed)
    other = shoal.run("table.csv", "policy.yaml", "c.csv", seed=release.seed + 1)
    texts = [(folder / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv")]
    assert texts[0] == texts[1] != texts[2]
    assert again.seed == release.seed != other.seed


def test_runs_without_a_seed_differ(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    drawn = [shoal.run("table.csv", "policy.yaml", f"{i}.csv").seed for i in range(4)]
    assert len(set(drawn)) == 4
    assert min(drawn) >= 2**128
    assert len({(folder / f"{i}.csv").read_bytes() for i in range(4)}) > 1


def test_all_128_bits_of_a_drawn_seed_are_random(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    drawn = [seeds.draw() - 2**128 for _ in range(200)]
    assert all(0 <= seed < 2**128 for seed in drawn)
    for bit in range(128):
        assert 40 < sum(seed >> bit & 1 for seed in drawn) < 160


class TestSeedFile:
    def test_it_is_written_once_and_repeats_the_run(self, folder: Path) -> None:
        for name in ("a", "b"):
            run("-o", f"{name}.csv", "--report", f"{name}.json", "--seed-file", "my.seed")
        assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
        assert stat.S_IMODE((folder / "my.seed").stat().st_mode) == 0o600
        one, two = (json.loads((folder / f"{n}.json").read_text()) for n in "ab")
        kept = json.loads((folder / "my.seed").read_text())
        assert one["seed_commitment"] == two["seed_commitment"] == kept["commitment"]
        assert len(bytes.fromhex(kept["salt"])) >= 16
        content = f"shoal seed:{kept['salt']}:{kept['seed']}"
        assert hashlib.sha256(content.encode()).hexdigest() == kept["commitment"]

    @pytest.mark.skipif(os.name != "posix", reason="files have no modes here")
    def test_one_that_others_can_read_is_warned_of(self, folder: Path) -> None:
        run("-o", "a.csv", "--seed-file", "my.seed")
        for mode, warned in ((0o600, []), (0o644, ["(mode 644)"])):
            (folder / "my.seed").chmod(mode)
            release = shoal.run(
                "table.csv", "policy.yaml", "b.csv", seed_file="my.seed", force=True
            )
            found = [text for text in release.warnings if "my.seed" in text]
            assert len(found) == len(warned)
            assert all(words in text for words, text in zip(warned, found, strict=True))
            assert str(seeds.read(folder / "my.seed").value) not in " ".join(found)

    def test_a_certificate_is_checked_with_it(self, folder: Path) -> None:
        run("-o", "a.csv", "--report", "a.json", "--seed-file", "my.seed")
        asked = ["verify", "a.csv", "policy.yaml", "--certificate", "a.json", "--seed-file"]
        assert command([*asked, "my.seed"])[0] == 0
        other = seeds.Seed(seeds.read(folder / "my.seed").value)  # the same seed, another salt
        (folder / "other.seed").write_text(other.to_text())
        code, printed = command([*asked, "other.seed"])
        assert code == 4
        assert "commitment" in printed

    def test_the_policy_given_away_needs_no_seed(self, folder: Path) -> None:
        (folder / "with.yaml").write_text(POLICY + "seed: 42\n")
        assert (
            command(["run", "table.csv", "with.yaml", "-o", "a.csv", "--report", "a.json"])[0] == 0
        )
        assert command(["verify", "a.csv", "policy.yaml", "--certificate", "a.json"])[0] == 0

    def test_it_appears_with_the_release_or_not_at_all(self, folder: Path) -> None:
        more = ["--k", "1000", "--seed-file", "my.seed"]
        assert command(["run", "table.csv", "policy.yaml", "-o", "a.csv", *more])[0] == 3
        assert sorted(path.name for path in folder.iterdir()) == ["policy.yaml", "table.csv"]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("hello", "is no seed file"),
            ("[1]", "is no seed file"),
            ('{"kind": "shoal seed"}', "is no seed file"),
            ('{"kind": "shoal seed", "seed": "7", "salt": "00"}', "was changed"),
            (seeds.Seed(7).to_text().replace('"7"', '"8"'), "was changed"),
        ],
    )
    def test_another_file_is_refused(self, folder: Path, text: str, words: str) -> None:
        (folder / "my.seed").write_text(text)
        with pytest.raises(InputError, match=words) as caught:
            shoal.run("table.csv", "policy.yaml", "a.csv", seed_file="my.seed")
        assert "Traceback" not in str(caught.value)
        assert not (folder / "a.csv").exists()

    def test_two_seeds_are_refused(self, folder: Path) -> None:
        (folder / "my.seed").write_text(seeds.Seed(7).to_text())
        with pytest.raises(InputError, match="holds another seed"):
            shoal.run("table.csv", "policy.yaml", "a.csv", seed=8, seed_file="my.seed")

    @pytest.mark.parametrize("name", ["a.csv", "a.html", "a.json"])
    def test_it_is_a_file_of_its_own(self, folder: Path, name: str) -> None:
        with pytest.raises(InputError, match="of its own"):
            shoal.run("table.csv", "policy.yaml", "a.csv", report="a.html", seed_file=name)
        assert not (folder / name).exists()

    @pytest.mark.usefixtures("folder")
    def test_it_needs_a_certificate(self) -> None:
        run("-o", "a.csv", "--seed-file", "my.seed")
        with pytest.raises(InputError, match="give the certificate"):
            shoal.verify("a.csv", "policy.yaml", seed_file="my.seed")


@pytest.mark.usefixtures("folder")
def test_the_terminal_says_how_to_keep_a_drawn_seed() -> None:
    assert "--seed-file" in run("-o", "a.csv")
    assert "--seed-file" not in run("-o", "b.csv", "--seed", "7")
    assert "my.seed" in run("-o", "c.csv", "--seed-file", "my.seed")


@pytest.mark.usefixtures("folder")
def test_quiet_prints_the_seed_alone(drawn_seed: int) -> None:
    assert run("-o", "a.csv", "--quiet", "--show-seed") == f"{drawn_seed}\n"


def test_a_seed_travels_to_other_processes() -> None:
    seed: Any = seeds.Seed(2**200)
    assert pickle.loads(pickle.dumps(seed)) == seed
    assert str(2**200) not in repr(seed)
