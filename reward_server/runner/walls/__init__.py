"""The isolation layers that a process builds around itself, and the policy that they apply."""
