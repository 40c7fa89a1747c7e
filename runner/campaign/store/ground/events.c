// Events: what happened to a campaign, in its table `events` and in log.jsonl.
#include "transaction.h"

#include "cursor.h"

#include <stdarg.h>
#include <string.h>

Error store_log_line(const Store *store, const char *time, const char *kind, const char *text)
{
    char path[1024], line[4096] = ""; // a text of 512 bytes, each escaped
    FILE *out = fmemopen(line, sizeof line, "w");
    if (out == NULL) return error_make(ERROR_MACHINE, "not enough memory for a line of log.jsonl");
    Json json;
    json_start(&json, out, false);
    json_object(&json, NULL);
    json_text(&json, "time", time);
    json_text(&json, "event", kind);
    json_text(&json, "text", text);
    json_close(&json, '}');
    fclose(out);
    snprintf(path, sizeof path, "%s/log.jsonl", store->folder);
    line[strcspn(line, "\n")] = '\0';
    return file_append_line(path, line);
}

Error store_insert_event(Database *database, const char *time, const char *kind, const char *text)
{
    Cursor insert = cursor_open(database, "INSERT INTO events(time, kind, text) VALUES(?, ?, ?)");
    with_text(&insert, time);
    with_text(&insert, kind);
    with_text(&insert, text);
    return cursor_run(&insert);
}

Error store_event(Store *store, const char *kind, const char *format, ...)
{
    char text[512];
    const Text32 time = clock_utc();
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    TRY(store_insert_event(store->database, time.text, kind, text));
    return store_log_line(store, time.text, kind, text);
}

Cursor store_events(Database *database)
{
    return cursor_open(database, "SELECT time, kind, text FROM events ORDER BY id");
}
