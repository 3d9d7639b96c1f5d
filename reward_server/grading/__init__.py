"""What is read from texts and outcomes alone: no program runs here."""
