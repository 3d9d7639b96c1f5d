# An image of a task, with the runner. `reward-server images adapt` builds it of the task's image, with
# the runner's files, adapt.py and prepare.sh beside this file.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}

USER root

# The folder of the interpreter; this default changes nothing.
ARG PYTHON_FOLDER=/opt/codereward/bin
ENV PATH=${PYTHON_FOLDER}:${PATH}
RUN set -eu; \
    command -v python3 >/dev/null && exit 0; \
    apt-get update; \
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends python3; \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log

COPY runner /opt/codereward/runner
COPY prepare.sh adapt.py /opt/codereward/
# The folder of the repository, or nothing.
ARG FOLDER=
ARG PRELOAD=
RUN python3 -I /opt/codereward/adapt.py "$FOLDER" "$PRELOAD" && sh /opt/codereward/prepare.sh

ENTRYPOINT []
WORKDIR /
USER 65534:65534
