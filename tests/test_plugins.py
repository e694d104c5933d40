"""The registry of plug-ins: names, files, entry points, and what it says of each."""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Gt, Lt
from pydantic import Field

from shoal import plugins
from shoal.errors import PolicyError
from shoal.models.k import K
from shoal.models.l import EntropyL, L
from shoal.plugins import KINDS, Option, kebab_case, type_words

Add = Callable[[str, str, str], None]
MODEL = """
from typing import ClassVar
from pydantic.dataclasses import dataclass
from shoal.models.base import SensitiveModel

@dataclass(frozen=True)
class {name}(SensitiveModel):
    {field}: float
    of: str

    high_is_strong: ClassVar[bool] = False

    def strengths(self, counts):
        return counts.largest() / counts.sizes
"""


@pytest.fixture
def add_file(tmp_path: Path) -> Iterator[Add]:
    """Adds a file to a folder of plug-ins for one test: `add_file("models", "t_close.py", source)`."""
    added: list[tuple[Any, str]] = []

    def add(kind: str, file: str, source: str) -> None:
        package = importlib.import_module(f"shoal.{kind}")
        folder = tmp_path / kind
        folder.mkdir(exist_ok=True)
        (folder / file).write_text(dedent(source))
        if str(folder) not in package.__path__:
            package.__path__.append(str(folder))
            added.append((package, str(folder)))
        importlib.invalidate_caches()

    yield add
    for package, folder in added:
        package.__path__.remove(folder)
        for file in Path(folder).glob("*.py"):
            sys.modules.pop(f"{package.__name__}.{file.stem}", None)
            vars(package).pop(file.stem, None)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Installs a distribution for one test: `install("acme", "1.0", models={...}, files={...})`."""

    def add(name: str, version: str, files: dict[str, str], **groups: dict[str, str]) -> None:
        folder = tmp_path / f"{name}-site"
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = []
        for kind, points in groups.items():
            lines += [f"[shoal.{kind}]", *(f"{key} = {value}" for key, value in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines))
        for file, source in files.items():
            (folder / file).write_text(dedent(source))
        monkeypatch.syspath_prepend(str(folder))
        plugins._declared.cache_clear()
        for file in files:
            monkeypatch.delitem(sys.modules, file.removesuffix(".py"), raising=False)

    yield add
    monkeypatch.undo()
    plugins._declared.cache_clear()


def test_what_the_folders_hold() -> None:
    assert plugins.models()["k"] is K
    assert plugins.models()["l"] is L
    assert {"least-loss-partition", "flexible-partition", "mondrian"} <= set(plugins.methods())
    assert "base" not in plugins.methods()
    assert "requirement" not in plugins.models()
    assert "additive-metric" not in plugins.metrics(), "a base class is no plug-in"
    assert {"groups", "largest-group", "dm", "dm-kept"} <= set(plugins.metrics())
    assert [plugins.problems(kind) for kind in KINDS] == [{}] * len(KINDS)
    for room in (plugins.methods(), plugins.models(), plugins.metrics()):
        assert list(room) == sorted(room)
        assert all(plugins.name_of(plugin) == name for name, plugin in room.items())


def test_every_plug_in_says_what_it_is() -> None:
    for room in (plugins.methods(), plugins.models(), plugins.metrics()):
        for name, plugin in room.items():
            described = plugins.describe(plugin)
            assert described.name == name
            assert described.summary
            assert all(option.text for option in described.options), f"{name}: a field has no text"


def test_one_by_name() -> None:
    assert plugins.model("k") is K
    assert plugins.method("mondrian").__name__ == "Mondrian"


@pytest.mark.parametrize(
    ("find", "kind"),
    [(plugins.method, "method"), (plugins.model, "model"), (plugins.metric, "metric")],
)
def test_a_name_that_is_not_there(
    find: Callable[[str], type], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "names", lambda _: ["mondrian", "top-down"])
    with pytest.raises(PolicyError) as caught:
        find("mondrain")
    assert str(caught.value) == (
        f"there is no {kind} 'mondrain'; allowed: mondrian, top-down. Did you mean 'mondrian'?"
    )


@pytest.mark.parametrize("name", ["_cutting", "base", "Mondrian", "../models/k", ""])
def test_only_plug_ins_have_names(name: str) -> None:
    with pytest.raises(PolicyError, match="there is no method"):
        plugins.method(name)


def test_a_new_file_is_a_new_plug_in(add_file: Add) -> None:
    add_file(
        "models",
        "t_close.py",
        '''
        """How close a group's values are to the table's."""
        from typing import ClassVar
        from pydantic.dataclasses import dataclass
        from shoal.models.base import Model

        class _Helper:
            pass

        @dataclass(frozen=True)
        class TClose(Model):
            """t-closeness: no group differs much from the table.

            More words.
            """

            t_close: float
            """How much it may
            differ."""
            of: str = "x"

            high_is_strong: ClassVar[bool] = False

            def strengths(self, counts):
                return counts.sizes
        ''',
    )
    assert "t-close" in plugins.names("models")
    found = plugins.model("t-close")
    assert found.__name__ == "TClose"
    assert plugins.describe(found) == (
        "t-close",
        "t-closeness: no group differs much from the table.",
        [
            Option("t-close", "number", "required", "How much it may differ."),
            Option("of", "text", "x", ""),
        ],
        False,
    )


def test_one_file_may_hold_several_and_a_class_may_state_its_name(add_file: Add) -> None:
    second = MODEL.format(name="Second", field="second").replace(
        "    second: float", '    name: ClassVar[str] = "the-second"\n    second: float'
    )
    add_file("models", "several.py", MODEL.format(name="FirstOne", field="first_one") + second)
    assert plugins.model("first-one").__name__ == "FirstOne"
    assert plugins.model("the-second").__name__ == "Second"
    with pytest.raises(PolicyError, match="there is no model 'second'"):
        plugins.model("second")


def test_two_files_with_one_name_are_reported_and_hide_nobody(add_file: Add) -> None:
    add_file("models", "one.py", MODEL.format(name="TwiceHere", field="x"))
    add_file("models", "two.py", MODEL.format(name="TwiceHere", field="x"))
    with pytest.raises(PolicyError) as caught:
        plugins.model("twice-here")
    assert str(caught.value) == (
        "two models are named 'twice-here': the module shoal.models.one and the module "
        "shoal.models.two. Rename or uninstall one."
    )
    assert list(plugins.problems("models")) == ["twice-here"]
    assert "twice-here" not in plugins.models()
    assert plugins.model("k") is K


@pytest.mark.parametrize(
    ("name", "kebab"),
    [
        ("K", "k"),
        ("KMap", "k-map"),
        ("EntropyL", "entropy-l"),
        ("LeastLossPartition", "least-loss-partition"),
        ("LClustering", "l-clustering"),
        ("MeanNCP", "mean-ncp"),
    ],
)
def test_names_in_kebab_case(name: str, kebab: str) -> None:
    assert kebab_case(name) == kebab


def test_only_the_file_of_a_name_is_imported() -> None:
    code = (
        "import sys; from shoal import plugins; plugins.model('beta');"
        "print(sorted(m for m in sys.modules if m.startswith('shoal.models.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['shoal.models.base', 'shoal.models.beta', 'shoal.models.shares']\n"


def test_a_distribution_adds_plug_ins(install: Callable[..., None]) -> None:
    from shoal.policy import Policy

    source = MODEL.format(name="AcmeShare", field="acme_share")
    install(
        "acme", "1.2", {"acme_models.py": source}, models={"acme-share": "acme_models:AcmeShare"}
    )
    assert "acme-share" in plugins.names("models")
    assert plugins.models()["acme-share"] is plugins.model("acme-share")
    text = "columns: {a: quasi, b: sensitive}\nconstraints:\n- {acme-share: 0.2, of: b}\n"
    policy = Policy.load(text)
    assert policy.constraints[0].name == "acme-share"
    assert "- {acme-share: 0.2, of: b}\n" in policy.to_yaml()


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (
            "import no_such_module",
            "broken:Acme",
            "ModuleNotFoundError: No module named 'no_such_mo",
        ),
        ("x = 1 / 0", "broken:Acme", "ZeroDivisionError: division by zero"),
        ("x = 1", "broken:Acme", "AttributeError"),
        ("class Acme: pass", "broken:Acme", "it is not a concrete subclass of Model"),
        (MODEL.format(name="Other", field="x"), "broken:Other", "its class is named 'other'"),
    ],
)
def test_a_broken_distribution_fails_only_where_it_is_asked_for(
    install: Callable[..., None], source: str, target: str, reason: str
) -> None:
    install("acme", "0.9", {"broken.py": source}, models={"acme": target})
    assert plugins.model("k") is K
    assert plugins.model("entropy-l") is EntropyL
    assert "acme" not in plugins.models()
    with pytest.raises(
        PolicyError, match=r"the model 'acme' of the distribution acme 0\.9"
    ) as caught:
        plugins.model("acme")
    assert reason in str(caught.value)
    assert str(caught.value).endswith("Repair or uninstall that distribution.")
    assert plugins.problems("models") == {"acme": str(caught.value)}


def test_the_listing_has_a_line_for_what_is_broken(install: Callable[..., None]) -> None:
    from typer.testing import CliRunner

    from shoal.cli.app import app

    install("acme", "0.9", {"broken.py": "x = 1 / 0"}, metrics={"acme": "broken:Acme"})
    done = CliRunner().invoke(app, ["metrics"])
    assert done.exit_code == 0
    text = " ".join(done.stdout.split())
    assert (
        "Not available: the metric 'acme' of the distribution acme 0.9 (broken:Acme) cannot" in text
    )


def test_a_distribution_never_overwrites_a_name(install: Callable[..., None]) -> None:
    own, other = ({"m.py": MODEL.format(name="K", field="k")}, {"n.py": "x = 1"})
    install("acme", "1.0", own, models={"k": "m:K"})
    install("beta", "2.0", other, models={"fresh": "n:Fresh"})
    install("gamma", "3.0", {}, models={"fresh": "n:Fresh"})
    with pytest.raises(PolicyError) as caught:
        plugins.model("k")
    assert str(caught.value) == (
        "two models are named 'k': the module shoal.models.k and the distribution acme 1.0 (m:K). "
        "Rename or uninstall one."
    )
    with pytest.raises(PolicyError, match=r"beta 2.0 \(n:Fresh\) and|gamma 3.0 \(n:Fresh\) and"):
        plugins.model("fresh")
    assert plugins.model("l") is L
    assert sorted(plugins.problems("models")) == ["fresh", "k"]


def test_an_entry_point_without_a_distribution_is_described(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint("ghost", "nowhere:Ghost", "shoal.models")
    monkeypatch.setattr(plugins, "_declared", lambda _: (point,))
    with pytest.raises(PolicyError, match="of unknown name"):
        plugins.model("ghost")


def test_a_policy_reads_a_new_model_by_its_name(add_file: Add) -> None:
    from shoal.policy import Policy

    add_file("models", "t_close.py", MODEL.format(name="TClose", field="t_close"))
    text = "columns: {a: quasi, b: sensitive}\nconstraints:\n- {t-close: 0.2, of: b}\n"
    policy = Policy.load(text)
    assert type(policy.constraints[0]).__name__ == "TClose"
    assert "- {t-close: 0.2, of: b}\n" in policy.to_yaml()
    assert Policy.load(policy.to_yaml()) == policy
    with pytest.raises(
        PolicyError, match=r"constraints\[0\]\.t-close: found 'x'; must be a number"
    ):
        Policy.load(text.replace("0.2", "x"))


def test_an_option_of_several_types_is_one_problem(add_file: Add) -> None:
    from shoal.policy import Policy

    add_file(
        "methods",
        "blocky.py",
        """
        from typing import Literal
        from pydantic.dataclasses import dataclass
        from shoal.methods.base import Method

        @dataclass(frozen=True)
        class Blocky(Method):
            rows: int | Literal["all"] = "all"

            def group(self, cells, requirement, seed, progress):
                return ()
        """,
    )
    text = "columns: {a: quasi}\nconstraints: [{k: 2}]\nmethod: {name: blocky, rows: some}\n"
    with pytest.raises(PolicyError) as caught:
        Policy.load(text)
    assert str(caught.value) == (
        "policy:3: method.rows: found 'some'; must be a whole number | all"
    )
    assert "method: {name: blocky, rows: 5}" in Policy.load(text.replace("some", "5")).to_yaml()


@pytest.mark.parametrize(
    "source", ["x = 1", "class Other: pass", "from shoal.models.k import K", "class _Own: pass"]
)
def test_a_file_without_plug_ins_is_no_plug_in(add_file: Add, source: str) -> None:
    before = plugins.names("methods")
    add_file("methods", "helpers_of_mine.py", source)
    assert plugins.names("methods") == before


def test_files_with_an_underscore_are_not_plug_ins(add_file: Add) -> None:
    add_file("methods", "_shared.py", "x = 1")
    assert "_shared" not in plugins.names("methods")
    assert "-shared" not in plugins.names("methods")


def test_describing_k() -> None:
    name, summary, options, _ = plugins.describe(K)
    assert name == "k"
    assert summary.startswith("k-anonymity: ")
    assert [option[:3] for option in options] == [
        ("k", "whole number, 1 or more", "required"),
        ("on", "list of text", "none"),
    ]


def test_describing_what_has_no_options() -> None:
    class Plain:
        pass

    assert plugins.describe(Plain) == ("plain", "", [], False)


def test_defaults_in_words() -> None:
    from dataclasses import field

    from pydantic.dataclasses import dataclass

    @dataclass(frozen=True)
    class WithDefaults:
        asked: int = Field(ge=1)
        given: int = Field(default=3, ge=1)
        made: tuple[str, ...] = field(default_factory=lambda: ("a",))
        flag: bool = False

    options = plugins.describe(WithDefaults).options
    assert [(o.name, o.default) for o in options] == [
        ("asked", "required"),
        ("given", "3"),
        ("made", "('a',)"),
        ("flag", "false"),
    ]


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (int, "whole number"),
        (float | None, "number"),
        (bool, "true | false"),
        (Literal["a", "b"], "a | b"),
        (tuple[int, ...], "list of whole number"),
        (Annotated[float, Field(gt=0, le=1)], "number above 0 and 1 or less"),
        (Annotated[float, Gt(0), Lt(1)], "number above 0 and below 1"),
        (int | Literal["auto"], "whole number | auto"),
        (Path, "Path"),
    ],
)
def test_types_in_words(hint: Any, words: str) -> None:
    assert type_words(hint) == words


@pytest.mark.parametrize("room", ["methods", "models", "metrics"])
def test_listing_them_starts_no_database(room: str) -> None:
    code = (
        f"import sys; from shoal import plugins; plugins.{room}(); print('duckdb' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
