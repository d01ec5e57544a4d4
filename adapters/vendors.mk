# The recipes against the real CPU systems. `make vendors` installs those that are packages; systems in
# a checkout are named by their folders (ASSAY_MICROXCALING, ASSAY_DEEPGEMM, ... : adapters/*/README.md).
.PHONY: vendors-check
VENDORS_PYTHON ?= $(if $(wildcard .venv-vendors/bin/python),.venv-vendors/bin/python,$(PYTHON))
vendors-check: all
	ASSAY_PYTHON=$(VENDORS_PYTHON) $(VENDORS_PYTHON) adapters/vendors_check.py $(BUILD)/assay $(BUILD)/vendors.json
