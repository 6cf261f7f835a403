/*
 * Scans a text for literals with Hyperscan or Vectorscan, as a rival in one run
 * with the benchmark in the folder above, which builds and starts it:
 *
 *   cc -O2 -o scan scan.c -lhs && ./scan LITERALS TEXT
 *
 * LITERALS holds one a line. It says "ready SECONDS BYTES" when they are compiled,
 * then scans once for each line that it reads, and answers "CPU-SECONDS MATCHES".
 * The matches are bare: not verified, no gaps, no values.
 */
#define _GNU_SOURCE
#include <hs/hs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *load(const char *path, size_t *size) {
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) != 0) {
		perror(path);
		exit(1);
	}
	*size = (size_t)ftell(f);
	rewind(f);
	char *data = malloc(*size + 1);
	if (!data || fread(data, 1, *size, f) != *size) {
		perror(path);
		exit(1);
	}
	data[*size] = 0;
	fclose(f);
	return data;
}

static double cpu(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int count(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context) {
	(void)id, (void)from, (void)to, (void)flags;
	++*(unsigned long long *)context;
	return 0;
}

static void check(hs_error_t err, const char *what) {
	if (err != HS_SUCCESS) {
		fprintf(stderr, "%s: error %d\n", what, err);
		exit(1);
	}
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: scan LITERALS TEXT\n");
		return 2;
	}
	size_t size, textSize, n = 0, most = 1;
	char *list = load(argv[1], &size), *text = load(argv[2], &textSize);
	for (size_t i = 0; i < size; i++) {
		most += list[i] == '\n';
	}
	const char **literals = calloc(most, sizeof *literals);
	size_t *lengths = calloc(most, sizeof *lengths);
	unsigned *flags = calloc(most, sizeof *flags), *ids = calloc(most, sizeof *ids);
	for (char *at = list; at < list + size; n++) {
		char *end = memchr(at, '\n', (size_t)(list + size - at));
		if (!end) {
			end = list + size;
		}
		literals[n] = at, lengths[n] = (size_t)(end - at), ids[n] = (unsigned)n;
		*end = 0;
		at = end + 1;
	}
	hs_database_t *db = NULL;
	hs_compile_error_t *wrong = NULL;
	hs_scratch_t *scratch = NULL;
	double start = cpu();
	if (hs_compile_lit_multi(literals, flags, ids, lengths, (unsigned)n, HS_MODE_BLOCK, NULL, &db, &wrong) != HS_SUCCESS) {
		fprintf(stderr, "compile: %s\n", wrong->message);
		return 1;
	}
	double spent = cpu() - start;
	size_t bytes = 0;
	hs_database_size(db, &bytes);
	check(hs_alloc_scratch(db, &scratch), "scratch");
	printf("ready %f %zu\n", spent, bytes);
	fflush(stdout);
	for (char line[64]; fgets(line, sizeof line, stdin);) {
		unsigned long long matches = 0;
		start = cpu();
		check(hs_scan(db, text, (unsigned)textSize, 0, scratch, count, &matches), "scan");
		printf("%f %llu\n", cpu() - start, matches);
		fflush(stdout);
	}
	return 0;
}
