// Text with tables of numbers (CSV) or lists of them (YAML's [1.5, 2, ...]), coded so that deflate takes a hundredth to
// half of what it takes of the text: each column as whole numbers of its last decimal, as differences of them, bytes of
// equal weight side by side. What is decoded has every byte of the text.
#ifndef HOPSCOTCH_IO_CODED_TABLE_H
#define HOPSCOTCH_IO_CODED_TABLE_H

#include "file.h"

// *coded <- the text, in at most `most` bytes; size 0: it has no table of eight rows, or one that is not kept, such as
// one of more than 17 digits. What stands before, between and behind tables stays as it is, as do exponents.
void coded_table_write(Bytes text, size_t most, Arena *arena, Bytes *coded);
// text[size] <- what coded_table_write got. False: it is damaged. The coded bytes may come from anybody.
bool coded_table_read(Bytes coded, unsigned char *text, size_t size);

#endif
