/* release.h - letting go of claims, and of locks. */
#ifndef RLK_LOCK_RELEASE_H
#define RLK_LOCK_RELEASE_H

#include <stdint.h>

struct redlock;
struct redlock_lock;
struct rlk_claim;
struct rlk_request_kind;

/* The release as a request; its context is the claim, with a reference. For claim.release. */
extern const struct rlk_request_kind rlk_release_request;

/* Send the release of a claim to these nodes, or owe it to them. */
void rlk_release_send(struct redlock *rl, struct rlk_claim *claim, uint64_t nodes, uint64_t now_us);

/* A HELD lock, whose manager is closing, begins to be released; the handle stays its user's. */
void rlk_release_for_close(struct redlock_lock *lock);

#endif
