/* uri_query.h - the parameters of a URI, after its '?'. */
#ifndef RLK_NET_URI_QUERY_H
#define RLK_NET_URI_QUERY_H

struct rlk_uri;

/* Read "name=value&name=value" into `u`, whose other parts are known already. NULL, or why not. */
const char *rlk_uri_parse_query(const char *query, struct rlk_uri *u);

#endif
