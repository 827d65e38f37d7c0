"""Kernels of a translation unit, their instantiations, and where host code launches them."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from auditor.frontend.attributes import is_kernel, launch_attributes
from auditor.frontend.clang_api import ENTER, SKIP, CursorKind, children, cindex, in_system_header, template_of, visit
from auditor.frontend.unit import ParsedUnit
from auditor.quick_dataclass import dataclass

_PREPROCESSING = 500  # kinds from here on are macros and includes, by far the most; asking for .kind is slow
# Kinds are compared as clang's numbers: making the binding's objects of them costs more than the rest of the walk.
_DECL_REF, _CALL = CursorKind.DECL_REF_EXPR.value, CursorKind.CALL_EXPR.value
_VARIABLE, _TEMPLATE = CursorKind.VAR_DECL.value, CursorKind.FUNCTION_TEMPLATE.value
_FOR_DEVICE, _FOR_HOST = CursorKind.CUDADEVICE_ATTR.value, CursorKind.CUDAHOST_ATTR.value
# Parents of top-level declarations that are looked into: scopes and classes.
_ENTERED = frozenset(
    kind.value
    for kind in (
        CursorKind.NAMESPACE,
        CursorKind.LINKAGE_SPEC,
        CursorKind.UNEXPOSED_DECL,
        CursorKind.STRUCT_DECL,
        CursorKind.CLASS_DECL,
        CursorKind.CLASS_TEMPLATE,
    )
)
_FUNCTIONS = frozenset(
    kind.value
    for kind in (
        CursorKind.FUNCTION_DECL,
        CursorKind.CXX_METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
    )
)
# Calls that a launch is made of: clang's and nvcc's name for what holds the launch shape.
_LAUNCH_SHAPE = ("cudaConfigureCall", "__cudaPushCallConfiguration")
# Calls that launch the kernel which one of their arguments names.
_LAUNCH_CALLS = (
    "cudaLaunchKernelEx",
    "cudaLaunchKernelExC",
    "cudaLaunchKernel",
    "cudaLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
)

ORIGIN_LAUNCH = "launch"
INJECTED = "bw_inst_"  # names of the variables that force instantiations: see instantiate.py


@dataclass(frozen=True)
class LaunchCall:
    """A ``CALL_EXPR`` that launches a kernel, and the function whose body holds it."""

    cursor: Any
    host_function_cursor: Any


@dataclass
class FoundKernel:
    """A kernel to audit: a function, or one instantiation of a template.

    ``instantiation_origin`` says who chose the template arguments: "launch" (host code names it), "request" (the user,
    by an option, a comment or an explicit instantiation), "default", "likely" (guessed by their names) or "guess";
    empty when there are none. ``empty``: its body has no statement for this architecture.
    """

    cursor: Any
    name: str
    display: str
    template_args: tuple[str, ...] = ()
    launches: list[LaunchCall] = field(default_factory=list)
    launch_bounds: tuple[int, int] = (0, 0)
    cluster_dims: tuple[int, int, int] | None = None
    max_registers: int = 0
    instantiation_origin: str = ""
    empty: bool = False


@dataclass
class Discovery:
    """Everything that one walk over the user's files finds.

    ``host_functions`` are the functions that contain a launch or a reference to a kernel, ``main`` first.
    ``templates`` are all kernel templates, ``uninstantiated`` those without any instantiation, ``launchers`` the
    templates of host functions, which may launch a kernel once they are instantiated.
    """

    kernels: list[FoundKernel] = field(default_factory=list)
    host_functions: list[Any] = field(default_factory=list)
    templates: list[Any] = field(default_factory=list)
    uninstantiated: list[Any] = field(default_factory=list)
    launchers: list[Any] = field(default_factory=list)


def kernels(unit: ParsedUnit) -> list[FoundKernel]:
    """The kernels that are defined in the main file or in the user's headers."""
    return discover(unit).kernels


def host_functions(unit: ParsedUnit) -> list[Any]:
    """Host functions to run for their launches, best first."""
    return discover(unit).host_functions


def discover(unit: ParsedUnit) -> Discovery:
    """Walk the user's declarations and whatever host code reaches from them; once for each unit."""
    if unit.discovery is None:
        walk = _Walk()
        for declaration in _user_declarations(unit.tu.cursor):
            walk.declaration(declaration)
        walk.run()
        unit.discovery = walk.result(unit)
    return unit.discovery


def qualified_name(cursor: Any) -> str:
    """``ns::kernel``. An unnamed namespace contributes nothing, as in source code."""
    parts = [cursor.spelling]
    parent = cursor.semantic_parent
    while parent is not None and parent.kind != CursorKind.TRANSLATION_UNIT:
        if parent.spelling and not parent.is_anonymous():
            parts.append(parent.spelling)
        parent = parent.semantic_parent
    return "::".join(reversed(parts))


