# Fuzzing: one harness a module, several engines (the variants fuzz, afl, cmplog, replay, cover of src/build.mk).
FUZZERS  := $(patsubst fuzz/%.c,%,$(wildcard fuzz/*_fuzz.c))
ENGINE   ?= libfuzzer
HOURS    ?= 1
CPU_HOURS ?=
SEED     ?= 1
FAULT    ?=
LIB_FUZZING_ENGINE ?= -fsanitize=fuzzer
FUZZ_LD  ?= $(CC)
CAMPAIGN := $(if $(filter all,$(TARGET)),$(filter-out canary threads,$(FUZZERS:_fuzz=)),$(TARGET))

# The harness `schedule` has objects of its own: clang's ThreadSanitizer puts a call before each access to memory, and fuzz/schedule.c has the
# functions that are called. The locks that are static get names that it can see, and os_fake's calls of the kernel lead there too.
SCHEDULE_CC  := $(if $(findstring clang,$(CC)),$(CC),clang)
SCHEDULE_OBJ := $(patsubst src/%.c,$(BUILD)/obj/schedule/%.o,$(NO_OS) src/platform/os_fake.c $(API))
SCHEDULE_RUN := $(BUILD)/obj/schedule/schedule.o

COMPILE_FUZZ = $(CC) $(CPPFLAGS) -Itests -DQED_PREFIX_ONLY $(CFLAGS) -std=gnu11 -pthread -Wall -Wextra -Wno-unknown-pragmas -MMD -MP -c
# The harness is linked first: of constructors with one priority that of the first object runs first, as fuzz/reset.h needs.
LINK_PARTS   = $(CFLAGS) $(LDFLAGS) -pthread $(LIB_FUZZING_ENGINE) $(CORE_OBJ) $(FAKE) $(PRE_OBJ)
LINK_FUZZ    = $(FUZZ_LD) $(LINK_PARTS)
# Real threads meet the real OS, with a clock and refusals of the harness.
LINK_THREADS = $(FUZZ_LD) $(CFLAGS) $(LDFLAGS) -pthread $(LIB_FUZZING_ENGINE) $(CORE_OBJ) $(LINUX) $(PRE_OBJ) \
               $(addprefix -Wl$(,)--wrap=,os_map os_unmap os_map_metadata os_purge os_discard os_clock_ms)
COMPILE_SCHEDULE = $(SCHEDULE_CC) $(CPPFLAGS) -Itests -DQED_PREFIX_ONLY -DSPIN_FIRST=0U -O2 -g $(filter-out -fno-tree-slsr,$(FLAGS)) -MMD -MP -c
WATCH_SCHEDULE   = -fsanitize=thread -mllvm -tsan-instrument-func-entry-exit=0 $(if $(findstring fuzzer-no-link,$(CFLAGS)),-fsanitize=fuzzer-no-link)
NAMES_SCHEDULE   = $(OBJCOPY) $(foreach f,mmap mprotect madvise pthread_atfork pthread_key_create pthread_setspecific,--redefine-sym $f=schedule_$f) $(foreach f,memcpy memmove memset,--redefine-sym $f=__tsan_$f)
LINK_SCHEDULE    = $(SCHEDULE_CC) -no-pie -pthread $(addprefix -Wl$(,)--wrap=,os_map os_unmap os_map_metadata os_map_sparse os_open os_purge os_discard os_clock_ms os_futex_wait \
                   os_futex_wake os_abort libc_single_threaded libc_stdio_lock libc_stdio_unlock libc_stdio_reset) $(SCHEDULE_RUN) $(SCHEDULE_OBJ)
$(foreach c,COMPILE_FUZZ LINK_FUZZ LINK_THREADS COMPILE_SCHEDULE WATCH_SCHEDULE NAMES_SCHEDULE LINK_SCHEDULE,$(eval $(call command,$c)))

.PHONY: fuzz-libfuzzer fuzz-afl fuzz-smoke fuzz-threads schedules fuzz-mutants fuzz-replay fuzz-campaign fuzz-eacsl fuzz-case fuzz-oss fuzz-coverage
fuzz-libfuzzer:         ## make fuzz ENGINE=libfuzzer
	+@$(call in,fuzz,$(TARGET)_fuzz)
	@mkdir -p $(BUILD)/corpus/$(TARGET)
	$(BUILD)/fuzz/$(TARGET)_fuzz -max_total_time=$(SECONDS) -max_len=4096 -len_control=1 -rss_limit_mb=3000 \
	    -artifact_prefix=$(BUILD)/corpus/$(TARGET)- $(addprefix -dict=,$(wildcard fuzz/dict/$(TARGET).dict)) \
	    $(BUILD)/corpus/$(TARGET) $(wildcard fuzz/corpus/$(TARGET))

fuzz-afl:               ## make fuzz ENGINE=afl
	+@$(call in,afl,$(TARGET)_fuzz)
	@fuzz/afl $(BUILD) $(TARGET) $(SECONDS)

fuzz-smoke:             ## every harness on both engines for a few seconds, the whole API for SECONDS; the canary must fail
	+@$(call in,fuzz,$(FUZZERS))
	+@$(call in,afl,$(FUZZERS))
	+@$(call in,tsan,threads_fuzz)
	@fuzz/smoke $(BUILD) $(SECONDS) $(FUZZERS:_fuzz=)

fuzz-threads:           ## seeded schedules of real threads for SECONDS, under ThreadSanitizer and plain
	+@$(call in,tsan,threads_fuzz)
	+@$(call in,plain,threads_fuzz)
	@LABEL=threads tests/run "$(BUILD)/tsan/threads_fuzz $(SECONDS) $(SEED)" "$(BUILD)/plain/threads_fuzz $(SECONDS) $(SEED)"

schedules: $(BUILD)/schedule_all ## all schedules of small programs with two to four preemptions
	@LABEL=schedules tests/run $(BUILD)/schedule_all

fuzz-mutants:           ## plants each fault of fuzz/mutants: its harness must find it in 60 s of processor time; resumes
	@fuzz/mutate --build $(BUILD) $(FAULT)

fuzz-replay:            ## committed inputs, and every one that ever failed, without engine and sanitizers
	+@$(call in,replay,$(FUZZERS))
	@fuzz/replay-all $(BUILD)/replay $(FUZZERS:_fuzz=)

fuzz-campaign:          ## AFL++ and libFuzzer together on all cores for HOURS or CPU_HOURS; resumes; TARGET="malloc slab" or all
	+@$(call in,fuzz,$(CAMPAIGN:%=%_fuzz))
	+@$(call in,afl,$(CAMPAIGN:%=%_fuzz))
	+@$(call in,cmplog,$(CAMPAIGN:%=%_fuzz))
	+@$(call in,replay,$(CAMPAIGN:%=%_fuzz))
	@fuzz/campaign --build $(BUILD) $(if $(CPU_HOURS),--cpu-hours $(CPU_HOURS),--hours $(HOURS)) $(CAMPAIGN)

fuzz-eacsl: setup-eacsl ## the leaf modules' contracts as run-time checks (E-ACSL), under their harnesses
	@fuzz/eacsl --build $(BUILD) $(MODULE)

fuzz-case:              ## builds and runs the C file that a campaign made of a crash: CASE=.../case.c TARGET=malloc
	@rm -f $(BUILD)/replay/case
	+@$(call in,replay,case)
	$(BUILD)/replay/case

fuzz-oss:               ## what OSS-Fuzz would do: build.sh with libFuzzer, then a few runs of each program
	@rm -rf $(BUILD)/oss-fuzz-out && mkdir -p $(BUILD)/oss-fuzz-out
	@CC=clang CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer OUT=$(abspath $(BUILD)/oss-fuzz-out) WORK=$(abspath $(BUILD)) \
	    CFLAGS="-O1 -g -fsanitize=address,undefined,fuzzer-no-link" fuzz/oss-fuzz/build.sh
	@cd $(BUILD)/oss-fuzz-out && LABEL=oss-fuzz $(CURDIR)/tests/run $(foreach f,$(filter-out canary_fuzz,$(FUZZERS)),\
	    "./$f -runs=200 -max_len=256 > $f.log 2>&1 && echo ok $f || { tail $f.log; exit 1; }")

fuzz-coverage:          ## lines that the corpora reach: a table per folder, HTML in build/coverage
	+@$(call in,cover,$(filter-out schedule_fuzz,$(FUZZERS)))
	@fuzz/coverage $(BUILD) $(filter-out canary threads schedule,$(FUZZERS:_fuzz=))

schedules fuzz-smoke fuzz-threads fuzz-mutants fuzz-replay fuzz-campaign fuzz-coverage: setup-fuzz

# ---- rules for files ---------------------------------------------------------------------------------------------

# Harnesses that put all variables of the allocator back before each input (fuzz/reset.h).
RESET := malloc ctl misuse pages page_cache bin
# The harness of the misuses goes on where the trap would end the process.
for_module = $(if $(filter misuse,$1),-Wl$(,)--wrap=os_abort) $(if $(filter $(RESET),$1),-Wl$(,)-T$(,)fuzz/reset.ld)
$(RESET:%=$(BUILD)/%_fuzz) $(BUILD)/case: fuzz/reset.ld
$(if $(findstring afl.deny,$(CC)),$(call by,COMPILE) $(call by,COMPILE_PREFIX) $(call by,COMPILE_FUZZ): fuzz/afl.deny)

# A C file that fuzz/campaign made of a crash: with the world of the whole API, or with the module's harness.
CASE_OBJ := $(if $(filter malloc,$(TARGET)),,$(BUILD)/obj/fuzz/$(TARGET)_fuzz.o)
$(BUILD)/case: $(CASE) $(CASE_OBJ) $(CORE_OBJ) $(FAKE) $(PRE_OBJ)
	@$(CC) $(CPPFLAGS) -Itests -Ifuzz -DQED_PREFIX_ONLY $(CFLAGS) -pthread -w $(call for_module,$(TARGET)) $(filter %.c %.o,$^) -o $@

$(BUILD)/obj/fuzz/%.o: fuzz/%.c $(call by,COMPILE_FUZZ)
	@mkdir -p $(@D)
	@$(COMPILE_FUZZ) $< -o $@

$(BUILD)/%_fuzz: $(BUILD)/obj/fuzz/%_fuzz.o $(CORE_OBJ) $(FAKE) $(PRE_OBJ) $(filter %.o,$(LIB_FUZZING_ENGINE)) $(call by,LINK_FUZZ)
	@echo "  LD $@"
	@$(FUZZ_LD) $< $(LINK_PARTS) $(call for_module,$*) -o $@

$(BUILD)/threads_fuzz: $(BUILD)/obj/fuzz/threads_fuzz.o $(CORE_OBJ) $(LINUX) $(PRE_OBJ) $(filter %.o,$(LIB_FUZZING_ENGINE)) $(call by,LINK_THREADS)
	@echo "  LD $@"
	@$(LINK_THREADS) $< -o $@

$(BUILD)/obj/schedule/%.o: src/%.c $(call by,COMPILE_SCHEDULE) $(call by,WATCH_SCHEDULE) $(call by,NAMES_SCHEDULE)
	@mkdir -p $(@D)
	@$(COMPILE_SCHEDULE) $(WATCH_SCHEDULE) $< -o $@ && $(NAMES_SCHEDULE) $@

# By clang itself: the compiler of AFL++ would count edges here too, and hide the name of its map.
$(BUILD)/obj/schedule/%.o: fuzz/%.c $(call by,COMPILE_SCHEDULE)
	@mkdir -p $(@D)
	@$(subst $(SCHEDULE_CC) $(CPPFLAGS),clang $(CPPFLAGS),$(COMPILE_SCHEDULE)) $< -o $@

$(BUILD)/schedule_fuzz: $(BUILD)/obj/schedule/schedule_fuzz.o $(SCHEDULE_RUN) $(SCHEDULE_OBJ) $(filter %.o,$(LIB_FUZZING_ENGINE)) $(call by,LINK_SCHEDULE)
	@echo "  LD $@"
	@$(LINK_SCHEDULE) $< $(LIB_FUZZING_ENGINE) -o $@

$(BUILD)/schedule_all: $(BUILD)/obj/schedule/schedule_all.o $(SCHEDULE_RUN) $(SCHEDULE_OBJ) $(call by,LINK_SCHEDULE)
	@echo "  LD $@"
	@$(LINK_SCHEDULE) $< -o $@

.SECONDARY: $(FUZZERS:%=$(BUILD)/obj/fuzz/%.o)
