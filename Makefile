# SPDX-License-Identifier: GPL-2.0-only
# What a developer types. The modules themselves are Kbuild's.

KERNEL ?= 6.12
OTHERS ?= $(shell sh test/vm/kernels.sh --list)
OPS ?=
SEED ?=
KDIR ?= /lib/modules/$(shell uname -r)/build

.PHONY: modules help demo test test-dkms unit bench seeds kernels lint dist deb clean

modules:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

help:
	@echo 'make modules [KDIR=DIR]         build leanacct.ko and leanacct_klp.ko (default: for the running kernel)'
	@echo 'make demo [KERNEL=6.12]         in a VM: load, turn vtime on, compare; ends with a table'
	@echo 'make test [KERNEL=6.12] [OTHERS="6.1 7"]'
	@echo '                                all tests, on KERNEL; the main ones on OTHERS (default: on'
	@echo '                                all other kernels); ends with "N passed, N failed, N skipped"'
	@echo 'make test-dkms                  of them, DKMS alone: the package, signing, Debian 12 and 13'
	@echo 'make unit                       the unit tests alone'
	@echo 'make bench [KERNEL=6.12] [OPS="syscall switch wake wakehog cputime tick sleep"]'
	@echo '                                exact instructions per operation, to build/bench/RELEASE.json'
	@echo 'make seeds [KERNEL=6.12] [SEED="nohz_full batch"]'
	@echo '                                published results, made again: the page docs/lab.md'
	@echo 'make kernels                    the kernels that KERNEL can name, what each offers, what was measured'
	@echo 'make lint                       compiler warnings, sparse, shellcheck, clang-format'
	@echo 'make dist                       the release tarball, to build/dist/'
	@echo 'make deb                        the Debian package leanacct-dkms, to build/dist/'
	@echo 'make clean                      remove what was built; fetched kernels too'
	@echo
	@echo 'demo, test, bench and lint run on Debian 12 as root or with sudo. They install'
	@echo 'what is missing and say so, and load nothing into the running kernel.'

demo:
	@sh test/vm/packages.sh vm
	@sh test/vm/demo.sh $(KERNEL)

test:
	@sh test/vm/packages.sh vm unit lint
	@sh test/run.sh $(KERNEL) $(filter-out $(KERNEL),$(OTHERS))

test-dkms:
	@sh test/vm/packages.sh vm
	@sh test/dkms/run.sh

unit:
	@sh test/vm/packages.sh unit
	@sh test/unit/run.sh

bench:
	@sh test/vm/packages.sh vm
	@sh test/vm/bench.sh $(KERNEL) "$(OPS)"

seeds:
	@sh test/vm/packages.sh vm
	@sh test/lab/seeds.sh $(KERNEL) $(SEED)

kernels:
	@sh test/vm/packages.sh vm
	@sh test/vm/kernels.sh --fetch

lint:
	@sh test/vm/packages.sh vm lint
	@sh test/lint.sh $(KERNEL)

dist:
	@sh scripts/dist.sh

deb:
	@sh test/vm/packages.sh vm
	@sh scripts/deb.sh

clean:
	rm -rf build
