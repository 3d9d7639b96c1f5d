"""Decides about texts and outcomes, by pure functions. No program runs here."""
