# The report: what has been proven, tested, fuzzed and measured here, as a site without a server; and its test in a browser.
REPORT   ?= $(BUILD)/report
HEAPMAP  := $(BUILD)/heapmap

COMPILE_HEAPMAP = $(CC) $(CPPFLAGS) -Itests $(CFLAGS) -std=gnu11 -pthread $(WARN) -Wl,--wrap=os_clock_ms
$(foreach c,COMPILE_HEAPMAP,$(eval $(call command,$c)))

.PHONY: report report-test report-figures
report: $(HEAPMAP) trace ## a site of all results that are there, and of what is not there: build/report/index.html
	@tests/report/make $(BUILD) $(REPORT)

report-test: report ## every page in headless Chromium: no error, every link leads somewhere, three widths
	@ci/setup report
	@tests/report/check $(BUILD) $(REPORT)

report-figures: report ## the pictures of the report in docs/figures, from what has been run here
	@ci/setup report
	@tests/report/check $(BUILD) $(REPORT) --figures docs/figures

$(HEAPMAP): tests/report/heapmap.c $(BUILD)/obj/tools/load.o $(CORE_OBJ) $(LINUX) $(PRE_OBJ) $(call by,COMPILE_HEAPMAP)
	@echo "  LD $@"
	@$(COMPILE_HEAPMAP) $(filter %.c %.o,$^) -o $@
