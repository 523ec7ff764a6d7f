"""The subcommands of `sodafountain`."""
