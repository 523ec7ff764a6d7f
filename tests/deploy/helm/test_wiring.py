"""The objects find each other: what selects, selects what it should, and who must talk may."""

from collections.abc import Iterator

import pytest

from tests.deploy.helm.charts import MINIMAL, Object, Pod, Rendered, render, rendered, selected


def components(pods: list[Pod]) -> set[str]:
    """What pods they are."""
    return {pod.labels["app.kubernetes.io/component"] for pod in pods}


def test_each_workload_selects_its_own_pods(chart: Rendered) -> None:
    for kind in ("Deployment", "StatefulSet"):
        for found in chart.of(kind):
            name = f"{kind}/{found['metadata']['name']}"
            assert [pod.owner for pod in selected(found["spec"]["selector"], chart.pods)] == [name]


def test_pods_of_two_releases_are_not_taken_for_each_other() -> None:
    other = render(MINIMAL, name="other")

    for found in rendered("standalone").of("Service"):
        assert not selected({"matchLabels": found["spec"]["selector"]}, other.pods)


def test_each_service_leads_to_ports_that_its_pods_name(chart: Rendered) -> None:
    for found in chart.of("Service"):
        (pod,) = selected({"matchLabels": found["spec"]["selector"]}, chart.pods)
        for port in found["spec"]["ports"]:
            assert port["targetPort"] in pod.ports, found["metadata"]["name"]
            if found["spec"].get("clusterIP") == "None":
                assert port["port"] == pod.ports[port["targetPort"]], "a headless one translates no ports"


def test_players_find_no_metrics(chart: Rendered) -> None:
    for found in chart.of("Service"):
        if found["spec"].get("clusterIP") != "None":
            assert "metrics" not in {port["name"] for port in found["spec"]["ports"]}


def addresses(chart: Rendered) -> set[str]:
    """Every host:port at which the chart's Services can be reached."""
    return {
        f"{found['metadata']['name']}:{port['port']}"
        for found in chart.of("Service")
        for port in found["spec"]["ports"]
    }


def test_what_is_called_by_name_is_there(chart: Rendered) -> None:
    called = [arg.partition("=")[2] for arg in chart.pod("test").containers[0]["args"] if arg.startswith("--target=")]
    called += [
        arg.removeprefix("--rest=http://")
        for arg in chart.pod("test").containers[0]["args"]
        if arg.startswith("--rest=")
    ]
    for variable in chart.pod("service").containers[0]["env"]:
        if "redis://" in variable.get("value", ""):
            called.append(variable["value"].removesuffix("/0").rpartition("@")[2].removeprefix("redis://"))
    if "gateway" in components(chart.pods):
        init, _ = chart.pod("gateway").containers
        called += [arg.partition("=")[2] for arg in init["args"] if arg.startswith("--service=")]

    assert called
    assert set(called) <= addresses(chart)


def test_the_gateway_asks_for_all_pods_by_one_name() -> None:
    chart = rendered("production")
    init, _ = chart.pod("gateway").containers
    (service,) = (arg.partition("=")[2] for arg in init["args"] if arg.startswith("--service="))

    assert chart.named("Service", service.partition(":")[0])["spec"]["clusterIP"] == "None"


def test_the_ingress_leads_to_the_gateway() -> None:
    chart = rendered("production")
    (ingress,) = chart.of("Ingress")
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    backend = path["backend"]["service"]
    service = chart.named("Service", backend["name"])

    assert backend["port"]["name"] in {port["name"] for port in service["spec"]["ports"]}
    assert components(selected({"matchLabels": service["spec"]["selector"]}, chart.pods)) == {"gateway"}
    assert {host for tls in ingress["spec"]["tls"] for host in tls["hosts"]} == {rule["host"]}


def test_it_grows_by_the_deployment_whose_number_it_then_leaves_alone() -> None:
    grows, fixed = rendered("production"), rendered("try-it-out")
    (scaler,) = grows.of("HorizontalPodAutoscaler")
    target = scaler["spec"]["scaleTargetRef"]
    deployment = grows.named(target["kind"], target["name"])

    assert target["apiVersion"] == deployment["apiVersion"]
    assert "replicas" not in deployment["spec"], "an upgrade would take back what was grown"
    assert (scaler["spec"]["minReplicas"], scaler["spec"]["maxReplicas"]) == (3, 30)
    (metric,) = scaler["spec"]["metrics"]
    assert (metric["resource"]["name"], metric["resource"]["target"]["type"]) == ("cpu", "Utilization")
    assert "cpu" in deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"], "what it is of"
    assert not fixed.of("HorizontalPodAutoscaler")
    assert fixed.named("Deployment", "soda-sodafountain")["spec"]["replicas"] == 1


def test_no_node_is_emptied_of_more_than_one_at_a_time_and_none_is_held_up(chart: Rendered) -> None:
    budgets = chart.of("PodDisruptionBudget")

    covered = [pod.owner for budget in budgets for pod in selected(budget["spec"]["selector"], chart.pods)]

    assert sorted(covered) == sorted(pod.owner for pod in chart.pods if not pod.owner.startswith("Pod/"))
    for budget in budgets:
        assert budget["spec"]["maxUnavailable"] == 1
        assert "minAvailable" not in budget["spec"], "of one pod it would let none go, ever"


