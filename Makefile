# `make` builds build/hopscotch and build/libhopscotch.so; `make demo` and `make test` install what is missing first.
# configure.sh finds the compilers and libraries and writes build/config.mk. V=1 shows the commands. Other flags want
# another folder:
#   make BUILD=build/clang CC=clang WERROR=-Werror CUDA=no
# `make dev` builds program and tests for work on the code, in build/dev; `make quick` also runs the tests of a minute.
BUILD ?= build
PREFIX ?= /usr/local
OPT ?= -O2
KERNEL_OPT ?= -O3
GPU_OPT ?= -O3
UNIT ?= hopscotch
FUZZ_SECONDS ?= 60

.PHONY: all demo dev quick test test-gpu bits bench bench-gpu bench-search lint format asan tsan fuzz hostile valgrind
.PHONY: crash digests flips
.PHONY: asan_python pairs cluster asan_programs tsan_programs bench-load browser cleanroom mechanisms lagrange
.PHONY: arm64 kernels names papers portable sensitivity install install_share clean FORCE
all:

ifneq ($(MAKECMDGOALS),clean)
include build/config.mk
MAKEFLAGS += -r $(if $(MAKELEVEL:0=),,-j$(JOBS))
endif
# PROCESSOR: x86_64 or aarch64, which the compiler compiles for. least_isa: what every such processor has.
PROCESSOR ?= x86_64
isas_x86_64 := scalar v2 v3 v4
isas_aarch64 := scalar neon
least_isa := $(if $(filter aarch64,$(PROCESSOR)),neon,v2)
vector_isa := $(if $(filter aarch64,$(PROCESSOR)),neon,v3)
other_arch := $(if $(ARCH),$(if $(subst $(CONFIGURED_ARCH),,$(ARCH)),FORCE))
ifneq ($(STEPS),count)
build/configured: configure.sh $(other_arch)
	./configure.sh $(if $(filter demo test,$(MAKECMDGOALS)),--install-deps)
build/config.mk: build/configured # which leaves it as it is where nothing changed
	@test -e $@ || ./configure.sh
endif

# The folders, and the commit that is built: written when it changes, so that a dry run is right about what follows.
# `git archive` writes the commit of an archive into the next line (.gitattributes).
# archive of $Format:%H$
COMMIT := $(or $(shell sed -n 's/^. archive of \([0-9a-f]\{12\}\).*/\1/p' Makefile), \
  $(shell git describe --always --dirty --abbrev=12 2>/dev/null),unknown)
$(if $(JOBS),$(shell mkdir -p $(addprefix $(BUILD)/,portable faults unit/unit unit/bench unit/crash) && \
  { echo '$(COMMIT)' | cmp -s - $(BUILD)/commit || echo '$(COMMIT)' >$(BUILD)/commit; }))

# ---- progress: a line per step in place of its command; a dry run counts the steps -----------------------------------
# `make demo` builds what this machine needs for a first result; `make` adds the rest. After a full build it does the
# same, unless no kernel is older than its sources. On the command line: first= (all), first=demo.
first := $(if $(subst demo,,$(MAKECMDGOALS)),,$(MAKECMDGOALS))
ifeq ($(if $(wildcard $(BUILD)/cpu_plain_scalar.o),$(origin first)),file)
first := $(shell $(MAKE) -q $(MAKEOVERRIDES) STEPS=count first= kernels >/dev/null 2>&1 || echo $(first))
endif
Q := $(if $(V),,@)
step = @$(eval steps_begun += x)echo "[$(words $(steps_begun)) of $(STEPS)] $1"
ifeq ($(if $(JOBS),$(origin STEPS)),undefined)
STEPS := $(shell $(MAKE) -n $(MAKEOVERRIDES) STEPS=count first=$(first) $(MAKECMDGOALS) 2>/dev/null | \
  grep -c '^echo "\[')
$(if $(filter-out 0 1 2 3,$(STEPS)),$(info Building in $(STEPS) steps, $(JOBS) at a time. It takes \
  $(or $(TAKES),$(if $(first),about a minute,minutes: a file of kernels up to one and a half)). \
  V=1 shows the commands.))
