"""The findings as JSON, as a page, and as a cleaned file of tasks."""
