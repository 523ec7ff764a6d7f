"""Between the engine’s values and the messages of the contract."""
