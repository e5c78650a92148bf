# The libraries, and what every other part builds with: flags, commands, variants.
WARN     := -Wall -Wextra -Wconversion -Wundef -Werror -Wno-unknown-pragmas
CPPFLAGS := -Isrc -Ispec -Isrc/include -D_GNU_SOURCE $(addprefix -D,$(CONFIG))
# -fno-builtin-*: the compiler must not turn the bodies of calloc or free into calls of themselves.
# -fexceptions: operator new throws through C frames. initial-exec: one load reaches the thread's cache.
# -falign-functions: the fast paths begin on cache lines of their own, wherever the linker puts them.
# -fdebug-prefix-map: the same bytes wherever the folder is.
# -fdata-sections: a variable of its own for the linker, which puts long tables first (LONG_TABLE), so that all others share few pages.
# -fno-tree-slsr (GCC): array elements stay indexed operands; without it their address is computed first.
FLAGS    := -std=gnu11 -fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions -fno-plt -falign-functions=64 -fdata-sections -pthread \
            $(addprefix -fno-builtin-,malloc calloc realloc free aligned_alloc) -fdebug-prefix-map=$(CURDIR)=. $(if $(findstring clang,$(CC)),,-fno-tree-slsr) $(WARN)
CXXFLAGS := -std=c++17 -fdebug-prefix-map=$(CURDIR)=. -fPIC -fvisibility=hidden -fno-rtti -fno-plt -Wall -Wextra -Werror
, := ,

