# `make demo`: a quick build, then a tour of ten seconds. `make build`: the fast binary.
# `make build-pgo`: the fastest, for releases. `make wheel-pgo`: the same for Python. `make fast`: nearly as fast as
# `make build`, for daily work.
# `make test`: everything CI runs.

CARGO ?= cargo
# Where cargo builds.
TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)

.PHONY: build pgo build-pgo fast demo test lint bench counts reproduce apps fuzz mutants wheel wheel-pgo sdist clean

build:
	$(CARGO) build --release --locked --package tailcut-cli

# The fast binary, laid out by a profile of its own benchmarks: twice the build and a run of some minutes. Both builds
# must give the same results. Needs `rustup component add llvm-tools`. The profile of the wheel, below, is its own.
PGO := $(abspath $(TARGET))/pgo
RUSTC ?= rustc
HOST = $(shell $(RUSTC) -vV | sed -n 's/^host: //p')
PROFDATA = $(firstword $(wildcard $(shell $(RUSTC) --print sysroot)/lib/rustlib/*/bin/llvm-profdata))
TRAIN = RUSTFLAGS="-Cprofile-generate=$(PGO)/raw"
TRAINED = --locked --release --target $(HOST) --target-dir $(PGO)/trained
USED = --locked --release --target $(HOST) --target-dir $(PGO)/used
pgo:
	@test -n "$(PROFDATA)" || { echo "llvm-profdata is missing: rustup component add llvm-tools" >&2; exit 1; }
	rm -rf $(PGO)/raw

build-pgo: pgo
	$(TRAIN) $(CARGO) build $(TRAINED) --package tailcut-cli
	$(PGO)/trained/$(HOST)/release/tailcut bench
	$(PROFDATA) merge -o $(PGO)/benchmarks.profdata $(PGO)/raw
	RUSTFLAGS="-Cprofile-use=$(PGO)/benchmarks.profdata" $(CARGO) build $(USED) --package tailcut-cli
	cp $(PGO)/used/$(HOST)/release/tailcut $(PGO)/tailcut
	sh tests/same-digests $(PGO)/trained/$(HOST)/release/tailcut $(PGO)/tailcut
	@echo "built $(PGO)/tailcut"

fast:
	$(CARGO) build --profile fast --locked --package tailcut-cli

# The tour is short, so it is built without optimisations that pay off only in a long run.
demo:
	$(CARGO) build --profile demo --locked --package tailcut-cli --no-default-features
	$(TARGET)/demo/tailcut demo

test: lint
	CARGO="$(CARGO)" sh tests/run

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

bench: build
	$(TARGET)/release/tailcut bench

# Instructions a request, into tests/counts.toml. Needs valgrind.
counts:
	CARGO="$(CARGO)" sh tests/counts update

# The papers' figures at full size, into docs/reproduction.md and the folder docs/reproduction, and the
# combinations of their schemes, into docs/composed.md and docs/composed. Figures on real traces need
# TAILCUT_TRACES; without it they state that the trace is missing.
reproduce: build
	$(TARGET)/release/tailcut reproduce --report docs/reproduction.md
	$(TARGET)/release/tailcut reproduce composed --report docs/composed.md

# Databases and file system workloads on the served drive, into docs/applications.md. Each application needs its tools, and a
# mount needs root. SIZE=small takes seconds; ONLY=rocksdb runs one. RESULTS is the folder of the results.
SIZE ?= normal
RESULTS ?= $(TARGET)/apps
PROGRAM ?= $(TARGET)/release/tailcut
apps:
	test -x $(PROGRAM) || $(MAKE) build
	python3 -B apps/run.py --tailcut $(PROGRAM) --size $(SIZE) --results $(RESULTS) $(if $(ONLY),--only $(ONLY)) \
		$(if $(filter normal,$(SIZE)),$(if $(ONLY),,--page docs/applications.md))

# Needs cargo-fuzz and a nightly toolchain; `make test` drives the same functions with a
# seeded generator instead.
fuzz:
	for target in $$(cd fuzz && $(CARGO) fuzz list); do \
		(cd fuzz && $(CARGO) fuzz run $$target -- -max_total_time=60) || exit 1; \
	done

# About 200 mutants, an hour or two on two cores.
MUTANTS_EVERY ?= 11
MUTANTS_SEED ?= 0
mutants:
	CARGO="$(CARGO)" sh tests/mutants $(MUTANTS_EVERY) $(MUTANTS_SEED)

# The Python package as a wheel and as a source distribution, into target/wheels. Need Python 3.10 and pip.
MATURIN ?= $(TARGET)/maturin/bin/maturin
$(TARGET)/maturin/bin/maturin:
	python3 -m venv $(TARGET)/maturin
	$(TARGET)/maturin/bin/python -m pip install --quiet 'maturin>=1.9,<2'

wheel: $(MATURIN)
	$(MATURIN) build --release --locked --out $(TARGET)/wheels

# The wheel, laid out by a profile of runs from Python (python/train.py). Its modules are built by other features than the
# program, so that it has its own profile. Both builds must give the same results.
WHEELS := $(PGO)/wheels
VENV := $(PGO)/python
wheel-pgo: pgo $(MATURIN)
	rm -rf $(WHEELS)
	$(TRAIN) $(MATURIN) build $(TRAINED) --out $(WHEELS)/trained
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --force-reinstall $(WHEELS)/trained/*.whl
	$(VENV)/bin/python -I python/train.py > $(PGO)/trained.digests
	$(PROFDATA) merge -o $(PGO)/wheel.profdata $(PGO)/raw
	RUSTFLAGS="-Cprofile-use=$(PGO)/wheel.profdata" $(MATURIN) build $(USED) --out $(WHEELS)/used
	$(VENV)/bin/python -m pip install --quiet --force-reinstall --no-deps $(WHEELS)/used/*.whl
	$(VENV)/bin/python -I python/train.py > $(PGO)/used.digests
	diff $(PGO)/trained.digests $(PGO)/used.digests
	mkdir -p $(TARGET)/wheels
	cp $(WHEELS)/used/*.whl $(TARGET)/wheels
	@echo "the same results in $$(wc -l < $(PGO)/used.digests) runs; built $(TARGET)/wheels"

sdist: $(MATURIN)
	$(MATURIN) sdist --out $(TARGET)/wheels

clean:
	$(CARGO) clean
