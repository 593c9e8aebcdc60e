# The front door. `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

SANITIZE ?= 0
ifeq ($(SANITIZE),1)
BUILD := build-sanitize
CONFIGURATION := -DSANITIZE=ON
else
BUILD := build
endif
JOBS := $(shell nproc)
NUMBERS := $(foreach directory,$(wildcard chapters/[0-9][0-9]_*),$(firstword $(subst _, ,$(notdir $(directory)))))

.PHONY: help setup configure run test ladder calibrate diagrams cards sass bench fuzz clean $(NUMBERS:%=ch%) $(NUMBERS:%=diff-%) $(NUMBERS:%=timeline-%)

help:
	@sed -n 's/^#: //p' Makefile

#: make run           set up, build, run every chapter: correctness and TFLOPS, one table
#: make test          set up, build, run every test         (SANITIZE=1: under ASan and UBSan)
#: make chNN          build and run one chapter             (ARGS="--shape 1x2x512", EMU_ARGS="--stats")
#: make diff-NN       that chapter's kernel against the one before
#: make timeline-NN   run it traced: build/timeline-NN.svg and a trace for Perfetto
#: make diagrams      regenerate diagrams/
#: make cards         rewrite the resource cards of chapters/*/README.md (ARGS=--check: only compare)
#: make ladder        the table of `make run`               (ARGS="--markdown" or "--json")
#: make calibrate     microbenchmarks: the model's constants beside measured ones
#: make sass           machine code of the main loops beside what the model issues (ARGS="--lines")
#: make bench         how fast the emulator is here: instructions, MMA, large modules
#: make fuzz          the readers of foreign bytes under libFuzzer, ASan and UBSan (FUZZ_SECONDS=600 each)
#: make setup         install what this machine lacks
#: make clean         remove the build, but not NVIDIA's compiler if set-up put it there
#:
#: NVCC=/path/to/nvcc picks the compiler; EMULATE=1 uses the emulator even where a B200 is present.

setup:
	@tools/setup/setup.sh

# CMake runs again by itself when its files change; here when the compiler does.
configure: setup
	@nvcc=$$(tools/setup/find_nvcc.sh 2>/dev/null) && \
	if [[ ! -f $(BUILD)/build.ninja || $$(cat $(BUILD)/nvcc.configured 2>/dev/null) != $$nvcc ]]; then \
	  cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(CONFIGURATION) --log-level=NOTICE && \
	  echo $$nvcc > $(BUILD)/nvcc.configured; \
	fi

run: configure
	@cmake --build $(BUILD) -j $(JOBS) --target workbook
	@tools/setup/run_ladder.sh $(BUILD) $(ARGS)

ladder: run

calibrate: configure
	@cmake --build $(BUILD) -j $(JOBS) --target emu calibrate
	@tools/calibrate/run.sh $(BUILD) $(ARGS)

test: configure
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

$(NUMBERS:%=ch%): ch%: configure
	@cmake --build $(BUILD) -j $(JOBS) --target run_ch$*
	@tools/setup/run_chapter.sh $(BUILD) $* $(ARGS)

$(NUMBERS:%=diff-%): diff-%:
	@tools/setup/diff_chapter.sh $*

$(NUMBERS:%=timeline-%): timeline-%: configure
	@cmake --build $(BUILD) -j $(JOBS) --target run_ch$* timeline
	@$(BUILD)/emu --timing --trace $(BUILD)/timeline-$*.json $(EMU_ARGS) -- $(BUILD)/ch$* --bench $(or $(ARGS),--shape 1x1x256x1024)
	@$(BUILD)/timeline $(BUILD)/timeline-$*.json --output $(BUILD)/timeline-$*.svg
	@echo "wrote $(BUILD)/timeline-$*.svg, and $(BUILD)/timeline-$*.json for ui.perfetto.dev"

diagrams: configure
	@cmake --build $(BUILD) -j $(JOBS) --target diagrams
	@$(BUILD)/diagrams $(ARGS)

cards: setup
	@python3 tools/cards/cards.py $(ARGS)

sass: configure
	@cmake --build $(BUILD) -j $(JOBS) --target workbook model_slots
	@tools/sass/run_sass.sh $(BUILD) $(ARGS)

bench: configure
	@cmake --build $(BUILD) -j $(JOBS) --target bench run_ch01 run_ch07
	@tools/emulator/bench/run.sh $(BUILD)

FUZZ_SECONDS ?= 600
fuzz:
	@tools/setup/setup.sh --fuzz
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) -j $(JOBS) --target libfuzzers
	@tools/emulator/test/fuzz/run.sh $(BUILD) $(FUZZ_SECONDS)

clean:
	@if [[ -d build ]]; then find build -mindepth 1 -maxdepth 1 ! -name cuda ! -name nvcc.checked -exec rm -rf {} +; fi
	@rm -rf build-sanitize
