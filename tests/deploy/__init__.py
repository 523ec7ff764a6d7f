"""Tests of deployments: the image, the Helm chart, Compose, alerts and the dashboard."""
