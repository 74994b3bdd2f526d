/* test_runtime_symbol.c - variables of the device, seen from the host. */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"

const void *k_sum_factors(void);
const void *symbol_factors(void);
const void *symbol_total(void);
cudaError_t set_total(int value);
cudaError_t get_factor(int *value, int index);

TestSuite(small_runtime_symbol, .timeout = 300);

static const int eight[8] = { 1, 2, 4, 8, 16, 32, 64, 128 };

static void sum(int *out, cudaStream_t stream)
{
	OK(cudaLaunchKernel(k_sum_factors(), blocks(1), blocks(1), (void *[]){ &out }, 0, stream));
}

static int total(void)
{
	int value = -1;

	OK(cudaMemcpyFromSymbol(&value, symbol_total(), sizeof(value), 0, cudaMemcpyDeviceToHost));
	return value;
}

Test(small_runtime_symbol, kernels_see_what_the_host_wrote)
{
	int value = 0;

	NEED_DEVICE();
	int *out = device_ints(1);

	sum(out, NULL);
	cr_assert(device_int(out) == 0 && total() == 0, "variables start at zero");
	OK(cudaMemcpyToSymbol(symbol_factors(), eight, sizeof(eight), 0, cudaMemcpyHostToDevice));
	sum(out, NULL);
	cr_assert(device_int(out) == 255 && total() == 255, "%d %d", device_int(out), total());
	value = 1000;
	OK(cudaMemcpyToSymbol(symbol_factors(), &value, sizeof(value), 3 * sizeof(value),
			      cudaMemcpyDefault));
	sum(out, NULL);
	cr_assert(device_int(out) == 255 - 8 + 1000, "%d", device_int(out));
	cr_assert(total() == 255 + 1247, "%d", total());
}

Test(small_runtime_symbol, cpp_names_them_by_themselves)
{
	int value = 0;

	NEED_DEVICE();
	int *out = device_ints(1);

	OK(cudaMemcpyToSymbol(symbol_factors(), eight, sizeof(eight), 0, cudaMemcpyHostToDevice));
	OK(get_factor(&value, 5));
	cr_assert(value == 32, "%d", value);
	OK(set_total(7));
	sum(out, NULL);
	cr_assert(total() == 262, "%d", total());
}

Test(small_runtime_symbol, copies_follow_the_order_of_a_stream)
{
	int *values, gate = 0;
	cudaStream_t s;

	NEED_DEVICE();
	int *out = device_ints(2);

	OK(cudaMallocHost((void **)&values, 3 * sizeof(int)));
	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	sum(out, s); /* loads the kernel */
	OK(cudaStreamSynchronize(s));
	values[0] = 5;
	values[1] = 6;
	values[2] = 0;
	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	OK(cudaMemcpyToSymbolAsync(symbol_factors(), &values[0], sizeof(int), 0,
				   cudaMemcpyHostToDevice, s));
	sum(out, s);
	OK(cudaMemcpyToSymbolAsync(symbol_factors(), &values[1], sizeof(int), 4,
				   cudaMemcpyHostToDevice, s));
	sum(out + 1, s);
	OK(cudaMemcpyFromSymbolAsync(&values[2], symbol_total(), sizeof(int), 0,
				     cudaMemcpyDeviceToHost, s));
	open_gate(&gate);
	OK(cudaStreamSynchronize(s));
	cr_assert(device_int(out) == 5 && device_int(out + 1) == 11, "%d %d", device_int(out),
		  device_int(out + 1));
	cr_assert(values[2] == 16, "%d", values[2]);
}

Test(small_runtime_symbol, they_have_an_address_and_a_size)
{
	void *address = NULL;
	size_t bytes = 0;

	NEED_DEVICE();
	OK(cudaGetSymbolSize(&bytes, symbol_factors()));
	cr_assert(bytes == 32, "%zu", bytes);
	OK(cudaGetSymbolSize(&bytes, symbol_total()));
	cr_assert(bytes == 4, "%zu", bytes);
	OK(cudaGetSymbolAddress(&address, symbol_total()));
	OK(cudaMemset(address, 1, 4));
	cr_assert(total() == 0x01010101, "%x", total());
}

Test(small_runtime_symbol, symbols_refuse)
{
	static int host[8];
	size_t bytes;
	void *p;

	NEED_DEVICE();
	REFUSED(cudaErrorInvalidSymbol,
		cudaMemcpyToSymbol(host, eight, 4, 0, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidSymbol,
		cudaMemcpyFromSymbol(host, host, 4, 0, cudaMemcpyDeviceToHost));
	REFUSED(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&p, host));
	REFUSED(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, host));
	REFUSED(cudaErrorInvalidValue,
		cudaMemcpyToSymbol(symbol_factors(), eight, 32, 4, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidValue,
		cudaMemcpyFromSymbol(host, symbol_total(), 5, 0, cudaMemcpyDeviceToHost));
	REFUSED(cudaErrorInvalidMemcpyDirection,
		cudaMemcpyToSymbol(symbol_total(), eight, 4, 0, cudaMemcpyDeviceToHost));
	REFUSED(cudaErrorInvalidMemcpyDirection,
		cudaMemcpyFromSymbol(host, symbol_total(), 4, 0, cudaMemcpyHostToDevice));
}
