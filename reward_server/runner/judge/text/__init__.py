"""What the text of tests says about their names, arguments and side effects."""
