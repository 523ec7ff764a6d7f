"""The Valkey of the chart, started with the command of its container, keeps its data and evicts nothing."""

from pathlib import Path

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError
from redis.retry import Retry

from tests.deploy.helm.charts import render_example
from tests.deploy.helm.containers import PASSWORD, run_valkey


@pytest.mark.parametrize(("example", "password"), [("try-it-out", None), ("try-it-out-password", PASSWORD)])
def test_valkey_keeps_its_data_and_evicts_nothing(example: str, password: str | None, tmp_path: Path) -> None:
    with run_valkey(render_example(example), tmp_path) as port, Redis(port=port, password=password) as redis:
        config = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "save": ""}
        assert {name: redis.config_get(name)[name] for name in config} == config
        assert redis.config_get("maxmemory")["maxmemory"] == str(256 * 1024**2)
        redis.set("kept", 1)
    with run_valkey(render_example(example), tmp_path) as port, Redis(port=port, password=password) as redis:
        assert redis.get("kept") == b"1"


def test_valkey_requires_its_password(tmp_path: Path) -> None:
    with (
        run_valkey(render_example("try-it-out-password"), tmp_path) as port,
        Redis(port=port, retry=Retry(NoBackoff(), 0)) as redis,
        pytest.raises(AuthenticationError),
    ):
        redis.ping()