def _user_declarations(root: Any) -> list[Any]:
    """Functions, templates and variables at namespace scope, and member functions, outside of system headers."""
    out: list[Any] = []

    def look(cursor: Any) -> int:
        if cursor._kind_id >= _PREPROCESSING or in_system_header(cursor):
            return SKIP
        if cursor._kind_id in _ENTERED:
            return ENTER
        out.append(cursor)
        return SKIP

    visit(root, look)
    return out


class _Walk:
    """Follows host code from function to function, since only references show instantiated bodies."""

    def __init__(self) -> None:
        self.kernels: dict[str, Any] = {}  # USR -> definition
        self.referenced: dict[str, str] = {}  # USR of an instantiation -> injected variable that names it, or ""
        self.templates: dict[str, Any] = {}
        self.launchers: list[Any] = []
        self.launches: dict[str, list[LaunchCall]] = {}
        self.hosts: dict[str, Any] = {}
        self.pending: list[Any] = []
        self.seen: set[str] = set()
        self.called: set[str] = set()
        self.main: Any = None

    def declaration(self, cursor: Any) -> None:
        kind = cursor._kind_id
        if cursor.spelling == "main":
            self.main = cursor
        if kind == _TEMPLATE:
            if cursor.is_definition() and is_kernel(cursor):
                self.templates[cursor.get_usr()] = cursor
            elif cursor.is_definition() and not _device_only(cursor):
                self.launchers.append(cursor)
        elif kind in _FUNCTIONS:
            if not cursor.is_definition():
                return
            if is_kernel(cursor):
                self.kernels.setdefault(cursor.get_usr(), cursor)
            else:
                self._enqueue(cursor)
        elif kind == _VARIABLE:
            self._body(cursor, cursor)

    def run(self) -> None:
        while self.pending:
            function = self.pending.pop()
            self._body(function, function)

    def _enqueue(self, cursor: Any) -> None:
        usr = cursor.get_usr()
        if usr not in self.seen and not _device_only(cursor):
            self.seen.add(usr)
            self.pending.append(cursor)

    def _body(self, owner: Any, root: Any) -> None:
        def look(cursor: Any) -> int:
            kind = cursor._kind_id
            if kind == _DECL_REF:
                self._reference(owner, cursor)
            elif kind == _CALL:
                self._call(owner, cursor)
            return ENTER

        visit(root, look)

    def _reference(self, owner: Any, expression: Any) -> None:
        target = expression.referenced
        if target is None or target._kind_id not in _FUNCTIONS or in_system_header(target):
            return
        definition = target.get_definition() or target
        if is_kernel(definition):
            self._kernel(owner, definition)
        elif owner.spelling.startswith(INJECTED):  # an explicit instantiation of a function that launches
            self._enqueue(definition)

    def _call(self, owner: Any, call: Any) -> None:
        kids = children(call)
        if len(kids) > 1 and kids[1].spelling in _LAUNCH_SHAPE:
            self._launch(owner, call, _kernel_named_by(kids[0]))
            return
        target = call.referenced
        if target is None or target._kind_id not in _FUNCTIONS:
            return
        if target.spelling in _LAUNCH_CALLS:
            named = (_kernel_named_by(kid) for kid in kids[1:])
            self._launch(owner, call, next((k for k in named if k is not None), None))
        elif not in_system_header(target):
            definition = target.get_definition() or target
            if not is_kernel(definition):
                self.called.add(definition.get_usr())
                self._enqueue(definition)

    def _kernel(self, owner: Any, definition: Any) -> str:
        usr = str(definition.get_usr())
        self.kernels.setdefault(usr, definition)
        injected = owner.spelling if owner.spelling.startswith(INJECTED) else ""
        if not injected:
            self.hosts.setdefault(owner.get_usr(), owner)
        self.referenced[usr] = injected and self.referenced.get(usr, injected)
        return usr

    def _launch(self, owner: Any, call: Any, kernel: Any) -> None:
        self.hosts.setdefault(owner.get_usr(), owner)
        if kernel is not None and is_kernel(kernel):
            usr = self._kernel(owner, kernel)
            self.launches.setdefault(usr, []).append(LaunchCall(call, owner))

    def result(self, unit: ParsedUnit) -> Discovery:
        found = [self._found(usr, cursor, unit) for usr, cursor in self.kernels.items()]
        instantiated = {_place(cursor) for cursor in self.kernels.values()}
        templates = list(self.templates.values())
        uninstantiated = [t for t in templates if _place(t) not in instantiated]
        hosts = [h for h in self.hosts.values() if h._kind_id in _FUNCTIONS]
        # A caller runs what it calls: the roots come before the functions that others call.
        hosts.sort(key=lambda h: (h.get_usr() in self.called, _place(h)))
        if self.main is not None:
            hosts = [self.main, *(h for h in hosts if h.get_usr() != self.main.get_usr())]
        found.sort(key=lambda k: _place(k.cursor))
        return Discovery(found, hosts, templates, uninstantiated, self.launchers)

    def _found(self, usr: str, cursor: Any, unit: ParsedUnit) -> FoundKernel:
        arguments = template_arguments(cursor)
        attributes = launch_attributes(cursor)
        name = cursor.spelling
        origin = ""
        if arguments:
            injected = self.referenced.get(usr, "")
            origin = unit.injected_origins.get(injected, "request") if injected else ORIGIN_LAUNCH
        return FoundKernel(
            cursor=cursor,
            name=name,
            display=f"{name}<{', '.join(arguments)}>" if arguments else name,
            template_args=arguments,
            launches=self.launches.get(usr, []),
            launch_bounds=(attributes.max_threads, attributes.min_blocks),
            cluster_dims=attributes.cluster_dims,
            max_registers=attributes.max_registers,
            instantiation_origin=origin,
            empty=_is_empty(cursor),
        )


