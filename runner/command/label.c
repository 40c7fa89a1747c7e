// hopscotch tag and note: tags are words to find a campaign by; notes are texts with a date.
#include "command.h"

#include <string.h>

enum { LABEL_TAG_MAX = 64, LABEL_NOTE_MAX = 4096 };

// One line per tag, or per note with its time.
static Error label_print(const CommandLine *line, const CampaignLocation *location, Cursor (*open)(Database *database))
{
    Database *database;
    Label label;
    TRY(store_peek(location, line->arena, &database));
    Cursor labels = open(database);
    while (label_next(&labels, &label)) {
        if (label.note) put_visible(line->out, label.time);
        if (label.note) fputs("  ", line->out);
        put_visible(line->out, label.text);
        fputc('\n', line->out);
    }
    const Error error = cursor_close(&labels);
    store_leave(database);
    return error;
}

// ---- tags -----------------------------------------------------------------------------------------------------------

// These characters need no quotes in a shell and no escapes in a list.
static Error label_check_tag(const char *tag)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t length = strlen(tag);
    if (length > 0 && length <= LABEL_TAG_MAX && strspn(tag, allowed) == length && tag[0] != '-') return error_none();
    return error_make(ERROR_USER,
                      "tag \"%.80s\": a tag has 1 to %d characters of A-Z a-z 0-9 . _ - and does not start with -", tag,
                      LABEL_TAG_MAX);
}

static Error label_change_tags(const CommandLine *line, CampaignEdit *edit)
{
    const bool remove = switch_given(line, "remove");
    for (int i = 1; i < line->n_arguments; i++)
        TRY(remove ? tag_remove(edit, line->arguments[i]) : tag_add(edit, line->arguments[i]));
    return error_none();
}

static Error tag_run(const CommandLine *line)
{
    CampaignLocation location;
    CampaignEdit edit;
    TRY(campaign_find(line, line->arguments[0], &location));
    if (line->n_arguments == 1 && switch_given(line, "remove"))
        return error_make(ERROR_USAGE, "tag --remove needs the tags to remove: %s",
                          command_again(location.results, "tag %.100s TAG --remove", location.name).text);
    if (line->n_arguments == 1) return label_print(line, &location, labels_tags);
    for (int i = 1; i < line->n_arguments; i++) TRY(label_check_tag(line->arguments[i]));
    TRY(edit_begin(&location, switch_given(line, "shared-fs"), line->arena, &edit));
    return edit_end(&edit, label_change_tags(line, &edit));
}

// ---- notes ----------------------------------------------------------------------------------------------------------

static Error label_check_note(const char *text)
{
    const size_t length = strlen(text);
    uint32_t character;
    if (length == 0 || length > LABEL_NOTE_MAX)
        return error_make(ERROR_USER, "a note has 1 to %d bytes; this note has %zu", LABEL_NOTE_MAX, length);
    for (const char *at = text; *at != '\0';) {
        const int bytes = utf8_read(at, &character);
        if (bytes == 0 || (character < ' ' && character != '\n' && character != '\t') || character == 0x7f)
            return error_make(ERROR_USER, "byte %td of the note is not text (UTF-8 without control characters)",
                              at - text + 1);
        at += bytes;
    }
    return error_none();
}

static Error note_run(const CommandLine *line)
{
    CampaignLocation location;
    CampaignEdit edit;
    TRY(campaign_find(line, line->arguments[0], &location));
    if (line->n_arguments == 1) return label_print(line, &location, labels_notes);
    TRY(label_check_note(line->arguments[1]));
    TRY(edit_begin(&location, switch_given(line, "shared-fs"), line->arena, &edit));
    return edit_end(&edit, note_add(&edit, line->arguments[1]));
}

// ---- the commands ---------------------------------------------------------------------------------------------------

static const Switch label_tag_rows[] = {{"remove", SWITCH_FLAG, NULL, 0, 0, "remove these tags"}};
static const Switches label_tag_switches = {label_tag_rows, 1};

const Command command_tag = {
    .name = "tag",
    .arguments = "CAMPAIGN [TAG...]",
    .doc = "add tags to a campaign, remove or print them; list --tag finds campaigns by tag",
    .examples = "  hopscotch tag raibert_gains paper figure-3\n"
                "  hopscotch tag raibert_gains figure-3 --remove\n"
                "  hopscotch tag raibert_gains\n",
    .least = 1,
    .most = 64,
    .switches = {&label_tag_switches, &switches_shared_fs},
    .run = tag_run,
};

const Command command_note = {
    .name = "note",
    .arguments = "CAMPAIGN [TEXT]",
    .doc = "add a note to a campaign, or print its notes with their dates",
    .examples = "  hopscotch note raibert_gains \"thrust is at the end of its axis: widen it\"\n"
                "  hopscotch note raibert_gains\n",
    .least = 1,
    .most = 2,
    .switches = {&switches_shared_fs},
    .run = note_run,
};
