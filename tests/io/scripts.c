/* io/scripts.c - see scripts.h. */
#include "io/scripts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/sha1.h"

static enum script kind_of_text(const struct resp_request *request, size_t at)
{
    const char *text = request->argv[at];

    if (strstr(text, "'DEL'")) {
        return SCRIPT_RELEASE;
    }
    return strstr(text, "'PEXPIRE'") ? SCRIPT_KEEP : SCRIPT_TAKE;
}

/* Where the text of a script stands in a command; 0: it has none. */
static size_t text_at(const struct resp_request *request)
{
    if (resp_is(request, 0, "EVAL")) {
        return 1;
    }
    return resp_is(request, 0, "SCRIPT") && resp_is(request, 1, "LOAD") ? 2 : 0;
}

static bool has_sha(const struct resp_request *request, const char *sha)
{
    size_t at = text_at(request);
    char own[41];

    if (at == 0) {
        return false;
    }
    sha1_hex(request->argv[at], request->len[at], own);
    return strcmp(own, sha) == 0;
}

/* Whoever sends a SHA has sent the text before, on whichever connection. */
static enum script kind_of_sha(const struct fake *fake, const char *sha)
{
    size_t conn, at;

    for (conn = 0; conn < fake_n_conns(fake); conn++) {
        for (at = 0; at < fake_n_commands(fake, conn); at++) {
            const struct resp_request *request = fake_request(fake, conn, at);

            if (has_sha(request, sha)) {
                return kind_of_text(request, text_at(request));
            }
        }
    }
    return SCRIPT_NONE;
}

static enum script kind_of(const struct fake *fake, const struct resp_request *request)
{
    if (resp_is(request, 0, "EVAL")) {
        return kind_of_text(request, 1);
    }
    return resp_is(request, 0, "EVALSHA") ? kind_of_sha(fake, request->argv[1]) : SCRIPT_NONE;
}

static const struct resp_request *look(const struct farm *f, size_t node, enum script script,
                                       size_t *ret_count)
{
    const struct fake *fake = f->nodes[node];
    const struct resp_request *last = NULL;
    size_t conn, at;

    *ret_count = 0;
    for (conn = 0; conn < fake_n_conns(fake); conn++) {
        for (at = 0; at < fake_n_commands(fake, conn); at++) {
            if (kind_of(fake, fake_request(fake, conn, at)) == script) {
                last = fake_request(fake, conn, at);
                ++*ret_count;
            }
        }
    }
    return last;
}

size_t scripts_count(const struct farm *f, size_t node, enum script script)
{
    size_t count;

    look(f, node, script, &count);
    return count;
}

const struct resp_request *scripts_last(const struct farm *f, size_t node, enum script script)
{
    size_t count;
    const struct resp_request *last = look(f, node, script, &count);

    ck_assert_ptr_nonnull(last);
    return last;
}

static size_t n_keys(const struct resp_request *request)
{
    return strtoul(request->argv[2], NULL, 10);
}

uint32_t scripts_ttl(const struct resp_request *request)
{
    ck_assert_uint_eq(request->argc, 5 + n_keys(request));
    return (uint32_t)strtoul(request->argv[request->argc - 1], NULL, 10);
}

const char *scripts_token(const struct resp_request *request)
{
    return request->argv[3 + n_keys(request)];
}

bool scripts_is_text(const struct resp_request *request)
{
    return resp_is(request, 0, "EVAL");
}

struct wanted {
    struct farm *f;
    size_t node;
    enum script script;
    size_t count;
};

static bool has_come(void *arg)
{
    const struct wanted *w = arg;

    return scripts_count(w->f, w->node, w->script) >= w->count;
}

void scripts_wait(struct farm *f, size_t node, enum script script, size_t count)
{
    struct wanted wanted = {f, node, script, count};

    if (!loop_until_true(f->base, has_come, &wanted, LOOP_BOUND_MS)) {
        ck_abort_msg("node %zu got %zu times script %d and not %zu times", node,
                     scripts_count(f, node, script), (int)script, count);
    }
}

void scripts_wait_all(struct farm *f, size_t first, size_t last, enum script script, size_t count)
{
    for (; first < last; first++) {
        scripts_wait(f, first, script, count);
    }
}
