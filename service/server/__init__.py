"""The server: settings, the composition root, and the processes that `sodafountain serve` runs.

| module | holds |
|---|---|
| `settings` | the settings of a process |
| `composition` | `bind`, which builds everything a process needs and closes it in reverse order |
| `run` | from flags to one serving process or several |
| `supervisor` | several processes on one port |
| `stopping` | stop signals |
| `keys` | reading secrets |
"""
