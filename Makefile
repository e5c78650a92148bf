# The parts of the build lie beside what they build; here are help, what is typed every day, and what all parts share.
CC       := gcc
CROSS    ?= $(filter %-,$(subst gcc, ,$(CC)))
CXX      := $(if $(findstring clang,$(CC)),$(subst clang,clang++,$(CC)),$(if $(findstring gcc,$(CC)),$(subst gcc,g++,$(CC)),c++))
AR       := $(CROSS)ar
LD       := $(CROSS)ld
OBJCOPY  := $(CROSS)objcopy
CFLAGS   ?= -O2 -g
LDFLAGS  ?=
CONFIG   ?=
BUILD    ?= build
PREFIX   ?= /usr/local
MODULE   ?=
CACHE    ?=
TARGET   ?= malloc
SECONDS  ?= 60

# A copy of some of these folders is enough for what they build (proofs/ and fuzz/ test mutants in such copies).
PARTS := $(wildcard src/build.mk tests/tests.mk tests/bench/bench.mk tests/report/report.mk fuzz/fuzz.mk proofs/proofs.mk src/tools/tools.mk src/package/package.mk)

.DEFAULT_GOAL := lib
.PHONY: help help-all lib run unit test lint rules check prove fuzz bench-quick trace install clean

help:            ## this screen
	@echo 'make TARGET [PARAMETER=VALUE ...]      without a target: lib'
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' Makefile | expand -t 16
	@echo 'parameters'
	@echo '  CC=clang CFLAGS=-O3 BUILD=build PREFIX=/usr/local CROSS=aarch64-linux-gnu-'
	@echo '  CONFIG="LG_PAGE=14 LG_QUANTUM=3 SC_LG_NGROUP=1 LG_VADDR=48 QED_PROF=0"'
	@echo '  MODULE=bitmap (proofs)  TARGET=malloc SECONDS=60 ENGINE=afl (fuzzing)'

help-all:        ## every target, by part
	@for part in Makefile $(PARTS); do printf '\n%s\n' $$part; sed -nE 's/^([a-z%-]+):[^#]*## (.*)/  \1\t\2/p' $$part | expand -t 24; done

include $(PARTS)

lib: $(SO) $(DEEPBIND) $(BUILD)/libqedmalloc.a $(BUILD)/libqedmalloc-prefix.a ## libqedmalloc.so, .a, -prefix.a, -deepbind.so

run: setup-run lib ## installs what is missing, builds, runs real programs on it
	@tests/preload/run $(SO) $(BUILD)/preload redis python3 sqlite3 gcc

unit: $(UNIT)    ## unit tests; test-bitmap: one of them
	@tests/run $^

test: build-test unit abuse fuzz-replay system clients stress preload trace-test prof-test debug-test ## all tests

lint: setup-lint ## common mistakes in the C text (clang-tidy)
	@ci/lint

rules: setup-lint ## layers, one text, no axioms, lint, generated files
	@ci/rules

prove:           ## all proofs from scratch; MODULE=bitmap: one module
	@proofs/prove $(addprefix --cache ,$(CACHE)) $(addprefix --define ,$(CONFIG)) $(MODULE)

fuzz:            ## one harness for SECONDS: TARGET=malloc ENGINE=libfuzzer or afl
	@$(MAKE) -s fuzz-$(ENGINE)

check: setup-all ## rules, tests, proofs, fuzz smoke: `N passed, N failed`
	@ci/check rules test+prove prove-binary schedules+models prove-smoke-sample prove-weakened mutants-sample fuzz-smoke fuzz-eacsl

bench-quick: setup-bench $(SO) trace ## time and memory beside other allocators, in short
	@tests/bench/start $(BUILD) 200
	@tests/bench/instructions $(BUILD)
	@tests/bench/run $(BUILD) --rounds 5 --seconds 120 --scale 0.1 --name quick

trace: $(TRACE)  ## libqedmalloc-record.so and qed-replay: malloc calls, again

install: lib trace ## into PREFIX; uninstall removes it

clean:           ## removes build/
	rm -rf $(BUILD)

# What has a short life and allocates a lot takes less time with large steps, of huge pages.
rules lint models prove-binary prove-binary-mutants fuzz-eacsl: export GLIBC_TUNABLES = $(shell sed -n 's/^MALLOC = "\(.*\)"/\1/p' proofs/driver/wp.py)

test: setup-all
prove: setup-prove
fuzz: setup-fuzz
setup-%:
	@ci/setup $*
