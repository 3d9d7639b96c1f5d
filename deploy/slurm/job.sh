#!/usr/bin/env bash
# An example of a training job whose nodes have a reward server each. Change the paths and COMMAND.
#SBATCH --job-name=training
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --time=24:00:00
#SBATCH --signal=B:TERM@120
set -euo pipefail

# Processes of a job may not make control groups, so no execution has limits of its own for memory,
# processes and CPUs. Slurm limits the whole job.
# shellcheck disable=SC2016  # the task's shell expands
exec "$SLURM_SUBMIT_DIR/deploy/slurm/with-reward-server" \
    --allow-missing memory-limit,process-limit,cpu-limit -- \
    srun bash -c 'reward-train run run.toml --set server.target="$CODEREWARD_TARGET" \
        --set server.token_file="$CODEREWARD_TOKEN_FILE"'
