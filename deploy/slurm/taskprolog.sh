#!/usr/bin/env bash
# Slurm's TaskProlog, which runs as the job's user before each task: what it prints as `export` becomes
# a variable of the task.
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin

# shellcheck source=jobs.conf source-path=SCRIPTDIR
. "${REWARD_SERVER_JOBS_CONF:-/etc/reward-server/jobs.conf}"
folder=$run/job-$SLURM_JOB_ID
[ -d "$folder" ] || exit 0
if [ ! -e "$folder/target" ]; then
    echo "print reward-server: no server was ready on this node"
    exit 1
fi
echo "export CODEREWARD_TARGET=$(cat "$folder/target")"
echo "export CODEREWARD_TOKEN_FILE=$folder/token"
