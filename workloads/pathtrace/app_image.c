/* app_image.c - sums of samples as a picture: PPM (P6) and PNG in 8 bits of sRGB, PFM in floats. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/check.h"
#include "common/png.h"
#include "workloads/pathtrace/pathtrace.h"

enum pt_format pathtrace_format(const char *path)
{
	static const char *const endings[] = { ".ppm", ".png", ".pfm" };
	size_t n = strlen(path);

	for (int i = 0; n > 4 && i < PT_NO_FORMAT; i++)
		if (!strcasecmp(path + n - 4, endings[i]))
			return (enum pt_format)i;
	return PT_NO_FORMAT;
}

float *pathtrace_means(const struct pt_pixel *pixel, int64_t n)
{
	float *mean = malloc((size_t)n * 3 * sizeof(*mean));

	for (int64_t i = 0; mean && i < n; i++)
		for (int k = 0; k < 3; k++)
			mean[3 * i + k] =
				pixel[i].count
					? (float)(ldexp((double)pixel[i].sum[k], -PT_FIXED_BITS) /
						  pixel[i].count)
					: 0;
	return mean;
}

uint8_t pathtrace_srgb(float radiance)
{
	double c = fmin(fmax(radiance, 0), 1);

	c = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
	return (uint8_t)lrint(255 * c);
}

/* Floats as this machine has them, little-endian, which a negative scale says; lines upwards. */
static void write_pfm(FILE *f, const float *mean, int64_t width, int64_t height)
{
	fprintf(f, "PF\n%ld %ld\n-1.0\n", (long)width, (long)height);
	for (int64_t y = height - 1; y >= 0; y--)
		fwrite(mean + 3 * y * width, sizeof(*mean), (size_t)(3 * width), f);
}

int pathtrace_write_image(FILE *f, enum pt_format format, const float *mean, int64_t width,
			  int64_t height)
{
	size_t bytes = (size_t)(3 * width * height);
	uint8_t *rgb = format == PT_PFM ? NULL : malloc(bytes);

	if (format == PT_PFM) {
		write_pfm(f, mean, width, height);
		return 0;
	}
	if (!rgb)
		return complain(ENOMEM, "no host memory for a picture of %ld x %ld", (long)width,
				(long)height);
	for (size_t i = 0; i < bytes; i++)
		rgb[i] = pathtrace_srgb(mean[i]);
	if (format == PT_PNG) {
		png_write(f, rgb, (int)width, (int)height, PNG_RGB);
	} else {
		fprintf(f, "P6\n%ld %ld\n255\n", (long)width, (long)height);
		fwrite(rgb, 1, bytes, f);
	}
	free(rgb);
	return 0;
}
