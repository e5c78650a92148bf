# qedmalloc: `make help` lists what there is.
CC       := gcc
BUILD    ?= build
CONFIG   ?=
MODULE   ?=
TARGET   ?= malloc
SECONDS  ?= 60
CFLAGS   ?= -O2 -g

WARN     := -Wall -Wextra -Wconversion -Wundef -Werror -Wno-unknown-pragmas
CPPFLAGS := -Isrc -Ispec -Isrc/include -D_GNU_SOURCE $(addprefix -D,$(CONFIG))
# -fno-builtin-*: the compiler must not turn the bodies of calloc or free into calls of themselves.
# -fexceptions: operator new throws through C frames. initial-exec: one load reaches the thread's cache.
FLAGS    := -std=gnu11 -fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions -fno-plt -pthread \
            $(addprefix -fno-builtin-,malloc calloc realloc free aligned_alloc) $(WARN)

CORE     := $(filter-out src/platform/os_fake.c,$(wildcard src/platform/*.c src/math/*.c src/ds/*.c src/pages/*.c src/heap/*.c))
API      := $(wildcard src/api/*.c)
CORE_OBJ := $(CORE:src/%.c=$(BUILD)/obj/%.o)
API_OBJ  := $(API:src/%.c=$(BUILD)/obj/%.o)
PRE_OBJ  := $(API:src/%.c=$(BUILD)/obj/prefix/%.o)
UNIT     := $(patsubst tests/%.c,%,$(wildcard tests/*_test.c))
LIBS     := $(BUILD)/libqedmalloc.so $(BUILD)/libqedmalloc.a $(BUILD)/libqedmalloc-prefix.a

.DEFAULT_GOAL := lib
.PHONY: help lib setup run check test unit abuse preload stress prove prove-smoke fuzz fuzz-smoke lint format clean install bench-fast

help:           ## this screen
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14
	@echo 'parameters:   CONFIG="LG_PAGE=14 LG_QUANTUM=3 ..."  MODULE=bitmap  TARGET=malloc  SECONDS=60  CC=clang  BUILD=build'

lib: $(LIBS)    ## build/libqedmalloc.{so,a} and build/libqedmalloc-prefix.a (qed_ names only)

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(FLAGS) -MMD -c $< -o $@

$(BUILD)/obj/prefix/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -DQED_PREFIX_ONLY $(CFLAGS) $(FLAGS) -MMD -c $< -o $@

$(BUILD)/libqed_core.a: $(CORE_OBJ)
	rm -f $@; ar rcs $@ $^

$(BUILD)/libqedmalloc.so: $(CORE_OBJ) $(API_OBJ) src/api/exports.map
	$(CC) -shared -pthread -Wl,-soname,libqedmalloc.so -Wl,--version-script=src/api/exports.map -Wl,-z,nodelete,-z,now,-z,relro \
	    $(CFLAGS) $(CORE_OBJ) $(API_OBJ) -o $@

# One object, its internal names made local, so that a static link sees the public names only.
$(BUILD)/libqedmalloc.a: $(CORE_OBJ) $(API_OBJ)
	ld -r $^ -o $(BUILD)/qedmalloc.o && objcopy --localize-hidden $(BUILD)/qedmalloc.o
	rm -f $@; ar rcs $@ $(BUILD)/qedmalloc.o

$(BUILD)/libqedmalloc-prefix.a: $(CORE_OBJ) $(PRE_OBJ)
	ld -r $^ -o $(BUILD)/qedmalloc-prefix.o && objcopy --localize-hidden $(BUILD)/qedmalloc-prefix.o
	rm -f $@; ar rcs $@ $(BUILD)/qedmalloc-prefix.o

$(BUILD)/tests/%: tests/%.c $(BUILD)/libqed_core.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests -O1 -g -std=gnu11 -pthread $(WARN) -MMD $< $(BUILD)/libqed_core.a -o $@

test-%: $(BUILD)/tests/%_test
	$<

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
