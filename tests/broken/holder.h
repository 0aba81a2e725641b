/* broken/holder.h - what A does: the sets and leases of core/leases.h. */
#ifndef RLK_BROKEN_HOLDER_H
#define RLK_BROKEN_HOLDER_H

#include "broken/world.h"

/* A round begins: every master without an open question is asked to keep the key. */
void holder_renew(struct world *w);

/* [S8] After a success: masters without the key are asked to set it, for the validity that is left.
 * Whether enough is left. */
bool holder_may_restore(const struct world *w);
void holder_restore(struct world *w);

/* A reads a reply; or its question is lost, and may be carried out all the same. */
void holder_read(struct world *w, unsigned m);
void holder_lose(struct world *w, unsigned m);

#endif
