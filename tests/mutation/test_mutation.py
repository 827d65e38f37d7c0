"""The tools of the mutation score: locating operations, applying operators, judging."""

from __future__ import annotations

from functools import cache

import pytest

from tests.mutation.__main__ import good_kernels
from tests.mutation.equivalents import load, practices
from tests.mutation.mutants import Mutant, mutants
from tests.mutation.operators import OPERATORS
from tests.mutation.score import judge
from tests.mutation.sites import Good, explore
from tests.mutation.tokens import lex
from tests.mutation.tree import Source


@cache
def good(name: str) -> Good:
    path = next(p for p in good_kernels() if p.stem == name)
    return explore(str(path), path.read_text())


def of(name: str, operator: str) -> list[Mutant]:
    return list(mutants(good(name), [operator]))


def test_there_are_enough_operators() -> None:
    assert len(OPERATORS) >= 30
    assert all(operator.mistake and operator.mistake[-1] != "." for operator in OPERATORS.values())


def test_comments_strings_and_directives_are_no_code() -> None:
    tokens = lex('#define F(x) g(x)\na("; }"); // b(\n/* c( */ d();').tokens
    assert [t.text for t in tokens] == ["a", "(", '"; }"', ")", ";", "d", "(", ")", ";"]


def test_macros_have_parameters_and_a_body() -> None:
    source = Source("x.cu", "#define WAIT(bar, p) \\\n    poll(bar, p)\n")
    macro = source.macros["WAIT"]
    assert macro.parameters == ("bar", "p")
    assert source.cut(macro.body).split() == ["\\", "poll(bar,", "p)"]


def test_statements_of_a_function() -> None:
    body = "if (a) g(b); else { h(); } for (;;) k([&](int c) { m(c); });"
    source = Source("x.cu", "__device__ void f(int a, int b) { " + body + " }")
    function = source.functions[0]
    assert (function.name, function.parameters) == ("f", ("a", "b"))
    assert [n.kind for n in function.children] == ["if", "for"]
    inner = source.node_at(source.text.index("m(c)"))
    assert inner is not None and inner.function.parameters == ("c",)


@pytest.mark.parametrize("name", ["ring_elect", "class_pipeline", "pair_two_cta", "warp_specialised"])
def test_operations_are_found_whatever_they_are_called(name: str) -> None:
    kinds = {site.kind for site in good(name).sites}
    assert {"init", "wait", "expect", "copy", "mma", "commit", "alloc", "dealloc", "tmem-load"} <= kinds


def test_operands_follow_wrappers_and_macros() -> None:
    kernel = good("pair_two_cta")
    expect = next(kernel.of("expect"))
    assert kernel.text(expect.roles["bytes"].span) == "2 * STAGE_BYTES"
    kernel = good("ring_elect")
    assert {kernel.text(s.roles["count"].span) for s in kernel.of("init")} == {"1"}
    assert "parity" in {kernel.text(s.roles["parity"].span) for s in kernel.of("wait")}


def test_a_mutant_differs_in_the_lines_that_it_names_only() -> None:
    kernel = good("ring_elect")
    before = kernel.source.text.split("\n")
    made = list(mutants(kernel, OPERATORS))
    assert len(made) > 50
    for mutant in made:
        after = mutant.text.split("\n")
        assert len(after) == len(before)
        changed = {n for n, (a, b) in enumerate(zip(before, after), 1) if a != b}
        assert changed and changed <= set(range(min(mutant.lines), max(mutant.lines) + 1))


def test_a_dropped_wait_is_killed_where_it_was() -> None:
    for mutant in of("ring_elect", "drop-wait"):
        outcome = judge(mutant, frozenset())
        assert outcome.killed and outcome.names, outcome.shown


def test_every_exclusion_names_a_mutant_and_a_reason() -> None:
    entries = load()
    assert len({e.key for e in entries}) == len(entries)
    assert all(e.operator in OPERATORS and len(e.why) > 20 for e in entries)
    checked = [e for e in entries if e.kernel in ("class_pipeline", "pair_two_cta", "ring_elect_b")]
    assert checked
    for entry in checked:
        assert entry.site in {m.site for m in of(entry.kernel, entry.operator)}, entry


def test_what_has_no_effect_is_not_proposed() -> None:
    # Nothing that one lane did is used by another one behind these two, and the only loop holds both sides.
    assert of("ring_elect", "drop-syncwarp") == []
    assert of("single_tile", "loop-shorter") == []
    # Dynamic memory alone starts at a multiple of 1024 bytes; beside a static variable it need not.
    assert of("ring_elect", "base-less-aligned") == []
    assert of("hopper_bulk_cluster", "wait-by-one-lane") != []
    assert of("hopper_bulk_cluster", "drop-syncwarp") != []


def test_a_mutant_that_only_accepted_practice_excuses_is_told_by_its_note() -> None:
    (mutant,) = of("ring_elect", "drop-wait-ld")
    outcome = judge(mutant, frozenset())
    assert not outcome.killed
    assert outcome.noted == ("BW308",)
    assert "BW308" in {p.rule for p in practices()}


def test_an_expectation_on_the_next_stage_is_an_arrival_too_many() -> None:
    made = [m for m in of("pair_two_cta", "stage-off-by-one") if "MBAR_EXPECT" in m.shown]
    assert [judge(m, frozenset()).codes for m in made] == [("BW105",)]


def test_a_sample_is_a_part_of_the_mutants_and_always_the_same() -> None:
    made = list(mutants(good("ring_elect"), OPERATORS))
    drawn = [m.site for m in made if m.drawn(4)]
    assert len(made) / 8 < len(drawn) < len(made) / 2
    assert drawn == [m.site for m in made if m.drawn(4)]
    assert all(m.drawn(1) for m in made)
