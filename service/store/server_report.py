"""Check the version and the configuration of a store server."""


def assess(info: dict[str, str], replicas: int) -> tuple[str, list[str]]:
    """Return the name of a server and warnings about it.

    Args:
        info: the server's answer to INFO.
        replicas: how many replicas must confirm each write.
    """
    version = info.get("valkey_version")
    name = f"Valkey {version}" if version else f"Redis {info.get('redis_version', 'of unknown version')}"
    warnings = []
    if info.get("redis_version", "7").split(".")[0] in {"1", "2", "3", "4", "5", "6"}:
        warnings.append("the version is too old; Redis 7.0 or Valkey 7.2 is the minimum")
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        warnings.append(
            f"maxmemory-policy is {policy}: games are evicted when memory is exhausted; set it to noeviction"
        )
    connected = int(info.get("connected_slaves", replicas))
    if connected < replicas:
        warnings.append(
            f"writes require {replicas} replicas, but {connected} are connected; every write will be unconfirmed"
        )
    return name, warnings
