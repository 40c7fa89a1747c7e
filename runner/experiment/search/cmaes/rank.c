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

// One pass of the sort, by one byte. Threads share it in chunks of neighbouring items. Each chunk has offsets of its
// own for the items of a value, behind those of the chunks before it, so the order does not depend on the chunks.
enum { CMAES_CHUNKS = 16 };
typedef struct CmaesPass {
    const CmaesRank *from;
    CmaesRank *to;
    int64_t count;
    int byte, chunks;
    uint32_t offset[CMAES_CHUNKS][256]; // how often a chunk has each value; then where its next one goes
} CmaesPass;

static int64_t cmaes_chunk(const CmaesPass *pass, int64_t chunk) { return pass->count * chunk / pass->chunks; }

static void cmaes_pass_count(void *context, int thread, int64_t first, int64_t end)
{
    CmaesPass *pass = context;
    const int shift = 8 * pass->byte;
    (void)thread;
    for (int64_t chunk = first; chunk < end; chunk++) {
        const CmaesRank *item = pass->from + cmaes_chunk(pass, chunk),
                        *stop = pass->from + cmaes_chunk(pass, chunk + 1);
        uint32_t *offset = pass->offset[chunk];
        memset(offset, 0, sizeof pass->offset[chunk]);
        for (; item < stop; item++) offset[item->key >> shift & 0xff]++;
    }
}

static void cmaes_pass_move(void *context, int thread, int64_t first, int64_t end)
{
    CmaesPass *pass = context;
    const int shift = 8 * pass->byte;
    (void)thread;
    for (int64_t chunk = first; chunk < end; chunk++) {
        const CmaesRank *item = pass->from + cmaes_chunk(pass, chunk),
                        *stop = pass->from + cmaes_chunk(pass, chunk + 1);
        CmaesRank *to = pass->to;
        uint32_t *offset = pass->offset[chunk];
        for (; item < stop; item++) to[offset[item->key >> shift & 0xff]++] = *item;
    }
}

// From counts to offsets.
static void cmaes_pass_offsets(CmaesPass *pass)
{
    uint32_t next = 0;
    for (int value = 0; value < 256; value++) {
        for (int chunk = 0; chunk < pass->chunks; chunk++) {
            const uint32_t found = pass->offset[chunk][value];
            pass->offset[chunk][value] = next;
            next += found;
        }
    }
}

// Which bytes differ among the items.
static uint64_t cmaes_differing(const CmaesRank *item, int64_t count)
{
    uint64_t differs = 0;
    for (int64_t i = 1; i < count; i++) differs |= item[i].key ^ item[0].key;
    return differs;
}

// Sorts rank[0][count], which has the members in order; rank[1] is room. Returns where the sorted ones are.
static CmaesRank *cmaes_rank_sort(const Cmaes *cmaes, int64_t count)
{
    CmaesRank *from = cmaes->rank[0], *to = cmaes->rank[1];
    if (count <= CMAES_FEW) {
        cmaes_rank_insert(from, count);
        return from;
    }
    ThreadTeam *team = cmaes_team(cmaes, count);
    const int threads = thread_team_threads(team);
    const uint64_t differs = cmaes_differing(from, count);
    CmaesPass pass = {.count = count, .chunks = threads < CMAES_CHUNKS ? threads : CMAES_CHUNKS};
    for (int byte = 0; byte < CMAES_KEY_BYTES; byte++) {
        if ((differs >> 8 * byte & 0xff) == 0) continue;
        pass.from = from;
        pass.to = to;
        pass.byte = byte;
        thread_team_for(team, pass.chunks, 1, cmaes_pass_count, &pass);
        cmaes_pass_offsets(&pass);
        thread_team_for(team, pass.chunks, 1, cmaes_pass_move, &pass);
        CmaesRank *kept = from;
        from = to;
        to = kept;
    }
    return from;
}

void cmaes_sort(const Cmaes *cmaes, const double *value, int64_t count, int64_t *order)
{
    for (int64_t i = 0; i < count; i++) cmaes->rank[0][i] = (CmaesRank){cmaes_key_of(value[i]), i};
    const CmaesRank *sorted = cmaes_rank_sort(cmaes, count);
    for (int64_t i = 0; i < count; i++) order[i] = sorted[i].member;
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
        const CmaesRank *sorted = cmaes_rank_sort(cmaes, count);
        for (int64_t i = 0; i < count; i++) order[ranked++] = sorted[i].member;
    }
}
