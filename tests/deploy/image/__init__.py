"""The container image, run as a cluster would: a read-only root, no capabilities, no privileges to be had."""
