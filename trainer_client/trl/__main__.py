"""`python -m trainer_client.trl` is `reward-train`, for launchers that take a module."""

from trainer_client.trl.command import main

if __name__ == "__main__":
    main()
