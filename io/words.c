// See words.h.
#include "words.h"

#include "text.h"

#include <stdio.h>
#include <string.h>

int words_count(const char *words)
{
    int count = 1;
    for (const char *p = words; *p != '\0'; p++) count += *p == '|';
    return count;
}

const char *words_at(const char *words, int index, Arena *arena)
{
    for (; index > 0; index--) words = strchr(words, '|') + 1;
    return arena_format(arena, "%.*s", (int)strcspn(words, "|"), words);
}

const char **words_list(const char *words, Arena *arena)
{
    const int count = words_count(words);
    const char **list = ARENA_NEW(arena, const char *, count);
    for (int i = 0; i < count; i++) list[i] = words_at(words, i, arena);
    return list;
}

int words_find(const char *words, const char *text)
{
    const size_t length = strlen(text);
    for (int i = 0;; i++) {
        const size_t word = strcspn(words, "|");
        if (word == length && strncmp(words, text, length) == 0) return i;
        if (words[word] == '\0') return -1;
        words += word + 1;
    }
}

bool words_have(const char *words, double index)
{
    return index >= 0.0 && index < words_count(words) && index == (double)(int)index;
}

ValueText value_text(const char *words, double value)
{
    ValueText out;
    if (words == NULL || !words_have(words, value)) {
        snprintf(out.text, sizeof out.text, "%s", words == NULL ? text_number(value).text : "unknown");
        return out;
    }
    for (int i = (int)value; i > 0; i--) words = strchr(words, '|') + 1;
    snprintf(out.text, sizeof out.text, "%.*s", (int)strcspn(words, "|"), words);
    return out;
}

const char *words_sentence(const char *const *words, int count, Arena *arena)
{
    const char *text = count > 0 ? words[0] : "nothing";
    for (int i = 1; i < count; i++)
        text = arena_format(arena, "%s%s%s", text, i == count - 1 ? " or " : ", ", words[i]);
    return text;
}
