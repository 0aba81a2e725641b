/* similar.c - the optimal string alignment distance of two names. */
#include "cli/args/similar.h"

#include <string.h>

/* Longer names are not compared. */
#define LONGEST 32

/* By the number of letters of each name that are compared. */
struct distances {
    size_t of[LONGEST + 1][LONGEST + 1];
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t best_of(const struct distances *d, const char *a, size_t i, const char *b, size_t j)
{
    size_t best = d->of[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

    best = smaller(best, smaller(d->of[i - 1][j], d->of[i][j - 1]) + 1);
    if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best = smaller(best, d->of[i - 2][j - 2] + 1);
    }
    return best;
}

static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    struct distances d;
    size_t i, j;

    for (i = 0; i <= n; i++) {
        for (j = 0; j <= m; j++) {
            d.of[i][j] = i == 0 || j == 0 ? i + j : best_of(&d, a, i, b, j);
        }
    }
    return d.of[n][m];
}

void cli_similar_begin(struct cli_similar *s, const char *name, size_t len)
{
    *s = (struct cli_similar){.name = name, .len = len, .distance = 1 + (len < 3 ? 1 : len / 3)};
}

void cli_similar_offer(struct cli_similar *s, const char *offer)
{
    size_t len = strlen(offer), found;

    if (s->len <= LONGEST && len <= LONGEST) {
        found = distance(s->name, s->len, offer, len);
        if (found < s->distance && found < s->len) {
            s->best = offer;
            s->distance = found;
        }
    }
}
