"""What holds for every pod that the chart runs, with the values of every example."""

import re

import pytest

from service.transport.health import LIVENESS, READINESS
from tests.deploy.helm.charts import CHART, EXAMPLES, MINIMAL, Object, Pod, Rendered, place_of, render, rendered

USER = 65532


@pytest.fixture
def pods(chart: Rendered) -> list[Pod]:
    """The pods, of which there are some."""
    assert len(chart.pods) >= 2
    return chart.pods


def test_no_pod_may_do_more_than_it_must(pods: list[Pod]) -> None:
    for pod in pods:
        assert pod.spec["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        }, pod.owner
        for box in pod.containers:
            assert box["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "privileged": False,
                "readOnlyRootFilesystem": True,
                "runAsNonRoot": True,
                "capabilities": {"drop": ["ALL"]},
            }, (pod.owner, box["name"])
        assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers", "shareProcessNamespace"} & pod.spec.keys()


def test_no_pod_can_speak_to_kubernetes(chart: Rendered, pods: list[Pod]) -> None:
    (account,) = chart.of("ServiceAccount")

    assert account["automountServiceAccountToken"] is False
    for pod in pods:
        assert pod.spec["automountServiceAccountToken"] is False, pod.owner
        assert pod.spec["serviceAccountName"] == account["metadata"]["name"]


def test_no_pod_is_given_variables_that_look_like_settings(pods: list[Pod]) -> None:
    assert all(pod.spec["enableServiceLinks"] is False for pod in pods)


def test_every_container_says_what_it_takes(pods: list[Pod]) -> None:
    for pod in pods:
        for box in pod.containers:
            assert set(box["resources"]["requests"]) == {"cpu", "memory"}, (pod.owner, box["name"])
            assert set(box["resources"]["limits"]) == {"memory"}, "a limit of CPU would stop it in the middle of a call"


def test_every_image_is_one_release_of_something(pods: list[Pod]) -> None:
    for pod in pods:
        for box in pod.containers:
            name, _, tag = box["image"].rpartition(":")
            assert name, box["image"]
            assert re.fullmatch(r"(distroless-v)?[0-9]+\.[0-9]+\.[0-9]+|[0-9a-f]{64}", tag), box["image"]


def test_everything_that_is_written_is_written_into_a_volume(pods: list[Pod]) -> None:
    for pod in pods:
        claims = {"data"} if pod.owner.startswith("StatefulSet/") else set()
        volumes = {volume["name"]: volume for volume in pod.spec.get("volumes", ())}
        mounts = [mount for box in pod.containers for mount in box["volumeMounts"]]
        assert {mount["name"] for mount in mounts} == volumes.keys() | claims, pod.owner
        for mount in mounts:
            if not mount.get("readOnly"):
                assert mount["name"] in claims or "sizeLimit" in volumes[mount["name"]]["emptyDir"], mount
        for volume in volumes.values():
            kinds = volume.keys() - {"name"}
            assert kinds <= {"emptyDir", "secret", "projected", "configMap"}, "hostPath above all"
            secret = volume.get("secret") or volume.get("projected")
            assert secret is None or secret["defaultMode"] == 0o440, "the service warns of keys that all may read"


# --- Secrets ----------------------------------------------------------------------------------------------------------


def test_secrets_are_named_and_never_held(chart: Rendered, pods: list[Pod]) -> None:
    assert not chart.of("Secret")
    script = (CHART / "files/play.py").read_text()
    assert [{name: text.strip() for name, text in found["data"].items()} for found in chart.of("ConfigMap")] == [
        {"play.py": script.strip()}
    ]
    for pod in pods:
        for box in pod.containers:
            for variable in box.get("env", ()):
                if re.search(r"URL|PASSWORD|KEYS$", variable["name"]):
                    url = variable.get("value", "")
                    assert "secretKeyRef" in variable.get("valueFrom", {}) or re.fullmatch(
                        r"redis://(:\$\(VALKEY_PASSWORD\)@)?soda-sodafountain-valkey:6379/0", url
                    ), variable
            words = " ".join([*box.get("command", ()), *box.get("args", ())])
            # What is an argument everybody on the node can list.
            assert not re.search(r"://\S*@|--requirepass|--masterauth|\$\(", words), words


def test_a_variable_that_another_refers_to_comes_before_it(pods: list[Pod]) -> None:
    for pod in pods:
        for box in pod.containers:
            known: set[str] = set()
            for variable in box.get("env", ()):
                assert set(re.findall(r"\$\((\w+)\)", variable.get("value", ""))) <= known, variable
                known.add(variable["name"])


def test_the_keys_are_where_the_service_looks_for_them() -> None:
    pod = rendered("production").pod("service")
    (box,) = pod.containers
    (keys,) = (volume["projected"]["sources"] for volume in pod.spec["volumes"] if volume["name"] == "keys")
    folder = place_of(box, "keys")
    laid = {
        f"{folder}/{item['path']}": (source["secret"]["name"], item["key"])
        for source in keys
        for item in source["secret"]["items"]
    }
    env = {variable["name"]: variable for variable in box["env"]}

    assert laid.pop(env["SODAFOUNTAIN_TOKEN_KEYS_FILE"]["value"]) == ("sodafountain-token-keys", "token-keys")
    assert laid.pop(env["SODAFOUNTAIN_API_KEYS_FILE"]["value"]) == ("sodafountain-api-keys", "api-keys")
    assert not laid
    assert env["SODAFOUNTAIN_STORE_URL"]["valueFrom"]["secretKeyRef"] == {
        "name": "sodafountain-store",
        "key": "store-url",
    }


def test_the_files_for_tls_are_where_the_urls_that_it_shows_say() -> None:
    pod = rendered("tls").pod("service")
    folder = place_of(pod.containers[0], "store-tls")
    (volume,) = (volume["secret"] for volume in pod.spec["volumes"] if volume["name"] == "store-tls")

    assert f"files={folder}\n" in EXAMPLES["tls"].read_text()
    assert f"={folder}/ca.crt'" in EXAMPLES["production"].read_text()
    assert f"={folder}/ca.crt," in (CHART / "values.yaml").read_text()
    assert volume["secretName"] == "sodafountain-store-tls"


# --- Beginning and end ------------------------------------------------------------------------------------------------


def test_the_service_is_asked_for_its_own_health_and_never_for_the_stores(chart: Rendered) -> None:
    (box,) = chart.pod("service").containers
    port = {port["name"]: port["containerPort"] for port in box["ports"]}["grpc"]
    asked = {name: box[name]["grpc"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}

    assert all(probe["port"] == port for probe in asked.values())
    assert asked["startupProbe"].get("service", "") in READINESS
    assert asked["readinessProbe"].get("service", "") in READINESS
    assert asked["livenessProbe"]["service"] == LIVENESS


def test_everything_that_serves_is_probed_and_given_a_minute_to_start(pods: list[Pod]) -> None:
    for pod in pods:
        if pod.owner.startswith("Pod/"):
            continue
        for box in pod.spec["containers"]:
            start = box["startupProbe"]
            assert start["periodSeconds"] * start["failureThreshold"] >= 60, pod.owner
            assert {"readinessProbe", "livenessProbe"} <= box.keys(), pod.owner
            for name in ("startupProbe", "readinessProbe", "livenessProbe"):
                if socket := box[name].get("tcpSocket"):
                    assert socket["port"] in pod.ports, (pod.owner, name)


@pytest.mark.parametrize(
    "shutdown", [{}, {"preStopSeconds": 1, "drainSeconds": 1}, {"preStopSeconds": 60, "drainSeconds": 600}]
)
def test_no_pod_is_killed_before_it_has_drained(shutdown: Object) -> None:
    chart = render({**MINIMAL, "shutdown": shutdown})
    (service,) = chart.pod("service").containers
    (drain,) = (variable["value"] for variable in service["env"] if variable["name"] == "SODAFOUNTAIN_DRAIN")
    assert drain.endswith("s")
    needed = {"service": int(drain[:-1]), "gateway": 0}

    for component, seconds in needed.items():
        pod = chart.pod(component)
        (box,) = pod.spec["containers"]
        sleep = box["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert sleep == shutdown.get("preStopSeconds", 40)
        assert pod.spec["terminationGracePeriodSeconds"] >= sleep + seconds + 5


def test_an_update_never_takes_a_pod_away_before_another_is_ready(chart: Rendered) -> None:
    for found in chart.of("Deployment"):
        assert found["spec"]["strategy"] == {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
        }


def test_the_test_ends_by_itself(chart: Rendered) -> None:
    spec = chart.pod("test").spec
    (seconds,) = (arg.partition("=")[2] for arg in spec["containers"][0]["args"] if arg.startswith("--seconds="))

    assert int(seconds) < spec["activeDeadlineSeconds"] <= 300
    assert spec["restartPolicy"] == "Never"


def test_pods_go_where_the_values_say_and_carry_what_they_name() -> None:
    ours: Object = {
        "podLabels": {"team": "games"},
        "podAnnotations": {"note": "ours"},
        "nodeSelector": {"disk": "none"},
        "tolerations": [{"key": "games", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "players-wait",
        "spread": "DoNotSchedule",
    }
    chart = render({**MINIMAL, **ours, "gateway": ours})

    for component in ("service", "gateway"):
        pod = chart.pod(component)
        (deployment,) = (
            found for found in chart.of("Deployment") if pod.owner.endswith(f"/{found['metadata']['name']}")
        )
        template = deployment["spec"]["template"]
        assert ours["podLabels"].items() <= pod.labels.items()
        assert ours["podAnnotations"].items() <= template["metadata"]["annotations"].items()
        for name in ("nodeSelector", "tolerations", "affinity", "priorityClassName"):
            assert pod.spec[name] == ours[name], (component, name)
        assert {rule["whenUnsatisfiable"] for rule in pod.spec["topologySpreadConstraints"]} == {"DoNotSchedule"}
