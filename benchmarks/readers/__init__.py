"""Readers of hidden values and answers, against which copies of tests are measured."""
