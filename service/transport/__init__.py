"""The gRPC transport.

| module | holds |
|---|---|
| `admission` | admission control: draining, the call limit, silent callers |
| `requests`, `validation` | parsing, and the rules for every field |
| `handlers`, `streams` | what all RPCs have in common: errors, log line, metrics, trace |
| `servicer` | one method per RPC |
| `errors` | the one place where exceptions become statuses |
| `auxiliary`, `health`, `reflection` | gRPC's own services, on separate threads |
"""
