"""What stands in the judge for the solution's functions, objects, classes and modules."""
