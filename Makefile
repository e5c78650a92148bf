# qedmalloc: `make help` lists what there is.
CC       := gcc
CXX      := $(if $(findstring clang,$(CC)),clang++,g++)
BUILD    ?= build
CONFIG   ?=
MODULE   ?=
TARGET   ?= malloc
SECONDS  ?= 60
SEED     ?= 1
FAULT    ?=
STRESS   ?= 60
ROUNDS   ?= 3
SCALE    ?= 1
CFLAGS   ?= -O2 -g
PREFIX   ?= /usr/local

WARN     := -Wall -Wextra -Wconversion -Wundef -Werror -Wno-unknown-pragmas
CPPFLAGS := -Isrc -Ispec -Isrc/include -D_GNU_SOURCE $(addprefix -D,$(CONFIG))
# -fno-builtin-*: the compiler must not turn the bodies of calloc or free into calls of themselves.
# -fexceptions: operator new throws through C frames. initial-exec: one load reaches the thread's cache.
# -falign-functions: the fast paths begin on cache lines of their own, wherever the linker puts them.
# -fno-tree-slsr (GCC): array elements stay indexed operands; without it their address is computed first.
FLAGS    := -std=gnu11 -fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions -fno-plt -falign-functions=64 -pthread \
            $(addprefix -fno-builtin-,malloc calloc realloc free aligned_alloc) $(if $(findstring clang,$(CC)),,-fno-tree-slsr) $(WARN)

