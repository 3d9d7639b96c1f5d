"""The JSON form of the contract, for callers that do not speak gRPC."""
