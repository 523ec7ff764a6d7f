"""Thread pools."""
