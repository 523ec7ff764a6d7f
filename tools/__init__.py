"""Programs that build and check the project; nothing here ships."""
