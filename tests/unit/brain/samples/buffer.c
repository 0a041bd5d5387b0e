/* Copyright (c) someone. All rights reserved. */

/*
 * A buffer that grows.
 */
#include <stdio.h>
#include "buffer.h"

#define BUFFER_H
#define MAX_SIZE 1024
#define MIN(a, b) \
    ((a) < (b) ? (a) : (b))

typedef unsigned long size;

typedef struct buffer {
    char *data;
    size used;
} buffer_t;

struct pair {
    int left, right;
};

enum mode { READ, WRITE };

typedef enum {
    OFF,
    ON
} power;

typedef int (*callback)(buffer_t *buffer, void *context);

static const char *NAMES[] = {
    "read",
    "write",
};

extern int verbose;

int buffer_init(buffer_t *buffer, size initial);

/* Adds bytes. */
static char *
buffer_append(buffer_t *buffer, const char *bytes, size count)
{
    struct pair pair = { 0, MIN(count, MAX_SIZE) };
    if (buffer->used + count > MAX_SIZE) {
        fprintf(stderr, "full\n");
        return NULL;
    }
    memcpy(buffer->data, bytes, sizeof(size) * pair.right);
    return buffer->data;
}

#ifdef DEBUG
void buffer_dump(const buffer_t *buffer) { puts(buffer->data); }
#endif

union number {
    int whole;
    float real;
};