def test_pods_are_spread_over_nodes_and_zones(chart: Rendered) -> None:
    for found in chart.of("Deployment"):
        spec = found["spec"]["template"]["spec"]
        spread = spec["topologySpreadConstraints"]
        assert {rule["topologyKey"] for rule in spread} == {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
        for rule in spread:
            (pod,) = selected(rule["labelSelector"], chart.pods)
            assert pod.spec is spec
            assert rule["matchLabelKeys"] == ["pod-template-hash"]


# --- Who may talk to whom ---------------------------------------------------------------------------------------------


def policies(chart: Rendered, pod: Pod) -> list[Object]:
    """The network policies of a pod."""
    return [
        found["spec"] for found in chart.of("NetworkPolicy") if pod in selected(found["spec"]["podSelector"], [pod])
    ]


def rules(chart: Rendered, pod: Pod, way: str) -> Iterator[Object]:
    """What lets something in (`ingress`), or out (`egress`)."""
    for policy in policies(chart, pod):
        yield from policy.get(way, ())


def lets(rule: Object, side: str, other: Pod, port: str, number: int) -> bool:
    """Whether a rule is about another pod of the namespace and a port."""
    peers, ports = rule.get(side), rule.get("ports")
    about = peers is None or any(
        peer.keys() == {"podSelector"} and selected(peer["podSelector"], [other]) for peer in peers
    )
    return about and (ports is None or any(wanted["port"] in {port, number} for wanted in ports))


def may(chart: Rendered, source: str, target: str, port: str) -> bool:
    """Whether a pod may talk to a port of another: it must be let out there, and in here."""
    one, two = chart.pod(source), chart.pod(target)
    number = two.ports[port]
    out = any(lets(rule, "to", two, port, number) for rule in rules(chart, one, "egress"))
    return out and any(lets(rule, "from", one, port, number) for rule in rules(chart, two, "ingress"))


def test_every_pod_is_under_one_policy_for_both_ways(chart: Rendered) -> None:
    for pod in chart.pods:
        (policy,) = policies(chart, pod)
        assert policy["policyTypes"] == ["Ingress", "Egress"], pod.owner


def test_policies_name_ports_that_there_are(chart: Rendered) -> None:
    known = {name for pod in chart.pods for name in pod.ports}
    for found in chart.of("NetworkPolicy"):
        for rule in [*found["spec"].get("ingress", ()), *found["spec"].get("egress", ())]:
            named = {port["port"] for port in rule["ports"]}
            assert {port for port in named if isinstance(port, str)} <= known


@pytest.fixture(scope="module")
def everything() -> Rendered:
    """The chart with everything that can talk."""
    return render({**MINIMAL, "store": {}, "valkey": {"enabled": True}, "networkPolicy": {"clients": []}})


def test_who_must_talk_may_and_nobody_else(everything: Rendered) -> None:
    wanted = {
        ("gateway", "service", "grpc"),
        ("service", "valkey", "valkey"),
        ("test", "service", "grpc"),
        ("test", "gateway", "http"),
    }
    ports = {(pod.labels["app.kubernetes.io/component"], port) for pod in everything.pods for port in pod.ports}
    assert ports == {("service", "grpc"), ("service", "metrics"), ("gateway", "http"), ("valkey", "valkey")}

    allowed = {
        (source, target, port)
        for source in components(everything.pods)
        for target, port in ports
        if source != target and may(everything, source, target, port)
    }

    assert allowed == wanted


def test_names_can_be_looked_up_by_all_who_use_some(everything: Rendered) -> None:
    for component in ("service", "gateway", "test"):
        out = [port for rule in rules(everything, everything.pod(component), "egress") for port in rule["ports"]]
        assert {"port": 53, "protocol": "UDP"} in out
        assert {"port": 53, "protocol": "TCP"} in out


def test_the_store_may_be_reached_where_the_values_say() -> None:
    ways = list(rules(rendered("standalone"), rendered("standalone").pod("service"), "egress"))

    assert {
        "ports": [{"port": 6379}],
        "to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "stores"}}}],
    } in ways


@pytest.mark.parametrize(
    ("endpoint", "port"),
    [
        ("http://collector:4317", 4317),
        ("http://collector:04317/", 4317),  # no octal number
        ("https://collector.monitoring:14317/", 14317),
        ("http://[fd00::1]:4317", 4317),
        ("https://collector.example", 443),  # as gRPC has it
    ],
)
def test_the_collector_of_traces_may_be_reached(endpoint: str, port: int) -> None:
    chart = render({**MINIMAL, "settings": {"traces-endpoint": endpoint}})

    assert {"ports": [{"port": port}]} in list(rules(chart, chart.pod("service"), "egress"))


def test_metrics_are_for_those_who_are_named() -> None:
    ways = list(rules(rendered("standalone"), rendered("standalone").pod("service"), "ingress"))

    (readers,) = (rule["from"] for rule in ways if {"port": "metrics"} in rule["ports"])
    assert readers == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    shut = render({**MINIMAL, "networkPolicy": {"metricsClients": []}})
    assert not any({"port": "metrics"} in rule["ports"] for rule in rules(shut, shut.pod("service"), "ingress"))


def test_policies_can_be_left_out() -> None:
    assert not render({**MINIMAL, "networkPolicy": {"enabled": False}}).of("NetworkPolicy")
