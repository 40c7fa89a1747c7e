// The parts of a campaign, as its databases describe them (parts.c).
#ifndef HOPSCOTCH_PARTS_H
#define HOPSCOTCH_PARTS_H

#include "../../campaign.h"
#include "store.h"

// Within the transaction that makes a campaign: which part it is, if it is one. part_read: count 0: none.
Error part_keep(Database *database, const Spec *spec);
Error part_read(Database *database, PartOf *part);
// Gives the spec the part of the stored campaign. Error (user): the spec asks for another one.
Error part_compare(Database *database, const char *name, Spec *spec);
// Within a transaction: the campaign holds the trials of this part now.
Error gathered_note(Database *database, PartOf part, const char *hash);
// Error (user): the campaign was gathered, and parts are missing. It can't be run: its search does not know what they
// hold.
Error gathered_check(Database *database, const char *name);

#endif
