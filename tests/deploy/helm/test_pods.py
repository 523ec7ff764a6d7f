"""Properties of all pods of the chart, with the values of every example."""

import re
import shutil
from pathlib import Path

import pytest

from service.transport.health import LIVENESS, READINESS
from tests.deploy.helm.charts import CHART, EXAMPLES, MINIMAL, Object, Pod, Rendered, mount_path, render, render_example

USER = 65532


@pytest.fixture
def pods(chart: Rendered) -> list[Pod]:
    """The pods of the chart."""
    assert len(chart.pods) >= 2
    return chart.pods


def test_all_pods_are_confined(pods: list[Pod]) -> None:
    for pod in pods:
        assert pod.spec["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        }, pod.owner
        for container in pod.containers:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "privileged": False,
                "readOnlyRootFilesystem": True,
                "runAsNonRoot": True,
                "capabilities": {"drop": ["ALL"]},
            }, (pod.owner, container["name"])
        assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers", "shareProcessNamespace"} & pod.spec.keys()


def test_no_pod_has_access_to_the_kubernetes_api(chart: Rendered, pods: list[Pod]) -> None:
    (account,) = chart.of("ServiceAccount")

    assert account["automountServiceAccountToken"] is False
    for pod in pods:
        assert pod.spec["automountServiceAccountToken"] is False, pod.owner
        assert pod.spec["serviceAccountName"] == account["metadata"]["name"]


def test_service_links_are_disabled(pods: list[Pod]) -> None:
    assert all(pod.spec["enableServiceLinks"] is False for pod in pods)


def test_every_container_has_resource_requests_and_a_memory_limit(pods: list[Pod]) -> None:
    for pod in pods:
        for container in pod.containers:
            assert set(container["resources"]["requests"]) == {"cpu", "memory"}, (pod.owner, container["name"])
            assert set(container["resources"]["limits"]) == {"memory"}, "a CPU limit would throttle calls"


def test_every_image_has_a_version(pods: list[Pod]) -> None:
    for pod in pods:
        for container in pod.containers:
            name, _, tag = container["image"].rpartition(":")
            assert name, container["image"]
            assert re.fullmatch(r"(distroless-v)?[0-9]+\.[0-9]+\.[0-9]+|[0-9a-f]{64}", tag), container["image"]


def test_a_digest_takes_precedence_over_the_tag() -> None:
    digests = {name: f"sha256:{name[0] * 64}" for name in ("a-service", "b-gateway", "c-valkey")}
    own, gateway, valkey = ({"tag": "1.2.3", "digest": digest} for digest in digests.values())
    chart = render(
        {
            **ALL,
            "image": {"repository": "images.example/soda", **own},
            "gateway": {"image": gateway},
            "valkey": {**VALKEY, "image": valkey},
        }
    )

    images = {(container["name"], container["image"]) for pod in chart.pods for container in pod.containers}

    assert images == {
        *((name, f"images.example/soda@{own['digest']}") for name in ("sodafountain", "configuration", "play")),
        ("envoy", f"envoyproxy/envoy@{gateway['digest']}"),
        ("valkey", f"valkey/valkey@{valkey['digest']}"),
    }


def test_writable_paths_are_volumes_with_a_size_limit(pods: list[Pod]) -> None:
    for pod in pods:
        claims = {"data"} if pod.owner.startswith("StatefulSet/") else set()
        volumes = {volume["name"]: volume for volume in pod.spec.get("volumes", ())}
        mounts = [mount for container in pod.containers for mount in container["volumeMounts"]]
        assert {mount["name"] for mount in mounts} == volumes.keys() | claims, pod.owner
        for mount in mounts:
            if not mount.get("readOnly"):
                assert mount["name"] in claims or "sizeLimit" in volumes[mount["name"]]["emptyDir"], mount
        for volume in volumes.values():
            kinds = volume.keys() - {"name"}
            assert kinds <= {"emptyDir", "secret", "projected", "configMap"}, "no hostPath"
            secret = volume.get("secret") or volume.get("projected")
            assert secret is None or secret["defaultMode"] == 0o440, "the service warns about world-readable keys"


# --- Secrets ----------------------------------------------------------------------------------------------------------


