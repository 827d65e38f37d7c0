"""BW404: a rank, address or multicast mask that names a CTA outside the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, plural
from auditor.trace import Incident
from auditor.values import CTA_SHIFT, SHARED_WINDOW


class ClusterRank(Rule):
    code = "BW404"
    name = "cluster-rank"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-24", "TL-06")

    def check(self, audit: Audit) -> Iterator[Finding]:
        incidents = list(audit.incidents("cluster_rank"))
        launch = audit.launch
        if not incidents or (launch.where is None and audit.kernel.cluster_dims is None and launch.cluster_size == 1):
            return  # nothing tells how large the cluster is
        mapped = any("rank" in i.data for i in incidents)
        for incident in incidents:
            if "address" in incident.data and mapped:
                continue  # follows from the mapa
            text = self._text(incident, launch.cluster_size)
            if text:
                yield audit.finding(
                    type(self), incident.where, text,
                    hint="derive ranks and masks from the cluster's size (%cluster_nctarank), and take ranks modulo it",
                    context=incident_context(audit, incident),
                )

    def _text(self, incident: Incident, size: int) -> str:
        """What is wrong, empty when the CTA exists after all and only was not executed here."""
        has = f"the cluster has {plural(size, 'CTA')}"
        data = incident.data
        if "rank" in data:
            return f"mapa to rank {data['rank']}, but {has}" if not 0 <= data["rank"] < size else ""
        if "mask" in data:
            mask = data["mask"]
            if not mask:
                return "multicast mask 0 names no CTA"
            surplus = [n for n in range(16) if mask >> n & 1 and n >= size]
            if not surplus:
                return ""
            ranks = ", ".join(str(n) for n in surplus)
            return f"multicast mask {mask:#06x} names rank{'s' if len(surplus) > 1 else ''} {ranks}, but {has}"
        address = data["address"]
        address -= SHARED_WINDOW if address >= SHARED_WINDOW else 0
        rank = address >> CTA_SHIFT
        return f"shared::cluster address {address:#x} names rank {rank}, but {has}" if size <= rank < 256 else ""
