# The server with its page, as a user without rights; at run time it needs no network.
# How it is built and run: docs/operator/installing.md, which also says how to add LibreOffice, for .doc files.
# Checked by tests/docs/test_deploy.py.
FROM python:3.11-slim-bookworm AS built
ARG PACKAGES=
RUN pip install --no-cache-dir uv && python -m venv --without-pip /opt/lexloop
COPY . /src
WORKDIR /src
# PACKAGES=.[torch] adds torch, in its build for processors: the usual one brings gigabytes of accelerator libraries
RUN uv pip install --no-cache --python /opt/lexloop/bin/python --torch-backend cpu \
    --constraint constraints.txt . ./packages/formats ./packages/engines ./packages/workbench ./packages/server $PACKAGES

FROM python:3.11-slim-bookworm
RUN useradd --uid 1000 --create-home lexloop && install -d -o lexloop -g lexloop /home/lexloop/state
COPY --from=built /opt/lexloop /opt/lexloop
ENV PATH=/opt/lexloop/bin:$PATH \
    LEXLOOP_DATA_DIR=/home/lexloop/state/data \
    LEXLOOP_CACHE=/home/lexloop/state/cache \
    HF_HUB_OFFLINE=1 \
    TRANSFORMERS_OFFLINE=1
USER 1000:1000
WORKDIR /home/lexloop
EXPOSE 8321
CMD ["lexloop", "serve"]
