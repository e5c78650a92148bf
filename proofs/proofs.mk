# Proofs by Frama-C/WP, models by SPIN, and whether they notice faults.
.PHONY: models prove-binary prove-binary-mutants prove-smoke prove-smoke-sample prove-coverage prove-robust prove-weakened prove-matrix mutants mutants-sample
models: setup-prove     ## lock and accesses without one, all states, with SPIN; what is believed has a model, and pointers lie apart
	@proofs/satisfied
	@proofs/separated
	@proofs/models/run $(BUILD)

prove-binary: setup-prove setup-fuzz ## the machine code of the fast paths, of gcc and clang, does what the contracts say
	@proofs/binary/prove $(BUILD)

prove-binary-mutants: setup-prove setup-fuzz ## one instruction of it changed at a time: each must be refused
	@proofs/binary/mutants $(BUILD)

prove-smoke: setup-prove ## no contract is vacuous
	@proofs/prove --smoke $(addprefix --define ,$(CONFIG)) $(MODULE)

prove-smoke-sample: setup-prove ## the same for a twelfth of the functions, others with each commit
	@proofs/prove --smoke --one-in 12 --seed "$$(git rev-parse HEAD 2>/dev/null)"

prove-coverage:         ## which functions are proven, by name
	@proofs/coverage

prove-robust: setup-prove ## which goals only one prover, or not every random seed, proves; resumes
	@proofs/prove --robust $(addprefix --define ,$(CONFIG)) $(MODULE)

prove-weakened: setup-prove ## contracts that are weakened: the theorems that rest on them must fail
	@proofs/weakened

prove-matrix: setup-prove setup-build ## unit tests and proofs in 13 other configurations; resumes
	@proofs/matrix $(MODULE)

mutants: setup-prove setup-fuzz ## seven faults put into each proven module: the proof or a test must notice; resumes
	@proofs/mutants $(MODULE)

mutants-sample: setup-prove setup-fuzz ## a few of these faults, others with each commit
	@proofs/mutants --sample 16 --minutes 2 --seed "$$(git rev-parse HEAD 2>/dev/null)"
