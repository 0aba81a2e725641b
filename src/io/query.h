/* query.h - what the manager tells its queries, by their links in redlock.queries. */
#ifndef RLK_IO_QUERY_H
#define RLK_IO_QUERY_H

#include <stdint.h>

struct rlk_list;
struct rlk_node;

void rlk_query_node_up(struct rlk_list *link, struct rlk_node *n, uint64_t now_us);
void rlk_query_node_down(struct rlk_list *link, struct rlk_node *n);

/* Its callback comes with REDLOCK_ECANCELED. */
void rlk_query_cancel(struct rlk_list *link);

#endif
