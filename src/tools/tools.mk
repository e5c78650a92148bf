# The recorder and qed-replay, which stand on top of any malloc, with none of the library's code; and the debug build.
TRACE := $(BUILD)/libqedmalloc-record.so $(BUILD)/qed-replay
RECORD_OBJ := $(patsubst %,$(BUILD)/obj/tools/%.o,record record_cxx)
REPLAY_OBJ := $(patsubst %,$(BUILD)/obj/tools/%.o,replay load play seed sizes)

COMPILE_TOOL = $(COMPILE) -Itests
LINK_RECORD  = $(CC) -shared -pthread -Wl,-soname,libqedmalloc-record.so -Wl,-z,nodelete,-z,now,-z,relro $(CFLAGS) $(LDFLAGS) $(RECORD_OBJ)
LINK_REPLAY  = $(CC) -pthread $(CFLAGS) $(LDFLAGS) $(REPLAY_OBJ)
$(foreach c,COMPILE_TOOL LINK_RECORD LINK_REPLAY,$(eval $(call command,$c)))

.PHONY: traces
traces: setup-bench trace $(SO) ## records redis, python3 and cc1, replays them on each allocator: time, memory, plots; build/traces/
	@src/tools/run $(BUILD) --rounds $(ROUNDS)

$(BUILD)/obj/tools/%.o: src/tools/%.c $(call by,COMPILE_TOOL)
	@mkdir -p $(@D)
	@echo "  CC $<"
	@$(COMPILE_TOOL) $< -o $@

$(BUILD)/libqedmalloc-record.so: $(RECORD_OBJ) $(call by,LINK_RECORD)
	@echo "  LD $@"
	@$(LINK_RECORD) -o $@

$(BUILD)/qed-replay: $(REPLAY_OBJ) $(call by,LINK_REPLAY)
	@echo "  LD $@"
	@$(LINK_REPLAY) -o $@

# ---- the debug build -----------------------------------------------------------------------------------------------
# The shipped object with its malloc family renamed to inner_NAME, and annotate.c on top of it. The extended API, whose blocks would not be
# annotated, is not there: a program that calls it does not link.
ANNOTATED := malloc calloc realloc reallocarray free free_sized free_aligned_sized aligned_alloc posix_memalign memalign valloc pvalloc malloc_usable_size
ALSO      := cfree $(addprefix __libc_,malloc calloc realloc free memalign valloc pvalloc)
EXTENDED  := mallocx rallocx xallocx sallocx dallocx sdallocx nallocx
DEBUG     := $(BUILD)/libqedmalloc-debug.so $(BUILD)/libqedmalloc-prefix-debug.a

COMPILE_ANNOTATE = $(COMPILE) -fno-lto
RENAME           = $(OBJCOPY) $(foreach n,$(ANNOTATED),--redefine-sym qed_$n=inner_$n --localize-symbol=$n) \
                   $(foreach n,$(ALSO),--localize-symbol=$n) $(foreach n,$(EXTENDED),--localize-symbol=$n --localize-symbol=qed_$n)
JOIN_DEBUG       = $(LD) -r
LOCALIZE_INNER   = $(OBJCOPY) --wildcard --localize-symbol='inner_*'
LINK_DEBUG       = $(CC) -shared -pthread -Wl,-soname,libqedmalloc-debug.so -Wl,--version-script=src/api/exports.map -Wl,-z,nodelete,-z,now,-z,relro $(CFLAGS) $(LDFLAGS)
$(foreach c,COMPILE_ANNOTATE RENAME JOIN_DEBUG LOCALIZE_INNER LINK_DEBUG,$(eval $(call command,$c)))

.PHONY: debug debug-test
debug: $(DEBUG)  ## libqedmalloc-debug.so, -prefix-debug.a: Valgrind and AddressSanitizer know the blocks

debug-test: debug lib ## what both say of programs on the debug build: misuse, and nothing of correct ones
	@ci/setup package
	@tests/tools/debug $(BUILD)

$(BUILD)/obj/annotate-drop-in.o $(BUILD)/obj/annotate-prefix.o: src/tools/annotate.c $(call by,COMPILE_ANNOTATE)
	@mkdir -p $(@D)
	@echo "  CC $< ($(@F))"
	@$(COMPILE_ANNOTATE) $(if $(findstring prefix,$@),-DQED_PREFIX_ONLY) $< -o $@

$(BUILD)/obj/annotate-cxx.o: src/api/cxx.c $(call by,COMPILE_ANNOTATE)
	@mkdir -p $(@D)
	@$(COMPILE_ANNOTATE) -DQED_CXX_CALLS $< -o $@

$(BUILD)/debug-%.o: $(BUILD)/obj/annotate-%.o $(call by,RENAME) $(call by,JOIN_DEBUG) $(call by,LOCALIZE_INNER)
	@$(RENAME) $(filter $(BUILD)/qedmalloc%,$^) $@.inner
	@$(JOIN_DEBUG) $< $@.inner -o $@ && rm $@.inner && $(LOCALIZE_INNER) $@
$(BUILD)/debug-drop-in.o: $(BUILD)/qedmalloc.o
$(BUILD)/debug-prefix.o: $(BUILD)/qedmalloc-prefix.o

$(BUILD)/libqedmalloc-debug.so: $(BUILD)/debug-drop-in.o $(BUILD)/obj/annotate-cxx.o $(BUILD)/obj/api/cxx_catch.o src/api/exports.map $(call by,LINK_DEBUG)
	@echo "  LD $@"
	@$(LINK_DEBUG) $(filter %.o,$^) -o $@

$(BUILD)/libqedmalloc-prefix-debug.a: $(BUILD)/debug-prefix.o $(call by,ARCHIVE)
	@echo "  AR $@"
	@rm -f $@ && $(ARCHIVE) $@ $(filter %.o,$^)
