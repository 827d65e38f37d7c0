"""Parsing a CUDA source into a clang translation unit that holds every kernel instantiation worth auditing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any

from auditor.frontend import dialect, foresight, include_search, instantiate, stubs
from auditor.frontend.clang_api import cindex
from auditor.frontend.discover import INJECTED, Discovery, discover
from auditor.frontend.headers_store import clash_macros, encoded_shims, feature_macros, header_text, made_files
from auditor.frontend.included import included_files
from auditor.frontend.options import (
    ANNOTATIONS,
    BUILT_IN_VARIABLES,
    COMPILER_BUILTINS,
    OPTIONAL_TOOLKIT_FILES,
    Arch,
    Options,
    builtin_header,
    command_line,
    parse_arch,
)
from auditor.frontend.skipped import skipped_notes
from auditor.frontend.unit import Diagnostic, ParsedUnit, ParseFailure, location, read_or_nothing, read_source
from auditor.program import Note
from auditor.quick_dataclass import dataclass
from auditor.source import SHIM_ROOT, UNKNOWN, Loc

__all__ = ["Diagnostic", "Options", "ParseFailure", "ParsedUnit", "parse"]

_DETAILED_RECORD = 0x01  # needed for skipped preprocessor ranges
_KEEP_GOING = 0x200  # a missing include must not stop template instantiation

_GUESS_ROUNDS = 7
_FOLDER_ROUNDS = 4
_DIALECT_ROUNDS = 3  # one correction may show the next error


def parse(path: str, text: str | None = None, options: Options | None = None) -> ParsedUnit:
    """Parse a file, or ``text`` as if it were that file. Raises nothing but ``ParseFailure``."""
    options = options or Options()
    if text is None:
        text = read_source(path)
    if "\0" in text:
        raise ParseFailure(f"{path}: not a text file")
    return _Parse(path, text, options).run()




@dataclass
class _Wanted:
    """A kernel template for which arguments are tried until clang accepts some."""

    template: Any
    tries: Iterator[instantiate.Request]
    current: instantiate.Request | None = None
    best: tuple[int, instantiate.Request] | None = None


@dataclass
class _Parse:
    path: str
    text: str
    options: Options
    notes: list[Note] = field(default_factory=list)
    stub_text: str = ""
    macros: list[str] = field(default_factory=list)
    empty_files: tuple[str, ...] = ()  # missing includes, served empty
    implied: tuple[str, ...] = ()  # headers of ours that the source uses without including them
    own_libraries: bool = True  # CuTe's and CUTLASS's headers are ours
    included_text: str = ""  # of the user's files that name classes which are made on demand
    corrected: dict[str, str] = field(default_factory=dict)  # texts of files that clang would not take as they are

    def run(self) -> ParsedUnit:
        arch = parse_arch(self.options.arch)
        if not arch.known:
            self.notes.append(Note("arch", f"unknown architecture {self.options.arch!r}: analysed as {arch.name}"))
        self.own_libraries = not include_search.has_real_library(self.path, self.options)
        self.corrected = dialect.foreseen(self.path, self.text, self.options.includes, read_or_nothing)
        unit = self._with_corrections(arch, self._with_folders(arch, self._first_unit(arch)))
        unit = self._with_atoms(arch, unit)
        if unit.errors and self.options.own_headers:
            foreseen = self.macros
            self.macros = clash_macros((error.message for error in unit.errors), foreseen)
            if self.macros != foreseen:
                unit = self._unit(arch, ())
            unit = self._with_stubs(arch, unit)
        unit = self._with_instantiations(arch, unit)
        unit.notes = [*self.notes, *skipped_notes(unit, arch.name, read_or_nothing)]
        return unit

    # ---- one translation unit ----

    def _first_unit(self, arch: Arch) -> ParsedUnit:
        """Parsed with what the text foretells, where that turns out to be so."""
        named = self.options
        if named.own_headers and not named.extra:
            foreseen = foresight.foresee(self.path, self.text, named.includes)
            if foreseen.definitions or foreseen.folders:
                self.macros = clash_macros((), foreseen.macros)
                self.options = replace(named, includes=(*named.includes, *foreseen.folders))
                unit = self._unit(arch, ())
                if foreseen.holds(unit):
                    return unit
                self.macros, self.options = [], named
        return self._unit(arch, ())

    def _unit(self, arch: Arch, lines: tuple[str, ...], origins: dict[str, str] | None = None) -> ParsedUnit:
        args = command_line(self.options, arch)
        unsaved: list[tuple[str, str | bytes]] = []
        if self.options.own_headers:
            args += [*feature_macros(self.text, libraries=self.own_libraries), *self.macros]
            unsaved += encoded_shims(libraries=self.own_libraries)
            unsaved += made_files(self.text + self.included_text, libraries=self.own_libraries)
            for name in self.implied:
                args += ["-include", f"{SHIM_ROOT}/{name}"]
            if self.stub_text:
                args += ["-include", stubs.HEADER]
                unsaved.append((stubs.HEADER, self.stub_text))
            unsaved += [(f"{SHIM_ROOT}/{name}", "") for name in self.empty_files]
        else:
            unsaved += [(f"{SHIM_ROOT}/{name}", "") for name in OPTIONAL_TOOLKIT_FILES]
            unsaved += [(f"{SHIM_ROOT}/{name}", header_text(name)) for name in (COMPILER_BUILTINS, ANNOTATIONS)]
            unsaved.append((builtin_header("__clang_cuda_builtin_vars.h"), header_text(BUILT_IN_VARIABLES)))
        unsaved += [(name, text) for name, text in self.corrected.items() if name != self.path]
        text = self.corrected.get(self.path, self.text)
        unsaved.append((self.path, "\n".join([text, *lines, ""]) if lines else text))
        try:
            tu = cindex.TranslationUnit.from_source(
                self.path, args=args, unsaved_files=unsaved, options=_DETAILED_RECORD | _KEEP_GOING
            )
        except cindex.TranslationUnitLoadError as error:
            raise ParseFailure(f"{self.path}: clang could not parse it") from error
        return ParsedUnit(
            self.path, self.text, tu, self.options, [], _diagnostics(tu), lines, origins or {}, dict(self.corrected)
        )

    def _with_folders(self, arch: Arch, unit: ParsedUnit) -> ParsedUnit:
        """Parse again with the folders above the source in which its missing includes lie."""
        for _ in range(_FOLDER_ROUNDS):
            folders = include_search.folders_for(self.path, (error.message for error in unit.errors))
            fresh = tuple(folder for folder in folders if folder not in self.options.includes)
            if not fresh:
                break
            self.options = replace(self.options, includes=(*self.options.includes, *fresh))
            unit = self._unit(arch, ())
        return unit

    def _with_corrections(self, arch: Arch, unit: ParsedUnit) -> ParsedUnit:
        """Parse again with what only nvcc accepts put into clang's words."""
        for _ in range(_DIALECT_ROUNDS):
            changed = dialect.corrections(unit, read_or_nothing)
            if not changed:
                break
            self.corrected.update(changed)
            unit = self._unit(arch, ())
        return unit

    def _with_atoms(self, arch: Arch, unit: ParsedUnit) -> ParsedUnit:
        """Parse again with the classes of one instruction that the user's own headers name."""
        if not self.options.own_headers or not self.own_libraries:
            return unit
        text = "\n" + "\n".join(read_or_nothing(name) for name in included_files(unit))
        if made_files(self.text + text) == made_files(self.text):
            return unit
        self.included_text = text
        return self._unit(arch, ())

    # ---- names that nothing declares ----

    def _with_stubs(self, arch: Arch, unit: ParsedUnit) -> ParsedUnit:
        collection = stubs.Stubs()
        best, served = unit, ("", self.empty_files, self.implied)
        for _ in range(stubs.ROUNDS):
            if not collection.learn(unit, read_or_nothing):
                break
            self.stub_text, self.empty_files = collection.text(), tuple(collection.files)
            self.implied = tuple(collection.headers)
            unit = self._unit(arch, ())
            if len(unit.errors) < len(best.errors):
                best, served = unit, (self.stub_text, self.empty_files, self.implied)
        self.stub_text, self.empty_files, self.implied = served
        self.notes += collection.notes
        return best

    # ---- template arguments ----

    def _with_instantiations(self, arch: Arch, unit: ParsedUnit) -> ParsedUnit:
        found = discover(unit)
        if not found.templates and not found.launchers:
            return unit
        fixed = self._requested(found)
        launching = any(template in found.launchers for template, _ in fixed)
        if launching:
            unit = self._inject(arch, fixed, [])  # what they launch needs no guess
            found = discover(unit)
        named = {template.get_usr() for template, _ in fixed}
        lone = [t for t in found.uninstantiated if t.get_usr() not in named]
        if fixed or found.kernels:  # the file says what it is about: other kernels of its headers are not
            lone = [t for t in lone if location(t).file == self.path]
        open_templates = [_Wanted(t, instantiate.candidates(t, self.text)) for t in lone]
        if not open_templates and (launching or not fixed):
            return unit
        for wanted in open_templates:
            wanted.current = next(wanted.tries, None)
            if wanted.current is None:
                message = f"{wanted.template.spelling}: a template whose arguments cannot be guessed"
                self.notes.append(Note("instantiation", message, location(wanted.template)))
        return self._try_arguments(arch, fixed, [w for w in open_templates if w.current is not None])

    def _requested(self, found: Discovery) -> list[tuple[Any, instantiate.Request]]:
        out = []
        for request in instantiate.user_requests(self.text, self.options.instantiate):
            named = (*found.templates, *found.launchers)
            template = next((t for t in named if instantiate.matches(request, t)), None)
            if template is not None:
                out.append((template, request))
            elif request.name in {option.partition("<")[0].strip() for option in self.options.instantiate}:
                self.notes.append(Note("instantiation", f"no kernel template is called {request.name}"))
        return out

    def _try_arguments(
        self, arch: Arch, fixed: list[tuple[Any, instantiate.Request]], wanted: list[_Wanted]
    ) -> ParsedUnit:
        """Reparse until clang accepts the arguments of each wanted template, or nothing is left to try."""
        unit = self._inject(arch, fixed, wanted)
        for _ in range(_GUESS_ROUNDS):
            again = False
            for index, item in enumerate(wanted, len(fixed)):
                errors = _errors_at(unit, index)
                if item.current and (item.best is None or errors < item.best[0]):
                    item.best = (errors, item.current)
                if item.best and item.best[0]:
                    following = next(item.tries, None)
                    item.current = following or item.best[1]
                    again = again or following is not None
            if not again:
                break
            unit = self._inject(arch, fixed, wanted)
        if any(item.best and item.current != item.best[1] for item in wanted):
            for item in wanted:
                item.current = item.best[1] if item.best else item.current
            unit = self._inject(arch, fixed, wanted)
        for item in wanted:
            if item.current is not None:
                name = f"{item.current.name}<{item.current.arguments}>"
                how = "default template arguments" if item.current.origin == "default" else "guessed template arguments"
                self.notes.append(Note("instantiation", f"{name}: {how}", location(item.template)))
        return unit

    def _inject(self, arch: Arch, fixed: list[tuple[Any, instantiate.Request]], wanted: list[_Wanted]) -> ParsedUnit:
        chosen = fixed + [(w.template, w.current) for w in wanted if w.current is not None]
        lines = tuple(instantiate.injection(i, template, r.arguments) for i, (template, r) in enumerate(chosen))
        origins = {f"{INJECTED}{i}": request.origin for i, (_, request) in enumerate(chosen)}
        return self._unit(arch, lines, origins)


def _errors_at(unit: ParsedUnit, index: int) -> int:
    """Errors that clang reports for an injected line, in it or in what it instantiates."""
    line = unit.text.count("\n") + 2 + index
    return sum(any(loc.file == unit.path and loc.line == line for loc in (e.loc, *e.notes)) for e in unit.errors)




def _diagnostics(tu: Any) -> list[Diagnostic]:
    return [
        Diagnostic(item.severity, item.spelling, _loc(item), tuple(_loc(note) for note in item.children))
        for item in tu.diagnostics
        if item.severity >= 2
    ]


def _loc(item: Any) -> Loc:
    place = item.location
    return Loc(place.file.name, place.line, place.column) if place.file else UNKNOWN
