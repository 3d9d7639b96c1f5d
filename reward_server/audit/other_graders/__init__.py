"""The cheats as whole programs, for graders of other projects, and what those rewarded."""