def template_arguments(function: Any) -> tuple[str, ...]:
    """The template arguments of an instantiation as source text; a parameter pack is "..."."""
    count = max(function.get_num_template_arguments(), 0)
    parameters = template_parameters(template_of(function)) if count else []
    out = []
    for index in range(count):
        kind = function.get_template_argument_kind(index).name
        if kind == "TYPE":
            out.append(str(function.get_template_argument_type(index).spelling))
        elif kind == "INTEGRAL":
            of_type = parameters[index].type.get_canonical() if index < len(parameters) else None
            out.append(_constant(function.get_template_argument_value(index), of_type))
        else:
            out.append("...")
    return tuple(out)


def template_parameters(template: Any) -> list[Any]:
    """The parameter cursors of a function template."""
    return [child for child in children(template) if child.kind.name.startswith("TEMPLATE_")]


def _constant(value: int, of_type: Any) -> str:
    if of_type is not None and of_type.kind == cindex.TypeKind.BOOL:
        return "true" if value else "false"  # libclang extends the sign of a bool: true is -1
    if of_type is not None and of_type.kind == cindex.TypeKind.ENUM:
        for constant in children(of_type.get_declaration()):
            if constant.kind == CursorKind.ENUM_CONSTANT_DECL and constant.enum_value == value:
                return str(constant.spelling)
    return str(value)


def _device_only(cursor: Any) -> bool:
    kinds = {child._kind_id for child in children(cursor)}
    return _FOR_DEVICE in kinds and _FOR_HOST not in kinds


def _kernel_named_by(expression: Any) -> Any:
    """The kernel that an expression names, directly or through a local variable that was initialised with it."""
    for _ in range(4):  # a variable may be initialised from another one
        expression = _first_named(expression)
        if expression is None or expression._kind_id != _VARIABLE:
            return expression
    return None


def _first_named(expression: Any) -> Any:
    hits: list[Any] = []

    def look(cursor: Any) -> int:
        if cursor._kind_id == _DECL_REF:
            target = cursor.referenced
            if target is not None and target._kind_id == _VARIABLE:
                hits.append(target)
            elif target is not None and target._kind_id in _FUNCTIONS:
                hits.append(target.get_definition() or target)
        return ENTER

    look(expression)
    visit(expression, look)
    return hits[0] if hits else None


_NO_WORK = ("printf", "__trap", "__assert_fail", "abort", "assert")


def _is_empty(kernel: Any) -> bool:
    body = [child for child in children(kernel) if child.kind == CursorKind.COMPOUND_STMT]
    return not body or not _do_something(children(body[-1]))


def _do_something(statements: list[Any]) -> bool:
    """Whether any of the statements does. Without recursion: they may be nested as deep as a file is long."""
    left = list(statements)
    while left:
        statement = left.pop()
        kind = statement.kind
        if kind == CursorKind.COMPOUND_STMT:
            left += children(statement)
        elif kind == CursorKind.IF_STMT:
            left += children(statement)[1:]
        elif kind == CursorKind.CALL_EXPR:
            if statement.spelling not in _NO_WORK:
                return True
        elif kind == CursorKind.DECL_STMT:
            if any(child.kind != CursorKind.STATIC_ASSERT for child in children(statement)):
                return True
        elif kind not in (CursorKind.NULL_STMT, CursorKind.RETURN_STMT):
            return True
    return False


def _place(cursor: Any) -> tuple[str, int]:
    place = cursor.location
    return (place.file.name if place.file else "", place.offset)
