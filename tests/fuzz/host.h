/* host.h - which hosts the targets `address` and `http` are, computed again. */
#ifndef RLK_TESTS_FUZZ_HOST_H
#define RLK_TESTS_FUZZ_HOST_H

#include <stdbool.h>

/* The names by which a server may be called, besides its addresses, localhost and this machine. */
extern const char *host_names[2];

/* Whether a request with this header "Host" may be answered. */
bool host_is_ours(const char *header);

#endif
