"""The judge's proxies for the solution's functions, objects, classes and modules."""
