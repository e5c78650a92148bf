# The recorder and qed-replay, which stand on top of any malloc, with none of the library's code.
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
