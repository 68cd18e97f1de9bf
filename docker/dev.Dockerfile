# The image for development: that of continuous integration, with a debugger and an editor.
#   docker build -f docker/ci.Dockerfile -t apgas-ci . && docker build -f docker/dev.Dockerfile -t apgas-dev .
#   docker run --rm -it --cap-add SYS_PTRACE -v "$PWD":/src apgas-dev
FROM apgas-ci
RUN apt-get update -q && apt-get install -y -q --no-install-recommends gdb valgrind less vim-tiny \
    openssh-client bash-completion && rm -rf /var/lib/apt/lists/*
CMD ["bash"]
