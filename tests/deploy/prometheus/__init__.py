"""Tests of the alerts and the dashboard."""
