"""Shared code of the adapters: settings, labels, responses and substitutes for missing rewards."""
