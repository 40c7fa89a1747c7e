// What pack_write.c and pack_read.c share.
#ifndef HOPSCOTCH_STORE_PACK_H
#define HOPSCOTCH_STORE_PACK_H

#include "../../campaign.h"

#define PACK_KEY "hopscotch_pack" // the first key; its value is the form
// The end of the text, around the SHA-256 of all before it.
#define PACK_END_BEFORE ",\n  \"sha256\": \""
#define PACK_END_AFTER "\"\n}\n"

#endif
