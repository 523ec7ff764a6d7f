"""Tests of the Python client library, against a scripted service and the real one."""
