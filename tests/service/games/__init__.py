"""The core: reservations, quotas, concurrent moves."""
