# Systems of others on a CPU against their recipes. Folders of checkouts: ASSAY_MICROXCALING=... and so on
# (each adapter's README); those that are not set are named as not run.
.PHONY: vendors-check vendors-check-run
vendors-check: vendors
	@$(SUBMAKE) vendors-check-run
vendors-check-run: all $(BUILD)/recorded/inputs.safetensors
	@ASSAY_PYTHON=$${ASSAY_PYTHON:-$(CURDIR)/.venv-vendors/bin/python} ASSAY_ADAPTERS=$(CURDIR)/adapters; \
	    export ASSAY_PYTHON ASSAY_ADAPTERS; \
	    $$ASSAY_PYTHON adapters/vendors_check.py $(BUILD)/assay $(BUILD)/vendors.json $(SYSTEMS)
