"""Messages between judge and candidate: the code that both sides use to write and read them."""
