// A table over blocks in a connection of another program: what a loadable extension of SQLite adds. See
// database_extension.c.
#ifndef HOPSCOTCH_IO_DATABASE_EXTENSION_H
#define HOPSCOTCH_IO_DATABASE_EXTENSION_H

#include "block_table.h"

struct sqlite3;
struct sqlite3_api_routines;

typedef struct DatabaseExtension {
    const char *module; // CREATE VIRTUAL TABLE temp.NAME USING module(schema)
    const char *table;  // created in `temp` if the database `main` has blocks
    bool (*has_blocks)(const Database *database);
    Error (*load)(Database *database, BlockTable *table); // *table <- the blocks as the database has them now
    void (*start)(void *source);                          // a statement begins to read
} DatabaseExtension;

// The entry point of a loadable extension calls this with its arguments, and returns its result code. The extension
// must outlive the process.
int database_extend(struct sqlite3 *handle, char **words, const struct sqlite3_api_routines *api,
                    const DatabaseExtension *extension);

#endif
