"""The chart as Helm renders it, object by object."""

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
}
"""The least that an installation must name."""


class Pod(NamedTuple):
    """A pod, or what a workload makes pods from.

    Attributes:
        owner: the kind of what makes it, and its name.
        labels: its labels.
        spec: its spec.
    """

    owner: str
    labels: Labels
    spec: Object

    @property
    def containers(self) -> list[Object]:
        """Its containers, those of its beginning included."""
        return [*self.spec.get("initContainers", ()), *self.spec["containers"]]

    @property
    def ports(self) -> dict[str, int]:
        """The ports that it names."""
        return {port["name"]: port["containerPort"] for box in self.containers for port in box.get("ports", ())}


@dataclass(frozen=True)
class Rendered:
    """What Helm makes of the chart and some values.

    Attributes:
        texts: the files, by the names of their templates.
        objects: the objects in them.
    """

    texts: Mapping[str, str]
    objects: tuple[Object, ...]

    def of(self, kind: str) -> list[Object]:
        """The objects of a kind."""
        return [found for found in self.objects if found["kind"] == kind]

    def named(self, kind: str, name: str) -> Object:
        """The one object of a kind and name."""
        (found,) = (found for found in self.of(kind) if found["metadata"]["name"] == name)
        return found

    @property
    def notes(self) -> str:
        """What the installer is told."""
        return next(text for name, text in self.texts.items() if name.endswith("NOTES.txt"))

    @property
    def pods(self) -> list[Pod]:
        """Everything that runs."""
        return list(self._pods())

    def _pods(self) -> Iterator[Pod]:
        for found in self.objects:
            owner = f"{found['kind']}/{found['metadata']['name']}"
            if found["kind"] == "Pod":
                yield Pod(owner, found["metadata"]["labels"], found["spec"])
            elif template := found.get("spec", {}).get("template"):
                yield Pod(owner, template["metadata"]["labels"], template["spec"])

    def pod(self, component: str) -> Pod:
        """The one pod of a component."""
        (found,) = (pod for pod in self.pods if pod.labels["app.kubernetes.io/component"] == component)
        return found


def place_of(container: Object, volume: str) -> str:
    """Where a container finds a volume of its pod."""
    (place,) = (mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == volume)
    return str(place)


def selected(selector: Object, pods: list[Pod]) -> list[Pod]:
    """The pods that a selector of labels selects."""
    assert not selector.get("matchExpressions"), "the chart has none, and this does not read them"
    wanted = selector.get("matchLabels", {})
    return [pod for pod in pods if wanted.items() <= pod.labels.items()]


def changed(values: Object, path: str, value: Any) -> Object:
    """Values with another in the place of one, whose path is like `gateway.service.port`."""
    name, _, rest = path.partition(".")
    return {**values, name: changed(values.get(name, {}), rest, value) if rest else value}


def render(values: Object, *, chart: Path = CHART, name: str = RELEASE, namespace: str = NAMESPACE) -> Rendered:
    """Renders the chart with values.

    Raises:
        HelmError: the values are refused; the text says why.
    """
    with Chart.load(chart) as loaded:
        texts = loaded.render(values, name=name, namespace=namespace)
    files = (text for path, text in texts.items() if path.endswith(".yaml"))
    objects = (found for text in files for found in yaml.load_all(text, yaml.CSafeLoader))
    return Rendered(texts, tuple(found for found in objects if found))


def values_of(example: str) -> Object:
    """The values of an example."""
    values: Object = yaml.safe_load(EXAMPLES[example].read_text())
    return values


@cache
def rendered(example: str) -> Rendered:
    """The chart with the values of an example; whoever asks shares it."""
    return render(values_of(example))
