"""What runs the service elsewhere: images, charts, Compose, alerts and dashboards."""
