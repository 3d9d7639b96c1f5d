"""What the adapters share: settings, labels, responses, and stand-ins for missing rewards."""
