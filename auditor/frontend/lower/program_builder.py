"""The whole translation of a unit: memo of functions and variables, kernels, host entries, the final program."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from typing import Any

from auditor.collector import collector_at_rest
from auditor.frontend.asm import AsmParts
from auditor.frontend.attributes import is_grid_constant, is_kernel
from auditor.frontend.clang_api import SKIP, in_system_header, visit
from auditor.frontend.discover import FoundKernel, discover
from auditor.frontend.include_search import library_layers
from auditor.frontend.included import included_files
from auditor.frontend.lower.calls import CELL, CONFIGURE, INTEGER, OBJECT, POINTER
from auditor.frontend.lower.core import Abandoned, Facts, blank
from auditor.frontend.lower.emit import CALL_MARK, Function, Line, assemble
from auditor.frontend.lower.empties import Empties
from auditor.frontend.lower.forms import ADDRESS
from auditor.frontend.lower.functions import FunctionLowerer, lower_function
from auditor.frontend.lower.idle import without_idle
from auditor.frontend.lower.lambdas import Closure
from auditor.frontend.lower.nodes import (
    CALL,
    COMPOUND,
    FUNCTION_DECL,
    FUNCTION_KINDS,
    INIT_LIST,
    UNEXPOSED_EXPR,
    Ast,
    Node,
    is_expression,
)  # fmt: skip
from auditor.frontend.lower.predicate import predicate
from auditor.frontend.lower.rounds import tell_rounds
from auditor.frontend.lower.signatures import Signature, Signatures
from auditor.frontend.lower.types import CType, Field, TypeTable
from auditor.frontend.options import MODEL, system_folders
from auditor.frontend.skipped import concerning, rejected_notes
from auditor.frontend.unit import ParsedUnit, location
from auditor.program import Kernel, Note, Param, Program, SharedVar
from auditor.ptx.grammar import AsmBlock, parse_asm
from auditor.quick_dataclass import dataclass
from auditor.source import SHIM_ROOT, Loc

HEADER = "from auditor.frontend.lower.runtime import *\nfrom auditor.frontend.lower.merging import *\n"
_RECURSION = 20_000  # nested calls are lowered depth first
_HOST_FUNCTIONS = 400
_ALIGNED_ATTRIBUTE = 441
_EXTERN, _STATIC = 2, 3  # storage classes
_BUILTIN = "__nvvm_"  # how clang's builtins for the device begin
_PURE_BUILTINS = tuple(_BUILTIN + name for name in ("ldg_", "fns", "read_ptx_sreg_pm", "memset", "memcpy"))
_GENERIC = "__builtin_"  # and those of the language, which clang takes for declared where they are called first
_MEMORY = (f"{_GENERIC}mem", f"{_GENERIC}str")


@dataclass
class Lowered:
    """A function's translation for one way of passing its arguments."""

    function: Function
    signature: Signature
    kinds: tuple[str, ...]
    display: str
    kernel: bool = False
    result_space: str = ""
    returned: list[str] = field(default_factory=list)
    shared: dict[str, SharedVar] = field(default_factory=dict)


