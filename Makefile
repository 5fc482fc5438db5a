# `make demo`: a quick build, then a tour of ten seconds. `make build`: the fast binary.
# `make test`: everything CI runs.

CARGO ?= cargo

.PHONY: build demo test lint bench reproduce fuzz mutants clean

build:
	$(CARGO) build --release --locked

# The tour is short, so it is built without the optimisation that a long run pays back.
demo:
	$(CARGO) build --profile demo --locked --package tailcut-cli --no-default-features
	target/demo/tailcut demo

test: lint
	CARGO="$(CARGO)" sh tests/run

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

bench: build
	target/release/tailcut bench

# The papers' figures at full size, into docs/reproduction.md, and what their schemes come to
# together, into docs/composed.md. Figures on real traces need
# TAILCUT_TRACES; without it they say so.
reproduce: build
	target/release/tailcut reproduce --report docs/reproduction.md
	target/release/tailcut reproduce composed --report docs/composed.md

# Needs cargo-fuzz and a nightly toolchain; `make test` drives the same functions with a
# seeded generator instead.
fuzz:
	for target in $$(cd fuzz && $(CARGO) fuzz list); do \
		(cd fuzz && $(CARGO) fuzz run $$target -- -max_total_time=60) || exit 1; \
	done

# Needs cargo-mutants. Of the mutants that `.cargo/mutants.toml` asks for, in the order of the
# source, every MUTANTS_EVERY-th is tested, from MUTANTS_SEED (0 to MUTANTS_EVERY - 1) on.
MUTANTS_EVERY ?= 7
MUTANTS_SEED ?= 0
mutants:
	TAILCUT_SWARM_SECONDS=10 $(CARGO) mutants --output target --no-shuffle \
		--sharding round-robin --shard $(MUTANTS_SEED)/$(MUTANTS_EVERY)

clean:
	$(CARGO) clean
