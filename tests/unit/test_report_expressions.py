"""Names of barriers and buffers in source text."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.cli_report import report_file
from auditor.config import AuditOptions
from auditor.reports import expressions as ex
from auditor.source import Loc


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("&sh.full[s]", "sh.full"),
        ("sm->free[stage]", "sm.free"),
        ("sm + OFF_FULL", "OFF_FULL"),
        ("sm + layout::OPERANDS_FULL + 8 * i", "OPERANDS_FULL"),
        ("bars[K_FULL + b]", "K_FULL"),
        ("bars[threadIdx.x]", "bars"),
        ("FULL(stage)", "FULL"),
        ("k + b * KV_BYTES", "k"),
        ("sh.stage[stage].a", "sh.stage.a"),
        ("static_cast<uint32_t>(__cvta_generic_to_shared(&bar))", "bar"),
        ("(uint32_t)__cvta_generic_to_shared(&empty[i])", "empty"),
        ("peer_address(sm->inbox, 0)", "sm.inbox"),
        ("storage_.full[state.index()]", "storage_.full"),
    ],
)
def test_base_name(expression: str, name: str) -> None:
    assert ex.base_name(expression) == name


@pytest.mark.parametrize(
    ("text", "position", "operand"),
    [
        ('asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(sm + OFF), "r"(1) : "memory")', 0, "sm + OFF"),
        (
            'asm("{ mbarrier.try_wait.b64 p, [%1], %2; }" : "=r"(ok) : "r"(to_shared(&bar)), "r"(p))',
            0,
            "to_shared(&bar)",
        ),
        ('asm("cp.async.bulk.tensor.2d [%0], [%1, {%2, 0}], [%3];" :: "r"(dst), "l"(map), "r"(x), "r"(b))', 1, "map"),
        ('asm("mbarrier.arrive.b64 _, [%[where]];" :: [where] "r"(smem(full)))', 0, "smem(full)"),
        ('asm("mapa.u32 r, %0, %1; mbarrier.arrive.b64 _, [r];" :: "r"(a), "r"(b))', 0, ""),
        ('asm("tcgen05.fence::after_thread_sync;")', 0, ""),
    ],
)
def test_asm_operand(text: str, position: int, operand: str) -> None:
    instruction = "mbarrier" if "mbarrier" in text else "cp."
    found = ex.asm_operand(text, "mbarrier.try" if "try_wait" in text else instruction, position)
    assert found == operand


def test_call_parts() -> None:
    assert ex.call_parts("sh.loaded[s].open(1)") == ex.Call("sh.loaded[s]", "open", ("1",))
    assert ex.call_parts("ptx::mbarrier_init(&sm.full[i], 1)") == ex.Call(
        "", "ptx::mbarrier_init", ("&sm.full[i]", "1")
    )
    assert ex.call_parts("load<128, 4>(a(1, 2), b)") == ex.Call("", "load", ("a(1, 2)", "b"))
    assert ex.call_parts("x + 1") is None


def test_parameters_of_functions_and_macros() -> None:
    source = (
        '#define INIT(bar, count) \\\n  asm volatile("mbarrier.init.b64 [%0], %1;" :: "r"(bar), "r"(count))\n'
        "template <int N> __device__ void load(Smem<N, 2>& sm, const Map& map, uint32_t (&v)[32], int k = 0) {\n"
    )
    assert ex.parameters(source, "load") == ("sm", "map", "v", "k")
    assert ex.parameters(source, "INIT") == ("bar", "count")
    assert ex.parameters(source, "other") == ()
    body = ex.macro_body(source, "INIT")
    assert ex.asm_operand(body, "mbarrier.init") == "bar"


def test_text_of_a_place_counts_bytes() -> None:
    sources = {"a.cu": "// é\n  init(é,\n       1);\n"}
    assert ex.text_at(sources, Loc("a.cu", 2, 3, 3, 10)) == "init(é, 1)"
    assert ex.text_at(sources, Loc("b.cu", 1)) == ""


def test_an_element_of_a_declared_array_is_called_by_it() -> None:
    assert ex.element_of("full + i", "full") == "full" and ex.element_of("&sm->full + s", "storage.full") == "sm.full"
    assert ex.element_of("base + full", "bars") is None and ex.element_of("full[i]", "full") is None
    assert ex.element_of("bars + K_FULL + b", "bars") is None


def test_conversions_are_known_by_what_they_do() -> None:
    source = """
    __device__ uint32_t sa(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
    __device__ uint32_t twice(uint32_t x) { return 2 * x; }
    """
    assert ex.converts(source, "sa") and not ex.converts(source, "twice") and not ex.converts(source, "other")
    assert ex.unwrapped(source, "sa(&sh.full[i])") == "sh.full[i]"
    assert ex.unwrapped(source, "(uint32_t)sa(b) + 8") == "sa(b) + 8"
    assert ex.unwrapped(source, "twice(b)") == "twice(b)"
    assert ex.unwrapped("uint32_t at() const { return __cvta_generic_to_shared(&word); }", "at()") == "at()"


def test_barriers_and_buffers_behind_short_wrappers_have_their_own_names() -> None:
    path = Path(__file__).parents[2] / "fixtures/odd/good_operand_from_tmem.cu"
    report = report_file(str(path), AuditOptions()).kernels[0]
    assert [b.name for b in report.barriers] == ["in", "w_in", "s_done", "p_ready", "o_done"]
    assert [r.name for r in report.rings] == ["x", "w1 + w2", "scores S"]