def test_the_chart_contains_no_secrets(chart: Rendered, pods: list[Pod]) -> None:
    assert not chart.of("Secret")
    script = (CHART / "files/play.py").read_text()
    assert [{name: text.strip() for name, text in obj["data"].items()} for obj in chart.of("ConfigMap")] == [
        {"play.py": script.strip()}
    ]
    for pod in pods:
        for container in pod.containers:
            for variable in container.get("env", ()):
                if re.search(r"URL|PASSWORD|KEYS$", variable["name"]):
                    url = variable.get("value", "")
                    assert "secretKeyRef" in variable.get("valueFrom", {}) or re.fullmatch(
                        r"redis://(:\$\(VALKEY_PASSWORD\)@)?soda-sodafountain-valkey:6379/0", url
                    ), variable
            words = " ".join([*container.get("command", ()), *container.get("args", ())])
            # Arguments are visible to all processes of the node.
            assert not re.search(r"://\S*@|--requirepass|--masterauth|\$\(", words), words


def test_variables_refer_only_to_earlier_variables(pods: list[Pod]) -> None:
    for pod in pods:
        for container in pod.containers:
            known: set[str] = set()
            for variable in container.get("env", ()):
                assert set(re.findall(r"\$\((\w+)\)", variable.get("value", ""))) <= known, variable
                known.add(variable["name"])


def test_key_files_are_mounted_at_the_paths_in_the_settings() -> None:
    pod = render_example("production").pod("service")
    (container,) = pod.containers
    (keys,) = (volume["projected"]["sources"] for volume in pod.spec["volumes"] if volume["name"] == "keys")
    folder = mount_path(container, "keys")
    mounted = {
        f"{folder}/{item['path']}": (source["secret"]["name"], item["key"])
        for source in keys
        for item in source["secret"]["items"]
    }
    env = {variable["name"]: variable for variable in container["env"]}

    assert mounted.pop(env["SODAFOUNTAIN_TOKEN_KEYS_FILE"]["value"]) == ("sodafountain-token-keys", "token-keys")
    assert mounted.pop(env["SODAFOUNTAIN_API_KEYS_FILE"]["value"]) == ("sodafountain-api-keys", "api-keys")
    encryption_keys = mounted.pop(env["SODAFOUNTAIN_ENCRYPTION_KEYS_FILE"]["value"])
    assert encryption_keys == ("sodafountain-encryption-keys", "encryption-keys")
    assert not mounted
    assert env["SODAFOUNTAIN_STORE_URL"]["valueFrom"]["secretKeyRef"] == {
        "name": "sodafountain-store",
        "key": "store-url",
    }


def test_the_pod_of_the_test_receives_only_the_api_keys() -> None:
    pod = render_example("production").pod("test")
    (keys,) = (volume["projected"]["sources"] for volume in pod.spec["volumes"] if volume["name"] == "keys")

    assert [source["secret"]["name"] for source in keys] == ["sodafountain-api-keys"]


def test_tls_connects_the_gateway_and_the_test_with_the_service() -> None:
    own, public = {"existingSecret": "service-tls"}, {"existingSecret": "players"}
    chart = render({**MINIMAL, "tls": own, "gateway": {"tls": public}})
    service, gateway, test = (chart.pod(name) for name in ("service", "gateway", "test"))
    env = {variable["name"]: variable.get("value") for variable in service.containers[0]["env"]}
    configuration, envoy = gateway.containers
    flags = dict(argument.partition("=")[::2] for argument in configuration["args"])
    of_gateway, of_test = (
        {volume["name"]: volume["secret"] for volume in pod.spec["volumes"] if "secret" in volume}
        for pod in (gateway, test)
    )

    assert env["SODAFOUNTAIN_TLS_CERT_FILE"] == f"{mount_path(service.containers[0], 'tls')}/tls.crt"
    assert env["SODAFOUNTAIN_TLS_KEY_FILE"] == f"{mount_path(service.containers[0], 'tls')}/tls.key"
    assert flags["--tls-cert-file"] == f"{mount_path(envoy, 'tls')}/tls.crt"
    assert flags["--service-ca-file"] == f"{mount_path(envoy, 'service-tls')}/ca.crt"
    assert flags["--service-hostname"] == chart.named("Service", "soda-sodafountain")["metadata"]["name"]
    assert f"--tls-ca={mount_path(test.containers[0], 'service-tls')}/ca.crt" in test.containers[0]["args"]
    assert any(argument.startswith("--rest=https://") for argument in test.containers[0]["args"])
    assert {secret["secretName"] for secret in of_gateway.values()} == {"service-tls", "players"}
    for secrets in (of_gateway, of_test):
        assert [item["key"] for item in secrets["service-tls"]["items"]] == ["ca.crt"], "no key leaves the service"


