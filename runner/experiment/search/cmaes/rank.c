// The order of a generation: members that meet the constraints, by key; then those that violate them, by violation;
// then those that failed, longest survived first. Equal members keep the order of their numbers.
//
// A double is turned into an integer of the same order, and integers are sorted by their bytes from the lowest up
// (Knuth, TAOCP vol. 3, 5.2.5): no comparison depends on a library, and 1,024 members take a few microseconds.
#include "cmaes.h"

#include <math.h>
#include <string.h>

enum { CMAES_FEW = 32, CMAES_KEY_BYTES = 8 }; // up to CMAES_FEW are sorted by insertion

// Ascending with x; x + 0.0 makes -0 equal to 0. NaN, whatever its bits, is the greatest.
static uint64_t cmaes_key_of(double x)
{
    const double canonical = x + 0.0;
    uint64_t bits;
    if (isnan(x)) return UINT64_MAX;
    memcpy(&bits, &canonical, sizeof bits);
    return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

static void cmaes_rank_insert(CmaesRank *item, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        const CmaesRank taken = item[i];
        int64_t at = i;
        for (; at > 0 && item[at - 1].key > taken.key; at--) item[at] = item[at - 1];
        item[at] = taken;
    }
}

// How often each value of each byte occurs.
static void cmaes_rank_count(const CmaesRank *item, int64_t count, uint32_t found[CMAES_KEY_BYTES][256])
{
    memset(found, 0, sizeof(uint32_t[CMAES_KEY_BYTES][256]));
    for (int64_t i = 0; i < count; i++) {
        for (int byte = 0; byte < CMAES_KEY_BYTES; byte++) found[byte][item[i].key >> 8 * byte & 0xff]++;
    }
}

static void cmaes_rank_by_byte(const CmaesRank *from, CmaesRank *to, int64_t count, int byte, const uint32_t found[256])
{
    uint32_t place[256], next = 0;
    for (int value = 0; value < 256; value++) {
        place[value] = next;
        next += found[value];
    }
    for (int64_t i = 0; i < count; i++) to[place[from[i].key >> 8 * byte & 0xff]++] = from[i];
}

// Sorts rank[0][count], which has the members in order; rank[1] is room.
static void cmaes_rank_sort(CmaesRank *rank[2], int64_t count)
{
    uint32_t found[CMAES_KEY_BYTES][256];
    if (count <= CMAES_FEW) {
        cmaes_rank_insert(rank[0], count);
        return;
    }
    cmaes_rank_count(rank[0], count, found);
    for (int byte = 0; byte < CMAES_KEY_BYTES; byte++) {
        if (found[byte][rank[0][0].key >> 8 * byte & 0xff] == (uint32_t)count) continue; // the same in all of them
        cmaes_rank_by_byte(rank[0], rank[1], count, byte, found[byte]);
        CmaesRank *kept = rank[0];
        rank[0] = rank[1];
        rank[1] = kept;
    }
}

void cmaes_sort(CmaesRank *rank[2], const double *value, int64_t count, int64_t *order)
{
    for (int64_t i = 0; i < count; i++) rank[0][i] = (CmaesRank){cmaes_key_of(value[i]), i};
    cmaes_rank_sort(rank, count);
    for (int64_t i = 0; i < count; i++) order[i] = rank[0][i].member;
}

typedef enum CmaesClass { CMAES_MEETS, CMAES_VIOLATES, CMAES_FAILED, CMAES_CLASSES } CmaesClass;

static CmaesClass cmaes_class(const Cmaes *cmaes, int64_t member)
{
    if (isnan(cmaes->key[member])) return CMAES_FAILED;
    return cmaes->violation != NULL && !cmaes->lagrangian && cmaes->violation[member] > 0.0 ? CMAES_VIOLATES
                                                                                            : CMAES_MEETS;
}

static double cmaes_class_value(const Cmaes *cmaes, int64_t member, CmaesClass class)
{
    if (class == CMAES_FAILED) return isnan(cmaes->survived[member]) ? (double)NAN : -cmaes->survived[member];
    return class == CMAES_VIOLATES ? cmaes->violation[member] : cmaes->key[member];
}

void cmaes_rank(Cmaes *cmaes, int64_t lambda)
{
    int64_t *order = cmaes->order, ranked = 0;
    for (int class = 0; class < CMAES_CLASSES && ranked < lambda; class ++) {
        int64_t count = 0;
        for (int64_t i = 0; i < lambda; i++) {
            if (cmaes_class(cmaes, i) != (CmaesClass) class) continue;
            cmaes->rank[0][count++] = (CmaesRank){cmaes_key_of(cmaes_class_value(cmaes, i, (CmaesClass) class)), i};
        }
        cmaes_rank_sort(cmaes->rank, count);
        for (int64_t i = 0; i < count; i++) order[ranked++] = cmaes->rank[0][i].member;
    }
}
