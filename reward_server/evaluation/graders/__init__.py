"""Graders: which executions each kind of tests needs, and what their outcomes mean."""
