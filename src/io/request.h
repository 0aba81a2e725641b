/* request.h - a request, checked and translated for the attempt. */
#ifndef RLK_IO_REQUEST_H
#define RLK_IO_REQUEST_H

#include <stddef.h>

struct redlock_request;
struct rlk_attempt_config;
struct rlk_options;

/* 0, REDLOCK_EINVAL or REDLOCK_ETTL. The seed of the config is left to the caller. */
int rlk_request_check(const struct redlock_request *q, const struct rlk_options *o,
                      size_t *ret_key_len, struct rlk_attempt_config *ret_config);

#endif
