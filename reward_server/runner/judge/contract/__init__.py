"""The judge's end of the contract: plain data crosses, and nothing else decides."""
