"""The command `sodafountain`."""
