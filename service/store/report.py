"""What an operator should know about a store server."""


def judged(facts: dict[str, str], replicas: int) -> tuple[str, list[str]]:
    """Names a server by what it tells of itself (INFO), and says what is wrong with it if writes wait for replicas."""
    version = facts.get("valkey_version")
    name = f"Valkey {version}" if version else f"Redis {facts.get('redis_version', 'of unknown version')}"
    warnings = []
    if facts.get("redis_version", "7").split(".")[0] in {"1", "2", "3", "4", "5", "6"}:
        warnings.append("too old; at least Redis 7.0 or Valkey 7.2 is needed")
    policy = facts.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        warnings.append(
            f"maxmemory-policy is {policy}, so that games are thrown away when memory runs out; set it to noeviction"
        )
    connected = int(facts.get("connected_slaves", replicas))
    if connected < replicas:
        warnings.append(
            f"writes wait for {replicas} replicas, but {connected} are connected; every write will be unconfirmed"
        )
    return name, warnings
