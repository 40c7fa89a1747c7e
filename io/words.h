// Words in one text, "any|of|these", and values that are their indices.
#ifndef HOPSCOTCH_IO_WORDS_H
#define HOPSCOTCH_IO_WORDS_H

#include "../sim/sim.h"

// Their number, word `index`, all of them, the index of `text` (-1: none), and the sentence "any, of or these".
int words_count(const char *words);
const char *words_at(const char *words, int index, Arena *arena);
const char **words_list(const char *words, Arena *arena);
int words_find(const char *words, const char *text);
const char *words_sentence(const char *const *words, int count, Arena *arena);
bool words_have(const char *words, double index); // it is the index of one of them

// The text of a value: its word; without words (NULL) the shortest that reads back to the number. A value that is not
// the index of a word is "unknown".
typedef struct ValueText {
    char text[64];
} ValueText;
ValueText value_text(const char *words, double value);

#endif