class Build:
    """What is known of the unit while its functions are lowered."""

    def __init__(self, unit: ParsedUnit) -> None:
        self.unit = unit
        self.ast = Ast(unit.tu)
        self.types = TypeTable(self.ast)
        self.empties = Empties(self.ast, self.types)
        self._signatures = Signatures(self.ast, self.types)
        self.functions: list[Lowered] = []
        self._by_key: dict[tuple[int, tuple[str, ...], bool], Lowered] = {}
        self.closures: dict[int, Closure] = {}
        self.asm_blocks: list[AsmBlock] = []
        self.asm_locs: list[Loc] = []
        self.asm_clobbers: list[bool] = []
        self.notes: list[Note] = []
        self.global_vars: dict[str, tuple[str, int]] = {}
        self._keys: set[str] = set()
        self._key_of: dict[int, str] = {}
        self._entries: dict[int, str] = {}
        self._constants: dict[int, str | None] = {}
        self.constant_lines: list[str] = []
        self._loops: dict[tuple[int, int], int] = {}
        self._touched: dict[int, set[int]] = {}
        self._reaches: dict[int, bool] = {}
        self._host_count = 0
        self.left_out: set[int] = set()  # branches that a constant condition leaves out, by the keys of their nodes
        # Stands for a callee that is not lowered; pointers that it returns are taken for addresses.
        self.dummy = Lowered(Function(-1, "dummy"), Signature(0, "", None), (), "", result_space=ADDRESS)

    # ---- functions

    def model(self, name: str) -> Signature | None:
        """What is executed for a builtin of the compiler, behind a toolkit's headers; None where nothing is."""
        cursor = self._models.get(MODEL + name)
        return None if cursor is None else self.signature(cursor)

    @cached_property
    def _models(self) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def look(cursor: Any) -> int:
            if cursor._kind_id == FUNCTION_DECL and cursor.spelling.startswith(MODEL):
                found[cursor.spelling] = cursor
            return SKIP

        if not self.unit.options.own_headers:
            visit(self.unit.tu.cursor, look)
        return found

    def is_foreign(self, signature: Signature) -> bool:
        """Whether nothing is known of a function without a body: it is neither ours, nor of the system's headers."""
        if signature.name.startswith(_BUILTIN):
            return not signature.name.startswith(_PURE_BUILTINS)
        if signature.name.startswith(_GENERIC) and not signature.name.startswith(_MEMORY):
            return False
        declared = signature.cursor.location.file
        ours = declared is not None and str(declared.name).startswith(SHIM_ROOT)
        return not ours and not in_system_header(signature.cursor)

    def signature(self, cursor: Any) -> Signature:
        return self._signatures.of(cursor)

    def function(self, signature: Signature, kinds: tuple[str, ...], host: bool, kernel: bool = False) -> Lowered:
        """The translation of a function; made on first use."""
        key = (signature.key, kinds, host)
        known = self._by_key.get(key)
        if known is not None:
            return known
        number = len(self.functions)
        stem = re.sub(r"\W", "_", signature.name, flags=re.ASCII)  # Python spells some letters its own way
        display = signature.cursor.displayname.split("(")[0] or signature.name
        lowered = Lowered(Function(number, f"f{number}_{stem}"), signature, kinds, display, kernel)
        self._by_key[key] = lowered
        self.functions.append(lowered)
        self._host_count += host
        self._lower(lowered, host)
        return lowered

    def device_blocks(self) -> Iterator[Loc]:
        """The extents of the compound statements of all device functions that were translated, without branches that
        their conditions leave out."""
        bodies = [lowered.signature.body for (_, _, host), lowered in self._by_key.items() if not host]
        work = [body for body in bodies if body is not None]
        while work:
            node = work.pop()
            if node.key not in self.left_out:
                work += node.kids
                if node.kind == COMPOUND:
                    yield self.ast.loc(node)

    def _lower(self, lowered: Lowered, host: bool) -> None:
        try:
            lower_function(self, lowered, host)
        except Exception as error:
            where = self.ast.name_loc(lowered.signature.cursor)
            kind = "" if isinstance(error, Abandoned) else type(error).__name__
            reason = ": ".join(part for part in (kind, str(error)) if part)
            message = f"function {lowered.signature.name} cannot be translated ({reason})"
            self.notes.append(Note("unanalysed", message, where))
            self._opaque_body(lowered, where)
        lowered.function.done = True

    def _opaque_body(self, lowered: Lowered, where: Loc) -> None:
        result = lowered.signature.result
        kind, bits, _ = result.memory() if result.scalar else ("float", 32, False)
        name = lowered.signature.name
        call = f"S.opaque_call({name!r}, args, {kind!r}, {bits})"
        lines = [Line(0, f"def {lowered.function.name}(S, *args):"), Line(1, f"x = {call}", where)]
        lines.append(Line(1, f"return {blank(result) if result.aggregate else 'x'}"))
        lowered.function.lines = lines
        lowered.function.callees = set()
        lowered.function.blocking = False

    def kernel_entry(self, signature: Signature) -> str | None:
        """The entry name of a kernel, None for other functions."""
        return self._entries.get(signature.key)

    def too_much_host_code(self) -> bool:
        return self._host_count > _HOST_FUNCTIONS

    # ---- asm

    def asm(self, node: Node, parts: AsmParts, constants: dict[int, int], facts: Facts) -> tuple[int, AsmBlock]:
        """The number of an asm statement and its parsed text."""
        number = facts.asm.get(node.key)
        if number is not None:
            return number, self.asm_blocks[number]
        block = parse_asm(parts.template, parts.constraints, len(parts.outputs), constants)
        number = facts.asm[node.key] = len(self.asm_blocks)
        self.asm_blocks.append(block)
        self.asm_locs.append(self.ast.loc(node))
        self.asm_clobbers.append("memory" in parts.clobbers)
        return number, block

    # ---- variables

    def unique_key(self, key: str, decl: int) -> str:
        """The key of a variable: ``key``, or a numbered one when another variable has it."""
        known = self._key_of.get(decl)
        if known is None:
            count = 1
            known = key
            while known in self._keys:
                count += 1
                known = f"{key}#{count}"
            self._keys.add(known)
            self._key_of[decl] = known
        return known

    def global_variable(self, node: Node, ctype: CType) -> str:
        name = self.ast.spelling(node)
        key = self.unique_key(name, self.ast.decl_key(node.cursor))
        self.global_vars[key] = (name, ctype.size)
        return key

    def constant(self, node: Node, ctype: CType) -> str | None:
        """The module-level name of a constant object, when its initialiser needs no code."""
        key = self.ast.decl_key(node.cursor)
        if key not in self._constants:
            self._constants[key] = None
            init = self.ast.initializer(node)
            if init is not None:
                self._constants[key] = self._make_constant(node, ctype, init)
        return self._constants[key]

    def _make_constant(self, node: Node, ctype: CType, init: Node) -> str | None:
        scratch = FunctionLowerer(self, self._scratch(node), Facts(), False)
        value = scratch.initialise(ctype, init)
        if scratch.out.lines or "S." in value.code:
            return None
        name = f"K{len(self.constant_lines)}_{re.sub(r'[^A-Za-z0-9_]', '_', self.ast.spelling(node))}"
        self.constant_lines.append(f"{name} = {value.code}")
        return name

    def _scratch(self, node: Node) -> Lowered:
        signature = Signature(0, "constant", node.cursor)
        return Lowered(Function(-1, "constant"), signature, (), "constant")

    def is_static(self, node: Node) -> bool:
        return bool(node.cursor.storage_class.value == _STATIC)

    def is_extern(self, node: Node) -> bool:
        return bool(node.cursor.storage_class.value == _EXTERN)

    def alignment(self, node: Node) -> int:
        """What ``__align__`` and ``alignas`` on a variable ask for."""
        if not any(k.kind == _ALIGNED_ATTRIBUTE for k in node.kids):
            return 1
        text = pretty(node.cursor)
        found = [int(n, 0) for n in re.findall(r"align(?:ed|as)\s*\(\s*(\d+|0x[0-9a-fA-F]+)U?L*\s*\)", text)]
        return max(found, default=1)

    def member_initialiser(self, member: Field) -> Node | None:
        """The default member initialiser of a field."""
        node = member.node
        if node is None:
            return None
        if node.member_initialiser is False:
            node.member_initialiser = self._find_member_initialiser(member, node)
        return node.member_initialiser  # type: ignore[no-any-return]

    def _find_member_initialiser(self, member: Field, node: Node) -> Node | None:
        items = [k for k in node.kids if is_expression(k.kind)]
        if member.width:
            items = items[1:]
        if member.type.kind == "array":
            items = [k for k in items if k.kind in (INIT_LIST, UNEXPOSED_EXPR, CALL)]
        if not items:
            return None
        name = self.ast.name_loc(node.cursor)
        last = items[-1]
        place = self.ast.loc(last)
        if place.line and (place.line, place.column) < (name.line, name.column):
            return None  # an argument of the member's own template
        return last

    def default_argument(self, param: Node) -> Node | None:
        ctype = self.types.of(param)
        items = [k for k in param.kids if is_expression(k.kind)]
        if not items or ctype.kind == "array" or ctype.element.kind in ("array", "function"):
            return None
        return items[-1]

    # ---- facts about code

    def loop_number(self, node: Node, lowered: Lowered) -> int:
        key = (node.key, lowered.function.number)
        return self._loops.setdefault(key, len(self._loops))

    def assigns(self, body: Node, key: int) -> bool:
        """Whether a variable is used in the body as anything but a value."""
        touched = self._touched.get(body.key)
        if touched is None:
            targets = [self.ast.reference(used) for used in body.tree.uses_below(body)]
            touched = self._touched[body.key] = {self.ast.decl_key(target) for target in targets if target is not None}
        return key in touched

    def reaches(self, signature: Signature) -> bool:
        """Whether a host function can reach a launch or a runtime call that matters."""
        known = self._reaches.get(signature.key)
        if known is None:
            self._reaches[signature.key] = False
            known = signature.tree is not None and self.reaches_node(signature.tree)
            self._reaches[signature.key] = known
        return known

    def reaches_node(self, node: Node) -> bool:
        for item in node.walk():
            if item.kind != CALL:
                continue
            if item.kids and "CUtensorMap" in str(item.kids[0].cursor.type.get_canonical().spelling):
                return True  # also the encoder through a pointer
            target = self.ast.reference(item)
            if target is None:
                continue
            name = self.ast.spelling(item)
            if name in CONFIGURE or name.startswith(("cudaLaunch", "cuLaunch", "cuTensorMap", "cudaFuncSet")):
                return True
            if target._kind_id in FUNCTION_KINDS and self.reaches(self.signature(target)):
                return True
        return False

    # ---- kernels and host entries

    def kernel(self, found: FoundKernel) -> Kernel:
        signature = self.signature(found.cursor)
        kinds = tuple(INTEGER if t.kind in ("pointer", "record") else POINTER for t in signature.param_types)
        lowered = self.function(signature, kinds, False, True)
        body = signature.body
        end = self.ast.loc(body) if body is not None else self.ast.loc_of(found.cursor)
        return Kernel(
            name=found.name, display=found.display, entry=lowered.function.name,
            params=tuple(self._param(p, t) for p, t in zip(signature.params, signature.param_types, strict=True)),
            shared=tuple(self._reachable_shared(lowered).values()),
            loc=self.ast.name_loc(found.cursor),
            body_end=Loc(end.file, end.end_line, max(end.end_column - 1, 1)),
            max_threads=found.launch_bounds[0], min_blocks=found.launch_bounds[1], max_registers=found.max_registers,
            cluster_dims=found.cluster_dims, instantiation=found.instantiation_origin, empty=found.empty,
        )  # fmt: skip

    def _param(self, node: Node, ctype: CType) -> Param:
        kind = ctype.kind
        layout = self.types.parameter_layout(node.cursor.data[0], ctype)
        if ctype.integral:
            kind = layout.scalar.kind if layout.scalar is not None else "int"
        elif kind not in ("float", "pointer"):
            kind = "object"
        return Param(
            name=self.ast.spelling(node), kind=kind, type_name=ctype.name, size=ctype.size, signed=ctype.signed,
            grid_constant=is_grid_constant(node.cursor), is_tensor_map=self.types.holds_tensor_map(ctype),
            layout=layout, loc=self.ast.name_loc(node.cursor),
            to_data=ctype.kind == "pointer" and ctype.element.data,
        )  # fmt: skip

    def _reachable_shared(self, root: Lowered) -> dict[str, SharedVar]:
        out: dict[str, SharedVar] = {}
        seen: set[int] = set()
        work = [root.function.number]
        while work:
            number = work.pop()
            if number in seen:
                continue
            seen.add(number)
            lowered = self.functions[number]
            out.update(lowered.shared)
            work.extend(lowered.function.callees)
        return out

    def register_kernels(self, kernels: list[FoundKernel]) -> None:
        """Give each kernel its entry before any code that launches it is lowered."""
        for found in kernels:
            signature = self.signature(found.cursor)
            self._entries.setdefault(signature.key, "")

    def host_entry(self, cursor: Any) -> str | None:
        """A function without parameters that runs a host function."""
        signature = self.signature(cursor)
        if signature.body is None or signature.method or is_kernel(cursor):
            return None
        kinds: list[str] = []
        codes: list[str] = []
        for param, ptype in zip(signature.params, signature.param_types, strict=True):
            target = ptype.element if ptype.kind == "ref" else ptype
            code = blank(target)
            if target.scalar and not target.packed:
                code = f"S.argument({self.ast.spelling(param)!r}, {target.memory()[0]!r})"
            if ptype.kind == "ref":
                kinds.append(OBJECT if target.aggregate else CELL)
                codes.append(code if target.aggregate else f"[{code}]")
            else:
                kinds.append(POINTER)
                codes.append(code)
        if signature.name == "main" and codes:
            codes[0] = "1"
        lowered = self.function(signature, tuple(kinds), True)
        number = len(self.functions)
        entry = Function(number, f"host{number}_{lowered.function.name}", callees={lowered.function.number}, done=True)
        call = f"return ({CALL_MARK}{lowered.function.name}({', '.join(['S', *codes])}))"
        entry.lines = [Line(0, f"def {entry.name}(S):"), Line(1, call, None, lowered.function.number)]
        self.functions.append(Lowered(entry, signature, (), entry.name))
        return entry.name


