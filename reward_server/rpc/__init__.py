"""The service over gRPC: requests become values of `domain`, and answers become messages."""
