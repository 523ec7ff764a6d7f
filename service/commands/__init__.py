"""The command `sodafountain`: one module per subcommand.

Modules import what a subcommand needs only when it runs, so that `--help` is fast.
"""
