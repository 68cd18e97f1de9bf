# The image for continuous integration: every package of launch/prepare.sh, and nothing else.
#   docker build -f docker/ci.Dockerfile -t apgas-ci . && docker run --rm -v "$PWD":/src apgas-ci
ARG BASE=debian:12.11-slim
FROM ${BASE}
RUN apt-get update -q && apt-get install -y -q --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY launch/prepare.sh /opt/prepare.sh
RUN bash -c 'set -e; source /opt/prepare.sh; install_missing "${build_packages[@]}" "${test_packages[@]}" \
      "${moving_packages[@]}"' \
    && rm -rf /var/lib/apt/lists/*
# The sources that are mounted here belong to another user.
RUN git config --system --add safe.directory /src
CMD ["./.ci/run"]
