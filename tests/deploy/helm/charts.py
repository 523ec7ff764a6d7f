"""Render the chart with Helm, and find objects in the result."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from helm_python import Chart

ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy/helm/sodafountain"
EXAMPLES = {path.stem: path for path in sorted((ROOT / "deploy/helm/examples").glob("*.yaml"))}
RELEASE, NAMESPACE = "soda", "games"

Object = dict[str, Any]
Labels = Mapping[str, str]

MINIMAL: Object = {
    "image": {"repository": "images.example/sodafountain"},
    "tokenKeys": {"existingSecret": "token-keys"},
    "store": {"existingSecret": "store"},
    "networkPolicy": {"stores": [{"ipBlock": {"cidr": "10.1.2.3/32"}}]},
}
"""The required values of an installation."""


class Pod(NamedTuple):
    """A pod, or the pod template of a workload.

    Attributes:
        owner: kind and name of the workload or pod, `kind/name`.
        labels: its labels.
        annotations: its annotations.
        spec: its spec.
    """

    owner: str
    labels: Labels
    annotations: Labels
    spec: Object

    @property
    def containers(self) -> list[Object]:
        """The containers, including init containers."""
        return [*self.spec.get("initContainers", ()), *self.spec["containers"]]

    @property
    def ports(self) -> dict[str, int]:
        """The named ports of all containers."""
        return {
            port["name"]: port["containerPort"] for container in self.containers for port in container.get("ports", ())
        }


@dataclass(frozen=True)
class Rendered:
    """The rendered chart.

    Attributes:
        texts: the rendered files, by template name.
        objects: the Kubernetes objects in the files.
    """

    texts: Mapping[str, str]
    objects: tuple[Object, ...]

    def of(self, kind: str) -> list[Object]:
        """Return the objects of a kind."""
        return [obj for obj in self.objects if obj["kind"] == kind]

    def named(self, kind: str, name: str) -> Object:
        """Return the object with a kind and name."""
        (obj,) = (obj for obj in self.of(kind) if obj["metadata"]["name"] == name)
        return obj

    @property
    def notes(self) -> str:
        """The notes that Helm shows after an installation."""
        return next(text for name, text in self.texts.items() if name.endswith("NOTES.txt"))

    @property
    def pods(self) -> list[Pod]:
        """All pods and pod templates."""
        return list(self._pods())

    def _pods(self) -> Iterator[Pod]:
        for obj in self.objects:
            owner = f"{obj['kind']}/{obj['metadata']['name']}"
            pod = obj if obj["kind"] == "Pod" else obj.get("spec", {}).get("template")
            if pod:
                yield Pod(owner, pod["metadata"]["labels"], pod["metadata"]["annotations"], pod["spec"])

    def pod(self, component: str) -> Pod:
        """Return the pod of a component."""
        (obj,) = (pod for pod in self.pods if pod.labels["app.kubernetes.io/component"] == component)
        return obj


def mount_path(container: Object, volume: str) -> str:
    """Return the path at which a container mounts a volume."""
    (path,) = (mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == volume)
    return str(path)


def selected(selector: Object, pods: list[Pod]) -> list[Pod]:
    """Return the pods that match a label selector."""
    assert not selector.get("matchExpressions"), "matchExpressions are not implemented here"
    labels = selector.get("matchLabels", {})
    return [pod for pod in pods if labels.items() <= pod.labels.items()]


def with_value(values: Object, path: str, value: Any) -> Object:
    """Return values with one value replaced, by a path such as `gateway.service.port`."""
    name, _, rest = path.partition(".")
    return {**values, name: with_value(values.get(name, {}), rest, value) if rest else value}


def render(values: Object, *, chart: Path = CHART, name: str = RELEASE, namespace: str = NAMESPACE) -> Rendered:
    """Render the chart with values.

    Raises:
        HelmError: the values are invalid.
    """
    with Chart.load(chart) as loaded:
        texts = loaded.render(values, name=name, namespace=namespace)
    files = (text for path, text in texts.items() if path.endswith(".yaml"))
    objects = (obj for text in files for obj in yaml.load_all(text, yaml.CSafeLoader))
    return Rendered(texts, tuple(obj for obj in objects if obj))


def values_of(example: str) -> Object:
    """Return the values of an example."""
    values: Object = yaml.safe_load(EXAMPLES[example].read_text())
    return values


@cache
def render_example(example: str) -> Rendered:
    """Render the chart with the values of an example. The result is cached; do not modify it."""
    return render(values_of(example))
