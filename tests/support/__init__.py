"""What tests of several parts share: real servers, real processes, and players who talk to them."""