def test_tls_files_are_mounted_at_the_documented_paths() -> None:
    pod = render_example("tls").pod("service")
    folder = mount_path(pod.containers[0], "store-tls")
    (volume,) = (volume["secret"] for volume in pod.spec["volumes"] if volume["name"] == "store-tls")

    assert f"files={folder}\n" in EXAMPLES["tls"].read_text()
    assert f"={folder}/ca.crt'" in EXAMPLES["production"].read_text()
    assert f"={folder}/ca.crt," in (CHART / "values.yaml").read_text()
    assert volume["secretName"] == "sodafountain-store-tls"


# --- Start and shutdown -----------------------------------------------------------------------------------------------


def test_probes_check_the_service_and_not_its_store(chart: Rendered) -> None:
    (container,) = chart.pod("service").containers
    port = {port["name"]: port["containerPort"] for port in container["ports"]}["health"]
    probes = {name: container[name]["grpc"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}

    assert all(probe["port"] == port for probe in probes.values())
    assert probes["startupProbe"].get("service", "") in READINESS
    assert probes["readinessProbe"].get("service", "") in READINESS
    assert probes["livenessProbe"]["service"] == LIVENESS


def test_servers_have_probes_and_a_minute_to_start(pods: list[Pod]) -> None:
    for pod in pods:
        if pod.owner.startswith("Pod/"):
            continue
        for container in pod.spec["containers"]:
            start = container["startupProbe"]
            assert start["periodSeconds"] * start["failureThreshold"] >= 60, pod.owner
            assert {"readinessProbe", "livenessProbe"} <= container.keys(), pod.owner
            for name in ("startupProbe", "readinessProbe", "livenessProbe"):
                if socket := container[name].get("tcpSocket"):
                    assert socket["port"] in pod.ports, (pod.owner, name)


@pytest.mark.parametrize(
    "shutdown", [{}, {"preStopSeconds": 1, "drainSeconds": 1}, {"preStopSeconds": 60, "drainSeconds": 600}]
)
def test_the_grace_period_covers_prestop_and_drain(shutdown: Object) -> None:
    chart = render({**MINIMAL, "shutdown": shutdown})
    (service,) = chart.pod("service").containers
    (drain,) = (variable["value"] for variable in service["env"] if variable["name"] == "SODAFOUNTAIN_DRAIN")
    assert drain.endswith("s")
    drains = {"service": int(drain[:-1]), "gateway": 0}

    for component, seconds in drains.items():
        pod = chart.pod(component)
        (container,) = pod.spec["containers"]
        sleep = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert sleep == shutdown.get("preStopSeconds", 40)
        assert pod.spec["terminationGracePeriodSeconds"] >= sleep + seconds + 5


def test_an_update_starts_a_new_pod_before_it_stops_an_old_one(chart: Rendered) -> None:
    for obj in chart.of("Deployment"):
        assert obj["spec"]["strategy"] == {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
        }


def test_the_test_pod_has_a_deadline(chart: Rendered) -> None:
    spec = chart.pod("test").spec
    (seconds,) = (arg.partition("=")[2] for arg in spec["containers"][0]["args"] if arg.startswith("--seconds="))

    assert int(seconds) < spec["activeDeadlineSeconds"] <= 300
    assert spec["restartPolicy"] == "Never"


VALKEY: Object = {"enabled": True}
ALL: Object = {**MINIMAL, "store": {}, "valkey": VALKEY, "apiKeys": {"existingSecret": "api-keys"}}
"""Values with every component."""

IDS = {"runAsUser", "runAsGroup", "fsGroup", "fsGroupChangePolicy"}


def ids_of(values: Object, chart: Path = CHART) -> set[str]:
    """Return the names of the users and groups that pods ask for. Check that all pods ask for the same."""
    pods = render({**ALL, **values}, chart=chart).pods
    assert {pod.labels["app.kubernetes.io/component"] for pod in pods} == {"service", "gateway", "valkey", "test"}
    (ids,) = {frozenset(pod.spec["securityContext"]) - {"runAsNonRoot", "seccompProfile"} for pod in pods}
    return set(ids)


@pytest.mark.parametrize(
    "values",
    [
        {"compatibility": {"openshift": {"adaptSecurityContext": "force"}}},
        {"podSecurityContext": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}},
    ],
    ids=["force", "null"],
)
def test_pods_can_leave_their_user_and_groups_to_the_cluster(values: Object) -> None:
    for pod in render({**ALL, **values}).pods:
        assert pod.spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        for container in pod.containers:
            assert not IDS & container["securityContext"].keys()
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["runAsNonRoot"] is True
        # The kinds of volumes that the constraint restricted-v2 allows, of those that the chart uses.
        kinds = {kind for volume in pod.spec.get("volumes", ()) for kind in volume.keys() - {"name"}}
        assert kinds <= {"emptyDir", "secret", "projected", "configMap"}


