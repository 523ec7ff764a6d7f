"""Alerts and the dashboard."""