$(if $(filter-out 0,$(STEPS)),$(if $(first),$(info Kernels for this machine's processor only: \
  $(sort $(least_isa) $(ISA)). `make` compiles those of the other instruction sets.)))
endif

# ---- the program: one object per floor, one of kernels per instruction set, one for CUDA -----------------------------
# All files of a floor are compiled as one unit, which is written here: a new file is part of it at once.
floors := sim io experiment campaign view command
extension := runner/campaign/store/extension
not_of_a_floor := sim/cpu_kernels.c sim/trail_kernels.c sim/environment_kernels.c \
  io/database_extension.c $(extension)/extension.c
files_of_sqlite := $(addprefix sim/,base.c graph/threads.c thread.c thread_team.c) \
  $(addprefix io/,characters.c clock.c column_deflate.c column_hash.c columns.c database.c database_block_plan.c \
  database_block_rows.c database_blocks.c database_error.c database_extension.c database_user.c file.c file_within.c \
  folder.c nofollow.c order.c processors.c row_digest.c sha256.c stored_column.c system.c) \
  $(addprefix runner/campaign/store/,ground/cursor.c ground/suggested_commands.c ground/transaction.c \
  trials/blocks.c trials/trial_blocks.c extension/extension.c)
files_of = $(filter-out $(not_of_a_floor),$(sort $(wildcard $1/*.c $1/*/*.c $1/*/*/*.c)))
# Two of `make` may do so at once.
write_unit = unit=$(BUILD)/units/$1.c new=$(BUILD)/units/$1.$$$$; \
  for file in $2; do echo "\#include \"$$file\""; done >$$new; \
  if cmp -s $$new $$unit; then rm $$new; else mv $$new $$unit; fi;
$(if $(JOBS),$(shell mkdir -p $(BUILD)/units; $(foreach floor,$(floors) library,$(call write_unit,$(floor),$(call \
  files_of,$(if $(filter sim io,$(floor)),$(floor),runner/$(floor))))) $(call write_unit,sqlite,$(files_of_sqlite))))
vpath %.c $(BUILD)/units runner
# host: by tests/cuda_on_host
with_cuda := $(filter yes host,$(CUDA))
# -fPIC: the same objects make the program and the library
C := $(CC) -std=c17 -D_GNU_SOURCE -fPIC -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(WERROR) \
  -g -MMD -MP
# The models' sources with operators of dual numbers (sim/dual.h); nothing is linked with C++'s library.
DUAL = $(subst -std=c17,-x c++ -std=c++17 -fno-exceptions -fno-rtti,$(HOST)) -DHOPSCOTCH_CALLS -fno-math-errno \
  -fno-trapping-math -Wno-enum-float-conversion -Wno-psabi \
  $(if $(findstring sanitize,$(EXTRA)),$(dual_with_sanitizer))
# At -O0 eight seconds for one instruction set, in place of two minutes. The other one, which programs run where the
# processor has it, is compiled without sanitizers: it runs fifty times as fast. Unit tests run both.
dual_with_sanitizer = $(if $(filter %$(least_isa).o %_dual.o,$@),-O0 -fno-sanitize=null -fno-sanitize=alignment \
  -fno-sanitize=object-size,-fno-sanitize=all)
# At -O0 and -O1 the host calls functions of models, too: sim.c compiles in a third of the time that inlining takes.
HOST := $(C) $(OPT) $(if $(filter -O0 -O1,$(OPT)),-DHOPSCOTCH_CALLS) $(EXTRA) $(DEPENDENCY_FLAGS) \
  $(if $(with_cuda),-DHOPSCOTCH_CUDA)
# With -g in place of -g1, line numbers alone, kernels take almost twice as long to compile.
KERNELS = $(C) $(KERNEL_OPT) -g1 $(EXTRA) -fno-math-errno -fno-trapping-math \
  -DCPU_KERNELS=$(@F:.o=)
LIBS ?= $(DEPENDENCY_LIBS)
LINK = $(CC) $(EXTRA) $(LDFLAGS) $(filter %.o,$^) $(LIBS) $(if $(with_cuda),$(CUDA_LIBS)) -lm -lpthread -o $@
# INLINE: the instruction sets whose kernels of unobserved lanes are inlined as a whole, which takes long to compile
ISAS ?= $(isas_$(PROCESSOR))
INLINE ?= $(ISAS)
runnable := $(filter-out $(if $(filter v4,$(ISA)),,v4),$(isas_$(PROCESSOR))) # by this processor
isas := $(if $(first),$(sort $(least_isa) $(ISA)),$(ISAS))
# PLAIN: the instruction sets with kernels of unobserved lanes; where these lack, those of observed lanes compute both
PLAIN ?= $(if $(first),,$(isas))
plain_kernels = $(if $(filter $1,$(PLAIN)),$(BUILD)/cpu_plain_$1.o)
cpu_kernels := $(foreach isa,$(isas),$(call plain_kernels,$(isa)) $(BUILD)/cpu_observed_$(isa).o)
# what takes longest comes first, here and in the programs: the other objects compile beside it
gpu_kernels := $(BUILD)/backend_cuda.o \
  $(if $(first),,$(BUILD)/trail_cuda.o $(BUILD)/alone_cuda.o $(BUILD)/adjoint_cuda.o) \
  $(if $(filter yes,$(CUDA)),$(if $(first),,$(BUILD)/ahead_cuda.o)) # a host has no warps
# of environments (sim/environment.h), which only the library and what tests it have
environments := $(if $(first),,$(foreach isa,$(isas),$(BUILD)/cpu_environment_$(isa).o) \
  $(if $(with_cuda),$(BUILD)/environment_cuda.o))
kernels := $(if $(with_cuda),$(if $(first),$(GPU:yes=$(gpu_kernels)),$(gpu_kernels))) $(cpu_kernels)

# In a build with faults, file, database and device operations can be made to fail; other floors do not know of that.
can_fail := sim io command
of_derivatives := $(filter v2 v3 neon,$(isas_$(PROCESSOR)))
derivatives := $(foreach kernels,dual_kernels trail_kernels,$(of_derivatives:%=$(kernels)_%))
units_hopscotch := $(patsubst %,$(BUILD)/%.o,$(floors) $(derivatives) version)
units_faults := $(patsubst %,$(BUILD)/%.o,$(filter-out $(can_fail),$(floors)) $(can_fail:%=faults/%) \
  $(derivatives) version)

kernels: $(kernels) $(environments)
all: $(BUILD)/hopscotch $(if $(first),,$(BUILD)/libhopscotch.so $(BUILD)/libhopscotch_sqlite.so)
$(BUILD)/hopscotch $(BUILD)/portable/hopscotch: $(kernels) $(BUILD)/main.o $(units_$(UNIT))
	$(call step,$@)
	$(Q)$(LINK)
# runner/hopscotch.h; what it exports stands in runner/library/exports.map
units_library := $(patsubst %,$(BUILD)/%.o,sim io experiment library $(derivatives) version)
$(BUILD)/libhopscotch.so: $(environments) $(kernels) $(units_library) runner/library/exports.map
	$(call step,$@)
	$(Q)$(CC) -shared -Wl,--version-script=runner/library/exports.map -Wl,-soname,libhopscotch.so.1 -Wl,-z,defs \
	    $(EXTRA) $(LDFLAGS) $(filter %.o,$^) $(LIBS) $(if $(with_cuda),$(CUDA_LIBS)) \
	    -lm -lpthread -o $@
# A loadable extension of SQLite: the table of trials in blocks, for other programs. The linker leaves out what it does
# not call, all of HDF5 too. SQLite is that of the program that loads it.
$(BUILD)/libhopscotch_sqlite.so: $(BUILD)/sqlite.o $(extension)/exports.map
	$(call step,$@)
	$(Q)$(CC) -shared -Wl,--version-script=$(extension)/exports.map -Wl,--gc-sections -Wl,-z,defs $(EXTRA) $(LDFLAGS) \
	    $< $(filter -lz,$(DEPENDENCY_LIBS)) -lm -lpthread -o $@
$(BUILD)/sqlite.o: HOST += -DHOPSCOTCH_EXTENSION -fvisibility=hidden -ffunction-sections -fdata-sections
# the headers of the models, for kernels that are made at run time (sim/made)
headers := $(wildcard sim/*.h sim/*/*.h)
$(BUILD)/headers: $(headers)
	@mkdir -p $(@D) && for header in $(headers); do echo "@$$header" && cat $$header || exit 1; done >$@
$(BUILD)/sim.o $(BUILD)/faults/sim.o $(BUILD)/wheel/sim.o: $(BUILD)/headers
$(BUILD)/sim.o $(BUILD)/faults/sim.o $(BUILD)/wheel/sim.o: HOST += -DMADE_HEADERS='"$(BUILD)/headers"'
$(BUILD)/sim.o $(BUILD)/faults/sim.o: HOST += $(if $(NVRTC_FOLDER),-DNVRTC_FOLDER='"$(NVRTC_FOLDER)"')
$(BUILD)/io.o $(BUILD)/faults/io.o: $(wildcard io/page/*.css io/page/*.js)
$(BUILD)/dual_kernels_%.o: sim/dual_kernels.cpp build/config.mk
	$(call step,$@)
	$(Q)$(DUAL) -DDUAL_KERNELS_OF=$(@F:.o=) $(ISA_$*) $(TUNE_$*) -c $< -o $@
# v3: copies of 32 bytes, as gcc's usual ones of 16 stall the loads of 32 that follow. v2: half as large
TUNE_v3 := -mtune=skylake-avx512
TUNE_v2 := $(if $(filter -O0,$(OPT))$(findstring sanitize,$(EXTRA)),,-Os)
$(BUILD)/trail_kernels_%.o: sim/trail_kernels.c build/config.mk
	$(call step,$@)
	$(Q)$(HOST) -DTRAIL_KERNELS=$(@F:.o=) $(ISA_$*) -c $< -o $@
$(BUILD)/version.o: HOST += -DHOPSCOTCH_COMMIT='"$(COMMIT)"'
$(BUILD)/version.o: $(BUILD)/commit
# The host computes with one lane, whatever it is compiled for (sim/real.h).
UNIT_FLAGS = -iquote . -DHOPSCOTCH_SCALAR
$(patsubst %,$(BUILD)/%.o,$(floors) library sqlite version main): $(BUILD)/%.o: %.c build/config.mk
	$(call step,$@)
	$(Q)$(HOST) $(UNIT_FLAGS) -c $< -o $@
$(can_fail:%=$(BUILD)/faults/%.o): $(BUILD)/faults/%.o: %.c build/config.mk
	$(call step,$@)
	$(Q)$(HOST) $(UNIT_FLAGS) -DHOPSCOTCH_FAULTS -c $< -o $@
$(BUILD)/cpu_plain_%.o: sim/cpu_kernels.c build/config.mk
	$(call step,$@: kernels for $(ISA_$*))
	$(Q)$(KERNELS) $(if $(filter $*,$(INLINE)),,-DHOPSCOTCH_CALLS) -DOBSERVED=false $(ISA_$*) -c $< -o $@
$(BUILD)/cpu_observed_%.o: sim/cpu_kernels.c build/config.mk
	$(call step,$@: kernels of recorded lanes for $(ISA_$*))
	$(Q)$(KERNELS) -DOBSERVED=true -DHOPSCOTCH_CALLS $(ISA_$*) -c $< -o $@
$(BUILD)/cpu_environment_%.o: sim/environment_kernels.c build/config.mk
	$(call step,$@: kernels of environments for $(ISA_$*))
	$(Q)$(KERNELS) -DENVIRONMENT_KERNELS_OF=$(@F:.o=) $(if $(filter $*,$(INLINE)),,-DHOPSCOTCH_CALLS) $(ISA_$*) \
	    -c $< -o $@
ISA_scalar := -march=$(if $(filter aarch64,$(PROCESSOR)),armv8-a,x86-64-v3) -DHOPSCOTCH_SCALAR
ISA_neon := -march=armv8-a
ISA_v2 := -march=x86-64-v2
ISA_v3 := -march=x86-64-v3
# gcc before 13.3 misaligns vectors of 64 bytes on the stack that finds its use after a return
no_asan_stack := $(if $(findstring clang,$(CC)),,$(if $(findstring =address,$(EXTRA)),--param asan-use-after-return=0))
ISA_v4 := -march=x86-64-v4 $(no_asan_stack)
$(BUILD)/%_cuda.o: sim/%_cuda.cu $(wildcard sim/*.h sim/*/*.h sim/*/*/*.h sim/*.cuh sim/made/*.cuh) build/config.mk
	$(call step,$@: kernels for GPUs)
	$(Q)$(cuda_by_$(CUDA)) -std=c++17 -c $< -o $@
cuda_by_yes = $(NVCC) $(GPU_OPT) -fmad=false -Xcompiler -fPIC,-ffp-contract=off $(NVCC_FLAGS) \
  $(wheel_compresses) --threads 0
wheel_compresses := $(if $(filter wheel deb,$(MAKECMDGOALS)),$(NVCC_SMALL))
cuda_by_host = $(CXX) -x c++ -fPIC $(KERNEL_OPT) $(EXTRA) -ffp-contract=off -fno-exceptions -fno-rtti \
  $(ISA_$(vector_isa)) $(on_host)
on_host := -I tests/cuda_on_host -include runtime.cuh

# ---- tests: with the floors that can be made to fail -----------------------------------------------------------------
UNIT_OPT ?=
# with one lane, as the host; empty, as tests define it themselves
UNIT_TEST = $(HOST) $(UNIT_OPT) -DHOPSCOTCH_FAULTS -DHOPSCOTCH_CALLS -DHOPSCOTCH_SCALAR=
# PRECOMPILED=yes: their common header is read once for all, in a quarter of their time by clang
precompiled := $(if $(PRECOMPILED),$(BUILD)/unit/test.h.gch)
$(BUILD)/unit/test.h.gch: tests/test.h build/config.mk
	$(call step,$@)
	$(Q)$(UNIT_TEST) -x c-header -c $< -o $@
$(BUILD)/unit/%.o: tests/%.c build/config.mk $(precompiled)
	$(call step,$@)
	$(Q)$(UNIT_TEST) $(precompiled:%.gch=-include %) -c $< -o $@
$(BUILD)/unit/%.o: tests/%.cpp build/config.mk
	$(call step,$@)
	$(Q)$(DUAL) $(UNIT_OPT) -c $< -o $@
unit_tests := $(patsubst tests/%,$(BUILD)/unit/%.o,$(basename tests/test.c $(wildcard tests/unit/*.c tests/unit/*.cpp)))
$(BUILD)/tests $(BUILD)/portable/tests: $(unit_tests) $(units_faults) $(BUILD)/library.o $(environments) $(kernels)
	$(call step,$@)
	$(Q)$(LINK)
$(BUILD)/hopscotch_faults $(BUILD)/portable/hopscotch_faults: $(BUILD)/main.o $(units_faults) $(kernels)
	$(call step,$@)
	$(Q)$(LINK)
$(BUILD)/flips: $(BUILD)/unit/crash/flips.o $(units_$(UNIT)) $(kernels)
	$(call step,$@)
	$(Q)$(LINK)
-include $(wildcard $(BUILD)/*.d $(BUILD)/faults/*.d $(BUILD)/wheel/*.d $(BUILD)/unit/*.d $(BUILD)/unit/*/*.d)

$(BUILD)/sql: tests/sql.c build/config.mk
	$(call step,$@)
	$(Q)$(C) $(EXTRA) $(DEPENDENCY_FLAGS) $< $(LIBS) -o $@
$(BUILD)/attacker: tests/hostile/attacker.c build/config.mk
	$(call step,$@)
	$(Q)$(C) $< -o $@
$(BUILD)/answers: tests/command/answers.c build/config.mk
	$(call step,$@)
	$(Q)$(C) -O2 $< -o $@
$(BUILD)/pairs: tests/crash/pairs.c build/config.mk
	$(call step,$@)
	$(Q)$(C) $(EXTRA) $(DEPENDENCY_FLAGS) $< $(LIBS) -o $@
PROGRAMS ?= hopscotch hopscotch_faults tests flips sql attacker pairs libhopscotch.so libhopscotch_sqlite.so
programs: $(addprefix $(BUILD)/,$(PROGRAMS))
demo_spec := $(if $(with_cuda),$$(nvidia-smi -L >/dev/null 2>&1 && echo raibert_gains || echo smoke),smoke)
# For work on the code: the kernels of one instruction set, at -O0, without CUDA; by clang, if there is one, in half of
# gcc's time. The same bits as any other build. DEBUG=-g: with variables, for a debugger.
dev_isa := $(if $(filter v2,$(ISA)),v2,scalar)
dev_cc := $(if $(filter command%,$(origin CC)),$(CC),$(or $(if $(shell command -v clang),clang),$(CC)))
DEV_PROGRAMS ?= hopscotch hopscotch_faults tests sql attacker libhopscotch_sqlite.so
dev:
	$(if $(MAKELEVEL:0=),,@echo "Kernels of one instruction set, $(dev_isa), at -O0 by $(dev_cc), without CUDA: build/dev")
	@$(MAKE) --no-print-directory BUILD=build/dev UNIT=faults CC=$(dev_cc) CUDA=no OPT=-O0 \
	    KERNEL_OPT='-O0 -DHOPSCOTCH_CALLS' ISAS=$(dev_isa) PLAIN= EXTRA=$(or $(DEBUG),-g1) WERROR=-Werror \
	    PRECOMPILED=yes TAKES="about half a minute" PROGRAMS="$(DEV_PROGRAMS)" programs
# The tests of a minute, before each commit: all but those that tests/slow names.
quick: dev
	QUICK=1 LEAVE_OUT=tests/slow sh tests/run.sh build/dev $(ONLY)
demo: all
	$(BUILD)/hopscotch run experiments/$(demo_spec).yaml
	$(BUILD)/hopscotch report $(demo_spec)
test: programs
	sh tests/run.sh $(BUILD) $(ONLY)
# With sanitizers the same objects serve the program and the tests: they take long to compile. Kernels that record
# compute all lanes. The tests' own code is compiled at -O0: what is checked is the same.
asan_programs tsan_programs: %_programs:
	$(MAKE) BUILD=build/$* UNIT=faults CUDA=$(cuda_of_$*) CUDA_LIBS= OPT=-O1 UNIT_OPT=-O0 \
	    KERNEL_OPT='-O1 -DHOPSCOTCH_CALLS' ISAS="$(ISAS_$*)" PLAIN= EXTRA="$(SANITIZE_$*)" \
	    PROGRAMS="$(filter-out lib%.so,$(PROGRAMS))" programs
cuda_of_asan := $(if $(shell command -v $(CXX)),host,no)
cuda_of_tsan := no
ISAS_asan := $(filter-out v2 v4,$(runnable)) # one lane at a time, and eight
ISAS_tsan := $(ISAS_asan)
asan tsan: %: %_programs
	@grep -v '[.]sh' tests/slow >build/$@/slow
	QUICK=1 SCRIPTS="$(SCRIPTS_$@)" UNITS="$(UNITS_$@)" LEAVE_OUT=$(SLOW_$@) sh tests/run.sh build/$@ $(ONLY)
# At a fixed address: programs with sanitizers hold so many addresses that relocating them takes a third of each start.
SANITIZE_asan := -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -fno-pie -no-pie
SANITIZE_tsan := -g1 -fsanitize=thread
# Scripts that read what other people write, fill memory, fork, or print what nothing else prints.
# `make asan SCRIPTS_asan= SLOW_asan=` runs all, which takes half an hour.
SCRIPTS_asan := \
  actuator attack bodies catalogue command commands corpus crate csv damaged doctor equations export \
  figures files fit_json forms functions graph hostile include interrupt law law_policy law_words limits list \
  manual maps mcap merge names ndt outer overview pack policy program_files query_sql recordings report retire \
  rigid_law robot_files robot_meshes robot_words sensitivity sqlite_extension surrogate sweep system_messages \
  system_units undetermined watch words
SLOW_asan := build/asan/slow
# what has more than one thread: the writer beside the loop, threads of a backend, of a graph; not what depends on
# speed, nor bits in kernels of one thread
UNITS_tsan := bbob campaign database debug_rows device graph lock morris nofollow pilot plan progress several \
  sobol space store threads timings _bits_ -plan_counts_batches -kernels_with_noise -raibert_has_the_same_bits \
  -bits_of_order_two -bits_on_shapes -bits_on_heights -inputs_have_the_same_bits_in -rattle_has_the_same_bits_in \
  -articulated_debug_rows_have -expression_has_its_bits
SLOW_tsan := tests/one_thread
SCRIPTS_tsan := cmaes device_trouble interrupt kill_resume outer pareto resume stop two_runners watch
test-gpu:
	@nvidia-smi -L >/dev/null 2>&1 || { echo "make test-gpu: no GPU here: nvidia-smi finds none" >&2 && exit 1; }
	@[ $(CUDA) = yes ] || { echo "make test-gpu: no CUDA toolkit: ./configure.sh says why" >&2 && exit 1; }
	$(MAKE) programs $(BUILD)/bench_work_precision
	sh tests/gpu.sh $(BUILD)
	sh tests/gpu_faults.sh $(BUILD)
	sh tests/gpu_models.sh $(BUILD)
	sh tests/gpu_made.sh $(BUILD)
	TIMES= sh tests/gpu_equations.sh $(BUILD)
	TIMES= sh tests/gpu_equations_gradient.sh $(BUILD)
	TIMES= sh tests/gpu_metrics.sh $(BUILD)
	sh tests/gpu_robots.sh $(BUILD)
	sh tests/gpu_environment.sh $(BUILD)
# by gcc at -O0 and by clang, which needs two minutes for the widest vectors alone; that of `make dev` has one lane
bits_programs: $(BUILD)/hopscotch
	$(MAKE) BUILD=build/O0 OPT=-O0 KERNEL_OPT='-O0 -DHOPSCOTCH_CALLS' CUDA=no ISAS="$(runnable)" PLAIN= \
	    build/O0/hopscotch
	$(MAKE) BUILD=build/clang CC=clang CUDA=no KERNEL_OPT='-O2 -DHOPSCOTCH_CALLS' ISAS=$(lastword $(runnable)) PLAIN= \
	    EXTRA=-g1 WERROR=-Werror build/clang/hopscotch
	$(MAKE) dev DEV_PROGRAMS=hopscotch
bits: bits_programs
	sh tests/bits.sh $(BUILD)/hopscotch build/O0/hopscotch build/clang/hopscotch build/dev/hopscotch
# the same bits on aarch64, by a cross compiler and qemu: builds program and tests, a quarter of an hour
arm64: $(BUILD)/hopscotch
	sh tests/arm64.sh $(BUILD)/hopscotch
flips: $(BUILD)/flips
	folder=$$(mktemp -d) && $(BUILD)/flips "$$folder" 1000 && rm -rf "$$folder"
	FLIPS=1000 sh tests/crash/flips_of_blocks.sh
	SPEC=kept_later FLIPS=1000 sh tests/crash/flips_of_blocks.sh
	SPEC=later_made FLIPS=1000 sh tests/crash/flips_of_blocks.sh
# how often the intervals of sobol_indices cover the indices of known functions, 200 seeds at 256 to 4,096 samples
sensitivity: programs
	SEEDS=200 $(BUILD)/tests sobol_indices_intervals
# random overconstrained mechanisms, 167 of each of six kinds, against their exact motion: a quarter of an hour
mechanisms: programs
	MECHANISMS=167 $(BUILD)/tests rigid_mechanisms
# 500 random robots with armature everywhere against Lagrange's equations: minutes
lagrange: programs
	LAGRANGE=500 $(BUILD)/tests articulated_lagrange
# generated names for all that a spec names, through every command: minutes
names: programs
	NAMES=all HOPSCOTCH=$(CURDIR)/$(BUILD)/hopscotch sh tests/cli/generated_names.sh
# published tables and figures beside ours (tests/papers/README.md), minutes
papers: $(BUILD)/hopscotch
	HOPSCOTCH=$(BUILD)/hopscotch sh tests/papers.sh $(ONLY)
# `make demo` and `make test` on a bare Debian 12 and 13
cleanroom:
	sh tests/cleanroom.sh
crash: programs
	sh tests/crash/run.sh $(BUILD)
# every two commands at once, ROUNDS times each; KINDS=all: more commands, and hours
pairs: programs
	ROUNDS=$(or $(ROUNDS),200) KINDS="$(KINDS)" HOPSCOTCH=$(BUILD)/hopscotch sh tests/cli/pairs.sh
# parts of a campaign under a Slurm of this host
cluster: programs
	HOPSCOTCH=$(BUILD)/hopscotch sh tests/cluster/slurm.sh
bench: $(patsubst tests/bench/%.c,$(BUILD)/bench_%,$(wildcard tests/bench/*.c))
	for program in $^; do ./$$program || exit 1; done
bench-gpu: $(BUILD)/bench_hopper_speed
	./$< $(BUILD)/hopper_speed_gpu cuda $$(nvidia-smi --query-gpu=clocks.max.sm --format=csv,noheader,nounits | head -n 1)
$(BUILD)/bench_% $(BUILD)/portable/bench_%: $(BUILD)/unit/bench/%.o $(units_hopscotch) $(kernels)
	$(call step,$@)
	$(Q)$(LINK)
$(BUILD)/bench_environment $(BUILD)/portable/bench_environment: $(BUILD)/library.o $(environments)
# 10,000 campaigns and five million trials, 3 GB under build/load
bench-load: $(BUILD)/hopscotch
	sh tests/bench/load.sh $< build/load
bench-search: $(BUILD)/bench_search
	$< 2,5,10,20 >tests/bench/search.csv
lint:
	sh tests/lint.sh "$(DEPENDENCY_FLAGS)"
# for editors: how each .c file compiles alone
compile_commands.json: FORCE
	$(Q)find sim io runner tests -name '*.c' | sort | awk -v folder='$(CURDIR)' -v cc='$(filter-out -MMD -MP,$(HOST))' '\
	    BEGIN { print "[" } END { print "\n]" } { flags = "" } \
	    /^tests/ { flags = " -DHOPSCOTCH_FAULTS -DHOPSCOTCH_CALLS" } \
	    /environment_kernels/ { flags = " -DENVIRONMENT_KERNELS_OF=cpu_environment_$(vector_isa) $(ISA_$(vector_isa))" } \
	    /cpu_kernels/ { flags = " -DCPU_KERNELS=cpu_plain_$(vector_isa) -DOBSERVED=false $(ISA_$(vector_isa))" } \
	    { printf("%s{\"directory\": \"%s\", \"file\": \"%s\", \"command\": \"%s%s -c %s\"}", \
	             (NR > 1 ? ",\n" : ""), folder, $$0, cc, flags, $$0) }' >$@
format:
	clang-format -i $$(git ls-files '*.c' '*.cpp' '*.h' '*.cu')
fuzz: $(cpu_kernels) $(derivatives:%=$(BUILD)/%.o) | $(BUILD)/headers
	BUILD=$(BUILD) sh tests/fuzz/run.sh $(FUZZ_SECONDS) "$(DEPENDENCY_FLAGS)" "$(DEPENDENCY_LIBS)" $^
# hostile input, then all hostile folders and races under the address sanitizer: hours of a core, shared out to all
hostile: all asan_programs
	HOSTILE_EVERY=1 HOPSCOTCH=$(BUILD)/hopscotch sh tests/cli/hostile.sh
	seq $(JOBS) | ATTACK_EVERY=1 HOPSCOTCH=build/asan/hopscotch ATTACKER=build/asan/attacker \
	    xargs -P $(JOBS) -I N env ATTACK_PART=N/$(JOBS) sh tests/cli/attack.sh
# environments in Python with the library under the address sanitizer; what Python itself leaks is not counted
asan_python:
	$(MAKE) BUILD=build/$@ CUDA=no OPT=-O1 KERNEL_OPT='-O1 -DHOPSCOTCH_CALLS' ISAS=scalar PLAIN=scalar \
	    EXTRA='-g1 -fsanitize=address,undefined -fno-sanitize-recover=all' PROGRAMS=libhopscotch.so programs
	LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
	    HOPSCOTCH_LIBRARY=$(CURDIR)/build/$@/libhopscotch.so sh tests/cli/python_environment.sh
# shipped campaigns have the digests of tests/digests.txt, with each instruction set of this processor and on its GPU
digests: $(BUILD)/hopscotch
	sh tests/digests.sh $(BUILD)/hopscotch
browser: all
	python3 tests/browser/browser.py $(BUILD)/hopscotch
valgrind: all
	sh tests/valgrind.sh $(BUILD)/hopscotch
portable: $(addprefix $(BUILD)/portable/,hopscotch hopscotch_faults tests bench_work_precision bench_hopper_speed \
  bench_ndt_speed bench_environment)
	sh tests/portable.sh $(BUILD)/portable/hopscotch
$(BUILD)/portable/%: LIBS = $(STATIC_LIBS)
$(BUILD)/portable/%: LDFLAGS = -static-libgcc
# ---- what is installed -----------------------------------------------------------------------------------------------
include runner/python/package.mk # make python, wheel, deb, release
SHARE = $(DESTDIR)$(PREFIX)/share
install: all install_share install_pages
	install -D -m 755 $(BUILD)/hopscotch $(DESTDIR)$(PREFIX)/bin/hopscotch
	install -D -m 755 $(BUILD)/libhopscotch.so $(DESTDIR)$(PREFIX)/lib/libhopscotch.so.1
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib $(BUILD)/libhopscotch_sqlite.so
	ln -sf libhopscotch.so.1 $(DESTDIR)$(PREFIX)/lib/libhopscotch.so
	install -D -m 644 runner/hopscotch.h $(DESTDIR)$(PREFIX)/include/hopscotch.h
install_share: # what `hopscotch examples` and `docs` find
	install -D -m 644 -t $(SHARE)/hopscotch/experiments $(wildcard experiments/*.*)
	install -D -m 644 -t $(SHARE)/hopscotch/experiments/robots experiments/robots/*.xml
	for folder in laws learning command mujoco; do \
	    install -D -m 644 -t $(SHARE)/hopscotch/experiments/$$folder experiments/$$folder/* || exit 1; done
	chmod 755 $(SHARE)/hopscotch/experiments/command/*.sh
	install -D -m 644 -t $(SHARE)/hopscotch/results results/README.md results/formats.md
	install -D -m 644 -t $(SHARE)/hopscotch README.md CHANGELOG.md
install_pages: $(BUILD)/hopscotch
	@cd $(BUILD) && mkdir -p pages && ./hopscotch help --man >pages/hopscotch.1 && \
	    ./hopscotch help spec --man >pages/hopscotch-spec.5 && ./hopscotch help --completion bash >pages/hopscotch && \
	    ./hopscotch help --completion zsh >pages/_hopscotch && for command in $$(./hopscotch help --names); do \
	    ./hopscotch help $$command --man >pages/hopscotch-$$command.1 || exit 1; done
	install -D -m 644 -t $(SHARE)/man/man1 $(BUILD)/pages/*.1
	install -D -m 644 -t $(SHARE)/man/man5 $(BUILD)/pages/*.5
	install -D -m 644 -t $(SHARE)/bash-completion/completions $(BUILD)/pages/hopscotch
	install -D -m 644 -t $(SHARE)/zsh/site-functions $(BUILD)/pages/_hopscotch
clean:
	rm -rf build
