"""What a run shows, records and warns of."""
