# Measurements beside glibc's malloc and Debian's allocators; tables and plots go to $(BUILD)/bench.
ROUNDS ?= 3
SCALE  ?= 1

.PHONY: bench bench-growth bench-memory
bench: setup-bench $(SO) trace ## time, memory, instructions, start at full length: ROUNDS=3 SCALE=1
	@tests/bench/start $(BUILD)
	@tests/bench/instructions $(BUILD)
	@tests/bench/run $(BUILD) --rounds $(ROUNDS) --most 6 --fill 6 --scale $(SCALE)

bench-growth: setup-bench $(SO) ## cost per operation by live blocks, size, threads, arenas: a plot each
	@tests/bench/growth $(BUILD) --rounds $(ROUNDS) --scale $(SCALE)

bench-memory: setup-bench $(SO) ## memory over time: phases, threads that come and go, hits only, holes; a table and a plot each
	@tests/bench/memory $(BUILD)
