/* Multiplies the two matrices of the file "in" by OpenBLAS, into the file "out". */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 0;
    const size_t count = (size_t)n * (size_t)n;
    double *numbers = calloc(3 * count, sizeof *numbers);
    FILE *in = fopen("in", "rb"), *out = fopen("out", "wb");

    if (n < 1 || !numbers || !in || !out || fread(numbers, sizeof *numbers, 2 * count, in) != 2 * count)
        return 1;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, numbers, n, numbers + count, n, 0.0,
                numbers + 2 * count, n);
    if (fwrite(numbers + 2 * count, sizeof *numbers, count, out) != count || fclose(out) != 0)
        return 1;
    return 0;
}
