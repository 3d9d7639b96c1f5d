#!/usr/bin/env bash
# Slurm's Epilog, which runs as root on each node when a job ends: stops the job's reward server.
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin

# shellcheck source=jobs.conf source-path=SCRIPTDIR
. "${REWARD_SERVER_JOBS_CONF:-/etc/reward-server/jobs.conf}"
folder=$run/job-$SLURM_JOB_ID
[ -d "$folder" ] || exit 0
systemctl stop "reward-server-job-$SLURM_JOB_ID" 2>/dev/null || true
rm -rf -- "$folder"
