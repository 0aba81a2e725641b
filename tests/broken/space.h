/* broken/space.h - what is searched. */
#ifndef RLK_BROKEN_SPACE_H
#define RLK_BROKEN_SPACE_H

#include "search/search.h"

extern const struct space space;

#endif
