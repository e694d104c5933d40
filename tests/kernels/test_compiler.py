"""Kernels compiled by way of `kernels/compiler.py` do what they do interpreted."""

import gc
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from numba.core import event, ir, types
from numba.core.base import BaseContext
from numba.core.errors import TypingError

from shoal.arrays import Bools, Codes, Floats, Ints, Words
from shoal.kernels import compiler
from shoal.kernels.jit import Kernel, in_place, inlined, inner, interpreting, kernel, number
from shoal.kernels.records import Record


class Scale(NamedTuple):
    """Part of another record."""

    factor: float
    steps: Ints


class Board(NamedTuple):
    """Every kind of field."""

    cells: Codes
    """(n, d)"""
    marks: Bools
    words: Words
    scale: Scale
    offset: int
    upward: bool
    out: Floats


@inlined
def stepped(board: Board, i: int) -> int:
    return board.offset + board.scale.steps[i % len(board.scale.steps)]


@inner
def weighed(board: Board, i: int) -> float:
    total = 0.0
    for j in range(board.cells.shape[1]):
        total += board.cells[i, j] * (1 if board.upward else -1)
    return (total + stepped(board, i)) * board.scale.factor


@in_place
def fill(board: Board, begin: int) -> int:
    """Write to one array what depends on all."""
    filled = 0
    for i in range(begin, len(board.cells)):
        if board.marks[i]:
            board.out[i] = weighed(board, number(i)) + board.words[i] % np.uint64(7)
            filled += 1
    board.out[:begin] = -1
    return filled


@inner
def deeper(values: Ints, i: int) -> int:
    return values[i] * 3


@inner
def deep(values: Ints, i: int) -> int:
    return deeper(values, number(i)) - deeper(values, number(-1))


@in_place
def through_two(values: Ints, out: Ints) -> None:
    """Calls a part that calls another, and that one."""
    for i in range(len(values)):
        out[i] = deep(values, number(i)) + deeper(values, number(i))


@kernel
def new_through_two(values: Ints) -> Ints:
    """The same parts in a kernel that makes an array."""
    out = np.empty(len(values), np.int64)
    for i in range(len(values)):
        out[i] = deep(values, number(i))
    return out


@in_place
def indexed(
    cells: npt.NDArray[Any], at: Ints, places: Words, small: npt.NDArray[Any], flags: Bools
) -> int:
    """Elements by every kind of index, and values that are cast on their way."""
    total = 0
    for i in at:
        total += cells[i, -1] + small[i] + cells[places[1], i]
        cells[-2, i] = total
        small[places[0]] = total
        flags[i] = not flags[-1]
        cells[i, 0] = flags[i]
    row = cells[1]
    row[2] += 2.9
    cells[0] = 4
    for value in cells[:, 1]:
        total = total * 3 + value
    return total


@kernel
def made(board: Board) -> tuple[Codes, Floats]:
    """A new array, and one of the record."""
    return board.cells.copy(), board.out


def a_board(rows: int = 40, order: Any = "C") -> Board:
    random = np.random.default_rng(3)
    return Board(
        np.array(random.integers(0, 90, (rows, 3)), np.int32, order=order),
        random.random(rows) < 0.7,
        random.integers(0, 2**63, rows, np.uint64),
        Scale(0.25, np.arange(5)),
        11,
        False,
        np.zeros(rows),
    )


def compiled(function: Any) -> Any:
    assert isinstance(function, Kernel)
    return function.compile()


@pytest.mark.parametrize("order", ["C", "F"])
def test_records_are_read_and_written(order: str) -> None:
    """Columns of a table in the order of Fortran are not what records hold: numba's own way is used."""
    one, other = a_board(order=order), a_board(order=order)
    ours = compiled(fill)
    assert ours(one, 4) == fill.__wrapped__(other, 4) == int(one.marks[4:].sum())  # type: ignore[attr-defined]
    assert one.out.tolist() == other.out.tolist()
    records = {isinstance(signature[0], Record) for signature in ours.signatures}
    assert (order == "C") in records


