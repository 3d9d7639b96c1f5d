"""The service over gRPC: converts requests to values of `domain`, and answers to messages."""
