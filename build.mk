# build.mk - how rift is built for one device. Called by tools/build.sh with DEVICE=cpu or cuda.
#
# A workload is a folder workloads/NAME/ with a NAME.c that defines workload_NAME. Everything
# else is found by wildcard: a new workload, source or test needs no edit here.
#   .c  compiled by CC as C11, the same for both devices
#   .cu compiled by nvcc, or by CXX against the headers of the CPU device
#   test_X.c, with kernels in test_X.cu if it has any, is a test program
#
# SANITIZE=asan (addresses and undefined behaviour) or tsan (races) checks kernels and host code
# of the CPU device; it has a build folder of its own.
# override: `make compare B=FILE` is another B, which make hands down to here.
override B := build/$(DEVICE)$(SANITIZE:%=-%)

$(if $(filter cpu cuda,$(DEVICE)),,$(error DEVICE=$(DEVICE): use tools/build.sh, which settles on cpu or cuda))
$(if $(filter-out cpu- cpu-asan cpu-tsan cuda-,$(DEVICE)-$(SANITIZE)),\
	$(error SANITIZE=$(SANITIZE) with DEVICE=$(DEVICE): use asan or tsan, with DEVICE=cpu))

# What reports need, compiled in half the time of the usual -O2 (0.5 to 0.8 of it for three files of
# kernels, one compilation each).
ifneq ($(SANITIZE),)
CFLAGS   ?= -O1 -g1
endif

# V=1 shows the commands themselves. A recipe begins with the folder of what it makes, and a line that says so.
Q     := $(if $(V),,@)
begin  = @mkdir -p $(@D)$(if $(V),,; printf '  %-5s %s\n' $(1) '$(2)')

