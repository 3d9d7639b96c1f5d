"""What `reward-train` can be told."""
