"""What alerts and dashboard ask for is what a service offers: names, labels and their values."""

import pytest

from service.store import measuring, store
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
    name for name, member in vars(store.Store).items() if getattr(member, "__wrapped__", None) and name[0] != "_"
}
VALUES = {
    "sodafountain_rpc_seconds": {"method": METHODS, "outcome": REASONS | {"OK", "CANCELLED"}},
    "sodafountain_streams_total": {"outcome": ENDS | {"INTERNAL", "CANCELLED"}},
    "sodafountain_store_seconds": {"operation": OPERATIONS, "outcome": {*measuring._OUTCOMES.values(), "ok", "failed"}},
    "sodafountain_cache_total": {"outcome": {"hit", "miss"}},
}
"""What labels may be: what the service calls things."""


@pytest.mark.parametrize(("place", "expression"), expressions().items(), ids=expressions())
def test_an_expression_asks_for_series_and_labels_that_a_service_offers(
    place: str, expression: str, busy: Busy
) -> None:
    offered = busy.series | FROM_PROMETHEUS
    wanted = parse_query(expression)

    assert wanted.metrics, f"{place} asks for nothing"
    assert wanted.metrics <= set(offered)
    labels = {label for metric in wanted.metrics for label in offered[metric]} | WITH_EVERY_SERIES
    assert wanted.groups <= labels
    for metric, compared in wanted.values.items():
        assert set(compared) <= offered[metric] | WITH_EVERY_SERIES


@pytest.mark.parametrize(("place", "expression"), expressions().items(), ids=expressions())
def test_an_expression_compares_labels_with_what_the_service_calls_things(place: str, expression: str) -> None:
    for metric, compared in parse_query(expression).values.items():
        known = VALUES.get(metric.removesuffix("_count").removesuffix("_bucket").removesuffix("_sum"), {})
        for label, values in compared.items():
            if label not in WITH_EVERY_SERIES and metric not in FROM_PROMETHEUS:
                assert values <= known[label], place
