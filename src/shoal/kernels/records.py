"""Named tuples of arrays as kernels take them: a pointer to the places and shapes of the arrays.

To numba a named tuple is a value: each call hands over every field of each of its arrays, and each use
of one array takes the whole tuple apart.
"""

import hashlib
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

WORD = ir.IntType(64)
PARENT, NITEMS, DATA, SHAPE = 1, 2, 4, 5
"""Places in what numba writes down about an array; its strides follow its shape."""


class Record(types.Type):
    """A named tuple whose fields are C-contiguous arrays, numbers and other records.

    Its arrays belong to the caller: a kernel must not return a part of one.
    """

    def __init__(self, of: Any, fields: tuple[types.Type, ...]) -> None:
        self.of = of
        self.fields = dict(zip(of._fields, fields, strict=True))
        """What each field holds."""
        self.offsets: dict[str, int] = {}
        """Where each field begins, in words."""
        self.words = 0
        for name, field in self.fields.items():
            self.offsets[name] = self.words
            self.words += _words(field)
        super().__init__(f"Record({of.__module__}.{of.__qualname__}, {fields})")

    @property
    def mangling_args(self) -> tuple[str, tuple[str, ...]]:
        """A short name for symbols, which are repeated in every call."""
        return self.of.__name__ + hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest(), ()


def _words(field: types.Type) -> int:
    if isinstance(field, types.Array):
        return SHAPE + 2 * int(field.ndim)
    return field.words if isinstance(field, Record) else 1


def _is_supported(field: types.Type) -> bool:
    if isinstance(field, types.Array):
        return bool(field.layout == "C" and field.aligned)
    return isinstance(field, Record | types.Integer | types.Float | types.Boolean)


_registered: set[type] = set()


def register(given: Any) -> None:
    """Let numba treat the values of a class of named tuples as records; another class is left alone."""
    if not (isinstance(given, type) and issubclass(given, tuple) and hasattr(given, "_fields")):
        return
    if given in _registered:
        return
    _registered.add(given)
    for each in given.__annotations__.values():
        register(each)
    as_tuple = typeof_impl.dispatch(tuple)

    @typeof_impl.register(given)
    def typeof_record(value: Any, context: Any) -> types.Type:
        fields = tuple(typeof_impl(each, context) for each in value)
        if all(map(_is_supported, fields)):
            return Record(given, fields)
        return as_tuple(value, context)


@register_model(Record)
class RecordModel(models.PrimitiveModel):  # type: ignore[misc]
    """A pointer to words."""

    def __init__(self, manager: Any, record: Record) -> None:
        super().__init__(manager, record, WORD.as_pointer())


@infer_getattr
class RecordFields(AttributeTemplate):  # type: ignore[misc]
    """The types of fields."""

    key = Record

    def generic_resolve(self, record: Record, name: str) -> types.Type | None:
        """The type of one field."""
        return record.fields.get(name)


_sizes: dict[str, int] = {}


def size_of_type(context: Any, kind: ir.Type) -> int:
    """The bytes that a value takes; to find out, LLVM is given a module of its own."""
    known = str(kind)
    if known not in _sizes:
        _sizes[known] = kind.get_abi_size(context.target_data)
    return _sizes[known]


def read_word(builder: Any, words: Any, place: int, kind: ir.Type) -> Any:
    """Read one word; nothing changes a record while a kernel runs, so that reads leave loops."""
    pointer = builder.gep(words, [WORD(place)])
    value = builder.load(builder.bitcast(pointer, kind.as_pointer()))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@lower_getattr_generic(Record)
def read_field(context: Any, builder: Any, record: Record, words: Any, name: str) -> Any:
    """Read one field."""
    field, at = record.fields[name], record.offsets[name]

    def read(place: int, kind: ir.Type) -> Any:
        return read_word(builder, words, place, kind)

    def read_all(place: int) -> Any:
        return cgutils.pack_array(builder, [read(place + i, WORD) for i in range(field.ndim)], WORD)

    if isinstance(field, Record):
        return builder.gep(words, [WORD(at)])
    model = context.data_model_manager[field]
    if not isinstance(field, types.Array):
        return model.from_data(builder, read(at, model.get_data_type()))
    item = context.get_data_type(field.dtype)
    array = ir.Constant(model.get_value_type(), ir.Undefined)
    positions = {part: model.get_field_position(part) for part in ("meminfo", "parent")}
    parts = {
        "meminfo": ir.Constant(array.type.elements[positions["meminfo"]], None),
        "parent": read(at + PARENT, array.type.elements[positions["parent"]]),
        "nitems": read(at + NITEMS, WORD),
        "itemsize": WORD(size_of_type(context, item)),
        "data": read(at + DATA, item.as_pointer()),
        "shape": read_all(at + SHAPE),
        "strides": read_all(at + SHAPE + field.ndim),
    }
    for part, value in parts.items():
        array = builder.insert_value(array, value, model.get_field_position(part))
    return array


@unbox(Record)
def list_fields(record: Record, value: Any, c: Any) -> NativeValue:
    """Write down on the stack where the arrays are."""
    words = cgutils.alloca_once(c.builder, WORD, size=WORD(record.words))
    failed = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    _list_fields(record, value, words, failed, c)
    # Reads of a record are marked as invariant. The optimiser must not find out that it was written just
    # now, and move them ahead of that.
    hide = ir.InlineAsm(ir.FunctionType(words.type, [words.type]), "", "=r,0,~{memory}", True)
    return NativeValue(c.builder.call(hide, [words]), is_error=c.builder.load(failed))


def _list_fields(record: Record, value: Any, words: Any, failed: Any, c: Any) -> None:
    for i, (name, field) in enumerate(record.fields.items()):
        item = c.pyapi.tuple_getitem(value, i)
        place = c.builder.gep(words, [WORD(record.offsets[name])])
        if isinstance(field, Record):
            _list_fields(field, item, place, failed, c)
            continue
        if isinstance(field, types.Array):
            # borrowed: the tuple keeps its arrays alive
            adapt = cgutils.get_or_insert_function(
                c.builder.module,
                ir.FunctionType(ir.IntType(32), [c.pyapi.pyobj, c.pyapi.voidptr]),
                "numba_adapt_ndarray",
            )
            code = c.builder.call(adapt, [item, c.builder.bitcast(place, c.pyapi.voidptr)])
            wrong = c.builder.icmp_signed("!=", code, code.type(0))
        else:
            native = c.unbox(field, item)
            data = c.context.data_model_manager[field].as_data(c.builder, native.value)
            c.builder.store(data, c.builder.bitcast(place, data.type.as_pointer()))
            wrong = native.is_error
        c.builder.store(c.builder.or_(c.builder.load(failed), wrong), failed)
