"""Messages between judge and candidate: what both sides need to write and to read them."""
