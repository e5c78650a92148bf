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

COMPILE_FUZZ = $(CC) $(CPPFLAGS) -Itests -DQED_PREFIX_ONLY $(CFLAGS) -std=gnu11 -pthread -Wall -Wextra -Wno-unknown-pragmas -MMD -MP -c
# The harness is linked first: of constructors with one priority that of the first object runs first, as fuzz/reset.h needs.
LINK_PARTS   = $(CFLAGS) $(LDFLAGS) -pthread $(LIB_FUZZING_ENGINE) $(CORE_OBJ) $(FAKE) $(PRE_OBJ)
LINK_FUZZ    = $(FUZZ_LD) $(LINK_PARTS)
# Real threads meet the real OS, with a clock and refusals of the harness.
LINK_THREADS = $(FUZZ_LD) $(CFLAGS) $(LDFLAGS) -pthread $(LIB_FUZZING_ENGINE) $(CORE_OBJ) $(LINUX) $(PRE_OBJ) \
               $(addprefix -Wl$(,)--wrap=,os_map os_unmap os_map_metadata os_purge os_clock_ms)
$(foreach c,COMPILE_FUZZ LINK_FUZZ LINK_THREADS,$(eval $(call command,$c)))

.PHONY: fuzz-libfuzzer fuzz-afl fuzz-smoke fuzz-threads fuzz-mutants fuzz-replay fuzz-campaign fuzz-eacsl fuzz-case fuzz-oss fuzz-coverage
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
	+@$(call in,cover,$(FUZZERS))
	@fuzz/coverage $(BUILD) $(filter-out canary threads,$(FUZZERS:_fuzz=))

fuzz-smoke fuzz-threads fuzz-mutants fuzz-replay fuzz-campaign fuzz-coverage: setup-fuzz

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

.SECONDARY: $(FUZZERS:%=$(BUILD)/obj/fuzz/%.o)
