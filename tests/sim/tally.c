/* tally.c - sorting violations, and printing them. */
#include "sim/tally.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/memory.h"

#define LINE 400
#define SHOWN 100 /* seeds of a kind */
#define COLUMNS 100

struct violation {
    uint64_t seed;
    char line[LINE], kind[LINE];
};

void tally_write(FILE *f, uint64_t seed, enum assumption broken, const char *text)
{
    const char *name = options_assumption_name(broken);

    fprintf(f, "%" PRIu64 "%s%s # %s\n", seed, name ? " " : "", name ? name : "", text);
}

/* A number, or the digits of a token. */
static const char *skip_number(const char *at)
{
    while (isxdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
        at++;
    }
    return at;
}

/* The text with a # for each number. */
static void name_kind(char kind[LINE], const char *text)
{
    char *to = kind;

    while (*text) {
        if (isdigit((unsigned char)*text)) {
            *to++ = '#';
            text = skip_number(text);
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
}

static void add(struct tally *t, const char *line)
{
    const char *text = strstr(line, " # ");
    struct violation *v;

    t->all = memory_room(t->all, &t->cap, t->n, sizeof(*t->all));
    v = &t->all[t->n++];
    v->seed = strtoull(line, NULL, 10);
    snprintf(v->line, sizeof(v->line), "%s", line);
    name_kind(v->kind, text ? text + 3 : line);
}

void tally_read(struct tally *t, FILE *f)
{
    char line[LINE];

    rewind(f);
    while (fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        add(t, line);
    }
}

static int by_seed(const void *a, const void *b)
{
    const struct violation *v = a, *u = b;

    return (v->seed > u->seed) - (v->seed < u->seed);
}

static int by_kind(const void *a, const void *b)
{
    const struct violation *v = a, *u = b;
    int order = strcmp(v->kind, u->kind);

    return order ? order : by_seed(a, b);
}

static void sort(struct tally *t, int (*order)(const void *, const void *))
{
    if (t->n > 0) {
        qsort(t->all, t->n, sizeof(*t->all), order);
    }
}

static void print_seeds(const struct violation *first, size_t n)
{
    size_t i, column = 0;
    char text[32];

    for (i = 0; i < n && i < SHOWN; i++) {
        size_t len = (size_t)snprintf(text, sizeof(text), " %" PRIu64, first[i].seed);

        if (column == 0 || column + len > COLUMNS) {
            printf("%s    seeds", column ? "\n" : "");
            column = strlen("    seeds");
        }
        printf("%s", text);
        column += len;
    }
    printf("\n");
    if (n > SHOWN) {
        printf("    and %zu more: --violations FILE writes them all\n", n - SHOWN);
    }
}

void tally_print(struct tally *t)
{
    size_t i, n;

    sort(t, by_kind);
    for (i = 0; i < t->n; i += n) {
        for (n = 1; i + n < t->n && strcmp(t->all[i].kind, t->all[i + n].kind) == 0; n++) {
        }
        printf("%zu x %s\n", n, t->all[i].kind);
        print_seeds(&t->all[i], n);
    }
}

int tally_save(struct tally *t, const char *path)
{
    FILE *f = fopen(path, "w");
    int good = f != NULL;
    size_t i;

    sort(t, by_seed);
    for (i = 0; i < t->n && good; i++) {
        good = fprintf(f, "%s\n", t->all[i].line) > 0;
    }
    return f && fclose(f) == 0 && good ? 0 : -1;
}

void tally_free(struct tally *t)
{
    memory_free(t->all);
    *t = (struct tally){0};
}
