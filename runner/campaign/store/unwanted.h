// Arrays that a spec does not ask for any more (unwanted.c).
#ifndef HOPSCOTCH_UNWANTED_H
#define HOPSCOTCH_UNWANTED_H

#include "../../runner.h"

// Shards that hold no array that the spec asks for, in the order of their numbers; and their rows are deleted, in
// the same transaction.
typedef struct UnwantedShards {
    const char **names; // [count]
    int64_t count;
} UnwantedShards;
Error unwanted_list(const Spec *spec, Database *database, Arena *arena, UnwantedShards *out);
Error unwanted_forget(Database *database);

#endif
