/* io/scripts.c - see scripts.h. */
#include "io/scripts.h"

#include <stdlib.h>
#include <string.h>

/* The request runs this script, by its text or by its SHA-1. */
static bool runs(const struct resp_request *request, const struct rlk_script *script)
{
    return (rlk_resp_is(request, 0, "EVAL") && strcmp(request->argv[1], script->text) == 0) ||
           (rlk_resp_is(request, 0, "EVALSHA") && strcmp(request->argv[1], script->sha) == 0);
}

static const struct resp_request *find_runs(const struct farm *f, size_t node,
                                            const struct rlk_script *script, size_t *ret_count)
{
    const struct fake *fake = f->nodes[node];
    const struct resp_request *last = NULL;
    size_t conn, at;

    *ret_count = 0;
    for (conn = 0; conn < fake_n_conns(fake); conn++) {
        for (at = 0; at < fake_n_commands(fake, conn); at++) {
            if (runs(fake_request(fake, conn, at), script)) {
                last = fake_request(fake, conn, at);
                ++*ret_count;
            }
        }
    }
    return last;
}

size_t scripts_count(const struct farm *f, size_t node, const struct rlk_script *script)
{
    size_t count;

    find_runs(f, node, script, &count);
    return count;
}

const struct resp_request *scripts_last(const struct farm *f, size_t node,
                                        const struct rlk_script *script)
{
    size_t count;
    const struct resp_request *last = find_runs(f, node, script, &count);

    ck_assert_ptr_nonnull(last);
    return last;
}

static size_t n_keys(const struct resp_request *request)
{
    return strtoul(request->argv[2], NULL, 10);
}

/* How many locks this request keeps. */
static size_t n_kept(const struct resp_request *request)
{
    if (runs(request, &rlk_script_keep_all)) {
        return n_keys(request) / strtoul(request->argv[4 + n_keys(request)], NULL, 10);
    }
    return runs(request, &rlk_script_keep);
}

size_t scripts_kept(const struct farm *f, size_t node)
{
    const struct fake *fake = f->nodes[node];
    size_t conn, at, kept = 0;

    for (conn = 0; conn < fake_n_conns(fake); conn++) {
        for (at = 0; at < fake_n_commands(fake, conn); at++) {
            kept += n_kept(fake_request(fake, conn, at));
        }
    }
    return kept;
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
    return rlk_resp_is(request, 0, "EVAL");
}

struct wanted {
    struct farm *f;
    size_t node;
    const struct rlk_script *script;
    size_t count;
};

static bool has_come(void *arg)
{
    const struct wanted *w = arg;

    return scripts_count(w->f, w->node, w->script) >= w->count;
}

void scripts_wait(struct farm *f, size_t node, const struct rlk_script *script, size_t count)
{
    struct wanted wanted = {f, node, script, count};

    if (!loop_until_true(f->base, has_come, &wanted, LOOP_BOUND_MS)) {
        ck_abort_msg("node %zu got %zu times script %s instead of %zu times", node,
                     scripts_count(f, node, script), script->text, count);
    }
}

void scripts_wait_all(struct farm *f, size_t first, size_t last, const struct rlk_script *script,
                      size_t count)
{
    for (; first < last; first++) {
        scripts_wait(f, first, script, count);
    }
}
