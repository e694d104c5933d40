import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Gt, Lt
from pydantic import Field

from shoal import plugins
from shoal.errors import PolicyError
from shoal.models.k import K
from shoal.models.l import L
from shoal.plugins import Option, type_words

Add = Callable[[str, str, str], None]


@pytest.fixture
def add_file(tmp_path: Path) -> Iterator[Add]:
    """Adds a file to a room for one test: `add_file("models", "t_close.py", source)`."""
    added: list[tuple[Any, str]] = []

    def add(room: str, file: str, source: str) -> None:
        package = importlib.import_module(f"shoal.{room}")
        folder = tmp_path / room
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


def test_what_the_rooms_hold() -> None:
    assert plugins.models()["k"] is K
    assert plugins.models()["l"] is L
    assert {"least-loss-partition", "flexible-partition", "mondrian"} <= set(plugins.methods())
    assert "base" not in plugins.methods()
    assert "requirement" not in plugins.models()
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
        from dataclasses import dataclass

        class _Helper:
            pass

        @dataclass(frozen=True)
        class TClose:
            """t-closeness: no group differs much from the table.

            More words.
            """

            t_close: float
            """How much it may
            differ."""
            of: str = "x"
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
    )


def test_a_policy_reads_a_new_model_by_its_file_name(add_file: Add) -> None:
    from shoal.policy import Policy

    add_file(
        "models",
        "t_close.py",
        """
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class TClose:
            t_close: float
            of: str
        """,
    )
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

        @dataclass(frozen=True)
        class Blocky:
            rows: int | Literal["all"] = "all"

            def group(self):
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
    ("source", "found"),
    [
        ("x = 1", "none"),
        ("class Other: pass", "Other"),
        ("class TwoOfThem: pass\nclass Other: pass", "TwoOfThem, Other"),
        ("from shoal.models.k import K", "none"),
    ],
)
def test_a_file_that_breaks_the_rule_is_a_bug(add_file: Add, source: str, found: str) -> None:
    add_file("methods", "two_of_them.py", source)
    with pytest.raises(TypeError, match=rf"one public class, TwoOfThem .*; found: {found}$"):
        plugins.methods()


def test_files_with_an_underscore_are_not_plug_ins(add_file: Add) -> None:
    add_file("methods", "_shared.py", "x = 1")
    assert "_shared" not in plugins.names("methods")
    assert "-shared" not in plugins.names("methods")


def test_describing_k() -> None:
    name, summary, options = plugins.describe(K)
    assert name == "k"
    assert summary.startswith("k-anonymity: ")
    assert [option[:3] for option in options] == [
        ("k", "whole number, 1 or more", "required"),
        ("on", "list of text", "none"),
    ]


def test_describing_what_has_no_options() -> None:
    class Plain:
        pass

    assert plugins.describe(Plain) == ("test-plugins", "", [])


def test_defaults_in_words(add_file: Add) -> None:
    add_file(
        "methods",
        "with_defaults.py",
        """
        from pydantic import Field
        from pydantic.dataclasses import dataclass
        from dataclasses import field

        @dataclass(frozen=True)
        class WithDefaults:
            asked: int = Field(ge=1)
            given: int = Field(default=3, ge=1)
            made: tuple[str, ...] = field(default_factory=lambda: ("a",))
            flag: bool = False
        """,
    )
    options = plugins.describe(plugins.method("with-defaults")).options
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
def test_listing_them_starts_no_compiler(room: str) -> None:
    code = f"import sys; from shoal import plugins; plugins.{room}(); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