NO_OS    := $(filter-out src/platform/os_linux.c src/platform/os_fake.c,$(wildcard src/platform/*.c src/math/*.c src/ds/*.c src/pages/*.c src/heap/*.c))
API      := $(filter-out src/api/cxx.c,$(wildcard src/api/*.c))
CORE_OBJ := $(NO_OS:src/%.c=$(BUILD)/obj/%.o)
LINUX    := $(BUILD)/obj/platform/os_linux.o
FAKE     := $(BUILD)/obj/platform/os_fake.o
API_OBJ  := $(API:src/%.c=$(BUILD)/obj/%.o)
PRE_OBJ  := $(API:src/%.c=$(BUILD)/obj/prefix/%.o)
CXX_OBJ  := $(BUILD)/obj/api/cxx.o $(BUILD)/obj/api/cxx_catch.o
STATIC_CXX_OBJ := $(CXX_OBJ:$(BUILD)/obj/api/%=$(BUILD)/obj/static/%)
UNIT     := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/*_test.c))
FUZZERS  := $(patsubst fuzz/%.c,%,$(wildcard fuzz/*_fuzz.c))
SO       := $(BUILD)/libqedmalloc.so
TRACE    := $(BUILD)/libqedmalloc-record.so $(BUILD)/qed-replay

TSAN     := BUILD=$(BUILD)/tsan CC=clang CFLAGS="-O1 -g -fsanitize=thread"
PLAIN    := BUILD=$(BUILD)/plain CC=gcc CFLAGS="-O2 -g"
ASAN     := BUILD=$(BUILD)/asan CC=clang CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"

# One harness, several engines. FUZZ: libFuzzer with ASan and UBSan; AFL, CMPLOG: AFL++; REPLAY: no engine, no sanitizer;
# COVER: no engine, clang's source coverage.
ENGINE   ?= libfuzzer
HOURS    ?= 1
CPU_HOURS ?=
LIB_FUZZING_ENGINE ?= -fsanitize=fuzzer
FUZZ_LD  ?= $(CC)
FUZZ     := BUILD=$(BUILD)/fuzz CC=clang CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
AFL      := AFL_QUIET=1 AFL_LLVM_INSTRUMENT=PCGUARD AFL_LLVM_DENYLIST=fuzz/afl.deny $(MAKE) -s BUILD=$(BUILD)/afl CC=afl-clang-fast CFLAGS="-O2 -g"
CMPLOG   := AFL_QUIET=1 AFL_LLVM_CMPLOG=1 AFL_LLVM_DENYLIST=fuzz/afl.deny $(MAKE) -s BUILD=$(BUILD)/cmplog CC=afl-clang-fast CFLAGS="-O2 -g"
REPLAY   := BUILD=$(BUILD)/replay CC=gcc CFLAGS="-O2 -g" LIB_FUZZING_ENGINE=$(BUILD)/replay/obj/fuzz/replay.o
COVER    := BUILD=$(BUILD)/cover CC=clang CFLAGS="-O1 -g -fprofile-instr-generate -fcoverage-mapping" LIB_FUZZING_ENGINE=$(BUILD)/cover/obj/fuzz/replay.o

.DEFAULT_GOAL := lib
.PHONY: help lib setup run check test unit abuse system preload stress prove models prove-smoke prove-smoke-sample prove-robust prove-matrix mutants mutants-sample fuzz fuzz-libfuzzer fuzz-afl fuzz-smoke fuzz-threads fuzz-mutants fuzz-replay fuzz-campaign fuzz-eacsl fuzz-case fuzz-oss fuzz-coverage trace trace-test traces rules clean install prove-coverage

help:                   ## this screen
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14
	@echo 'parameters    CONFIG="LG_PAGE=14 LG_QUANTUM=3 .."  MODULE=bitmap  TARGET=malloc  SECONDS=60  HOURS=1  CC=clang  BUILD=build  PREFIX=/usr/local'

run: setup-run lib      ## install what is missing, build, run redis, python3, sqlite3 and gcc on the library
	@tests/preload/run $(SO) $(BUILD)/preload redis python3 sqlite3 gcc

check: setup-all        ## everything: rules, tests, proofs, fuzz smoke; closes with N passed, N failed
	@ci/check rules test prove models prove-smoke-sample prove-weakened mutants-sample fuzz-smoke fuzz-eacsl

lib: $(SO) $(BUILD)/libqedmalloc.a $(BUILD)/libqedmalloc-prefix.a ## libqedmalloc.so, .a, and -prefix.a (qed_ names only) in build/

test: unit abuse fuzz-replay system stress preload trace-test ## all tests

unit: $(UNIT)           ## unit tests, one per module
	@tests/run $^

abuse: $(SO)            ## one program per misuse, each with its exact message
	@tests/abuse/run $(SO) $(BUILD)/abuse

system: lib             ## standards, threads, fork, dlopen, limits, exports, instruction count
	@tests/system/run $(BUILD)

preload: $(SO)          ## real programs, output compared with glibc's
	@tests/preload/run $(SO) $(BUILD)/preload

stress:                 ## 8 threads for STRESS seconds under ThreadSanitizer, and under ASan + UBSan
	@$(MAKE) -s $(TSAN) $(BUILD)/tsan/stress
	@$(MAKE) -s $(ASAN) $(BUILD)/asan/stress
	@tests/run "$(BUILD)/tsan/stress $(STRESS) 8" "$(BUILD)/asan/stress $(STRESS) 8"

prove: setup-prove      ## all proofs from scratch with Frama-C/WP; MODULE=bitmap proves one module
	@proofs/prove $(addprefix --define ,$(CONFIG)) $(MODULE)

models: setup-prove     ## the lock and lock-free publication: all states, with SPIN; broken variants must fail
	@proofs/models/run $(BUILD)

prove-smoke: setup-prove ## no contract is vacuous; prove-smoke-sample: a sixth of them, others with each commit
	@proofs/prove --smoke $(addprefix --define ,$(CONFIG)) $(MODULE)

prove-smoke-sample: setup-prove
	@proofs/prove --smoke --one-in 6 --seed "$$(git rev-parse HEAD 2>/dev/null)"

prove-coverage:         ## which functions are proven, by name
	@proofs/coverage

prove-robust: setup-prove ## which goals only one prover, or not every random seed, proves; resumes
	@proofs/prove --robust $(addprefix --define ,$(CONFIG)) $(MODULE)

prove-weakened: setup-prove ## contracts that are weakened: the theorems that rest on them must fail
	@proofs/weakened

prove-matrix: setup-prove setup-build ## unit tests and proofs in 12 other configurations; resumes
	@proofs/matrix $(MODULE)

mutants: setup-prove setup-fuzz ## 200 faults put into the proven text: the proof or a test must notice; resumes; mutants-sample: a few
	@proofs/mutants $(MODULE)

mutants-sample: setup-prove setup-fuzz
	@proofs/mutants --sample 16 --minutes 3 --seed "$$(git rev-parse HEAD 2>/dev/null)"

fuzz:                   ## one harness for SECONDS: TARGET=malloc ENGINE=libfuzzer (with ASan and UBSan) or afl
	@$(MAKE) -s fuzz-$(ENGINE)

fuzz-libfuzzer:
	@$(MAKE) -s $(FUZZ) $(BUILD)/fuzz/$(TARGET)_fuzz
	@mkdir -p $(BUILD)/corpus/$(TARGET)
	$(BUILD)/fuzz/$(TARGET)_fuzz -max_total_time=$(SECONDS) -max_len=4096 -len_control=1 -rss_limit_mb=3000 \
	    -artifact_prefix=$(BUILD)/corpus/$(TARGET)- $(addprefix -dict=,$(wildcard fuzz/dict/$(TARGET).dict)) \
	    $(BUILD)/corpus/$(TARGET) $(wildcard fuzz/corpus/$(TARGET))

fuzz-afl:
	@$(AFL) $(BUILD)/afl/$(TARGET)_fuzz
	@fuzz/afl $(BUILD) $(TARGET) $(SECONDS)

fuzz-smoke:             ## every harness on both engines for a few seconds, the whole API for SECONDS; the canary must fail
	@$(MAKE) -s $(FUZZ) $(FUZZERS:%=$(BUILD)/fuzz/%)
	@$(AFL) $(FUZZERS:%=$(BUILD)/afl/%)
	@$(MAKE) -s $(TSAN) LIB_FUZZING_ENGINE=$(BUILD)/tsan/obj/fuzz/seedloop.o $(BUILD)/tsan/threads_fuzz
	@fuzz/smoke $(BUILD) $(SECONDS) $(FUZZERS:_fuzz=)

fuzz-threads:           ## seeded schedules of real threads for SECONDS, under ThreadSanitizer and plain
	@$(MAKE) -s $(TSAN) LIB_FUZZING_ENGINE=$(BUILD)/tsan/obj/fuzz/seedloop.o $(BUILD)/tsan/threads_fuzz
	@$(MAKE) -s $(PLAIN) LIB_FUZZING_ENGINE=$(BUILD)/plain/obj/fuzz/seedloop.o $(BUILD)/plain/threads_fuzz
	@LABEL=threads tests/run "$(BUILD)/tsan/threads_fuzz $(SECONDS) $(SEED)" "$(BUILD)/plain/threads_fuzz $(SECONDS) $(SEED)"

fuzz-mutants:           ## plants each fault of fuzz/mutants: its harness must find it in 60 s of processor time; resumes
	@fuzz/mutate --build $(BUILD) $(FAULT)

fuzz-replay:            ## committed inputs, and every one that ever failed, without engine and sanitizers
	@$(MAKE) -s $(REPLAY) $(FUZZERS:%=$(BUILD)/replay/%)
	@fuzz/replay-all $(BUILD)/replay $(FUZZERS:_fuzz=)

CAMPAIGN := $(if $(filter all,$(TARGET)),$(filter-out canary threads,$(FUZZERS:_fuzz=)),$(TARGET))
fuzz-campaign:          ## AFL++ and libFuzzer together on all cores for HOURS or CPU_HOURS; resumes; TARGET="malloc slab" or all
	@$(MAKE) -s $(FUZZ) $(CAMPAIGN:%=$(BUILD)/fuzz/%_fuzz)
	@$(AFL) $(CAMPAIGN:%=$(BUILD)/afl/%_fuzz)
	@$(CMPLOG) $(CAMPAIGN:%=$(BUILD)/cmplog/%_fuzz)
	@$(MAKE) -s $(REPLAY) $(CAMPAIGN:%=$(BUILD)/replay/%_fuzz)
	@fuzz/campaign --build $(BUILD) $(if $(CPU_HOURS),--cpu-hours $(CPU_HOURS),--hours $(HOURS)) $(CAMPAIGN)

fuzz-eacsl: setup-eacsl ## the leaf modules' contracts as run-time checks (E-ACSL), under their harnesses
	@fuzz/eacsl --build $(BUILD) $(MODULE)

fuzz-case:              ## builds and runs the C file that a campaign made of a crash: CASE=.../case.c TARGET=malloc
	@rm -f $(BUILD)/replay/case
	@$(MAKE) -s $(REPLAY) $(BUILD)/replay/case
	$(BUILD)/replay/case

fuzz-oss:               ## what OSS-Fuzz would do: build.sh with libFuzzer, then a few runs of each program
	@rm -rf $(BUILD)/oss-fuzz-out && mkdir -p $(BUILD)/oss-fuzz-out
	@CC=clang CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer OUT=$(abspath $(BUILD)/oss-fuzz-out) WORK=$(abspath $(BUILD)) \
	    CFLAGS="-O1 -g -fsanitize=address,undefined,fuzzer-no-link" fuzz/oss-fuzz/build.sh
	@cd $(BUILD)/oss-fuzz-out && LABEL=oss-fuzz $(CURDIR)/tests/run $(foreach f,$(filter-out canary_fuzz,$(FUZZERS)),\
	    "./$f -runs=200 -max_len=256 > $f.log 2>&1 && echo ok $f || { tail $f.log; exit 1; }")

fuzz-coverage:          ## lines that the corpora reach: a table per folder, HTML in build/coverage
	@$(MAKE) -s $(COVER) $(FUZZERS:%=$(BUILD)/cover/%)
	@fuzz/coverage $(BUILD) $(filter-out canary threads,$(FUZZERS:_fuzz=))

bench: setup-bench $(SO) trace ## time, memory, instructions, start beside glibc and Debian's allocators: ROUNDS=3 SCALE=1; build/bench/
	@tests/bench/start $(BUILD)
	@tests/bench/instructions $(BUILD)
	@tests/bench/run $(BUILD) --rounds $(ROUNDS) --most 6 --fill 6 --scale $(SCALE)

bench-quick: setup-bench $(SO) trace ## the same with short workloads, as many rounds as 2 minutes take
	@tests/bench/start $(BUILD) 200
	@tests/bench/instructions $(BUILD)
	@tests/bench/run $(BUILD) --rounds 5 --seconds 120 --scale 0.1 --name quick

bench-growth: setup-bench $(SO) ## cost per operation by live blocks, size, threads, arenas: a plot each
	@tests/bench/growth $(BUILD) --rounds $(ROUNDS) --scale $(SCALE)

trace: $(TRACE)         ## libqedmalloc-record.so records the malloc calls of a program; qed-replay makes them again on any malloc

trace-test: trace $(SO) ## recorder and replay: what a program does is what the trace says
	@$(MAKE) -s $(REPLAY) $(BUILD)/replay/malloc_fuzz
	@tests/trace/run $(BUILD)

traces: setup-bench trace $(SO) ## records redis, python3 and cc1, replays them on each allocator: time, memory, plots; build/traces/
	@trace/run $(BUILD) --rounds $(ROUNDS)

rules:                  ## layers, one text, no axioms, what is generated is up to date
	@ci/rules

install: lib trace      ## into PREFIX
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib $(SO) $(BUILD)/libqedmalloc-record.so
	install -D -m 755 $(BUILD)/qed-replay $(DESTDIR)$(PREFIX)/bin/qed-replay
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib $(BUILD)/libqedmalloc.a $(BUILD)/libqedmalloc-prefix.a
	install -D -m 644 src/include/qedmalloc/qedmalloc.h $(DESTDIR)$(PREFIX)/include/qedmalloc/qedmalloc.h

clean:                  ## remove build/
	rm -rf $(BUILD)

test: setup-all
fuzz fuzz-smoke fuzz-threads fuzz-mutants fuzz-replay fuzz-campaign fuzz-coverage: setup-fuzz
setup-%:
	@ci/setup $*

# ---- rules for files ---------------------------------------------------------------------------------------------

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	@echo "  CC $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(FLAGS) -MMD -MP -c $< -o $@

CXXFLAGS_ := -std=c++17 -fPIC -fvisibility=hidden -fno-rtti -fno-plt -Wall -Wextra -Werror
$(BUILD)/obj/%.o: src/%.cc
	@mkdir -p $(@D)
	@echo "  CXX $<"
	@$(CXX) $(CFLAGS) $(CXXFLAGS_) -MMD -MP -c $< -o $@

$(BUILD)/obj/static/%.o: src/api/%.cc
	@mkdir -p $(@D)
	@$(CXX) -DQED_STATIC_CXX $(CFLAGS) $(CXXFLAGS_) -MMD -MP -c $< -o $@

$(BUILD)/obj/static/%.o: src/api/%.c
	@mkdir -p $(@D)
	@$(CC) -DQED_STATIC_CXX $(CPPFLAGS) $(CFLAGS) $(FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/obj/prefix/%.o: src/%.c
	@mkdir -p $(@D)
	@echo "  CC $< (prefix)"
	@$(CC) $(CPPFLAGS) -DQED_PREFIX_ONLY $(CFLAGS) $(FLAGS) -MMD -MP -c $< -o $@

$(SO): $(CORE_OBJ) $(LINUX) $(API_OBJ) $(CXX_OBJ) src/api/exports.map
	@echo "  LD $@"
	@$(CC) -shared -pthread -Wl,-soname,libqedmalloc.so -Wl,--version-script=src/api/exports.map \
	    -Wl,-z,nodelete,-z,now,-z,relro $(CFLAGS) $(filter %.o,$^) -o $@

# On top of any malloc, with none of the library's code.
$(BUILD)/obj/trace/%.o: trace/%.c
	@mkdir -p $(@D)
	@echo "  CC $<"
	@$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libqedmalloc-record.so: $(BUILD)/obj/trace/record.o $(BUILD)/obj/trace/record_cxx.o
	@echo "  LD $@"
	@$(CC) -shared -pthread -Wl,-soname,libqedmalloc-record.so -Wl,-z,nodelete,-z,now,-z,relro $(CFLAGS) $^ -o $@

$(BUILD)/qed-replay: $(patsubst %,$(BUILD)/obj/trace/%.o,replay load play seed)
	@echo "  LD $@"
	@$(CC) -pthread $(CFLAGS) $^ -o $@

# One object, its internal names made local, so that a static link sees the public names only; and the C++ operators.
$(BUILD)/libqedmalloc.a: $(BUILD)/qedmalloc.o $(BUILD)/qedmalloc-cxx.o
$(BUILD)/libqedmalloc-prefix.a: $(BUILD)/qedmalloc-prefix.o
$(BUILD)/%.a:
	@echo "  AR $@"
	@rm -f $@ && ar rcs $@ $^

$(BUILD)/qedmalloc.o: $(CORE_OBJ) $(LINUX) $(API_OBJ)
$(BUILD)/qedmalloc-prefix.o: $(CORE_OBJ) $(LINUX) $(PRE_OBJ)
$(BUILD)/qedmalloc.o $(BUILD)/qedmalloc-prefix.o:
	@ld -r $^ -o $@ && objcopy --localize-hidden $@

# The compiler's own reference to the personality routine is shared between objects (COMDAT) and stays as it is.
$(BUILD)/qedmalloc-cxx.o: $(STATIC_CXX_OBJ)
	@ld -r $^ -o $@ && objcopy --localize-symbol=cxx_catch $@

# Unit tests run over the deterministic OS; only the platform's own test meets the real one.
$(BUILD)/libqed_core.a: $(CORE_OBJ) $(FAKE)
	@rm -f $@ && ar rcs $@ $^

$(BUILD)/tests/platform_test: $(LINUX)
$(BUILD)/tests/%: tests/%.c $(BUILD)/libqed_core.a
	@mkdir -p $(@D)
	@$(CC) $(CPPFLAGS) -Itests -O1 -g -std=gnu11 -pthread $(WARN) -MMD -MP $< $(filter %.o,$^) $(BUILD)/libqed_core.a -o $@

test-%: $(BUILD)/tests/%_test
	$<

$(BUILD)/stress: tests/system/stress.c $(CORE_OBJ) $(LINUX) $(PRE_OBJ)
	@$(CC) $(CPPFLAGS) $(CFLAGS) -std=gnu11 -pthread $(WARN) $^ -o $@

# Harnesses that put all variables of the allocator back before each input (fuzz/reset.h).
RESET := malloc misuse pages page_cache bin

# A C file that fuzz/campaign made of a crash: with the world of the whole API, or with the module's harness.
CASE_OBJ := $(if $(filter malloc,$(TARGET)),,$(BUILD)/obj/fuzz/$(TARGET)_fuzz.o)
$(BUILD)/case: $(CASE) $(CASE_OBJ) $(CORE_OBJ) $(FAKE) $(PRE_OBJ)
	@$(CC) $(CPPFLAGS) -Itests -Ifuzz -DQED_PREFIX_ONLY $(CFLAGS) -pthread -w $(if $(filter misuse,$(TARGET)),-Wl$(,)--wrap=os_abort) $(if $(filter $(RESET),$(TARGET)),-Wl$(,)-T$(,)fuzz/reset.ld) $^ -o $@

# The harness of the misuses goes on where the trap would end the process.
FUZZ_LDFLAGS = $(if $(findstring misuse,$@),-Wl$(,)--wrap=os_abort) $(if $(filter $(RESET:=_fuzz),$(notdir $@)),-Wl$(,)-T$(,)fuzz/reset.ld)
, := ,

$(BUILD)/obj/fuzz/%.o: fuzz/%.c
	@mkdir -p $(@D)
	@$(CC) $(CPPFLAGS) -Itests -DQED_PREFIX_ONLY $(CFLAGS) -std=gnu11 -pthread -Wall -Wextra -Wno-unknown-pragmas -MMD -MP -c $< -o $@

$(BUILD)/%_fuzz: $(BUILD)/obj/fuzz/%_fuzz.o $(CORE_OBJ) $(FAKE) $(PRE_OBJ) $(filter %.o,$(LIB_FUZZING_ENGINE))
	@echo "  LD $@"
	@$(FUZZ_LD) $(CFLAGS) -pthread $(FUZZ_LDFLAGS) $^ $(filter-out %.o,$(LIB_FUZZING_ENGINE)) -o $@

# Real threads meet the real OS, with a clock and refusals of the harness.
THREADS_WRAP := $(addprefix -Wl$(,)--wrap=,os_map os_unmap os_map_metadata os_purge os_clock_ms)
$(BUILD)/threads_fuzz: $(BUILD)/obj/fuzz/threads_fuzz.o $(CORE_OBJ) $(LINUX) $(PRE_OBJ) $(filter %.o,$(LIB_FUZZING_ENGINE))
	@echo "  LD $@"
	@$(FUZZ_LD) $(CFLAGS) -pthread $(THREADS_WRAP) $^ $(filter-out %.o,$(LIB_FUZZING_ENGINE)) -o $@

.SECONDARY: $(FUZZERS:%=$(BUILD)/obj/fuzz/%.o)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
