/* fuzz_settings.c - any bytes as the settings that a companion inherits from its program.
 *
 * They are read a second time, in another way: what is taken must be the same. */
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/companion.h"
#include "cli/companion/settings.h"
#include "fuzz.h"
#include "net/secret.h"

/* That of the command ends more than there is here. */
void cli_settings_free(struct cli_settings *settings)
{
    rlk_free(settings->found.sources.nodes.config.uris);
    rlk_free(settings->found.sources.nodes.config.lines);
}

/* Names and values, one after the other, each of which must end within the text. */
struct pair {
    const char *name, *value;
};

static bool next_pair(const char **at, const char *end, struct pair *ret)
{
    const char *name_end = memchr(*at, '\0', (size_t)(end - *at));
    const char *value = name_end ? name_end + 1 : end;

    if (value >= end) {
        return false;
    }
    *ret = (struct pair){*at, value};
    *at = value + strlen(value) + 1;
    return true;
}

static bool is_in(const char *text, const char *begin, const char *end)
{
    return text == NULL || (text >= begin && text < end);
}

static void check_masters(const struct redlock_options *o, const char *text, const char *end)
{
    const char *at = text;
    struct pair pair;
    size_t n = 0;

    while (at < end && next_pair(&at, end, &pair) && pair.name[0]) {
        if (strcmp(pair.name, RLK_COMPANION_NODE) == 0) {
            FUZZ_CHECK(n < o->n_nodes && strcmp(o->nodes[n], pair.value) == 0,
                       "each node is a master, in order");
            n++;
        }
    }
    FUZZ_CHECK(n == o->n_nodes && n <= REDLOCK_MAX_NODES, "and there are no others");
}

static void check_settings(const struct cli_companion_settings *s, size_t size)
{
    const struct redlock_options *o = &s->session.options;
    const char *end = s->text + size + 1;

    FUZZ_CHECK(strcmp(s->text, RLK_COMPANION_VERSION) == 0 &&
                   strcmp(s->text + sizeof(RLK_COMPANION_VERSION), RLK_COMPANION_THIS_VERSION) == 0,
               "only settings of this version are taken");
    FUZZ_CHECK(is_in(o->username, s->text, end) && is_in(o->password, s->text, end) &&
                   is_in(o->password_file, s->text, end) && is_in(o->client_name, s->text, end),
               "texts are in the text");
    FUZZ_CHECK(o->inspection_ms == 0 && o->record == 0 && o->subscribe == 0,
               "a release needs no vote, and nobody to wake it");
    check_masters(o, s->text, end);
}

static void check_file(int fd, const char *bytes, size_t size, bool taken)
{
    char *now = malloc(size + 1);
    size_t i;

    FUZZ_CHECK(now && pread(fd, now, size + 1, 0) == (ssize_t)size, "the file has its length");
    for (i = 0; i < size; i++) {
        FUZZ_CHECK(now[i] == (taken ? '\0' : bytes[i]),
                   "settings that are taken are wiped, others are left as they are");
    }
    free(now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cli_companion_settings s;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    const char *why;

    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file can be written");
    why = cli_companion_settings_read(fd, &s);
    FUZZ_CHECK(why == NULL || why[0], "what is refused is said");
    check_file(fd, (const char *)data, size, why == NULL);
    if (why == NULL) {
        check_settings(&s, size);
        cli_settings_free(&s.session);
        rlk_secret_free(s.text);
    }
    close(fd);
    return 0;
}
