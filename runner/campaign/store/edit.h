// Small changes of a stored campaign: its lock, a transaction, digests that follow (edit.c).
#ifndef HOPSCOTCH_EDIT_H
#define HOPSCOTCH_EDIT_H

#include "store.h"

// Takes the campaign's lock; a live holder is named, with what can be done about it.
Error campaign_lock(const char *folder, const char *name, Arena *arena, Lock *lock);
Error campaign_refuse_network(const char *folder, bool shared_fs); // unless that is allowed
// With the lock held, the database of a campaign that is there, to be changed: none is made where one was.
Error campaign_open_database(const char *path, Database **database);
Error campaign_is_gone(const char *path); // the error that says so
// An error if a campaign can't be put there. What a killed run left of a folder, at most its lock, is cleared away.
Error campaign_name_is_free(const char *results, const char *name, const char *folder, Arena *arena);
Error campaign_clear_begun(const char *folder, const char *name, Arena *arena, bool *cleared);
// Between begin and end: the lock is held, a transaction is open, digests follow. The store is only good for its
// database, folder and events.
typedef struct CampaignEdit {
    Lock lock;
    bool shared_fs;
    const char *back; // of a folder that was renamed: what it is called again after an error; NULL: it was not
    Store store;
} CampaignEdit;
Error edit_begin(const CampaignPlace *place, bool shared_fs, Arena *arena, CampaignEdit *edit);
// The same after the folder was renamed.
Error edit_begin_moved(const CampaignPlace *from, const CampaignPlace *to, bool shared_fs, Arena *arena,
                       CampaignEdit *edit);
Error edit_rename(CampaignEdit *edit, const char *name); // of the campaign, in its database
Lock edit_keep_lock(CampaignEdit *edit);                 // which the caller releases, after the edit's end
Error edit_end(CampaignEdit *edit, Error error);         // takes all of it back after an error, and gives that

// of a folder in which campaigns are being merged; gc removes what a crash leaves of it
#define MERGE_PREFIX ".merging-"

#endif
