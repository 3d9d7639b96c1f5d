"""The settings of `reward-train`."""
