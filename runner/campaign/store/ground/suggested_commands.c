// Commands for users to type, in messages: the program by the name that the user typed, words quoted for a shell, and
// the results root where it is needed.
#include "../../campaign.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HOPSCOTCH_EXTENSION // in a process of another program, whose name is no command of ours
#define COMMAND_NAME "hopscotch"
#else
#define COMMAND_NAME program_invocation_name
#endif

// The results root of a command without --results.
const char *command_default_results(void)
{
    const char *root = getenv("HOPSCOTCH_RESULTS");
    return root != NULL && root[0] != '\0' ? root : "results";
}

// A text of bounded length. After it is full `used` still counts.
typedef struct AgainText {
    char *text;
    size_t used, size;
} AgainText;

static void again_add(AgainText *out, const char *format, ...) PRINTF_LIKE(2, 3);
static void again_add(AgainText *out, const char *format, ...)
{
    const bool room = out->used < out->size;
    va_list arguments;
    va_start(arguments, format);
    out->used +=
        (size_t)vsnprintf(room ? out->text + out->used : NULL, room ? out->size - out->used : 0, format, arguments);
    va_end(arguments);
}

static bool again_is_shown_as_it_is(const char *text)
{
    for (Glyph glyph; *text != '\0'; text += glyph.bytes) {
        glyph = glyph_read(text);
        if (strncmp(glyph.text, text, (size_t)glyph.bytes) != 0 || strlen(glyph.text) != (size_t)glyph.bytes)
            return false;
    }
    return true;
}

// Control characters and bytes that are not UTF-8 are written as octal escapes for printf(1). So are a leading dash,
// which would be an option of printf, and an exclamation mark, which the shell would expand.
static void again_quote_hidden(AgainText *out, const char *text)
{
    again_add(out, "\"$(printf '");
    for (const char *at = text; *at != '\0'; at++) {
        const bool plain = *at >= ' ' && *at <= '~' && strchr("'%\\!", *at) == NULL && (at > text || *at != '-');
        again_add(out, plain ? "%c" : "\\%03o", (unsigned)(unsigned char)*at);
    }
    again_add(out, "')\"");
}

// One word of a shell: in single quotes if it has characters that are special to a shell.
static void again_quote(AgainText *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/+:,@%";
    if (!again_is_shown_as_it_is(text)) {
        again_quote_hidden(out, text);
    } else if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        again_add(out, "%s", text);
    } else {
        again_add(out, "'");
        for (const char *at = text; *at != '\0'; at++) again_add(out, *at == '\'' ? "'\\''" : "%c", *at);
        again_add(out, "'");
    }
}

// What `add` makes of a text, whole.
static const char *again_written(void (*add)(AgainText *out, const char *text), const char *text, Arena *arena)
{
    AgainText length = {NULL, 0, 0};
    add(&length, text);
    AgainText out = {arena_take(arena, length.used + 1, 1), 0, length.used + 1};
    add(&out, text);
    return out.text;
}

const char *command_quoted(const char *text, Arena *arena) { return again_written(again_quote, text, arena); }

// Empty for the default root. A name that ends in a newline would lose it in "$()".
static void again_add_results(AgainText *out, const char *results)
{
    const size_t length = strlen(results);
    char folder[PATH_MAX + 2];
    if (strcmp(results, command_default_results()) == 0 || length >= PATH_MAX) return;
    snprintf(folder, sizeof folder, "%s%s", results, length > 0 && results[length - 1] == '\n' ? "/" : "");
    again_add(out, " --results ");
    again_quote(out, folder);
}

const char *command_results_option(const char *results, Arena *arena)
{
    return again_written(again_add_results, results, arena);
}

const char *command_program(Arena *arena) { return command_quoted(COMMAND_NAME, arena); }

const char *command_allow(const Model *model)
{
    return model != NULL && model->runs_program ? " --allow-programs" : "";
}

// Words that do not fit are left out as a whole: a cut word would be another command.
CommandText command_again(const char *results, const char *format, ...)
{
    CommandText command = {""};
    char words[160];
    AgainText out = {command.text, 0, sizeof command.text}, root = {NULL, 0, 0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    again_quote(&out, COMMAND_NAME);
    if (out.used + sizeof words >= out.size) {
        out.used = 0;
        again_add(&out, "hopscotch");
    }
    again_add(&out, " %s", words);
    if (results != NULL) again_add_results(&root, results);
    if (out.used + root.used >= out.size)
        again_add(&out, " --results ...");
    else if (root.used > 0)
        again_add_results(&out, results);
    return command;
}
