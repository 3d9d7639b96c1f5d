"""Programs that show complete uses of the client, from a checkout; they are not in the wheel."""
