/* io/scripts.h - the library's scripts that a fake server got, and their arguments. */
#ifndef RLK_TESTS_IO_SCRIPTS_H
#define RLK_TESTS_IO_SCRIPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/farm.h"
#include "scripts/scripts.h"

/* How many of them a node got, on all connections. */
size_t scripts_count(const struct farm *f, size_t node, const struct rlk_script *script);

/* How many locks a node was asked to keep: one by one, or several by one script. */
size_t scripts_kept(const struct farm *f, size_t node);

/* The newest of them. Fails the test when the node got none. */
const struct resp_request *scripts_last(const struct farm *f, size_t node,
                                        const struct rlk_script *script);

/* What that request contains. */
uint32_t scripts_ttl(const struct resp_request *request);
const char *scripts_token(const struct resp_request *request);
bool scripts_is_text(const struct resp_request *request);

/* Wait until a node has got so many. */
void scripts_wait(struct farm *f, size_t node, const struct rlk_script *script, size_t count);

/* The same for nodes first to last - 1. */
void scripts_wait_all(struct farm *f, size_t first, size_t last, const struct rlk_script *script,
                      size_t count);

#endif
