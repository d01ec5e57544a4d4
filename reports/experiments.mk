# The committed measurements of reports/results/experiments/, made anew (a few minutes); the catalogue
# as one page for a browser.
EXPERIMENTS_PYTHON ?= $(firstword $(wildcard $(VENV)/bin/python) $(PYTHON))
EXPERIMENTS_OUT    ?= reports/results/experiments

.PHONY: experiments experiments-run catalogue
experiments: deps
	@$(SUBMAKE) experiments-run
experiments-run: $(BUILD)/assay
	ASSAY=$(BUILD)/assay $(EXPERIMENTS_PYTHON) reports/experiments.py --out $(EXPERIMENTS_OUT)

catalogue: $(BUILD)/catalogue.html
$(BUILD)/catalogue.html: $(BUILD)/assay $(wildcard reports/catalogue*)
	ASSAY=$(BUILD)/assay $(EXPERIMENTS_PYTHON) reports/catalogue.py -o $@
