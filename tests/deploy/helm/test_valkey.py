"""The Valkey for trying out, as its container starts it: a store that keeps what it acknowledged and evicts nothing."""

from pathlib import Path

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError
from redis.retry import Retry

from tests.deploy.helm.charts import rendered
from tests.deploy.helm.containers import PASSWORD, valkey


@pytest.mark.parametrize(("example", "password"), [("try-it-out", None), ("try-it-out-password", PASSWORD)])
def test_it_keeps_everything_and_evicts_nothing(example: str, password: str | None, tmp_path: Path) -> None:
    with valkey(rendered(example), tmp_path) as port, Redis(port=port, password=password) as redis:
        wanted = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "save": ""}
        assert {name: redis.config_get(name)[name] for name in wanted} == wanted
        assert redis.config_get("maxmemory")["maxmemory"] == str(256 * 1024**2)
        redis.set("kept", 1)
    with valkey(rendered(example), tmp_path) as port, Redis(port=port, password=password) as redis:
        assert redis.get("kept") == b"1"


def test_where_it_has_a_password_it_asks_for_it(tmp_path: Path) -> None:
    with (
        valkey(rendered("try-it-out-password"), tmp_path) as port,
        Redis(port=port, retry=Retry(NoBackoff(), 0)) as redis,
        pytest.raises(AuthenticationError),
    ):
        redis.ping()
