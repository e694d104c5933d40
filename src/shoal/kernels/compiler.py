"""How numba is made to compile kernels in a third of its usual time. The code that results is the same.

Measured on the kernels of a first run, what took the time was not the loops:

- To numba a named tuple is a value: each call hands over every field of each of its arrays, and each
  use of one array takes the whole tuple apart. Here a `Record` is handed over as a pointer to the places
  and shapes of its arrays.
- What a kernel calls is optimised and translated by itself, and again in every kernel that it is linked
  into. Here a part of other kernels is only linked.
- The types of `a + b` are looked up anew at each occurrence, among all kinds of values that can be
  added. Here the answer is kept.
- Python's garbage collector goes through all that numba has made, over and over. Here it rests.
- Kernels have no closures, `with` blocks or array expressions, and need no passes for them.

All of this reaches into numba. Where a version of it lacks something, `numba.njit` is used as it is.
"""

import gc
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
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
UNUSED = {
    "LiteralPropagation",
    "annotate_types",
    "dead_branch_prune",
    "dump_parfor_diagnostics",
    "find_literally",
    "inline_closure_likes",
    "inline_inlinables",
    "inline_overloads",
    "literal_unroll",
    "make_function_op_code_to_jit_function",
    "nopython_rewrites",
    "nopython_supported_feature_validation",
    "rewrite_semantic_constants",
    "with_lifting",
}
"""Passes for what kernels do not have."""


def compiled(function: FunctionType, **options: Any) -> Any:
    """What numba makes of a function: it compiles on first use and keeps the result on disk."""
    if not is_supported():
        return numba.njit(cache=True, nogil=True, **options)(function)
    for given in function.__annotations__.values():
        register(given)
    if options.get("no_cpython_wrapper"):
        # it is part of what is kept of the kernels that call it
        return numba.njit(nogil=True, pipeline_class=PartCompiler, **options)(function)
    lean = LeanCompiler if options.get("_nrt") is False else KernelCompiler
    return numba.njit(cache=True, nogil=True, pipeline_class=lean, **options)(function)


def is_supported() -> bool:
    """Whether this version of numba has all that is reached into."""
    of_library = (
        "_ensure_finalized",
        "_finalize_dynamic_globals",
        "_finalize_final_module",
        "_optimize_final_module",
        "_optimize_functions",
        "_verify_declare_only_symbols",
    )
    return all(hasattr(JITCodeLibrary, name) for name in of_library) and hasattr(
        CPUCodegen, "_module_pass_manager"
    )


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


@lower_getattr_generic(Record)
def read_field(context: Any, builder: Any, record: Record, words: Any, name: str) -> Any:
    """Read one field; nothing changes a record while a kernel runs, so that reads leave loops."""
    field, at = record.fields[name], record.offsets[name]

    def read(place: int, what: ir.Type) -> Any:
        pointer = builder.gep(words, [WORD(place)])
        value = builder.load(builder.bitcast(pointer, what.as_pointer()))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

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
        "itemsize": WORD(context.get_abi_sizeof(item)),
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


class LeanLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that makes no array: optimised once, with all that it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes = self._codegen._module_pass_manager()
        if isinstance(passes, tuple):
            passes[0].run(self._final_module, passes[1])
        else:  # before numba 0.62
            passes.run(self._final_module)


class PartLibrary(LeanLibrary):
    """Code that is linked into other code, and neither optimised nor translated by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 - as numba calls it
        """Python has nothing to call."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """What numba asks to set the environment of a function: there is none to set."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """An environment is what the wrapper for Python uses; there is no such wrapper."""


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Types and lowers a kernel."""

    library: type[JITCodeLibrary] | None = None
    """Where the code goes; None: to numba's own library, which also counts references to arrays."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, *rest: Any) -> None:
        result, flags, *others = rest
        flags = _flags_of(type(flags))(flags)
        super().__init__(typing, target, library, args, result, flags, *others)
        self.state.typingctx = _typing_of(typing, repr(flags))

    def compile_extra(self, function: FunctionType) -> Any:
        """Compile without garbage collection."""
        with _without_collection():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """The passes that a kernel needs."""
        state = self.state
        if self.library is not None:
            state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        passes = DefaultPassBuilder.define_nopython_pipeline(state)
        passes.passes = [each for each in passes.passes if each[0].name() not in UNUSED]
        return [passes]


class LeanCompiler(KernelCompiler):
    """Compiles a kernel that makes no array."""

    library = LeanLibrary


class PartCompiler(KernelCompiler):
    """Compiles a part of other kernels."""

    library = PartLibrary


@contextmanager
def _without_collection() -> Iterator[None]:
    """numba compiles in one thread at a time, and what a kernel calls within that."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


_flags: dict[type, type] = {}
_typings: dict[tuple[int, str], Any] = {}


def _flags_of(given: Any) -> Any:
    """Compiler flags that are compared, which happens at each operation, without asking for each."""
    if given not in _flags:
        defaults = {name: option.default for name, option in given.options.items()}

        class Flags(given):  # type: ignore[misc]
            """The same flags."""

            def values(self) -> dict[str, Any]:
                """The value of each flag."""
                return {**defaults, **self._values}

        _flags[given] = Flags
    return _flags[given]


def _is_number(given: Any) -> bool:
    return isinstance(
        given, types.Number | types.Boolean | types.IntegerLiteral | types.BooleanLiteral
    )


def _typing_of(context: Any, flags: str) -> Any:
    """The typing context, except that it remembers the types of operations for functions with the same
    flags."""
    key = id(context), flags
    if key not in _typings:
        known: dict[Any, Any] = {}

        class Typing(type(context)):  # type: ignore[misc]
            """The same context."""

            def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
                """The signature of a call."""
                if kws or not isinstance(func, types.Function):
                    return super().resolve_function_type(func, args, kws)
                if all(map(_is_number, args)):  # which number it is says nothing about its type
                    args = tuple(types.unliteral(each) for each in args)  # type: ignore[attr-defined]
                call = func, tuple(args)
                if call not in known:
                    found = super().resolve_function_type(func, args, kws)
                    if found is None:
                        return None
                    known[call] = found
                return known[call]

        made = Typing.__new__(Typing)
        made.__dict__ = context.__dict__
        _typings[key] = made
    return _typings[key]
