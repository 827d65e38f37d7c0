"""Operators that forget one operation."""

from __future__ import annotations

from collections.abc import Iterator

from tests.mutation.mutants import Change, Changes, blank, is_statement, operator
from tests.mutation.needed import orders_lanes, used_elsewhere
from tests.mutation.sites import Good

_DROPPED = {
    "drop-wait": ("a wait on an mbarrier is forgotten", ("wait",)),
    "drop-arrive": ("an arrival is forgotten", ("arrive",)),
    "drop-expect": ("arrive.expect_tx is forgotten", ("expect",)),
    "drop-commit": ("tcgen05.commit is forgotten", ("commit",)),
    "drop-copy": ("one of the copies of a stage is forgotten", ("copy",)),
    "drop-init": ("a barrier is not initialised", ("init",)),
    "drop-cta-barrier": ("__syncthreads is forgotten", ("cta-barrier",)),
    "drop-named-barrier": ("a named barrier is forgotten", ("named-barrier",)),
    "drop-proxy-fence": ("fence.proxy.async is forgotten", ("proxy-fence",)),
    "drop-wait-ld": ("tcgen05.wait::ld is forgotten", ("wait-ld",)),
    "drop-wait-st": ("tcgen05.wait::st is forgotten", ("wait-st",)),
    "drop-alloc": ("tensor memory is used without an allocation", ("alloc",)),
    "drop-dealloc": ("tensor memory is not freed", ("dealloc",)),
    "drop-bulk-commit": ("the bulk group is not committed", ("bulk-commit",)),
    "drop-bulk-wait": ("the wait for bulk stores is forgotten", ("bulk-wait",)),
    "drop-wgmma-commit": ("wgmma.commit_group is forgotten", ("wgmma-commit",)),
    "drop-wgmma-wait": ("wgmma.wait_group is forgotten", ("wgmma-wait",)),
    "drop-wgmma-fence": ("wgmma.fence is forgotten", ("wgmma-fence",)),
    "drop-cpasync-commit": ("cp.async.commit_group is forgotten", ("cpasync-commit",)),
    "drop-cpasync-wait": ("cp.async.wait_group is forgotten", ("cpasync-wait",)),
    "drop-cluster-barrier": ("a cluster barrier is forgotten", ("cluster-barrier",)),
    "drop-cluster-wait": ("barrier.cluster.arrive without its wait", ("cluster-wait", "half-cluster-wait")),
    "drop-cluster-arrive": ("barrier.cluster.wait without its arrive", ("cluster-arrive", "half-cluster-arrive")),
    "drop-setmaxnreg": ("only one side changes its registers", ("setmaxnreg",)),
}


def _dropping(kinds: tuple[str, ...]) -> Changes:
    def changes(good: Good) -> Iterator[Change]:
        for site in good.of(*kinds):
            if site.kind != "init" or used_elsewhere(good, site):
                yield Change(blank(good, site), site)

    return changes


for _name, (_mistake, _kinds) in _DROPPED.items():
    operator(_name, _mistake)(_dropping(_kinds))


@operator("drop-syncwarp", "__syncwarp is forgotten")
def drop_syncwarp(good: Good) -> Iterator[Change]:
    for site in good.of("syncwarp"):
        if is_statement(good, site) and orders_lanes(good, site):  # not a shuffle, which yields a value
            yield Change(blank(good, site), site)
