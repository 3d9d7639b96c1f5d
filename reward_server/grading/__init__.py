"""Reads texts and outcomes only; no program runs here."""
