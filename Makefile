# qedmalloc: `make help` lists what there is.
CC       ?= gcc
BUILD    ?= build
CONFIG   ?=
WARN     := -Wall -Wextra -Wconversion -Wundef -Werror -Wno-unknown-pragmas
CPPFLAGS := -Isrc -Ispec -Isrc/include -D_GNU_SOURCE $(addprefix -D,$(CONFIG))
CFLAGS   ?= -O2 -g
CFLAGS_  := -std=gnu11 -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-builtin-malloc -fno-builtin-calloc \
            -fno-builtin-realloc -fno-builtin-free -pthread $(WARN)

CORE := $(wildcard src/platform/*.c src/math/*.c src/ds/*.c src/pages/*.c src/heap/*.c)
CORE := $(filter-out src/platform/os_fake.c,$(CORE))
CORE_OBJ := $(CORE:src/%.c=$(BUILD)/obj/%.o)
UNIT := $(patsubst tests/%.c,%,$(wildcard tests/*_test.c))

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(CFLAGS_) -MMD -c $< -o $@

$(BUILD)/libqed_core.a: $(CORE_OBJ)
	rm -f $@; ar rcs $@ $^

$(BUILD)/tests/%: tests/%.c $(BUILD)/libqed_core.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -O1 -g -std=gnu11 -pthread $(WARN) -MMD $< $(BUILD)/libqed_core.a -o $@

test-%: $(BUILD)/tests/%_test
	$<

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
