"""Alerts and dashboard use only existing metrics, labels and label values."""

import pytest

from service.store import GameStore, QuotaStore, ReservationStore, instrumentation
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.errors_pb2 import ErrorReason
from tests.deploy.prometheus.conftest import Busy
from tests.support.prometheus import expressions, parse_query

FROM_PROMETHEUS = {"up": {"job", "instance"}, "ALERTS": {"alertname", "alertstate", "severity"}}
WITH_EVERY_SERIES = {"job", "instance"}

METHODS = {method.name for method in pb.DESCRIPTOR.services_by_name["GameService"].methods}
REASONS = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()} - {"UNSPECIFIED"}  # noqa: SIM118
ENDS = {name.removeprefix("WATCH_END_REASON_") for name in pb.WatchEndReason.keys()} - {"UNSPECIFIED"}  # noqa: SIM118
OPERATIONS = {
    name
    for part in (GameStore, QuotaStore, ReservationStore)
    for name, member in vars(part).items()
    if getattr(member, "__wrapped__", None)
}
VALUES = {
    "sodafountain_rpc_seconds": {"method": METHODS, "outcome": REASONS | {"OK", "CANCELLED"}},
    "sodafountain_streams_total": {"outcome": ENDS | {"INTERNAL", "CANCELLED"}},
    "sodafountain_store_seconds": {
        "operation": OPERATIONS,
        "outcome": {*instrumentation.OUTCOMES.values(), "ok", "failed"},
    },
    "sodafountain_cache_total": {"outcome": {"hit", "miss"}},
}
"""The possible values of labels."""


@pytest.mark.parametrize(("place", "expression"), expressions().items(), ids=expressions())
def test_an_expression_uses_existing_metrics_and_labels(place: str, expression: str, busy: Busy) -> None:
    offered = busy.series | FROM_PROMETHEUS
    used = parse_query(expression)

    assert used.metrics, f"{place} uses no metric"
    assert used.metrics <= set(offered)
    labels = {label for metric in used.metrics for label in offered[metric]} | WITH_EVERY_SERIES
    assert used.groups <= labels
    for metric, compared in used.values.items():
        assert set(compared) <= offered[metric] | WITH_EVERY_SERIES


@pytest.mark.parametrize(("place", "expression"), expressions().items(), ids=expressions())
def test_an_expression_uses_existing_label_values(place: str, expression: str) -> None:
    for metric, compared in parse_query(expression).values.items():
        known = VALUES.get(metric.removesuffix("_count").removesuffix("_bucket").removesuffix("_sum"), {})
        for label, values in compared.items():
            if label not in WITH_EVERY_SERIES and metric not in FROM_PROMETHEUS:
                assert values <= known[label], place
