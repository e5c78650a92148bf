# Tests: unit tests over the deterministic OS, then the library as programs meet it.
STRESS ?= 60
UNIT   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/*_test.c))

COMPILE_TEST = $(CC) $(CPPFLAGS) -Itests -O1 -g -std=gnu11 -pthread $(WARN) -MMD -MP
LINK_STRESS  = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -std=gnu11 -pthread $(WARN) -MMD -MP $(CORE_OBJ) $(LINUX) $(PRE_OBJ)
$(foreach c,COMPILE_TEST LINK_STRESS,$(eval $(call command,$c)))

.PHONY: build-test abuse system clients mallctl-table preload stress trace-test prof-test
build-test:             ## each change of compiler, flags or parameters rebuilds what it must, and only that
	@tests/build/run

abuse: $(SO)            ## one program per misuse, each with its exact message
	@tests/abuse/run $(SO) $(BUILD)/abuse

system: lib             ## standards, threads, fork, dlopen, limits, exports, instruction count
	@tests/system/run $(BUILD)

clients: $(SO)          ## programs written for jemalloc, here and on Debian's libjemalloc2
	@tests/clients/run $(SO) $(BUILD)/clients

mallctl-table: lib      ## every name of jemalloc's manual: what mallctl says of it, and whether it works, has one value, is hidden or not there yet
	@tests/system/run $(BUILD) mallctl
	@$(BUILD)/system/mallctl tests/api/mallctl_names.tsv --table

preload: $(SO)          ## real programs, output compared with glibc's
	@tests/preload/run $(SO) $(BUILD)/preload

stress:                 ## 8 threads for STRESS seconds under ThreadSanitizer, and under ASan + UBSan
	+@$(call in,tsan,stress)
	+@$(call in,asan,stress)
	@tests/run "$(BUILD)/tsan/stress $(STRESS) 8" "$(BUILD)/asan/stress $(STRESS) 8"

prof-test: lib $(BUILD)/prof-check ## the heap profiler: its statistics, its contexts, what jeprof and protoc make of its dumps, dlopen, exceptions, signals, fork
	@ci/setup prof
	@tests/prof/run $(BUILD)

trace-test: trace $(SO) ## recorder and replay: what a program does is what the trace says
	+@$(call in,replay,malloc_fuzz)
	@tests/trace/run $(BUILD)

test-%: $(BUILD)/tests/%_test ## one unit test: test-bitmap
	$<

# Only the platform's own test meets the real OS.
$(BUILD)/tests/platform_test: $(LINUX)
$(BUILD)/tests/%: tests/%.c $(BUILD)/libqed_core.a $(call by,COMPILE_TEST)
	@mkdir -p $(@D)
	@$(COMPILE_TEST) $< $(filter %.o,$^) $(BUILD)/libqed_core.a -lm -o $@

$(BUILD)/prof-check: tests/prof/check.c $(CORE_OBJ) $(LINUX) $(PRE_OBJ) $(call by,LINK_STRESS)
	@$(LINK_STRESS) $< -lm -o $@

$(BUILD)/stress: tests/system/stress.c $(CORE_OBJ) $(LINUX) $(PRE_OBJ) $(call by,LINK_STRESS)
	@$(LINK_STRESS) $< -o $@
