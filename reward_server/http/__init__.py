"""HTTP doors to the server's work, for callers that do not speak gRPC; the extra is `[http]`."""
