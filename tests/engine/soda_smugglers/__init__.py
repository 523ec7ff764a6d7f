"""Tests of the rules of Soda Smugglers."""
