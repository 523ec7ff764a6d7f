"""Selectors select the right pods, addresses exist, and network policies allow the necessary connections only."""

from collections.abc import Iterator

import pytest

from tests.deploy.helm.charts import MINIMAL, Object, Pod, Rendered, render, render_example, selected, with_value


def components(pods: list[Pod]) -> set[str]:
    """Return the components of pods."""
    return {pod.labels["app.kubernetes.io/component"] for pod in pods}


def test_each_workload_selects_its_own_pods(chart: Rendered) -> None:
    for kind in ("Deployment", "StatefulSet"):
        for obj in chart.of(kind):
            name = f"{kind}/{obj['metadata']['name']}"
            assert [pod.owner for pod in selected(obj["spec"]["selector"], chart.pods)] == [name]


def test_services_do_not_select_pods_of_other_releases() -> None:
    other = render(MINIMAL, name="other")

    for obj in render_example("standalone").of("Service"):
        assert not selected({"matchLabels": obj["spec"]["selector"]}, other.pods)


def test_services_target_named_ports_of_their_pods(chart: Rendered) -> None:
    for obj in chart.of("Service"):
        (pod,) = selected({"matchLabels": obj["spec"]["selector"]}, chart.pods)
        for port in obj["spec"]["ports"]:
            assert port["targetPort"] in pod.ports, obj["metadata"]["name"]
            if obj["spec"].get("clusterIP") == "None":
                assert port["port"] == pod.ports[port["targetPort"]], "a headless Service does not map ports"


def test_only_the_headless_service_exposes_metrics(chart: Rendered) -> None:
    for obj in chart.of("Service"):
        if obj["spec"].get("clusterIP") != "None":
            assert "metrics" not in {port["name"] for port in obj["spec"]["ports"]}


def addresses(chart: Rendered) -> set[str]:
    """Return the host:port of all Services."""
    return {f"{obj['metadata']['name']}:{port['port']}" for obj in chart.of("Service") for port in obj["spec"]["ports"]}


def test_addresses_in_arguments_are_addresses_of_services(chart: Rendered) -> None:
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


def test_the_gateway_uses_the_headless_service() -> None:
    chart = render_example("production")
    init, _ = chart.pod("gateway").containers
    (service,) = (arg.partition("=")[2] for arg in init["args"] if arg.startswith("--service="))

    assert chart.named("Service", service.partition(":")[0])["spec"]["clusterIP"] == "None"


def test_the_ingress_routes_to_the_gateway() -> None:
    chart = render_example("production")
    (ingress,) = chart.of("Ingress")
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    backend = path["backend"]["service"]
    service = chart.named("Service", backend["name"])

    assert backend["port"]["name"] in {port["name"] for port in service["spec"]["ports"]}
    assert components(selected({"matchLabels": service["spec"]["selector"]}, chart.pods)) == {"gateway"}
    assert {host for tls in ingress["spec"]["tls"] for host in tls["hosts"]} == {rule["host"]}


def test_autoscaling_replaces_a_fixed_number_of_replicas() -> None:
    scaled, fixed = render_example("production"), render_example("try-it-out")
    (scaler,) = scaled.of("HorizontalPodAutoscaler")
    target = scaler["spec"]["scaleTargetRef"]
    deployment = scaled.named(target["kind"], target["name"])

    assert target["apiVersion"] == deployment["apiVersion"]
    assert "replicas" not in deployment["spec"], "an upgrade would reset the number of replicas"
    assert (scaler["spec"]["minReplicas"], scaler["spec"]["maxReplicas"]) == (3, 30)
    (metric,) = scaler["spec"]["metrics"]
    assert (metric["resource"]["name"], metric["resource"]["target"]["type"]) == ("cpu", "Utilization")
    assert "cpu" in deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"], (
        "utilization is relative to the request"
    )
    assert not fixed.of("HorizontalPodAutoscaler")
    assert fixed.named("Deployment", "soda-sodafountain")["spec"]["replicas"] == 1