@pytest.mark.parametrize("kind", [np.int32, np.uint64, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_elements_are_read_and_written(kind: type, order: Any) -> None:
    def arrays() -> tuple[Any, ...]:
        cells = np.array(np.arange(20).reshape(4, 5) % 7, kind, order=order)
        small = np.array([1, -2, 3, 100], np.int8)
        return cells, np.array([0, 2, -1]), np.array([3, 1], np.uint64), small, np.arange(4) > 1

    one, other = arrays(), arrays()
    with np.errstate(over="ignore"), interpreting():
        # numpy refuses numbers that do not fit, compiled code wraps them: none are that large here
        expected = indexed.__wrapped__(*other)  # type: ignore[attr-defined]
    assert compiled(indexed)(*one) == expected
    for mine, theirs in zip(one, other, strict=True):
        assert mine.tolist() == theirs.tolist()


def test_parts_of_parts_are_linked_wherever_they_are_called() -> None:
    values, out = np.arange(5) * 7, np.zeros(5, np.int64)
    compiled(through_two)(values, out)
    assert out.tolist() == [values[i] * 6 - values[-1] * 3 for i in range(5)]
    again = compiled(new_through_two)(values)
    assert again.tolist() == [values[i] * 3 - values[-1] * 3 for i in range(5)]


def test_numba_is_left_as_it_was() -> None:
    """What is faster while a kernel compiles is numba's own again afterwards."""
    before = ir.Inst._rec_list_vars, BaseContext.get_abi_sizeof
    seen = []

    def impossible(values: npt.NDArray[np.int64]) -> int:  # so that nothing is kept on disk
        return values.no_such_name  # type: ignore[attr-defined]

    class Watch(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            seen.append(ir.Inst._rec_list_vars)

        def on_end(self, _: Any) -> None:
            pass

    watch = Watch()
    event.register("numba:run_pass", watch)
    try:
        with pytest.raises(TypingError):
            compiler.compiled(impossible, no_cfunc_wrapper=True)(np.arange(3))  # type: ignore[arg-type]
    finally:
        event.unregister("numba:run_pass", watch)
    assert seen
    assert before[0] not in seen
    assert (ir.Inst._rec_list_vars, BaseContext.get_abi_sizeof) == before


def test_an_array_of_a_record_outlives_it() -> None:
    board = a_board()
    cells, out = board.cells.copy(), board.out
    copied, same = compiled(made)(board)
    assert same is out
    assert copied.tolist() == cells.tolist()


def test_records_differ_by_what_they_hold() -> None:
    """Symbols are named by a digest: equal for equal fields, and for these alone."""

    def of(*kinds: Any) -> Any:
        return Record(Scale, tuple(kinds))

    a, b = types.Array(types.int64, 1, "C"), types.Array(types.int32, 1, "C")
    assert of(types.float64, a) == of(types.float64, a)
    assert of(types.float64, a).mangling_args == of(types.float64, a).mangling_args
    assert of(types.float64, a).mangling_args != of(types.float64, b).mangling_args


def test_an_older_or_newer_numba_compiles_as_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "is_supported", lambda: False)

    def total(values: npt.NDArray[np.int64]) -> int:
        found = 0
        for value in values:
            found += value
        return found

    plain = compiler.compiled(total, no_cfunc_wrapper=True)  # type: ignore[arg-type]
    assert plain(np.arange(9)) == 36


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_again(collecting: bool) -> None:
    before = gc.isenabled()

    def impossible(values: npt.NDArray[np.int64]) -> int:
        return values.no_such_name  # type: ignore[attr-defined]

    try:
        gc.enable() if collecting else gc.disable()
        with pytest.raises(TypingError):
            compiler.compiled(impossible, no_cfunc_wrapper=True)(np.arange(3))  # type: ignore[arg-type]
        assert gc.isenabled() == collecting
    finally:
        gc.enable() if before else gc.disable()


def test_parts_are_interpreted_where_python_calls_them() -> None:
    board = a_board()
    compiled(fill)
    with interpreting():
        expected = weighed(board, 3)
    assert weighed(board, 3) == expected


@in_place
def narrow(numbers: Floats, counts: Ints, codes: Codes, out: Floats) -> None:
    """The lesser and the greater of numbers of the same kind, and of different kinds."""
    for i in range(len(numbers)):
        other = numbers[len(numbers) - 1 - i]
        out[6 * i] = min(numbers[i], other)
        out[6 * i + 1] = max(numbers[i], other)
        out[6 * i + 2] = min(counts[i], codes[i])
        out[6 * i + 3] = max(codes[i], 0)
        out[6 * i + 4] = max(numbers[i], counts[i])
        out[6 * i + 5] = max(max(codes[i], counts[i]), i)


def test_the_lesser_of_two_numbers_is_that_of_python() -> None:
    """Also of numbers that are none, where the first is kept, and of zeros with a sign."""
    numbers = np.array([1.5, np.nan, -0.0, np.inf, -np.inf, 0.0, 2.0, -3.25])
    counts = np.array([2**62, -(2**62), 0, 7, -7, 1, 2**53, -1])
    codes = np.array([2**31 - 1, -(2**31), 0, 7, 8, -1, 5, -1], np.int32)
    compiled, plain = np.zeros(48), np.zeros(48)
    seen: list[str] = []

    class Names(event.Listener):
        def on_start(self, found: Any) -> None:
            seen.append(found.data["dispatcher"].py_func.__qualname__)

        def on_end(self, _: Any) -> None:
            """Nothing is noted."""

    with event.install_listener("numba:compile", Names()):
        Kernel(narrow.function).compile()(numbers, counts, codes, compiled)  # type: ignore[attr-defined]
    with interpreting():
        narrow(numbers, counts, codes, plain)
    assert compiled.tobytes() == plain.tobytes()
    assert not [name for name in seen if name.startswith(("ol_min", "ol_max"))]


@inlined
def _third(of: int) -> int:
    return of // 3


@in_place
def divided(words: Words, counts: Ints, out: Floats) -> float:
    """A name is used for values of three kinds, which must not be taken for one another."""
    left = words[0]
    total = 0.0
    while left:
        total += np.float64(left & np.uint64(3))
        left &= left - np.uint64(1)
    out[0] = total
    left = counts[0]
    while left % 7:
        left -= 2
        total -= left % 1000
    out[1] = left % 1000
    left = total / 3
    out[2] = left
    return left * 2


@in_place
def _ways(board: Board, codes: Codes, shape: Ints, limit: int) -> int:
    """Variables that are set before, within and after loops, in one way, in each or in none."""
    first, steps = board.cells, board.scale.steps
    wide, best, found, last, kept, seen = first.shape[1], limit, NONE, 0, 0, 0
    shape[0], shape[1], shape[2] = board.cells.shape[0], board.cells.shape[-1], len(steps)
    for i in range(len(board.cells)):
        begin = steps[i % shape[2]]
        if board.marks[i]:
            here = codes[i]
            seen += here
        else:
            here = begin + i
        for j in range(begin % 3, wide):
            far = first[i, j] - here
            if i > 0 and j == wide - 1:
                far += last
            if far < best or (far == best and found < i):
                best, found = far, i
        last = here if here % 2 else far
        while last > 50:
            last = _third(last)
        kept += last + found
        board.out[i] = kept
    for _ in range(0):
        kept = 0
    return kept + best + seen


NONE = -1


def test_variables_of_several_kinds_are_told_apart() -> None:
    words, counts = np.array([2**63 + 2**40 + 11], np.uint64), np.array([2**54 + 1])
    one, other = np.zeros(3), np.zeros(3)
    found = compiled(divided)(words, counts, one)
    with interpreting():
        assert found == divided(words, counts, other)
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_variables_on_every_way(kind: type) -> None:
    one, other = a_board(), a_board()
    codes = np.random.default_rng(4).integers(-9, 90, 40).astype(kind)
    shapes, expected = np.zeros(3, np.int64), np.zeros(3, np.int64)
    found = compiled(_ways)(one, codes, shapes, 70)
    with interpreting():
        assert found == _ways(other, codes, expected, 70)
    assert one.out.tolist() == other.out.tolist()
    assert shapes.tolist() == expected.tolist() == [40, 3, 5]


@inner
def _half(of: int) -> int:
    return of >> 1


@in_place
def halves(codes: Codes, out: Ints) -> None:
    out[0] = _half(7)
    for i in range(1, len(out)):
        out[i] = _half(codes[i]) + _half(i) + _half(out[i - 1])


def test_a_part_has_one_signature_for_whole_numbers() -> None:
    out = np.zeros(4, np.int64)
    compiled(halves)(np.array([9, -9, 8, 7], np.int32), out)
    assert out.tolist() == [3, -4, 3, 5]
    # as a part of others, so that it is not found on disk
    whole = compiled(Kernel(halves.function, no_cpython_wrapper=True, _nrt=False))  # type: ignore[attr-defined]
    whole.compile((types.Array(types.int32, 1, "C"), types.Array(types.int64, 1, "C")))
    assert len(compiled(_half).signatures) == 1


def test_what_somebody_else_froze_stays_so() -> None:
    def impossible(values: npt.NDArray[np.int64]) -> int:
        return values.no_such_name  # type: ignore[attr-defined]

    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with pytest.raises(TypingError):
            compiler.compiled(impossible, no_cfunc_wrapper=True)(np.arange(3))  # type: ignore[arg-type]
        assert 0 < gc.get_freeze_count() <= frozen
    finally:
        gc.unfreeze()
    with pytest.raises(TypingError):
        compiler.compiled(impossible, no_cfunc_wrapper=True)(np.arange(3))  # type: ignore[arg-type]
    assert not gc.get_freeze_count()
