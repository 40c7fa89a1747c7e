// What pack_write.c and pack_read.c share.
#ifndef HOPSCOTCH_STORE_PACK_H
#define HOPSCOTCH_STORE_PACK_H

#include "../../campaign.h"

#define PACK_KEY "hopscotch_pack"          // the first key; its value is the form
#define PACK_CODED_MAX ((size_t)64 << 20)  // of a file with coded tables
#define PACK_SPEC_LINES ((size_t)64 << 10) // a longer spec is deflated
// The end of the text, around the SHA-256 of all before it.
#define PACK_END_BEFORE ",\n  \"sha256\": \""
#define PACK_END_AFTER "\"\n}\n"

#endif
