// Lets scripts of tests/cli change and read databases, as another program would: build/sql FILE 'STATEMENTS'. Rows are
// printed, one per line, values separated by a space. Ends with status 1 and the reason if a statement fails.
#include <sqlite3.h>
#include <stdio.h>

static int print_row(void *unused, int count, char **values, char **names)
{
    (void)unused, (void)names;
    for (int i = 0; i < count; i++) printf("%s%s", i > 0 ? " " : "", values[i] != NULL ? values[i] : "NULL");
    printf("\n");
    return 0;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: sql FILE 'STATEMENTS'\n");
        return 2;
    }
    sqlite3 *database = NULL;
    int code = sqlite3_open_v2(arguments[1], &database, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) code = sqlite3_busy_timeout(database, 5000);
    if (code == SQLITE_OK) code = sqlite3_exec(database, arguments[2], print_row, NULL, NULL);
    if (code != SQLITE_OK) fprintf(stderr, "sql: %s: %s\n", arguments[1], sqlite3_errmsg(database));
    sqlite3_close(database);
    return code == SQLITE_OK ? 0 : 1;
}