# ---- what there is ------------------------------------------------------------------------
# Folders of workloads and of layers: all that are here, or those that WORKLOADS='launch ../mine/prefix'
# and LAYERS='none cpu' name, with their own tests. A folder elsewhere has a link to it in $B, where
# #include "workloads/prefix/prefix.h" and its data files are found. The compiler always looks there:
# other flags with such a folder than without would compile everything anew.
WCHOSEN   := $(patsubst %/,%,$(WORKLOADS))
LCHOSEN   := $(patsubst %/,%,$(LAYERS))
CHOSEN    := $(strip $(WCHOSEN) $(LCHOSEN))
OUTSIDE   := $(foreach f,$(CHOSEN),$(if $(findstring /,$f),$f))
folder_of  = $(if $(findstring /,$(2)),$B/$(1)/$(notdir $(2)),$(1)/$(2))
folders    = $(if $(2),$(foreach f,$(2),$(call folder_of,$(1),$f)),$(patsubst %/,%,$(sort $(wildcard $(1)/*/))))
link       = $(foreach f,$(2),$(if $(findstring /,$f),$(shell mkdir -p '$B/$(1)'; rm -rf '$B/$(1)/$(notdir $f)'; \
	       ln -s '$(abspath $f)' '$B/$(1)/$(notdir $f)')))
# Links of before first: objects of a folder that is here must not go through one.
$(shell find $B/workloads $B/layers -maxdepth 1 -type l -delete 2>/dev/null)$(call link,workloads,$(WCHOSEN))$(call link,layers,$(LCHOSEN))
WFOLDERS  := $(call folders,workloads,$(WCHOSEN))
LFOLDERS  := $(call folders,layers,$(LCHOSEN))
NAMES     := $(notdir $(WFOLDERS))
LNAMES    := $(notdir $(LFOLDERS))
# Said here, as the linker's words for it are hard to read.
BROKEN := $(strip $(foreach f,$(WFOLDERS),$(foreach n,$(notdir $f),$(if $(shell grep -s -l 'const struct workload workload_$n\b' $f/$n.c),,\
	    $f: $n.c must define `const struct workload workload_$n`;))) \
	  $(foreach f,$(LFOLDERS),$(foreach n,$(notdir $f),$(if $(shell grep -s -q 'const struct layer layer_$n\b' $f/$n.c && grep -l '\.name = "$n"' $f/$n.c),,\
	    $f: $n.c must define `const struct layer layer_$n` with `.name = "$n"`, an identifier of C;))))
$(if $(BROKEN),$(error $(BROKEN)))
# Those that preload a library of their own.
PFOLDERS := $(foreach f,$(LFOLDERS),$(if $(wildcard $f/preload/),$f))
PRELOADS := $(notdir $(PFOLDERS))
# The layer remote's, for programs that look for NVIDIA's runtime: its name and version, nothing else.
CUDARTS := $(if $(filter remote,$(LNAMES)),$(patsubst %,$B/layers/cudart/%,libcudart.so.12 libcudart.so.13))
# The same for cuBLAS. In a folder of their own: they are loaded where a program asks for them.
CUBLASES := $(if $(CUDARTS),$(patsubst %,$B/layers/cublas/%,libcublas.so.12 libcublas.so.13 libcublasLt.so.12 libcublasLt.so.13))

TESTS := $(if $(CHOSEN),tests/test_conformance.c $(wildcard $(LNAMES:%=tests/layers/test_%.c)),$(wildcard tests/test_*.c tests/*/test_*.c tests/*/*/test_*.c))
TESTS += $(wildcard $(patsubst %,%/test_*.c,$(WFOLDERS) $(LFOLDERS)))
TESTS := $(if $(filter cuda,$(DEVICE)),$(filter-out tests/cpu/test_cpu_% $(LFOLDERS:%=%/test_cpu_%),$(TESTS)),$(TESTS))
# A layer may have a daemon, which is rift's, and files that both its ends share, in folders of their own.
SRC   := $(wildcard common/*.c harness/*.c harness/*/*.c common/*.cu harness/*/*.cu $(foreach f,$(WFOLDERS) $(LFOLDERS),$f/*.c $f/*.cu) \
	     $(foreach f,$(LFOLDERS),$f/daemon/*.c $f/transport/*.c))
SRC   := $(filter-out harness/main.c $(patsubst %,%/test_%,$(WFOLDERS) $(LFOLDERS)),$(SRC))
SRC   += $(wildcard common/recorder/*.c common/trace/*.c)
OBJ   := $(SRC:%=$B/%.o) $B/table.c.o $B/layers.c.o
# The floors of the CPU device, from below (docs/cpu-device.md).
FLOORS := base kernel stream graph api
RT    := $(wildcard $(FLOORS:%=common/cpu/%/*.c))
# What writes traces: in the CPU device, in the library that CUPTI serves, and in tests.
RECORDER := $(wildcard common/recorder/*.c)
INJECT  := $(filter-out %/abi_check.c,$(wildcard common/recorder/cupti/*.c))
PRELOADED_CALLS := $(wildcard common/recorder/preload/*.c)
INJECTED := $(strip $(if $(INJECT),$B/recorder/cupti.so) $(if $(PRELOADED_CALLS),$B/recorder/calls.so) $(if $(wildcard common/recorder/ends/*.c),$B/recorder/ends.so) $(if $(wildcard common/recorder/span/*.c),$B/recorder/span.so))
BLASRC := $(wildcard common/cpu/blas/*.c common/cpu/blas/*.cu)

comma := ,

# ---- flags --------------------------------------------------------------------------------
# make has defaults of its own for these two, which ?= would leave
CC       := $(if $(filter default undefined,$(origin CC)),cc,$(CC))
CXX      := $(if $(filter default undefined,$(origin CXX)),c++,$(CXX))
# -g1 has functions and lines, for reports and profiles; a debugger that shows variables needs -g. Each
# session begins with the digest of the program, which is a third as long so.
CFLAGS   ?= -O2 -g1
# Ubuntu has the last one on by itself. STRICT=yes makes a warning an error: a compiler that is newer
# than ours may have warnings that we have not seen, and they must not keep anybody from building.
STRICT   ?=
WARN     := -Wall -Wextra -Wformat-security $(if $(STRICT),-Werror)
# No contraction: the reference and the kernels of the CPU device round as written.
COMMON    = $(FIRST) -I. -I$B -MMD -MP $(CFLAGS) $(WARN) -ffp-contract=off -D_GNU_SOURCE $(INSTRUMENT)
# A report must end the program: no test passes with one. Instrumented code gives rise to false
# warnings (-w); the plain builds see the true ones. Reports name functions and lines, -g1 has both.
# What a report of undefined behaviour says is a constant of each place that could have one: two thirds
# of a program's data, which the loader moves at each start. With BRIEF=yes, as in CI, a report is the
# address sanitizer's, of an illegal instruction, with the same lines of code.
asan     := -w -g1 -fsanitize=address,undefined -fno-omit-frame-pointer \
	    $(if $(filter yes,$(BRIEF)),-fsanitize-undefined-trap-on-error,-fno-sanitize-recover=undefined)
tsan     := -w -g1 -fsanitize=thread
INSTRUMENT := $($(SANITIZE))
LIBS     := -ljansson -lnlopt -lz -lm -ldl -lpthread
# Test programs are many and each runs once: what counts is how soon they are there, and, as every
# test is a process, how soon they start. Copies of rift's debug information in each of them would take
# as long to link as the rest, and 2 GB; reports of sanitizers need it, and `make test STRIP=` keeps it.
TESTFLAGS := -O0 -g1 -ftrack-macro-expansion=0
STRIP    := $(if $(SANITIZE),,-Wl$(comma)--strip-debug)
LDFAST   := $(and $(filter cpu,$(DEVICE)),$(shell command -v ld.gold),-fuse-ld=gold) -Wl,--as-needed $(STRIP)
TESTLIBS := -lcriterion -lgsl -lgslcblas -ledlib -lm

ifeq ($(DEVICE),cuda)
NVCC      := $(shell tools/nvcc.sh)
CUDA_HOME ?= $(abspath $(dir $(realpath $(NVCC)))..)
# The runtime, under the name that the loader asks for (libcudart.so.12 or .13).
CUDART    := $(lastword $(sort $(wildcard $(CUDA_HOME)/lib64/libcudart.so.1[0-9])))
ifeq ($(CUDART),)
$(error no libcudart.so.1x in $(CUDA_HOME)/lib64; set CUDA_HOME to the toolkit's folder)
endif
CU        := NVCC
HOST      := -isystem $(CUDA_HOME)/include
ARCHS   := $(shell CUDA_ARCH='$(CUDA_ARCH)' tools/arch.sh $(NVCC))
ifeq ($(ARCHS),)
$(error CUDA_ARCH=$(CUDA_ARCH) is refused, see above)
endif
NVFLAGS   := -std=c++17 -O2 -lineinfo -I. -I$B -MMD -MP $(ARCHS) -Xcompiler -Wall,-Wextra$(if $(STRICT),$(comma)-Werror) \
	     $(if $(STRICT),-Werror all-warnings)
COMPILE.cu = $(NVCC) $(NVFLAGS) -MF $(@:.o=.d) -c -o $@ $<
else
CUDART    := libcudart.so.13
CU        := CXX
HOST      := -Icommon/cpu/include
# What kernels begin with, as they do with nvcc, compiled once: it is half of what most of them take.
# For flags that it was not compiled with, the text is there too.
KERNEL    := $B/first/cuda_runtime
COMPILE.cu = $(CXX) -std=c++17 $(COMMON) $(HOST) -x c++$(HEADER) -c -o $@ $<
endif
RUNTIME   := $B/$(notdir $(CUDART))
# Loaded by those who multiply matrices (common/blas.h). A toolkit may lack it: they then say so.
BLAS      := $(if $(filter cuda,$(DEVICE)),$(notdir $(wildcard $(CUDA_HOME)/lib64/libcublas.so.1[0-9] \
	     $(CUDA_HOME)/lib64/libcublasLt.so.1[0-9])),libcublas.so.13)
BLAS      := $(BLAS:%=$B/%)
COMPILE.c  = $(CC) -std=c11 $(COMMON) $(HOST) -c -o $@ $<
# $ORIGIN: the runtime is found beside the binary, wherever the folder is carried. NVIDIA's may be
# another's of the same version, in LD_LIBRARY_PATH; the CPU device's may not, as a toolkit's would
# take its place: DT_RPATH, the old tag, is searched first.
RPATH      = $(if $(filter cpu,$(DEVICE)),-Wl$(comma)--disable-new-dtags) -Wl,-rpath,'$(1)'
LINK       = $(CXX) $(INSTRUMENT) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(RUNTIME) $(call RPATH,$(1))

# ---- rift ---------------------------------------------------------------------------------
rift: $B/rift $(BLAS) $(PRELOADS:%=$B/layers/%.so) $(INJECTED) $(CUDARTS) $(CUBLASES)
	@ln -sfn $B/rift rift

$B/rift: $B/harness/main.c.o $(OBJ) $(RUNTIME) $B/objects
	$(call begin,LINK,$@)
	$(Q)$(call LINK,$$ORIGIN) $(LIBS)

# Generated, and rewritten only when a workload or a layer comes or goes: its kind, their names.
table = { printf '/* Generated from the folders in $(1)s/. */\n\#include "$(1)s/$(1).h"\n\n'; \
	  printf 'extern const struct $(1) $(1)_%s;\n' $(2); \
	  printf '\nconst struct $(1) *const $(1)s[] = {\n'; \
	  printf '\t&$(1)_%s,\n' $(2); printf '\tNULL,\n};\n'; }
$B/table.c: $B/names
	@$(call table,workload,$(NAMES)) >$@
$B/layers.c: $B/layer_names
	@$(call table,layer,$(LNAMES)) >$@

# make compares dates of files, and flags and lists have none. So each is a file, written anew only when its words are others:
#   names, layer_names   as above
#   flags                objects depend on the commands that make them: other flags, other objects
#   test_flags           apart, as what only tests use may be installed when rift has been built
#   objects              what is linked depends on which there are: a source that is gone leaves nothing newer
#   tests.list, bench.list   the programs, for tools/run_tests.sh and tools/bench.sh
words.names       = $(NAMES)
words.layer_names = $(LNAMES)
words.flags       = $(COMPILE.c) $(COMPILE.cu) $(RTFLAGS) $(RTLINK) $(call RPATH,) $(BLASLIBS) $(LIBS) $(PRELOADED)
words.test_flags  = $(TESTFLAGS) $(LDFAST) $(TESTLIBS) $(GIT)
words.objects     = $(OBJ) $(RT:%=$B/%.o) $(RECORDER:%=$B/%.o) $(BLASRC:%=$B/%.o) $(SHARED:%=$B/%.o) $(HOOKS:%=$B/%.o)
words.tests.list  = $(RUN)
words.bench.list  = $(BENCH:%=$B/%)
$(patsubst %,$B/%,names layer_names flags test_flags objects tests.list bench.list): always
	@mkdir -p $(@D); printf '%s\n' '$(words.$(@F))' | cmp -s - $@ || printf '%s\n' '$(words.$(@F))' >$@

# How it was built, which its records say; only one object knows.
$B/build_info.h: always
	@mkdir -p $(@D)
	@tools/build_info.sh '$(notdir $B)' '$(CFLAGS)' '$(ARCHS)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$B/harness/platform/build.c.o: $B/build_info.h
# private, here and below: make would hand it to whatever the target is made of, too.
$B/harness/platform/build.c.o: private HOST += -I$B

$B/%.c.o: %.c $B/flags
	$(call begin,CC,$<)
	$(Q)$(COMPILE.c)
$B/table.c.o $B/layers.c.o: $B/%.o: $B/% $B/flags
	$(call begin,CC,$<)
	$(Q)$(COMPILE.c)
$B/%.cu.o: private FIRST := $(KERNEL:%=-include %)
$B/%.cu.o: %.cu $B/flags $(KERNEL:=.gch)
	$(call begin,$(CU),$<)
	$(Q)$(COMPILE.cu)
$(KERNEL:=.gch): private HEADER := -header
$(KERNEL:=.gch): common/cpu/include/cuda_runtime.h $B/flags
	$(call begin,$(CU),$<)
	$(Q)$(COMPILE.cu)
	@echo '#include "cuda_runtime.h"' >$(KERNEL)

# Each process that records has rift's own file digested, 12 times as long under the thread sanitizer.
# What is read and written there are arrays of fixed size.
ifneq ($(SANITIZE),)
$B/common/digest.c.o: private INSTRUMENT :=
$B/common/digest.c.o: private CFLAGS := -O2 -g1
endif

# ---- what layers preload --------------------------------------------------------------------
# Into programs of others: nothing of rift but the headers, and no sanitizer. But the thread sanitizer
# must see both ends of a socket or a lock: else what one end hands to the other looks like a race.
PRELOADED := -std=c11 -O2 -g1 -fPIC -fvisibility=hidden -I. -I$B $(HOST) $(WARN) -D_GNU_SOURCE
preloads: $(PRELOADS:%=$B/layers/%.so) $(INJECTED) $(CUDARTS) $(CUBLASES)
# Each is made of its own folder: a rule for each, as a pattern cannot list the files of a folder.
$(foreach f,$(PFOLDERS),$(eval $B/layers/$(notdir $f).so: $(wildcard $f/preload/*.[ch] $f/*.h $f/wire/*.h $f/transport/*.h)))
$(PRELOADS:%=$B/layers/%.so): $B/layers/%.so: $(wildcard layers/*.h) $B/flags
	$(call begin,LINK,$@)
	$(Q)$(CC) $(PRELOADED) $(if $(filter tsan,$(SANITIZE)),$(INSTRUMENT)) -shared -Wl,-soname,librift-$*.so -o $@ $(filter %.c,$^) -ldl

# What a daemon says goes to the program's terminal.
$B/layers/remote.so: common/escape.c common/escape.h

named_runtime = echo '$(@F) { global: $(1); local: *; };' >$@.map && $(CC) $(PRELOADED) -shared -o $@ $< \
	-Wl,-soname,$(@F) -Wl,--version-script=$@.map
$(CUDARTS): layers/remote/cudart/libcudart.c
$(CUBLASES): layers/remote/cudart/libcublas.c
$(CUDARTS) $(CUBLASES): $B/layers/remote.so
	$(call begin,LINK,$@)
	@ln -sfn ../remote.so $(@D)/librift-remote.so
	$(Q)$(call named_runtime,rift_*) -Wl,--no-as-needed $B/layers/remote.so -Wl,-rpath,'$$ORIGIN'

# ---- what is loaded into programs that are recorded: by the driver, or first of all -------------
# The ABI is checked where a toolkit has CUPTI's header.
CUPTI_H := $(firstword $(wildcard $(or $(CUDA_HOME),/usr/local/cuda)/include/cupti.h $(or $(CUDA_HOME),/usr/local/cuda)/extras/CUPTI/include/cupti.h))
$B/recorder/cupti.so: $(RECORDER) $(INJECT) $(wildcard common/recorder/*.h common/recorder/cupti/*.h) $(if $(CUPTI_H),$B/recorder/abi.ok)
$B/recorder/calls.so: $(RECORDER) $(PRELOADED_CALLS) $(wildcard common/recorder/*.h common/recorder/preload/*.h layers/*.h)
$B/recorder/calls.so: private SHARED_FLAGS := -Wl,-Bsymbolic-functions
$B/recorder/ends.so: common/recorder/ends/ends.c common/recorder/ends.h
$B/recorder/span.so: $(wildcard common/recorder/span/*.[ch]) common/recorder/span.h $(wildcard layers/*.h)
# COUNTED: by tests/mutants_random.sh, which asks what tests reach.
$(INJECTED): $B/flags
	$(call begin,LINK,$@)
	$(Q)$(CC) $(PRELOADED) $(COUNTED) -shared -Wl,-soname,librift-$(@F) $(SHARED_FLAGS) -o $@ $(filter %.c,$^) -ldl $(if $(filter %/ends.so,$@),,-lpthread)
$B/recorder/abi.ok: common/recorder/cupti/abi_check.c common/recorder/cupti/abi.h common/recorder/cupti/calls.h $B/flags
	$(call begin,CC,$<)
	$(Q)$(CC) -std=c11 -I. -isystem $(dir $(CUPTI_H)) -isystem $(or $(CUDA_HOME),/usr/local/cuda)/include $(WARN) -fsyntax-only $<
	@touch $@

# ---- the CUDA runtime and cuBLAS beside the binary: NVIDIA's, or the CPU device ---------------
ifeq ($(DEVICE),cuda)
$(RUNTIME) $(BLAS): $B/%: $(CUDA_HOME)/lib64/%
	@mkdir -p $(@D)
	@ln -sfn $< $@
else
# initial-exec: threadIdx and its kin are read at every turn; a call to find them costs 40 %.
RTFLAGS := -fPIC -ftls-model=initial-exec -fvisibility=hidden
# For the thread sanitizer the library states which order CUDA promises; its own locks are none.
ifeq ($(SANITIZE),tsan)
$(RT:%=$B/%.o) $(RECORDER:%=$B/%.o): private INSTRUMENT := -DCPUDEV_TSAN
$(RUNTIME): private INSTRUMENT := $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc realloc aligned_alloc memcpy free)
endif
# Bsymbolic: as with NVIDIA's, a preloaded wrapper sees no call of the library to itself.
RTLINK   = -Wl,-soname,$(@F) -Wl,--version-script=common/cpu/libcudart.map -Wl,-Bsymbolic-functions
$(RT:%=$B/%.o) $(filter $B/%.c.o,$(BLASRC:%=$B/%.o)) $(RECORDER:%=$B/%.o): $B/%.o: % $B/flags
	$(call begin,CC,$<)
	$(Q)$(CC) -std=gnu11 $(COMMON) $(RTFLAGS) $(HOST) -c -o $@ $<
$(RUNTIME): $(RT:%=$B/%.o) $(RECORDER:%=$B/%.o) common/cpu/libcudart.map $B/objects
	$(call begin,LINK,$@)
	$(Q)$(CC) -shared $(INSTRUMENT) -o $@ $(filter %.o,$^) $(RTLINK) -lpthread

# Under the sanitizers products are loops of ours, which they see into.
BLASLIBS := $(if $(SANITIZE),,-lopenblas)
$(BLASRC:%=$B/%.o): private FIRST :=
$(BLASRC:%=$B/%.o): private CFLAGS += -fPIC $(if $(SANITIZE),-DCPUDEV_BLAS_PLAIN)
$(BLAS): $(BLASRC:%=$B/%.o) $(RUNTIME) $B/objects
	$(call begin,LINK,$@)
	$(Q)$(CXX) -shared $(INSTRUMENT) -o $@ $(filter %.o,$^) $(RUNTIME) -Wl,-soname,$(@F) $(call RPATH,$$ORIGIN) $(BLASLIBS) -lpthread
endif

# ---- tests --------------------------------------------------------------------------------
# What has one thread has no races; what shows the same as others is passed by. Large tests run
# under no sanitizer.
CALM := $(if $(filter tsan,$(SANITIZE)),$(patsubst %.c,%,$(shell grep -lxE '/\* sanitizers: (one thread|(races )?seen elsewhere) \*/' $(TESTS))))
# Under the address sanitizer too where BRIEF=yes, as in CI; `make sanitize` runs them.
CALM += $(if $(filter asan,$(SANITIZE)),$(if $(filter yes,$(BRIEF)),$(patsubst %.c,%,$(shell grep -lxF '/* sanitizers: seen elsewhere */' $(TESTS)))))
CALM += $(if $(SANITIZE),$(patsubst %.c,%,$(shell grep -L small_ $(TESTS))))
RUN   = $(patsubst %,$B/%,$(filter-out $(CALM),$(TESTS:%.c=%)))
tests: $B/rift $(BLAS) preloads $B/tests.list $(RUN) $(if $(filter cpu,$(DEVICE)),$B/bugs $B/tests/enemy/fuzz)
# Those that hold what rift says in files: all that it prints, or what their small suites do.
GOLDEN = $(sort tests/test_golden.c $(shell grep -lE 'GOLDEN_TESTS|golden_text|golden.&said' /dev/null $(TESTS); for said in tests/golden/said/*.txt; do \
	   grep -lF "small_$$(basename $$said .txt)," /dev/null $(TESTS); done))
golden: $B/rift $(BLAS) $(GOLDEN:%.c=$B/%)
	@printf '%s\n' $(GOLDEN:%.c=$B/%) >$B/golden.list

# A test program is linked from what every one has, its kernels if there are any, and what it needs
# of the archives. Where Criterion's headers are not the system's own, the compiler sees into its
# macros.
HOOKS  := tests/skips.c tests/tsan_arena.c tests/environment.c
SHARED := $(filter-out tests/test_% tests/wrapper.c tests/lazy_git.c $(HOOKS),$(wildcard tests/*.c))
# Criterion loads libgit2 to show how two strings differ, and with it libraries that take most of what starting a test costs: about 18
# of 26 ms of CPU time, and there are three thousand tests. tests/lazy_git.c takes its place, where DT_RPATH finds it first, and loads
# the system's when it is wanted.
GIT    := $(if $(filter cpu,$(DEVICE)),$(shell tools/criterion_git.sh $(CC)))
LAZY   := $(GIT:%=$B/$(notdir $(GIT)))
$(TESTS:%=$B/%.o) $(TESTS:%.c=$B/%) $B/bugs $B/tests/enemy/fuzz $B/tests/cpu/traced: $B/test_flags
# What each includes before all else, compiled once: the compiler finds it before the header itself, and passes it by where flags
# differ, as with -O2.
FIRSTS := $(patsubst %,$B/first/%.gch,$(wildcard tests/test.h tests/plain.h))
$(FIRSTS): $B/first/%.gch: % $B/flags $B/test_flags
	$(call begin,CC,$<)
	$(Q)$(COMPILE.c)
$(TESTS:%=$B/%.o): $(FIRSTS)
$(TESTS:%=$B/%.o): private FIRST := -I$B/first
$(TESTS:%=$B/%.o) $(FIRSTS): private WARN += -Wno-unused-value
$(TESTS:%=$B/%.o) $(FIRSTS): private CFLAGS := $(TESTFLAGS)
# Those that compute much themselves say so; -O2 is the one that counts.
$(patsubst %,$B/%.o,$(shell grep -lxF '/* compiled with -O2: it computes much */' /dev/null $(TESTS))): private CFLAGS := $(TESTFLAGS) -O2
# Their assertions are long expressions, slow to compile with checks for undefined behaviour.
$(TESTS:%=$B/%.o) $(FIRSTS): private INSTRUMENT := $(subst address$(comma)undefined,address,$(INSTRUMENT))
$(patsubst %.cu,$B/%,$(wildcard $(TESTS:.c=.cu))): $B/%: $B/%.cu.o
$(TESTS:%.c=$B/%): $B/%: $B/%.c.o $(HOOKS:%=$B/%.o) $B/tests.a $B/rift.a $(RUNTIME) | $(LAZY)
	$(call begin,LINK,$@)
	$(Q)$(call LINK,$$ORIGIN/..:$$ORIGIN/../..:$$ORIGIN/../../..$(if $(OUTSIDE),:$$ORIGIN/../../../..)) $(LDFAST) $(TESTLIBS) $(LIBS)

$(LAZY): tests/lazy_git.c $B/flags $B/test_flags
	$(call begin,LINK,$@)
	$(Q)$(CC) $(PRELOADED) -fvisibility=default -DREAL_LIBGIT2='"$(GIT)"' -shared -Wl,-soname,$(@F) -o $@ $< -ldl

# Seeded bugs, for tools/sanitize.sh and tests.
$B/bugs: $(patsubst %,$B/%.o,$(wildcard tests/bugs/*.cu)) $B/rift.a $(RUNTIME)
	$(call begin,LINK,$@)
	$(Q)$(call LINK,$$ORIGIN) $(LDFAST) $(LIBS)

# A CUPTI of prepared records, and a program that loads the recorder as the driver does: nobody's
# sanitizer's.
$B/tests/recorder/test_cupti: $B/tests/recorder/cupti.so $B/tests/recorder/injected $B/recorder/cupti.so
$B/tests/recorder/cupti.so: tests/recorder/cupti.c
$B/tests/recorder/injected: tests/recorder/injected.c
$B/tests/recorder/cupti.so $B/tests/recorder/injected: common/recorder/cupti/abi.h $B/flags
	$(call begin,LINK,$@)
	$(Q)$(CC) $(PRELOADED) $(if $(filter %.so,$@),-shared) -o $@ $(filter %.c,$^) -ldl -lpthread
# A file of such a library by itself, with the test for a recorder and for the driver. What is looked for by its name is the test's, too.
$B/tests/recorder/test_feed: $B/common/recorder/cupti/feed.c.o
$B/tests/recorder/test_driver: $B/common/recorder/cupti/driver.c.o
$B/tests/recorder/test_handles: $B/common/recorder/preload/handles.c.o
$B/tests/recorder/test_driver $B/tests/common/test_recorder_process: private LDFAST += -rdynamic

# Programs to be recorded.
$B/tests/harness/profile/test_recorder_cost: $B/recorder/calls.so
$B/tests/recorder/test_span $B/tests/harness/cmd/test_cli_time: $B/recorder/span.so
$B/tests/recorder/test_calls: $B/recorder/calls.so $B/layers/remote.so $B/tests/layers/stubs.so $B/tests/layers/caller
ifeq ($(DEVICE),cpu)
$B/tests/cpu/test_cpu_trace $B/tests/harness/profile/test_recording $B/tests/recorder/test_calls: $B/tests/cpu/traced $B/recorder/ends.so
endif
$B/tests/cpu/traced: $B/tests/cpu/traced.cu.o $B/rift.a $(RUNTIME)
	$(call begin,LINK,$@)
	$(Q)$(call LINK,$$ORIGIN/../..) $(LDFAST) $(LIBS)

# rift's commands on damaged files (tests/enemy/fuzz.sh).
ENEMY := $(wildcard tests/enemy/*.c)
$(ENEMY:%=$B/%.o): private WARN += -Wno-unused-value
$B/tests/enemy/fuzz: $(ENEMY:%=$B/%.o) $B/tests.a $B/rift.a $(RUNTIME)
	$(call begin,LINK,$@)
	$(Q)$(call LINK,$$ORIGIN/../..) $(LDFAST) $(TESTLIBS) $(LIBS)

# Lists of the objects where they lie, made anew: a source that is gone leaves nothing behind.
$B/tests.a: $(SHARED:%=$B/%.o)
$B/rift.a: $(OBJ)
$B/tests.a $B/rift.a: $B/objects
	$(call begin,AR,$@)
	$(Q)rm -f $@ && $(AR) qc --thin $@ $(filter %.o,$^)

# Loaded by tests: a wrapper, which shows whoever wants to see them the calls of a program, and
# stand-ins for libraries of NVIDIA's driver.
$B/tests/cpu/test_wrapper $B/tests/cpu/test_wrapper_calls $B/tests/cpu/test_cpu_loader $B/tests/harness/cmd/test_cli_doctor $B/tests/common/test_refusal $B/tests/harness/session/test_sweep_identity: $B/tests/wrapper.so
$B/tests/harness/platform/test_platform_gpu: $B/tests/driver/nvml.so $B/tests/driver/old_nvml.so
$B/tests/harness/session/test_sweep_clocks: $B/tests/driver/nvml.so $B/tests/driver/gpu.so
$B/tests/harness/session/test_sweep_watch: $B/tests/driver/nvml.so $B/tests/driver/old_nvml.so $B/tests/driver/none.so
$B/tests/harness/cmd/test_cli_doctor: $B/tests/driver/none.so
$B/tests/%.so: tests/%.c $B/flags
	$(call begin,LINK,$@)
	$(Q)$(COMPILE.c:-c=-fPIC -shared) -ldl -lpthread

# For tests of layers: a runtime of stubs, which is nobody's sanitizer's; a program that calls it; a
# plug-in with the runtime; a CUPTI.
$B/tests/layers/test_shim $B/tests/layers/test_emulate: $(patsubst %,$B/tests/layers/%,stubs.so caller plugin.so blas.so)
$B/tests/layers/test_profiler: $(patsubst %,$B/tests/layers/%,cupti.so caller)
$B/tests/layers/stubs.so: tests/layers/stubs.c tests/layers/stubs.h layers/runtime_calls.h $B/flags
	$(call begin,LINK,$@)
	$(Q)$(CC) $(PRELOADED) $(if $(SANITIZE),-DSTUBS_LEAVE_SEARCH) -shared -Wl,-Bsymbolic-functions -o $@ $< -ldl
$B/tests/layers/caller: tests/layers/caller.c tests/layers/stubs.h layers/runtime_calls.h $B/flags
	$(call begin,LINK,$@)
	$(Q)$(COMPILE.c:-c=) -ldl -lpthread
$B/tests/layers/plugin.so: tests/layers/plugin.c $(RUNTIME) $B/flags
	$(call begin,LINK,$@)
	$(Q)$(COMPILE.c:-c=-fPIC -shared) $(RUNTIME) $(call RPATH,$$ORIGIN/../..)

# A program of which nvcc made the kernels, beforehand (layers/remote/images/remake.sh), and which is
# nobody's sanitizer's. Its runtime is found by name and version, as any program's.
IMAGES := $(wildcard layers/remote/images/*.o)
CLIENTS := $(patsubst %,$B/layers/remote/images/client%,12 13)
$B/layers/remote/test_cpu_remote_images: $(CLIENTS) $(CUBLASES)
$(CLIENTS): $B/layers/remote/images/client%: layers/remote/images/client.c $B/layers/remote/images/libcudart.so.% $(IMAGES) $(CUDARTS)
	$(call begin,LINK,$@)
	$(Q)$(CC) $(PRELOADED) -o $@ $< $(IMAGES) $B/layers/remote/images/libcudart.so.$* -lstdc++ -ldl
$(patsubst %,$B/layers/remote/images/libcudart.so.%,12 13): layers/remote/images/names.c layers/runtime_calls.h $B/flags
	@mkdir -p $(@D)
	$(Q)$(call named_runtime,cuda*; __cuda*)

# ---- bench --------------------------------------------------------------------------------
# bench/X.c, with kernels in bench/X.cu if it has any, or bench/X.cu alone is a program that
# prints figures; bench/cpu_X is for the CPU device only, bench/gpu_X and bench/X_cub for GPUs.
BENCH := $(sort $(basename $(wildcard bench/*.c bench/*.cu)))
BENCH := $(filter-out $(if $(filter cuda,$(DEVICE)),bench/cpu_%,bench/gpu_% bench/%_cub),$(BENCH))

bench: $(BLAS) $B/bench.list $(BENCH:%=$B/%)

$(patsubst %.c,$B/%,$(wildcard $(BENCH:=.c))): $B/%: $B/%.c.o
$(patsubst %.cu,$B/%,$(wildcard $(BENCH:=.cu))): $B/%: $B/%.cu.o
$(BENCH:%=$B/%): $(OBJ) $(RUNTIME) $B/objects
	$(call begin,LINK,$@)
	$(Q)$(call LINK,$$ORIGIN/..) $(LIBS)

# They preload these.
$B/bench/cpu_layers: $B/tests/layers/stubs.so $(PRELOADS:%=$B/layers/%.so)

# ---- dist ---------------------------------------------------------------------------------
# The same folder serves both platforms of a comparison. NVIDIA's cuBLAS, 600 MB, comes along with
# CUBLAS=yes only. docs/ stays behind: links to it become text; so does what only a debugger reads.
DIST := dist/rift-$(DEVICE)
# The scripts that draw, and of the kept sessions one of each device; the rest is a checkout's.
CARRIED := $(wildcard plots/*.gp) data/sessions/README.md data/sessions/h200-launch.jsonl \
	data/sessions/h200-costs.json data/sessions/emulate-sets/set-00.jsonl.gz
dist: $B/rift $(BLAS) preloads
	$(Q)rm -rf $(DIST)
	$(Q)mkdir -p $(DIST)
	$(Q)cp $B/rift LICENSE $(DIST)/
	$(Q)mkdir $(DIST)/layers
	$(if $(PRELOADS),$(Q)cp $(PRELOADS:%=$B/layers/%.so) $(DIST)/layers/)
	$(if $(CUDARTS),$(Q)mkdir $(DIST)/layers/cudart && cp -P $(CUDARTS) $B/layers/cudart/librift-remote.so $(DIST)/layers/cudart/)
	$(if $(CUBLASES),$(Q)mkdir $(DIST)/layers/cublas && cp -P $(CUBLASES) $B/layers/cublas/librift-remote.so $(DIST)/layers/cublas/)
	$(if $(INJECTED),$(Q)mkdir $(DIST)/recorder && cp $(INJECTED) $(DIST)/recorder/)
	$(Q)find $(DIST) \( -name rift -o -name '*.so' \) -type f -exec strip --strip-debug {} +
	$(if $(wildcard share),$(Q)cp -R share $(DIST)/)
	$(Q)cp tools/dist_README.md $(DIST)/README.md
	$(Q)cp -L $(RUNTIME) $(if $(filter cpu yes,$(DEVICE) $(CUBLAS)),$(BLAS)) $(DIST)/
	$(Q)find workloads \( -name '*.csv' -o -name '*.gp' -o -name '*.png' -o -name README.md \) -not -path '*/golden/*' \
		-exec cp --parents -t $(DIST) {} +
	$(if $(wildcard data plots),$(Q)cp --parents -t $(DIST) $(wildcard $(CARRIED)))
	$(Q)find $(DIST) -name README.md -exec sed -i -E 's,\[([^]]*)\]\((\.\./)+(docs/[^)#]*)[^)]*\),\1 (\3 of the source tree),g' {} +
	@echo "$(DIST) is ready: copy the folder, then run ./rift in it"

# ---- install ------------------------------------------------------------------------------
# The folder of `make dist` and links to it, so that a prefix may move. Documents find the workloads'
# READMEs there.
PREFIX ?= /usr/local
TO     := $(abspath $(DESTDIR)$(PREFIX))
DOC    := $(TO)/share/doc/rift
MAN    := $(TO)/share/man/man1/rift.1
BASH   := $(TO)/share/bash-completion/completions/rift

install:
	@mkdir -p '$(TO)' 2>/dev/null && [ -w '$(TO)' ] || \
		{ echo "rift: cannot write to $(TO): be root, or give another PREFIX=FOLDER" >&2; exit 3; }
	@$(MAKE) --no-print-directory -f build.mk dist DIST='$(TO)/lib/rift' >/dev/null
	@mkdir -p '$(TO)/bin' '$(dir $(MAN))' '$(dir $(BASH))' '$(DOC)'
	@ln -sfn ../lib/rift/rift '$(TO)/bin/rift'
	@'$(TO)/bin/rift' help --format=man >'$(MAN)'
	@'$(TO)/bin/rift' help --format=bash >'$(BASH)'
	@cp -R README.md $(wildcard CONTRIBUTING.md) docs $(wildcard plots) '$(DOC)/'
	@for f in workloads data; do ln -sfn "../../../lib/rift/$$f" '$(DOC)'/$$f; done
	@echo "rift is installed in $(TO)/bin; make uninstall removes it"

# What install made; folders that others may share stay.
uninstall:
	@rm -rf '$(TO)/lib/rift' '$(DOC)'
	@rm -f '$(TO)/bin/rift' '$(MAN)' '$(BASH)'
	@echo "rift is gone from $(TO)"

.PHONY: rift preloads tests golden bench dist install uninstall always
# A recipe that fails leaves no half of a file. Objects that only a pattern rule names are kept, too.
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $B -name '*.d' 2>/dev/null)
