# What you type. `make help` lists it; the rules that build are in build.mk.
#
#   make run WORKLOAD=myocyte ARGS='cells=1024 --mode graph'
#   make test                 every test; SIZE=small the quick ones, SIZE=large the
#                             others; REQUIRE_GPU=1 forbids skips
#
#   DEVICE=auto|cpu|cuda      auto: the GPU where there is nvcc 12.4 or newer and a working
#                             device, else the CPU device
#   WORKLOADS='launch ../mine' LAYERS='none cpu'
#                             build and test these alone; a path is a folder elsewhere
#   CUDA_ARCH=native|all|LIST native: the GPU present, else sm_90 and PTX; all: sm_75 and up;
#                             or numbers, 80,90
#   SETUP=ask|yes|no          missing packages: ask on a terminal, else install as root
#   STRICT=yes                a warning of the compiler ends the build, as in CI
#   PREFIX=/usr/local         where make install puts rift
#   CC, CXX, NVCC, CFLAGS     tools and their optimisation flags
WORKLOAD ?= myocyte
ARGS     ?=
SIZE     ?= all
DEVICE   ?= auto
SETUP    ?= ask
PREFIX   ?= /usr/local
DESTDIR  ?=
export DEVICE SETUP CUDA_ARCH NVCC REQUIRE_GPU PREFIX DESTDIR STRICT

# One goal after the other; the build below each goal still runs in parallel under -j.
.NOTPARALLEL:

all: build  ## build rift for the chosen device and leave a link to it here (the default)

run: build $(if $(findstring --plot,$(ARGS)),setup-plot)  ## run one workload, checked and timed: WORKLOAD=name ARGS='cells=1024'
	@./rift run $(WORKLOAD) $(ARGS)

sweep: build  ## kernel size x depth x mode in fresh processes: WORKLOAD=name QUICK=1 ARGS='--depth 1,16'
	@./rift sweep $(if $(filter file,$(origin WORKLOAD)),,$(WORKLOAD)) $(if $(QUICK),--quick) $(ARGS)

compare: build  ## is session B slower than A: A=a.jsonl B=b.jsonl, or A alone where it has two sides; ARGS='--margin 5'
	@./rift compare $(if $(A),'$(A)') $(if $(B),'$(B)') $(ARGS)

plots: build setup-plot  ## charts of a session, A=a.jsonl, or of two, B=b.jsonl; without A: of data/sessions
	@$(if $(A),./rift plot '$(A)' $(if $(B),'$(B)') $(ARGS),$(foreach s,$(wildcard data/sessions/*.jsonl data/sessions/*.jsonl.gz),./rift plot '$s' --output 'results/plots/$(basename $(patsubst %.gz,%,$(notdir $s)))' $(ARGS) &&) true)

# Rows from the top; each is a session of pairs, data/sessions/FOLDER/NAME.jsonl.gz. Results of some
# fail their check, which is exit code 2 and belongs to the picture.
ATLAS_H100 = none shim container cpu-50 MPS CUPTI HAMi-O0 HAMi-O2 nvshare vgpu-manager XSched Lupine neighbour-spin
ATLAS_H200 = none shim container cpu-50 cpu-100 MPS CUPTI HAMi-O0 HAMi-O2 nvshare vgpu-manager Lupine remote neighbour-copy neighbour-launch neighbour-spin
ATLAS_DECODE = profiler nvshare mps hami-O2 vgpu-manager remote remote-tcp-25 remote-tcp-100 wsl2-2020 wsl2-2021 neighbour-spin
atlas_session = data/sessions/$(1)/$(2).jsonl.gz
atlas_of = ./rift compare '$(call atlas_session,$(1),none):a' $(foreach r,$(2),'$r=$(call atlas_session,$(1),$r)') --force --quiet --plot=results/$(1) $(ARGS); \
	rc=$$?; [ $$rc = 2 ] || [ $$rc = 0 ] || exit $$rc
atlas: build setup-plot  ## what real layers cost, from the kept sessions: tables and charts in results/atlas-h100, atlas-h200 and decode-h200
	@$(call atlas_of,atlas-h100,$(ATLAS_H100))
	@$(call atlas_of,atlas-h200,$(ATLAS_H200))
	@$(call atlas_of,decode-h200,$(ATLAS_DECODE))

reports: build setup-plot  ## a report of each kind of record, from the kept ones, in results/reports
	@tests/pages.sh --only-write ./rift results/reports

list: build  ## list the workloads
	@./rift list

test: size-known setup-test  ## build and run the tests; SIZE=small leaves the long ones out
	@+tools/build.sh tests
	@tools/run_tests.sh '$(SIZE)' "$$(tools/device.sh)"

golden: setup-test  ## write tests/golden anew, where words were changed on purpose; git diff shows them
	@+tools/build.sh golden
	@while read -r t; do UPDATE_GOLDEN=1 tools/run_test.sh all "$$t"; done <"build/$$(tools/device.sh)/golden.list"
	@git --no-pager diff --stat tests/golden

sanitize: setup-test  ## the small tests under the sanitizers, kernels too: addresses, races
	@+tools/sanitize.sh

enemy: build  ## what an enemy would try on it: kills, damaged files, full disks; tests/enemy
	@tests/enemy/run.sh ./rift all

guests:  ## rift in a VM, Docker, Podman, gVisor, nspawn and over ssh, on the CPU device; as root, up to 30 minutes
	@+$(MAKE) dist DEVICE=cpu
	@tests/guests/run.sh dist/rift-cpu all

bench: setup-run  ## build and run the benchmarks; they print figures and judge nothing
	@+tools/build.sh bench
	@tools/bench.sh "$$(tools/device.sh)"

dist: build  ## one folder with the binary, its runtime and its data, to carry to another platform
	@+tools/build.sh dist

install: build  ## rift, its data, documents, man page and completion: PREFIX=/usr/local DESTDIR=
	@+tools/build.sh install

uninstall:  ## remove what make install made, with the same PREFIX and DESTDIR
	@+tools/build.sh uninstall

lint: setup-lint  ## formatting and static checks
	@tools/lint.sh

format: setup-lint  ## format every source file
	@git ls-files -z -co --exclude-standard '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 clang-format -i

setup: setup-test  ## install what run and test need

clean:  ## remove everything that was built
	rm -rf build dist rift

help:  ## list the targets
	@echo "rift: what a virtualization layer costs a GPU. Targets:"
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/  make \1@\2/p' Makefile | awk -F@ '{ printf "%-17s%s\n", $$1, $$2 }'
	@echo "Variables:"
	@sed -n '/^#   DEVICE/,/^#   CC/s/^# /  /p' Makefile

build: setup-run
	@+tools/build.sh rift

# Before packages are looked for: what was typed wrong needs none.
size-known:
	$(if $(filter-out all small large,$(SIZE))$(word 2,$(SIZE)),$(error SIZE=$(SIZE): use all, small or large))@:

setup-run setup-plot setup-test setup-lint:
	@tools/setup.sh $(@:setup-%=%)

.PHONY: all run sweep compare plots atlas reports list test golden sanitize enemy guests bench dist install uninstall lint format setup clean help build size-known setup-run setup-plot setup-test setup-lint
