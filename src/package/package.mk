# What is installed and packed. The version stands in qedmalloc.h, and nowhere else.
VERSION    := $(shell sed -n 's/^.define QEDMALLOC_VERSION "\(.*\)".*/\1/p' src/include/qedmalloc/qedmalloc.h)
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR     ?= $(PREFIX)/bin
DATADIR    ?= $(PREFIX)/share
REAL       := libqedmalloc.so.$(VERSION)
PACKAGE    := $(BUILD)/package

# A list for each folder.
PROGRAMS   := $(BUILD)/qed-replay $(PACKAGE)/qed-run src/tools/qed-top src/tools/qed-heap
PRELOADED  := $(BUILD)/libqedmalloc-record.so $(DEEPBIND)
ARCHIVES   := $(BUILD)/libqedmalloc.a $(BUILD)/libqedmalloc-prefix.a
PKGCONFIG  := $(PACKAGE)/qedmalloc.pc $(PACKAGE)/qedmalloc-prefix.pc
GDB        := src/tools/qedmalloc-gdb.py src/tools/qed-heap.html
CMAKE      := $(PACKAGE)/qedmalloc-config.cmake $(PACKAGE)/qedmalloc-config-version.cmake
HEADERS    := src/include/qedmalloc/qedmalloc.h
JEMALLOC_H := src/include/qedmalloc/jemalloc/jemalloc.h
MAN1       := $(filter-out %/qed-prove.1,$(wildcard docs/man/*.1))
MAN3       := $(wildcard docs/man/*.3)
# Folders of its own, and files in folders of others: what uninstall removes.
OWN        := $(LIBDIR)/qedmalloc $(LIBDIR)/cmake/qedmalloc $(INCLUDEDIR)/qedmalloc $(DATADIR)/qedmalloc
INSTALLED  := $(addprefix $(LIBDIR)/,$(REAL) libqedmalloc.so.1 libqedmalloc.so $(notdir $(ARCHIVES))) $(BINDIR)/qed-prove \
              $(addprefix $(LIBDIR)/pkgconfig/,$(notdir $(PKGCONFIG))) $(addprefix $(BINDIR)/,$(notdir $(PROGRAMS))) \
              $(addprefix $(DATADIR)/man/man1/,$(notdir $(MAN1)) qed-prove.1) $(addprefix $(DATADIR)/man/man3/,$(notdir $(MAN3)))

.PHONY: install install-proofs uninstall

install: $(PKGCONFIG) $(CMAKE) $(PACKAGE)/qed-run
	install -D -m 644 $(SO) $(DESTDIR)$(LIBDIR)/$(REAL)
	ln -sf $(REAL) $(DESTDIR)$(LIBDIR)/libqedmalloc.so.1
	ln -sf libqedmalloc.so.1 $(DESTDIR)$(LIBDIR)/libqedmalloc.so
	install -D -m 644 -t $(DESTDIR)$(LIBDIR) $(ARCHIVES)
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/qedmalloc $(PRELOADED)
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/pkgconfig $(PKGCONFIG)
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/cmake/qedmalloc $(CMAKE)
	install -D -m 644 -t $(DESTDIR)$(INCLUDEDIR)/qedmalloc $(HEADERS)
	install -D -m 644 -t $(DESTDIR)$(INCLUDEDIR)/qedmalloc/jemalloc $(JEMALLOC_H)
	install -D -m 755 -t $(DESTDIR)$(BINDIR) $(PROGRAMS)
	install -D -m 644 -t $(DESTDIR)$(DATADIR)/qedmalloc $(GDB)
	install -D -m 644 -t $(DESTDIR)$(DATADIR)/man/man1 $(MAN1)
	install -D -m 644 -t $(DESTDIR)$(DATADIR)/man/man3 $(MAN3)

install-proofs: $(PACKAGE)/qed-prove ## the sources with their contracts, and qed-prove
	install -d $(DESTDIR)$(DATADIR)/qedmalloc/proofs
	cp -r --preserve=mode src spec proofs $(DESTDIR)$(DATADIR)/qedmalloc/proofs
	rm -rf $(DESTDIR)$(DATADIR)/qedmalloc/proofs/src/tools $(DESTDIR)$(DATADIR)/qedmalloc/proofs/src/package
	install -D -m 755 -t $(DESTDIR)$(BINDIR) $(PACKAGE)/qed-prove
	install -D -m 644 -t $(DESTDIR)$(DATADIR)/man/man1 docs/man/qed-prove.1

uninstall: ## removes what install and install-proofs put there
	rm -rf $(addprefix $(DESTDIR),$(INSTALLED) $(OWN))

# The folders may differ from those of the last call.
$(PACKAGE)/%: src/package/%.in ANOTHER
	@mkdir -p $(@D)
	@sed 's|@VERSION@|$(VERSION)|g; s|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(LIBDIR)|g; s|@INCLUDEDIR@|$(INCLUDEDIR)|g' $< > $@

$(PACKAGE)/qed-run: src/tools/qed-run ANOTHER
	@mkdir -p $(@D)
	@sed 's|^LIBDIR = BINDIR = None .*|LIBDIR, BINDIR = "$(LIBDIR)", "$(BINDIR)"|' $< > $@

$(PACKAGE)/qed-prove: src/tools/qed-prove ANOTHER
	@mkdir -p $(@D)
	@sed 's|^tree=.*|tree=$(DATADIR)/qedmalloc/proofs|' $< > $@

# ---- tests -------------------------------------------------------------------------------------------------------

.PHONY: package-test tools-test provenance-test root-test root-check platforms compilers workflows
package-test: lib trace ## install, pkg-config, CMake, Meson, one file, the same bytes from two builds, uninstall
	@ci/setup package
	@tests/package/run $(BUILD)

tools-test: lib trace ## qed-run, qed-top, and the gdb commands on a live process and on a core
	@ci/setup package
	@tests/tools/run $(BUILD)
	@tests/tools/top $(BUILD)

provenance-test: setup-prove ## qed-prove --verify names each byte, flag and version that differs
	@mkdir -p $(BUILD)
	@tests/package/provenance $(BUILD)

root-test: ## in a fresh Debian 12 root: README's first command, the packages, programs built with them, removal (as root)
	@ci/setup root
	@mkdir -p $(BUILD)
	@tests/package/root $(BUILD)

root-check: ## root-test with README's second command too: all tests and all proofs
	@ci/setup root
	@mkdir -p $(BUILD)
	@tests/package/root $(BUILD) --check

platforms: ## musl and arm64 (under qemu-user): all unit, system and abuse tests; 32 bits are refused
	@ci/setup platforms
	@tests/platforms/run $(BUILD)

compilers: ## gcc and clang, -O2 and -O3, gcc's link-time optimization, fortified: unit tests, misuse, the malloc family, threads, fork
	@ci/setup platforms
	@mkdir -p $(BUILD)
	@tests/platforms/compilers $(BUILD)

JOB ?=
workflows: ## .github/workflows/ci.yml here, each job in a fresh Debian 12 root: JOB="build proof" MODULE=align (as root)
	@ci/setup workflows
	@ci/workflow $(addprefix --input module=,$(MODULE)) .github/workflows/ci.yml $(JOB)

# ---- Debian ------------------------------------------------------------------------------------------------------

.PHONY: deb
DEB := $(PACKAGE)/deb
deb: ## Debian packages of the tree, checked by lintian: build/package/deb/
	@ci/setup deb
	@rm -rf $(DEB) && mkdir -p $(DEB)/qedmalloc-$(VERSION)
	@git ls-files -z | xargs -0 cp --parents -t $(DEB)/qedmalloc-$(VERSION)
	cd $(DEB)/qedmalloc-$(VERSION) && dpkg-buildpackage -us -uc > ../log 2>&1 || { tail -n 30 ../log; false; }
	cd $(DEB) && lintian --fail-on error,warning --display-info *.changes && ls *.deb

# ---- one file ----------------------------------------------------------------------------------------------------

.PHONY: amalgamation
amalgamation: $(PACKAGE)/one/qedmalloc.c ## the library as one C file and its header, for programs that embed it: build/package/one/

$(PACKAGE)/one/qedmalloc.c: src/package/amalgamate $(CORE_OBJ) $(LINUX) $(PRE_OBJ) $(HEADERS)
	@mkdir -p $(@D)
	@$(shell $(CC) -print-prog-name=nm) -P -g --defined-only $(filter %.o,$^) > $(@D)/names
	@src/package/amalgamate $(@D) $(@D)/names $(NO_OS) src/platform/os_linux.c $(API)
	@rm $(@D)/names

# ---- what it is made of ------------------------------------------------------------------------------------------

.PHONY: sbom
sbom: lib ## the bill of materials, SPDX 2.3: build/package/qedmalloc.spdx.json
	@mkdir -p $(PACKAGE)
	@src/package/sbom $(SO) $(ARCHIVES) -- $(sort $(NO_OS) src/platform/os_linux.c $(filter-out src/tools/%,$(wildcard src/api/*.c src/api/*.cc src/*/*.h $(HEADERS) $(JEMALLOC_H)))) \
	    > $(PACKAGE)/qedmalloc.spdx.json
