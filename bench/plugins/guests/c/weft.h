// What the guests of this folder have in common: the hook around each one's work, and what they call the host for.
#ifndef WEFT_H
#define WEFT_H

#include "extism.h"
#include "json.h"

// weft_hook reads the input of a hook, lets work read it and write the output, and returns what the hook is to return.
int32_t weft_hook(void (*work)(json *in, json_out *out));

// weft_reply copies a block of the host's memory, which it frees. It is the caller's to free, and NULL where there is none.
char *weft_reply(uint64_t offset, size_t *length);

// weft_words counts the words in the texts of an array of messages, which is read.
int64_t weft_words(json *in);

// weft_texts counts the messages of an array and the bytes of their texts, which are read.
void weft_texts(json *in, int64_t *messages, int64_t *bytes);

#endif