# What nothing but the heap profiler uses goes with it.
NO_PROF  := $(if $(filter QED_PROF=0,$(CONFIG)),src/prof/% $(addprefix src/,ds/rb_tree.c ds/cuckoo_hash.c math/hash.c math/geometric.c math/prng.c))
NO_OS    := $(filter-out $(NO_PROF) src/api/% src/tools/% %/os_linux.c %/os_fake.c,$(wildcard src/*/*.c))
API      := $(filter-out src/api/cxx.c src/api/deepbind.c,$(wildcard src/api/*.c))
CORE_OBJ := $(NO_OS:src/%.c=$(BUILD)/obj/%.o)
LINUX    := $(BUILD)/obj/platform/os_linux.o
FAKE     := $(BUILD)/obj/platform/os_fake.o
API_OBJ  := $(API:src/%.c=$(BUILD)/obj/%.o)
PRE_OBJ  := $(API:src/%.c=$(BUILD)/obj/prefix/%.o)
# cxx_catch makes its references weak by the assembler, which link-time optimization would not see.
CXX_OBJ  := $(BUILD)/obj/api/cxx.o $(BUILD)/obj/api/cxx_catch.o
STATIC_CXX_OBJ := $(CXX_OBJ:$(BUILD)/obj/api/%=$(BUILD)/obj/static/%)
SO       := $(BUILD)/libqedmalloc.so
DEEPBIND := $(BUILD)/libqedmalloc-deepbind.so

# ---- commands ----------------------------------------------------------------------------------------------------
# $(BUILD)/made-by/NAME holds the command $(NAME) as it was, and is out of date when the command, the list of its objects or the
# compiler's version is another one now. What a command makes depends on this file, so nothing in a build folder can be stale.
COMPILER := $(shell $(CC) --version 2>/dev/null | head -n 1)
# A compiler for 32 bits gets this word alone, not those on each line that needs more; the preprocessor does not know __LP64__ then.
ifeq ($(shell echo __LP64__ | $(CC) $(CFLAGS) -E -P -x c - 2>/dev/null),__LP64__)
$(error qedmalloc needs 64-bit addresses: build it for x86-64 or arm64)
endif
by = $(BUILD)/made-by/$1
differs = $(subst x$1x,,x$2x)$(subst x$2x,,x$1x)
define command
$$(call by,$1): $(if $(call differs,$(strip $($1) # $(COMPILER)),$(if $(wildcard $(call by,$1)),$(strip $(file <$(call by,$1))))),ANOTHER)
	@mkdir -p $$(@D)
	@printf '%s\n' '$$(subst ','\'',$$(strip $$($1) # $$(COMPILER)))' > $$@
endef
.PHONY: ANOTHER

COMPILE         = $(CC) $(CPPFLAGS) $(CFLAGS) $(FLAGS) -MMD -MP -c
COMPILE_PREFIX  = $(COMPILE) -DQED_PREFIX_ONLY
COMPILE_STATIC  = $(COMPILE) -DQED_STATIC_CXX
COMPILE_CXX     = $(CXX) $(CFLAGS) $(CXXFLAGS) -fno-lto -MMD -MP -c
LINK_SO         = $(CC) -shared -pthread -Wl,-soname,libqedmalloc.so.1 -Wl,--version-script=src/api/exports.map -Wl,-z,nodelete,-z,now,-z,relro \
                  -Wl,--sort-section=alignment $(CFLAGS) $(LDFLAGS) $(CORE_OBJ) $(LINUX) $(API_OBJ) $(CXX_OBJ)
JOIN            = $(LD) -r $(CORE_OBJ) $(LINUX) $(API_OBJ)
JOIN_PREFIX     = $(LD) -r $(CORE_OBJ) $(LINUX) $(PRE_OBJ)
JOIN_CXX        = $(LD) -r $(STATIC_CXX_OBJ)
LOCALIZE        = $(OBJCOPY) --localize-hidden
LOCALIZE_CATCH  = $(OBJCOPY) --localize-symbol=cxx_catch
LINK_DEEPBIND   = $(CC) -shared -Wl,-soname,libqedmalloc-deepbind.so -Wl,-z,nodelete,-z,now,-z,relro $(CFLAGS) $(LDFLAGS)
ARCHIVE         = $(AR) rcs
ARCHIVE_CORE    = $(AR) rcs $(BUILD)/libqed_core.a $(CORE_OBJ) $(FAKE)
$(foreach c,COMPILE COMPILE_PREFIX COMPILE_STATIC COMPILE_CXX LINK_SO LINK_DEEPBIND JOIN JOIN_PREFIX JOIN_CXX LOCALIZE LOCALIZE_CATCH ARCHIVE ARCHIVE_CORE,\
    $(eval $(call command,$c)))

# ---- variants ----------------------------------------------------------------------------------------------------
# The same targets with another compiler, flags or fuzzing engine: `$(call in,asan,stress)` makes $(BUILD)/asan/stress.
# Nothing is run there, so as many are made at a time as there are processors.
# fuzz: libFuzzer with ASan and UBSan; afl, cmplog: AFL++; replay: no engine, no sanitizer; cover: no engine, clang's source coverage.
PROCESSORS := $(shell nproc)
in     = $(MAKE) -s -j$(PROCESSORS) BUILD=$(BUILD)/$1 $(in_$1) $(addprefix $(BUILD)/$1/,$2)
engine = LIB_FUZZING_ENGINE=$(BUILD)/$1/obj/fuzz/$2.o
with_afl  = CC="env AFL_QUIET=1 $1 AFL_LLVM_DENYLIST=fuzz/afl.deny afl-clang-fast" CFLAGS="-O2 -g"
in_tsan   = CC=clang CFLAGS="-O1 -g -fsanitize=thread" $(call engine,tsan,seedloop)
in_asan   = CC=clang CFLAGS="-O1 -g -fsanitize=address$(,)undefined -fno-sanitize-recover=all"
in_plain  = CC=gcc CFLAGS="-O2 -g" $(call engine,plain,seedloop)
in_replay = CC=gcc CFLAGS="-O2 -g" $(call engine,replay,replay)
in_cover  = CC=clang CFLAGS="-O1 -g -fprofile-instr-generate -fcoverage-mapping" $(call engine,cover,replay)
in_fuzz   = CC=clang CFLAGS="-O1 -g -fsanitize=fuzzer-no-link$(,)address$(,)undefined -fno-sanitize-recover=all"
in_afl    = $(call with_afl,AFL_LLVM_INSTRUMENT=PCGUARD)
in_cmplog = $(call with_afl,AFL_LLVM_CMPLOG=1)

# ---- rules for files ---------------------------------------------------------------------------------------------

$(BUILD)/obj/%.o: src/%.c $(call by,COMPILE)
	@mkdir -p $(@D)
	@echo "  CC $<"
	@$(COMPILE) $< -o $@

$(BUILD)/obj/%.o: src/%.cc $(call by,COMPILE_CXX)
	@mkdir -p $(@D)
	@echo "  CXX $<"
	@$(COMPILE_CXX) $< -o $@

$(BUILD)/obj/static/%.o: src/api/%.cc $(call by,COMPILE_CXX)
	@mkdir -p $(@D)
	@$(COMPILE_CXX) -DQED_STATIC_CXX $< -o $@

$(BUILD)/obj/static/%.o: src/api/%.c $(call by,COMPILE_STATIC)
	@mkdir -p $(@D)
	@$(COMPILE_STATIC) $< -o $@

$(BUILD)/obj/prefix/%.o: src/%.c $(call by,COMPILE_PREFIX)
	@mkdir -p $(@D)
	@echo "  CC $< (prefix)"
	@$(COMPILE_PREFIX) $< -o $@

# The second name is the one by which programs find it that are linked with it.
$(SO): $(CORE_OBJ) $(LINUX) $(API_OBJ) $(CXX_OBJ) src/api/exports.map $(call by,LINK_SO)
	@echo "  LD $@"
	@$(LINK_SO) -o $@
	@ln -sf $(@F) $@.1

$(DEEPBIND): $(BUILD)/obj/api/deepbind.o $(call by,LINK_DEEPBIND)
	@echo "  LD $@"
	@$(LINK_DEEPBIND) $(BUILD)/obj/api/deepbind.o -ldl -o $@

# One object, its internal names made local, so that a static link sees the public names only; and the C++ operators.
$(BUILD)/libqedmalloc.a: $(BUILD)/qedmalloc.o $(BUILD)/qedmalloc-cxx.o
$(BUILD)/libqedmalloc-prefix.a: $(BUILD)/qedmalloc-prefix.o
$(BUILD)/libqedmalloc.a $(BUILD)/libqedmalloc-prefix.a: $(call by,ARCHIVE)
	@echo "  AR $@"
	@rm -f $@ && $(ARCHIVE) $@ $(filter %.o,$^)

$(BUILD)/qedmalloc.o: $(CORE_OBJ) $(LINUX) $(API_OBJ) $(call by,JOIN) $(call by,LOCALIZE)
	@$(JOIN) -o $@ && $(LOCALIZE) $@

$(BUILD)/qedmalloc-prefix.o: $(CORE_OBJ) $(LINUX) $(PRE_OBJ) $(call by,JOIN_PREFIX) $(call by,LOCALIZE)
	@$(JOIN_PREFIX) -o $@ && $(LOCALIZE) $@

# The compiler's own reference to the personality routine is shared between objects (COMDAT) and stays as it is.
$(BUILD)/qedmalloc-cxx.o: $(STATIC_CXX_OBJ) $(call by,JOIN_CXX) $(call by,LOCALIZE_CATCH)
	@$(JOIN_CXX) -o $@ && $(LOCALIZE_CATCH) $@

# The library's modules over the deterministic OS, for unit tests.
$(BUILD)/libqed_core.a: $(CORE_OBJ) $(FAKE) $(call by,ARCHIVE_CORE)
	@rm -f $@ && $(ARCHIVE_CORE)

-include $(wildcard $(BUILD)/*.d) $(shell find $(BUILD)/obj $(BUILD)/tests -name '*.d' 2>/dev/null)
