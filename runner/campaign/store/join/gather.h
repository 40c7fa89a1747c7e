// Gathering the parts of a campaign: what its files share (gather.c, gather_part.c, gather_learned.c).
#ifndef HOPSCOTCH_GATHER_H
#define HOPSCOTCH_GATHER_H

#include "join.h"

typedef struct Gather {
    const Parts *parts;
    const char *name, *folder;
    const RunOptions *options;
    Arena *arena;
    GatherReport *report;
    Spec *spec; // of the whole campaign
    Store *store;
    bool learns;
    Search whole; // of a method that learns, when no part is missing
} Gather;

// Opens a part and checks that it belongs to the campaign. *busy: another process holds it, or went on with it; then,
// and after an error, it is closed.
Error gather_open(const Gather *gather, int index, JoinSource *source, bool *busy);
Error gather_check_digests(const JoinSource *source);
// Error (user): another version of the user's program computed it than the parts that are joined.
Error gather_check_program(const Gather *gather, const JoinSource *source);
// Before the transaction: what no row names is removed by the next gather.
Error gather_copy_files(const Gather *gather, const JoinSource *source);
// Within a transaction: all that a part holds. Unless the method learns, its database is attached as `other`.
Error gather_add(Gather *gather, const JoinSource *source);
void gather_count(Gather *gather, const JoinSource *source); // in the report
Error gather_put_state(const Gather *gather, const Search *search);
Error gather_changed(const Gather *gather); // the error that another process changed a part

// All parts of a method that learns (gather_learned.c), if there is a new one.
Error gather_learned(Gather *gather);
// Gives trials of a part their ids in the whole. gather_learned_id: as SQL, of parameter `?number`.
Error gather_learned_trials(const Gather *gather, const JoinSource *source);
const char *gather_learned_id(const Gather *gather, PartOf part, int number);

#endif
