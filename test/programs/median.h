/* SPDX-License-Identifier: GPL-2.0-only */
/* The median of a few values, which are sorted for it; 0 of none. */
#ifndef MEDIAN_H
#define MEDIAN_H

#include <stdlib.h>

static inline int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double median(double *value, size_t count)
{
	qsort(value, count, sizeof(*value), by_size);
	return count ? value[count / 2] : 0;
}

#endif