def pretty(cursor: Any) -> str:
    """A declaration as clang prints it."""
    import clang.cindex as cindex  # local: the printing policy is needed rarely

    policy: Any = cindex.PrintingPolicy.create(cursor)
    return str(cursor.pretty_printed(policy))


def lower_unit(unit: ParsedUnit) -> Program:
    """Translate a parsed unit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        with collector_at_rest():
            return _lower_unit(unit)
    finally:
        sys.setrecursionlimit(limit)


def _lower_unit(unit: ParsedUnit) -> Program:
    build = Build(unit)
    found = discover(unit)
    kernels = []
    for item in found.kernels:
        kernel = build.kernel(item)
        build._entries[build.signature(item.cursor).key] = kernel.entry
        kernels.append(kernel)
    entries = [build.host_entry(cursor) for cursor in found.host_functions]
    header = HEADER + "".join(line + "\n" for line in build.constant_lines)
    functions = [item.function for item in build.functions]
    without_idle(functions)
    predicate(functions, build.asm_blocks)
    tell_rounds(functions)
    python, locs = assemble(header, functions)
    reached = {location(item.signature.cursor) for item in build.functions}
    rejected = rejected_notes(unit, build.device_blocks, [*unit.notes, *build.notes])
    return Program(
        path=unit.path, arch=unit.options.arch, kernels=tuple(kernels), python=python, line_locs=locs,
        asm=build.asm_blocks, asm_locs=build.asm_locs, asm_clobbers=build.asm_clobbers,
        host_entries=tuple(e for e in entries if e is not None),
        notes=[*concerning(unit.notes, unit.path, reached), *build.notes, *rejected],
        global_vars=build.global_vars, sources={unit.path: unit.text},
        system=(*system_folders(unit.options), *library_layers(included_files(unit))),
    )  # fmt: skip
