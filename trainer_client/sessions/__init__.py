"""Sessions: sandboxes that stay open, in which an agent runs commands and moves files."""
