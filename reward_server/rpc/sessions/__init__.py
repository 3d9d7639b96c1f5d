"""The methods of `codereward.v1.SessionService`, and the messages that they convert."""
