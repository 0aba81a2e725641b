/* draw.c - draws of several shapes. */
#include "sim/draw.h"

#include "base/mask.h"

uint64_t draw_scale(struct rlk_prng *p, uint64_t least, uint64_t most)
{
    unsigned doublings = 0;
    uint64_t low;

    while (doublings < 62 && least << (doublings + 1) <= most) {
        doublings++;
    }
    low = least << draw_upto(p, doublings);
    return draw_between(p, low, low * 2 < most ? low * 2 : most);
}

uint64_t draw_tail(struct rlk_prng *p, uint64_t usual)
{
    uint64_t bits = rlk_prng_next(p);
    unsigned doublings = bits ? (unsigned)__builtin_ctzll(bits) / 2 : 0;

    return draw_upto(p, usual) << (doublings < 7 ? doublings : 7);
}

uint64_t draw_some(struct rlk_prng *p, unsigned n)
{
    uint64_t some = rlk_prng_next(p) & rlk_mask_all(n);

    return some ? some : rlk_mask_bit((unsigned)draw_upto(p, n - 1));
}
