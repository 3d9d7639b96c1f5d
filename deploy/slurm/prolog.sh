#!/usr/bin/env bash
# Slurm's Prolog, which runs as root on each node: starts a reward server under systemd, with control
# groups of its own, for a job that has asked for the feature `reward-server`.
#
# It always ends with 0, because Slurm takes a node out of service if its Prolog fails. Without a
# server, taskprolog.sh ends the tasks of the job.
set -euo pipefail
umask 022
PATH=/usr/sbin:/usr/bin:/sbin:/bin

case ",${SLURM_JOB_CONSTRAINTS-}," in *[!a-z0-9-]reward-server[!a-z0-9-]*) ;; *) exit 0 ;; esac
trap 'logger --tag reward-server "job $SLURM_JOB_ID: no server was started" || true; exit 0' ERR
# shellcheck source=jobs.conf source-path=SCRIPTDIR
. "${REWARD_SERVER_JOBS_CONF:-/etc/reward-server/jobs.conf}"

folder=$run/job-$SLURM_JOB_ID
port=$((20000 + SLURM_JOB_ID % 10000))

mkdir -p "$run"
mkdir "$folder"
token=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
# One copy for the server, one for the owner of the job.
install -m 0400 -o "$user" /dev/null "$folder/tokens"
install -m 0400 -o "$SLURM_JOB_UID" /dev/null "$folder/token"
echo "$token" | tee "$folder/tokens" >"$folder/token"
printf 'port = %d\ntoken_file = "%s/tokens"\n' "$port" "$folder" >"$folder/server.toml"
systemd-run --quiet --collect --unit="reward-server-job-$SLURM_JOB_ID" \
    --property=User="$user" --property=Delegate=yes --property=NoNewPrivileges=yes \
    --property=KillMode=mixed --property=TimeoutStopSec=60 --property=LimitNOFILE=65536 \
    "$program" serve --config "$folder/server.toml"
deadline=$((SECONDS + start_seconds))
until "$program" probe --config "$folder/server.toml" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ]
    sleep 1
done
echo "127.0.0.1:$port" >"$folder/target"
