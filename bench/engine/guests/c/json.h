// JSON from front to back. A reader moves over the text once; the first fault ends it, and all that follows gives nothing,
// so that one look at the end is enough:
//
//   json in = json_read(text, length);
//   json_text name;
//   for (json_level o = json_object(&in); json_member(&in, &o, &name);) {
//     if (json_is(name, "count")) count = json_int(&in);
//     else json_skip(&in);
//   }
//   if (!json_end(&in)) …
//
// Reading is strict: one value and nothing behind it, valid UTF-8, no lone surrogates, a bounded depth.
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  char *at, *end;
  int depth;
  bool failed;
} json;

// json_text is a text of a document, its escapes resolved. It lies in the document itself.
typedef struct {
  const char *at;
  size_t length;
} json_text;

// json_level is one array or object that is being read.
typedef struct {
  char close;
  bool first;
} json_level;

// json_read returns a reader of text. The text is written to: texts are resolved where they lie.
json json_read(char *text, size_t length);

// json_end says whether the document was read to its end without a fault.
bool json_end(json *j);

json_level json_object(json *j);
json_level json_array(json *j);

// json_member moves to the value of the next member and gives its name; json_element moves to the next element. Both say
// whether there is one. The value must be read before the next is asked for.
bool json_member(json *j, json_level *object, json_text *name);
bool json_element(json *j, json_level *array);

json_text json_string(json *j);
int64_t json_int(json *j);

// json_skip reads a value of any kind.
void json_skip(json *j);

bool json_is(json_text text, const char *word);

// json_out is JSON that is written. What does not fit is left out, and full says so.
typedef struct {
  char *buf;
  size_t length, room;
  bool full;
} json_out;

// json_put writes text as it stands, json_put_text as a string, json_put_int as a number.
void json_put(json_out *o, const char *text);
void json_put_text(json_out *o, json_text text);
void json_put_int(json_out *o, int64_t n);

#endif
