"""A report as a document, in the order that every format keeps."""

from __future__ import annotations

from auditor.reports.blocks import Block, Bullets, Paragraph, Section, Table, TimelineFigure
from auditor.reports.document_tables import barriers, lines, maps, memory, operands, rings, tmem
from auditor.reports.model import KernelReport


def sections(k: KernelReport) -> list[Section]:
    """The document of one kernel."""
    out = [_conclusion(k), _evidence(k), Section("Tables", 2, ()), Section("Roles", 3, (_roles(k),)), barriers(k)]
    if k.rings:
        out.append(Section("Stage rings", 3, (*rings(k.rings), operands(k.rings))))
    out.append(Section("Resources", 3, (memory(k),)))
    if k.maps:
        out.append(maps(k))
    if k.tmem is not None:
        out.append(tmem(k.tmem))
    if k.timeline.rows:
        note = "Model time: nominal costs, nothing measured. It shows what overlaps and what waits for what."
        out.append(Section("Timeline", 3, (Paragraph(note), TimelineFigure(k.timeline))))
    return [
        *out,
        _validation(k),
        Section(
            "Risks and fallback",
            2,
            (_list(k.risks, "No particular risk was found."), Paragraph("If a test fails:"), Bullets(k.fallback)),
        ),
    ]


def _list(items: tuple[str, ...], nothing: str) -> Block:
    return Bullets(items) if items else Paragraph(nothing)


def _conclusion(k: KernelReport) -> Section:
    tone = {"clean": "good", "findings": "bad"}.get(k.verdict, "")
    blocks: list[Block] = [Paragraph(k.conclusion[0], tone), *(Paragraph(text) for text in k.conclusion[1:])]
    if k.problems:
        rows = tuple((p.code, p.level, str(p.line), p.message) for p in k.problems)
        blocks.append(Table("Findings", ("Code", "Level", "Line", "Message"), rows, frozenset((2,))))
    return Section("Conclusion", 2, tuple(blocks))


def _evidence(k: KernelReport) -> Section:
    facts = tuple((f.name, f.value, f.origin) for f in k.facts)
    table = Table("What the report rests on", ("Item", "Value", "From"), facts)
    return Section("Evidence and assumptions", 2, (table, Paragraph("Assumed:"), Bullets(k.assumptions)))


def _roles(k: KernelReport) -> Table:
    rows = tuple((r.duty, r.threads, lines(r.lines)) for r in k.roles)
    return Table("Who does what", ("Duty", "Threads", "Lines"), rows)


def _validation(k: KernelReport) -> Section:
    rows = tuple((t.name, t.inputs, t.why) for t in k.trials)
    return Section(
        "Validation plan",
        2,
        (
            Table("Minimal tests on hardware", ("Test", "Inputs", "Why"), rows),
            Paragraph("What could prove the conclusion wrong: " + k.falsifier),
        ),
    )
