"""Thread pools, and the eviction of peers that block their threads."""

from service.threads.executor import LeanExecutor
from service.threads.slow_peers import SlowPeers

__all__ = ["LeanExecutor", "SlowPeers"]
