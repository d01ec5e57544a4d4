# Builds the adapter where NVIDIA's headers are: $CUDA_HOME, the usual place of the toolkit, or the
# Python packages of the project's environment. A plain C++ compiler is enough.
CUDA_HEADER_PLACES = $(if $(CUDA_HOME),$(CUDA_HOME)/include) /usr/local/cuda/include \
    $(wildcard $(VENV)/lib/python3*/site-packages/nvidia/cu13/include)
CUDA_HEADERS := $(firstword $(foreach p,$(CUDA_HEADER_PLACES),\
    $(if $(and $(wildcard $p/cuda_fp4.h),$(wildcard $p/crt/host_defines.h)),$p)))

ifneq ($(CUDA_HEADERS),)
ADAPTERS += $(BUILD)/adapters/cuda_headers.so
else
ADAPTERS += cuda_headers.left_out
endif

# -O3 doubles the headers' speed over -O2. Their own code is not ours to check for warnings or
# undefined behaviour: system headers, no -fsanitize=undefined.
CUDA_HEADERS_FLAGS = $(CXXFLAGS) -O3 -ffp-contract=off -Wall -Wextra -Wshadow \
    -fno-sanitize=undefined -isystem $(CUDA_HEADERS) -isystem $(CUDA_HEADERS)/cccl

$(BUILD)/adapters/cuda_headers.so: $(BUILD)/adapters/cuda_headers/adapter.o \
    $(BUILD)/adapters/cuda_headers/conversions.o
	$(Q)$(CXX) $(LDFLAGS) -shared -o $@ $^

$(BUILD)/adapters/cuda_headers/%.o: adapters/cuda_headers/%.cc adapters/adapter.h \
    adapters/cuda_headers/conversions.h
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CUDA_HEADERS_FLAGS) -c -o $@ $<

.PHONY: cuda_headers.left_out
cuda_headers.left_out:
	@echo "LEFT OUT: adapters/cuda_headers, because cuda_fp4.h and crt/host_defines.h (CUDA 12.8 or"
	@echo "  later) are in none of: $(CUDA_HEADER_PLACES)"
	@echo "  'make deps' installs them into $(VENV); or set CUDA_HOME to a CUDA toolkit."
