# A Python interpreter, packages and the runner, for one execution at a time. `reward-server images
# build` builds it of a requirements.txt and an image.json, with the runner's files beside this one.
ARG BASE_IMAGE=debian:bookworm-slim

# What only the installation needs stays behind here: pip, and the authorities that the host trusts.
FROM ${BASE_IMAGE} AS packages

USER root

RUN set -eu; \
    apt-get update; \
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends python3-pip

COPY requirements.txt authorities.pem /build/
# Folders to leave out, such as "tests". Some packages import their own tests.
ARG LEAVE_OUT=
RUN set -eu; \
    export PIP_CERT=/build/authorities.pem; \
    python3 -m pip --no-cache-dir --disable-pip-version-check \
        install --only-binary :all: --no-compile --root-user-action ignore \
        --target /opt/codereward/packages --requirement /build/requirements.txt; \
    cd /opt/codereward/packages; \
    [ -z "$LEAVE_OUT" ] || find . -type d -name "$LEAVE_OUT" -prune -exec rm -r {} +; \
    # Some packages carry files in an older Python, which cannot be compiled.
    python3 -I -S -m compileall -q -j 0 --invalidation-mode unchecked-hash . || true
# Debian has this part of the standard library in a package of its own, which pip needs.
RUN set -eu; mkdir /build/library; \
    folder=$(python3 -I -S -W ignore -c 'import distutils; print(distutils.__path__[0])') || exit 0; \
    mkdir -p "/build/library$folder"; \
    cp -r "$folder/." "/build/library$folder"

FROM ${BASE_IMAGE}

USER root

RUN set -eu; \
    command -v python3 >/dev/null && exit 0; \
    apt-get update; \
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends python3; \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log

COPY --from=packages /opt/codereward/packages /opt/codereward/packages
COPY --from=packages /build/library /

COPY image.json /opt/codereward/
COPY runner /opt/codereward/runner
COPY prepare.sh /opt/codereward/
RUN sh /opt/codereward/prepare.sh

WORKDIR /
USER 65534:65534
