#!/bin/sh
# Runs the tests of control groups and sandboxes on a kernel with only cgroup version 2, on any
# machine: user-mode Linux (Debian's packages user-mode-linux and kmod, Linux 6.1 in bookworm) boots
# with this machine's file tree, read-only, as its root. It takes some minutes and needs root.
#
#   scripts/test_on_cgroup2.sh [PYTEST ARGUMENTS]
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)

if [ "$$" -ne 1 ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    {
        echo '#!/bin/sh'
        echo "exec '$repository/scripts/test_on_cgroup2.sh' $*"
    } >"$folder/init"
    chmod +x "$folder/init"
    linux.uml rootfstype=hostfs rootflags=/ ro mem=1536M "init=$folder/init" \
        con=null con0=fd:0,fd:1 </dev/null | tee "$folder/output"
    grep -q '^all passed' "$folder/output"
    exit
fi

exec >/dev/console 2>&1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /var/tmp
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
insmod "/usr/lib/uml/modules/$(uname -r)/kernel/fs/overlayfs/overlay.ko"  # what sandboxes show
cd "$repository"
if [ "$#" -eq 0 ]; then
    set -- tests/unit/sandbox/local/test_cgroup.py tests/unit/sandbox/local/test_janitor.py \
        tests/conformance/test_local.py
fi
.venv/bin/python -m pytest -p no:cacheprovider -q -o timeout=600 "$@" && echo 'all passed'
echo o >/proc/sysrq-trigger
sleep 60
