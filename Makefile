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
# source, every MUTANTS_EVERY-th is tested, from MUTANTS_SEED (0 to MUTANTS_EVERY - 1) on. The
# tests must pass without a mutant first; cargo-mutants itself would do that for one crate only.
MUTANTS_EVERY ?= 11
MUTANTS_SEED ?= 0
MUTANTS_JOBS ?= 2
MUTANTS_TESTS = --lib --test=flash --test=laws --test=policy_laws --test=die_timing --test=swarm
mutants: export TAILCUT_SWARM_SECONDS = 10
mutants: export CARGO_PROFILE_TEST_OPT_LEVEL = 1
mutants:
	$(CARGO) test --locked --package tailcut-core --package tailcut-testkit $(MUTANTS_TESTS)
	$(CARGO) mutants --output target --no-shuffle --jobs $(MUTANTS_JOBS) --baseline skip \
		$(addprefix --cargo-arg=,$(MUTANTS_TESTS)) --timeout 180 --build-timeout 600 \
		--sharding round-robin --shard $(MUTANTS_SEED)/$(MUTANTS_EVERY)

clean:
	$(CARGO) clean
