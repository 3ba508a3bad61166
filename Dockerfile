# ci-eval with the engines that need nothing but Python: jedi, pylsp, zuban, ty … For others, build on this image, and add
# node, a JDK, go or ruby; `ci-eval doctor` says what is missing.
FROM python:3.12-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git libgomp1 && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 ci-eval && install --directory --owner=ci-eval /work
COPY . /usr/src/ci-eval
RUN cd /usr/src/ci-eval \
    && pip install --no-cache-dir --require-hashes --only-binary=:all: -r .ci/requirements-ml.txt \
    && pip install --no-cache-dir --no-index --no-deps --no-build-isolation .
USER ci-eval
WORKDIR /work
ENTRYPOINT ["ci-eval"]