def test_disruption_budgets_allow_one_pod_at_a_time(chart: Rendered) -> None:
    budgets = chart.of("PodDisruptionBudget")

    covered = [pod.owner for budget in budgets for pod in selected(budget["spec"]["selector"], chart.pods)]

    assert sorted(covered) == sorted(pod.owner for pod in chart.pods if not pod.owner.startswith("Pod/"))
    for budget in budgets:
        assert budget["spec"]["maxUnavailable"] == 1
        assert "minAvailable" not in budget["spec"], "with one replica it would block every node drain"


def test_pods_are_spread_over_nodes_and_zones(chart: Rendered) -> None:
    for obj in chart.of("Deployment"):
        spec = obj["spec"]["template"]["spec"]
        spread = spec["topologySpreadConstraints"]
        assert {rule["topologyKey"] for rule in spread} == {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
        for rule in spread:
            (pod,) = selected(rule["labelSelector"], chart.pods)
            assert pod.spec is spec
            assert rule["matchLabelKeys"] == ["pod-template-hash"]


# --- Network policies ---------------------------------------------------------------------------------------------


def policies(chart: Rendered, pod: Pod) -> list[Object]:
    """Return the network policies of a pod."""
    return [obj["spec"] for obj in chart.of("NetworkPolicy") if pod in selected(obj["spec"]["podSelector"], [pod])]


def rules(chart: Rendered, pod: Pod, direction: str) -> Iterator[Object]:
    """Yield the rules of a pod for `ingress` or `egress`."""
    for policy in policies(chart, pod):
        yield from policy.get(direction, ())


def allows(rule: Object, side: str, other: Pod, port: str, number: int) -> bool:
    """Return whether a rule allows another pod of the namespace on a port."""
    peers, ports = rule.get(side), rule.get("ports")
    peer_matches = peers is None or any(
        peer.keys() == {"podSelector"} and selected(peer["podSelector"], [other]) for peer in peers
    )
    return peer_matches and (ports is None or any(allowed["port"] in {port, number} for allowed in ports))


def can_connect(chart: Rendered, source: str, target: str, port: str) -> bool:
    """Return whether both the egress rules of `source` and the ingress rules of `target` allow a connection."""
    one, two = chart.pod(source), chart.pod(target)
    number = two.ports[port]
    out = any(allows(rule, "to", two, port, number) for rule in rules(chart, one, "egress"))
    return out and any(allows(rule, "from", one, port, number) for rule in rules(chart, two, "ingress"))


def test_every_pod_has_one_policy_for_ingress_and_egress(chart: Rendered) -> None:
    for pod in chart.pods:
        (policy,) = policies(chart, pod)
        assert policy["policyTypes"] == ["Ingress", "Egress"], pod.owner


def test_policies_use_named_ports_of_pods(chart: Rendered) -> None:
    known = {name for pod in chart.pods for name in pod.ports}
    for obj in chart.of("NetworkPolicy"):
        for rule in [*obj["spec"].get("ingress", ()), *obj["spec"].get("egress", ())]:
            ports = {port["port"] for port in rule["ports"]}
            assert {port for port in ports if isinstance(port, str)} <= known


@pytest.fixture(scope="module")
def all_components() -> Rendered:
    """The chart with all components."""
    return render({**MINIMAL, "store": {}, "valkey": {"enabled": True}})


def test_policies_allow_only_the_necessary_connections(all_components: Rendered) -> None:
    expected = {
        ("gateway", "service", "grpc"),
        ("service", "valkey", "valkey"),
        ("test", "service", "grpc"),
        ("test", "gateway", "http"),
    }
    ports = {(pod.labels["app.kubernetes.io/component"], port) for pod in all_components.pods for port in pod.ports}
    of_service = {("service", name) for name in ("grpc", "health", "metrics")}
    assert ports == of_service | {("gateway", "http"), ("valkey", "valkey")}

    allowed = {
        (source, target, port)
        for source in components(all_components.pods)
        for target, port in ports
        if source != target and can_connect(all_components, source, target, port)
    }

    assert allowed == expected


def test_policies_allow_dns(all_components: Rendered) -> None:
    for component in ("service", "gateway", "test"):
        out = [
            port for rule in rules(all_components, all_components.pod(component), "egress") for port in rule["ports"]
        ]
        assert {"port": 53, "protocol": "UDP"} in out
        assert {"port": 53, "protocol": "TCP"} in out


def test_policies_allow_the_store_at_the_configured_addresses() -> None:
    allowed = list(rules(render_example("standalone"), render_example("standalone").pod("service"), "egress"))

    assert {
        "ports": [{"port": 6379}],
        "to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "stores"}}}],
    } in allowed


def destinations(chart: Rendered, component: str) -> list[tuple[Object | None, set[int | str]]]:
    """Return what the egress rules of a component allow: a peer, or None for all addresses, and its ports."""
    return [
        (peer, {port["port"] for port in rule["ports"]})
        for rule in rules(chart, chart.pod(component), "egress")
        for peer in rule.get("to", [None])
    ]


def test_the_service_reaches_only_dns_its_store_and_its_collector() -> None:
    store, collector = {"ipBlock": {"cidr": "10.1.2.3/32"}}, {"ipBlock": {"cidr": "10.9.9.9/32"}}
    policy = {"stores": [store], "storePorts": [6380], "traceCollectors": [collector]}
    chart = render(
        {**MINIMAL, "settings": {"traces-endpoint": "http://collector:4317"}, "networkPolicy": policy},
    )

    assert destinations(chart, "service") == [(None, {53}), (store, {6380}), (collector, {4317})]


@pytest.mark.parametrize("example", ["production", "standalone", "try-it-out"])
def test_the_gateway_reaches_only_dns_and_the_service(example: str) -> None:
    chart = render_example(example)
    (_, names), (peer, ports) = destinations(chart, "gateway")

    assert names == {53}
    assert peer
    assert components(selected(peer["podSelector"], chart.pods)) == {"service"}
    assert set(peer) == {"podSelector"}
    assert ports == {"grpc"}


def test_every_example_names_the_addresses_of_its_store(chart: Rendered) -> None:
    for peer, ports in destinations(chart, "service"):
        assert peer or ports == {53}


def test_only_the_gateway_and_the_test_call_the_service_by_default() -> None:
    chart = render(MINIMAL)
    callers = [
        peer
        for rule in rules(chart, chart.pod("service"), "ingress")
        if {"port": "grpc"} in rule["ports"]
        for peer in rule["from"]
    ]

    assert all(peer.keys() == {"podSelector"} for peer in callers)
    found = {name for peer in callers for name in components(selected(peer["podSelector"], chart.pods))}
    assert found == {"gateway", "test"}


def test_policies_allow_the_dns_port_of_openshift() -> None:
    chart = render({**MINIMAL, "compatibility": {"openshift": {"adaptSecurityContext": "force"}}})

    for component in ("service", "gateway", "test"):
        out = [port for rule in rules(chart, chart.pod(component), "egress") for port in rule["ports"]]
        assert {"port": 5353, "protocol": "UDP"} in out
        assert {"port": 5353, "protocol": "TCP"} in out


@pytest.mark.parametrize(
    ("endpoint", "port"),
    [
        ("http://collector:4317", 4317),
        ("http://collector:04317/", 4317),  # not parsed as octal
        ("https://collector.monitoring:14317/", 14317),
        ("http://[fd00::1]:4317", 4317),
        ("https://collector.example", 443),  # the default port of gRPC
    ],
)
def test_policies_allow_the_trace_collector(endpoint: str, port: int) -> None:
    collector = {"ipBlock": {"cidr": "10.9.9.9/32"}}
    policy = {**MINIMAL["networkPolicy"], "traceCollectors": [collector]}
    chart = render({**MINIMAL, "settings": {"traces-endpoint": endpoint}, "networkPolicy": policy})

    assert {"ports": [{"port": port}], "to": [collector]} in list(rules(chart, chart.pod("service"), "egress"))


def test_policies_allow_metrics_only_to_the_configured_clients() -> None:
    allowed = list(rules(render_example("standalone"), render_example("standalone").pod("service"), "ingress"))

    (readers,) = (rule["from"] for rule in allowed if {"port": "metrics"} in rule["ports"])
    assert readers == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    closed = render(with_value(MINIMAL, "networkPolicy.metricsClients", []))
    assert not any({"port": "metrics"} in rule["ports"] for rule in rules(closed, closed.pod("service"), "ingress"))


def test_policies_can_be_disabled() -> None:
    assert not render({**MINIMAL, "networkPolicy": {"enabled": False}}).of("NetworkPolicy")