def test_one_id_can_be_changed_or_left_out() -> None:
    assert ids_of({"podSecurityContext": {"runAsUser": None}}) == IDS - {"runAsUser"}
    assert ids_of({"podSecurityContext": {"fsGroup": None}}) == {"runAsUser", "runAsGroup"}
    changed = render({**ALL, "podSecurityContext": {"runAsUser": 1000670000, "runAsGroup": 0}})
    for pod in changed.pods:
        context = pod.spec["securityContext"]
        assert (context["runAsUser"], context["runAsGroup"], context["fsGroup"]) == (1000670000, 0, USER)


def test_openshift_is_detected_by_its_api(tmp_path: Path) -> None:
    chart = tmp_path / "sodafountain"
    shutil.copytree(CHART, chart)
    helpers = chart / "templates/_pods.tpl"
    assert "security.openshift.io/v1" in helpers.read_text()
    helpers.write_text(helpers.read_text().replace("security.openshift.io/v1", "apps/v1"))  # an API that Helm assumes

    assert ids_of({}) == IDS
    assert ids_of({}, chart) == set()
    assert ids_of({"compatibility": {"openshift": {"adaptSecurityContext": "disabled"}}}, chart) == IDS


def test_values_set_the_scheduling_and_metadata_of_all_pods() -> None:
    values: Object = {
        "podLabels": {"team": "games"},
        "podAnnotations": {"note": "test"},
        "nodeSelector": {"disk": "none"},
        "tolerations": [{"key": "games", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "players-wait",
    }
    spread = {"spread": "DoNotSchedule"}
    secrets = {"imagePullSecrets": [{"name": "registry"}]}
    chart = render({**ALL, **values, **spread, **secrets, "gateway": values | spread, "valkey": {**VALKEY, **values}})

    assert len(chart.pods) == 4
    for pod in chart.pods:
        assert values["podLabels"].items() <= pod.labels.items()
        assert values["podAnnotations"].items() <= pod.annotations.items()
        for name in ("nodeSelector", "tolerations", "affinity", "priorityClassName"):
            assert pod.spec[name] == values[name], (pod.owner, name)
        assert pod.spec["imagePullSecrets"] == secrets["imagePullSecrets"], pod.owner
        rules = {rule["whenUnsatisfiable"] for rule in pod.spec.get("topologySpreadConstraints", ())}
        assert rules == ({"DoNotSchedule"} if pod.owner.startswith("Deployment/") else set())


def test_labels_of_the_user_do_not_replace_those_of_selectors() -> None:
    labels = {"app.kubernetes.io/name": "other", "app.kubernetes.io/component": "other", "team": "games"}
    own = {"podLabels": labels, "podAnnotations": {"helm.sh/hook": "post-install"}}
    monitor = {"serviceMonitor": {"enabled": True, "labels": labels}}
    chart = render({**ALL, **own, "gateway": own, "valkey": {**VALKEY, **own}, "metrics": monitor})

    assert {pod.labels["app.kubernetes.io/component"] for pod in chart.pods} == {"service", "gateway", "valkey", "test"}
    assert chart.pod("test").annotations["helm.sh/hook"] == "test"
    assert all(
        (pod.labels["app.kubernetes.io/name"], pod.labels["team"]) == ("sodafountain", "games") for pod in chart.pods
    )
    for text in chart.texts.values():
        for document in text.split("\n---\n"):  # a second key of the same name would replace the first silently
            for block in re.findall(r"^ +labels:\n((?: +\S+: .*\n)+)", document, re.MULTILINE):
                keys = [line.split(":")[0] for line in block.splitlines()]
                assert len(keys) == len(set(keys)), block


def test_each_component_has_its_own_scheduling() -> None:
    chart = render(
        {
            **ALL,
            "nodeSelector": {"pool": "service"},
            "gateway": {"nodeSelector": {"pool": "gateway"}},
            "valkey": {**VALKEY, "nodeSelector": {"pool": "valkey"}},
        }
    )
    pools = {pod.labels["app.kubernetes.io/component"]: pod.spec["nodeSelector"]["pool"] for pod in chart.pods}

    assert pools == {"service": "service", "gateway": "gateway", "valkey": "valkey", "test": "service"}
