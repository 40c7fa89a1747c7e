// A race of the members of a generation (`replicates: {count: 64, race: {start: 4}}` with `method: cmaes`): which of
// them run more replicates before the search is told (race.c).
#ifndef HOPSCOTCH_SEARCH_CMAES_RACE_H
#define HOPSCOTCH_SEARCH_CMAES_RACE_H

#include "../side_by_side.h"

// What the checkpoint holds of the race of one search, beside its arrays. All members have 8 bytes.
typedef struct CmaesRace {
    int64_t rounds;      // told, of all restarts: a generation has one or several
    int64_t turn;        // those of this generation that were told
    int64_t first_id;    // of its trials
    int64_t first_round; // the round of its first turn
    int64_t simulations; // of its members, so far
    int64_t unclear;     // members that run more replicates next
} CmaesRace;
enum { CMAES_RACE_DOUBLES = sizeof(CmaesRace) / sizeof(double) };

// A member of the generation.
typedef struct CmaesRacer {
    double had, wanted; // replicates: that it has; that it has after the next turn, equal: it runs no more
    double place;       // of its trial among those of the generation
    double fitness;     // NaN: failed
    double survived;
    double shift; // what its fitness would change by if it had run as many replicates as the member with the most
} CmaesRacer;
enum { CMAES_RACER_DOUBLES = sizeof(CmaesRacer) / sizeof(double) };

// The rule, of the results so far. value: costs of the replicates, less is better; NaN: it failed, and is left out.
typedef struct RaceRule {
    const Spec *spec; // its replicates
    int64_t members;
    const double *value; // [members][count of the spec]
    CmaesRacer *racer;   // [members]; had 0: it was not run
    int64_t *order;      // [members] by race_level, best first, those without a fitness last
} RaceRule;

// Sets `shift` of every member.
void race_shift(const RaceRule *rule);
double race_level(const CmaesRacer *racer); // what a member is ranked by: fitness + shift
// Sets `wanted` of every member. Returns how many are to run more.
int64_t race_want(const RaceRule *rule);

#endif
