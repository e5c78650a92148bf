# Measurements beside glibc's malloc and Debian's allocators; tables and plots go to $(BUILD)/bench.
ROUNDS ?= 3
SCALE  ?= 1

.PHONY: bench bench-growth bench-memory bench-tails bench-locks bench-profiling
bench: setup-bench $(SO) trace ## time, memory, instructions, start, single calls, memory over time, at full length: ROUNDS=3 SCALE=1
	@tests/bench/start $(BUILD)
	@tests/bench/instructions $(BUILD)
	@tests/bench/run $(BUILD) --rounds $(ROUNDS) --most 6 --fill 6 --scale $(SCALE)
	@tests/bench/tails $(BUILD) --rounds $(ROUNDS) --scale $(SCALE)
	@tests/bench/memory $(BUILD)

bench-growth: setup-bench $(SO) ## cost per operation by live blocks, size, threads, arenas: a plot each
	@tests/bench/growth $(BUILD) --rounds $(ROUNDS) --scale $(SCALE)

bench-memory: setup-bench $(SO) ## memory over time: phases, threads that come and go, hits only, holes; a table and a plot each
	@tests/bench/memory $(BUILD)

bench-tails: setup-bench $(SO) ## how long single calls take: median, 99.9 %, 99.99 %, the greatest with its cause
	@tests/bench/tails $(BUILD) --rounds $(ROUNDS) --scale $(SCALE)

bench-locks: setup-bench $(SO) ## how often the workloads take each lock, instructions under it, and how many cores it allows
	@tests/bench/locks $(BUILD)

bench-profiling: setup-bench $(SO) trace ## CPU time and peak memory while the heap profiler samples, by workload
	@tests/bench/profiling $(BUILD) --scale $(SCALE)
