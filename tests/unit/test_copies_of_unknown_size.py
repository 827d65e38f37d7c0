"""What copies write whose tensor maps are not known: several of them share the bytes of a phase."""

from __future__ import annotations

from auditor.machine.boxes import Boxes
from auditor.trace import Trace
from tests.unit.machine_kernels import COPY, EXPECT, GLOBAL, WAIT, Body, initialise

MAPPED = "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2}], [$3];"
PITCH, TILE_BYTES, ROW_BYTES = 1536, 1024, 256


def stages(extra: int | None = None, first: str = str(GLOBAL), clusters: int = 1, boxes: Boxes | None = None) -> Trace:
    """A tile of 1,024 bytes and a row of 256 behind it, twice, at a distance of 1,536. ``extra``: where in the first
    tile a bulk copy of 16 bytes has landed before; ``first``: the tensor map of the tile."""
    b = Body()
    initialise(b, [1, 1, 1])
    b.line("if S.cond(tid == 0):")
    if extra is not None:
        b.ptx(EXPECT, "bars + 16", "16", indent=2)
        b.ptx(COPY, f"tile + {extra}", str(GLOBAL + 8192), "16", "bars + 16", indent=2)
        b.ptx(WAIT, "bars + 16", "0", indent=2)
    for stage in range(2):
        start = f"tile + {stage * PITCH}"
        b.ptx(EXPECT, f"bars + {8 * stage}", str(TILE_BYTES + ROW_BYTES), indent=2)
        b.ptx(MAPPED, start, first, "0", f"bars + {8 * stage}", indent=2)
        b.ptx(MAPPED, f"{start} + {TILE_BYTES}", str(GLOBAL + 4096), "0", f"bars + {8 * stage}", indent=2)
    b.ptx(WAIT, "bars", "0")
    b.ptx(WAIT, "bars + 8", "0")
    return b.run(clusters=clusters, boxes=boxes)


def sizes(trace: Trace) -> list[int]:
    copies = [e for e in trace.events if e.kind == "async" and e.data["bytes"] is None]
    return [e.accesses[0].hi - e.accesses[0].lo for e in copies]


def test_a_copy_writes_what_the_others_of_its_phase_have_no_room_for() -> None:
    tile, row, *_ = sizes(stages())
    assert tile == TILE_BYTES - (PITCH - TILE_BYTES - ROW_BYTES) and row == ROW_BYTES


def test_memory_that_another_copy_used_before_is_room() -> None:
    assert sizes(stages(extra=512))[:2] == sizes(stages())[:2]


def test_a_tensor_map_for_each_cta_makes_no_difference_to_what_they_do() -> None:
    boxes = Boxes()
    for clusters in (4, 2):  # the last one's map is another one each time
        trace = stages(first=f"{GLOBAL} + 128 * S.bid[0]", clusters=clusters, boxes=boxes)
        assert sizes(trace) == sizes(stages()) and not trace.block_dependent
