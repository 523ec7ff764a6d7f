"""Programs that build and check the project. They are not part of a release."""
