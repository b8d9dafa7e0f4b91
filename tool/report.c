#include "report.h"
#include "display.h"
#include "memory.h"
#include "screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_silent;

/* The first error of this run, for those who asked for a document. */
static struct {
    const char *status; /* NULL: no call of the library failed */
    char *message;
} first_error;

void report_mute(bool is_muted)
{
    is_silent = is_muted;
}

void report_error(const char *what, const char *format, ...)
{
    va_list arguments;
    char *sentence = NULL;
    char *visible, *where;
    if (is_silent)
        return;
    where = text_visible(what);
    va_start(arguments, format);
    if (vasprintf(&sentence, format, arguments) < 0)
        sentence = NULL;
    va_end(arguments);
    visible = text_visible(sentence == NULL ? "out of memory" : sentence);
    (void)fflush(stdout);
    (void)fprintf(stderr, "parapet: %s: %s\n", where, visible);
    if (first_error.message == NULL)
        first_error.message = text_format("%s: %s", where, visible);
    free(visible);
    free(sentence);
    free(where);
}

void report_failure(const char *what)
{
    report_error(what, "%s", parapet_error_message());
}

void report_status(parapet_status status, const char *what)
{
    if (first_error.message == NULL)
        first_error.status = parapet_status_name(status);
    report_failure(what);
}

void report_add_error(tool_document *document)
{
    if (first_error.message == NULL)
        return;
    document_open_object(document, "error");
    document_text(document, "status", first_error.status);
    document_text(document, "message", first_error.message);
    document_close(document);
}

void report_document(void)
{
    tool_document document = {.out = stdout};
    if (first_error.message == NULL || screen_is_used())
        return;
    document_open_object(&document, NULL);
    report_add_error(&document);
    document_close(&document);
}

bool file_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool is_written = file != NULL && fputs(text, file) >= 0;
    int problem = errno;
    if (file != NULL && fclose(file) != 0 && is_written) {
        is_written = false;
        problem = errno;
    }
    if (!is_written)
        report_error(path, "cannot be written: %s", strerror(problem));
    return is_written;
}
