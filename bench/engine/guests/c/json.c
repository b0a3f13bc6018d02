#include "json.h"

#include <string.h>

enum { MAX_DEPTH = 512 };

json json_read(char *text, size_t length) {
  return (json){.at = text, .end = text + length};
}

static void fail(json *j) {
  j->failed = true;
  j->at = j->end;
}

static void skip_space(json *j) {
  while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r')) j->at++;
}

// peek returns the next character that is no white space, or 0 at the end.
static char peek(json *j) {
  skip_space(j);
  return j->at < j->end ? *j->at : 0;
}

// take moves over a character that must be there.
static bool take(json *j, char c) {
  if (peek(j) != c) {
    fail(j);
    return false;
  }
  j->at++;
  return true;
}

bool json_end(json *j) {
  if (peek(j)) fail(j);
  return !j->failed && j->at == j->end;
}

static json_level enter(json *j, char open, char close) {
  if (take(j, open) && ++j->depth > MAX_DEPTH) fail(j);
  return (json_level){.close = close, .first = true};
}

json_level json_object(json *j) { return enter(j, '{', '}'); }
json_level json_array(json *j) { return enter(j, '[', ']'); }

// more moves to the next element, or behind the end of its array or object.
static bool more(json *j, json_level *level) {
  if (j->failed) return false;
  if (peek(j) == level->close) {
    j->at++;
    j->depth--;
    return false;
  }
  if (level->first) {
    level->first = false;
    return true;
  }
  return take(j, ',');
}

bool json_element(json *j, json_level *array) { return more(j, array); }

bool json_member(json *j, json_level *object, json_text *name) {
  if (!more(j, object)) return false;
  *name = json_string(j);
  return take(j, ':') && !j->failed;
}

// tail_length returns how many bytes follow the first of a character in UTF-8, all checked, or -1.
static int tail_length(const unsigned char *at, const unsigned char *end) {
  int n = at[0] >= 0xf0 ? 3 : at[0] >= 0xe0 ? 2 : 1;
  if (at[0] < 0xc2 || at[0] > 0xf4 || end - at <= n) return -1;
  unsigned char low = 0x80, high = 0xbf; // of the second byte: no overlong forms, no surrogates, nothing beyond U+10FFFF
  if (at[0] == 0xe0) low = 0xa0;
  if (at[0] == 0xed) high = 0x9f;
  if (at[0] == 0xf0) low = 0x90;
  if (at[0] == 0xf4) high = 0x8f;
  if (at[1] < low || at[1] > high) return -1;
  for (int i = 2; i <= n; i++)
    if ((at[i] & 0xc0) != 0x80) return -1;
  return n;
}

// hex reads four digits, or returns -1.
static int32_t hex(json *j) {
  if (j->end - j->at < 4) return -1;
  int32_t value = 0;
  for (int i = 0; i < 4; i++) {
    char c = *j->at++, lower = c | 0x20;
    if (c >= '0' && c <= '9') value = value << 4 | (c - '0');
    else if (lower >= 'a' && lower <= 'f') value = value << 4 | (lower - 'a' + 10);
    else return -1;
  }
  return value;
}

// escaped reads what follows \u, a pair of surrogates as one character, and writes it as UTF-8. It returns where the text
// goes on.
static char *escaped(json *j, char *to) {
  int32_t c = hex(j);
  if (c >= 0xd800 && c < 0xdc00 && j->end - j->at > 2 && j->at[0] == '\\' && j->at[1] == 'u') {
    j->at += 2;
    int32_t low = hex(j);
    c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : -1;
  }
  if (c < 0 || (c >= 0xd800 && c < 0xe000)) {
    fail(j);
    return to;
  }
  if (c < 0x80) {
    *to++ = (char)c;
    return to;
  }
  if (c < 0x800) {
    *to++ = (char)(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      *to++ = (char)(0xe0 | c >> 12);
    } else {
      *to++ = (char)(0xf0 | c >> 18);
      *to++ = (char)(0x80 | (c >> 12 & 0x3f));
    }
    *to++ = (char)(0x80 | (c >> 6 & 0x3f));
  }
  *to++ = (char)(0x80 | (c & 0x3f));
  return to;
}

// escape reads what follows a backslash.
static char *escape(json *j, char *to) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  if (j->at == j->end) {
    fail(j);
    return to;
  }
  char c = *j->at++;
  if (c == 'u') return escaped(j, to);
  const char *known = c ? strchr(from, c) : NULL;
  if (known) *to++ = into[known - from];
  else fail(j);
  return to;
}

// plain returns where the characters that stand for themselves end, or a little before. It looks at eight at a time.
static char *plain(char *at, const char *end) {
  const uint64_t each = 0x0101010101010101, high = each << 7;
  for (; end - at >= 8; at += 8) {
    uint64_t eight;
    memcpy(&eight, at, 8);
    uint64_t quote = eight ^ each * '"', backslash = eight ^ each * '\\';
    // The high bit is set where a byte is a quote, a backslash, a control character or not ASCII.
    if ((((quote - each) & ~quote) | ((backslash - each) & ~backslash) | ((eight - each * ' ') & ~eight) | eight) & high) break;
  }
  return at;
}

json_text json_string(json *j) {
  if (!take(j, '"')) return (json_text){0};
  char *start = j->at, *to = start; // what is resolved is never longer than what was read
  while (j->at < j->end) {
    if (to == j->at) to = j->at = plain(j->at, j->end);
    if (j->at == j->end) break;
    unsigned char c = (unsigned char)*j->at;
    if (c == '"') {
      j->at++;
      return (json_text){start, (size_t)(to - start)};
    }
    if (c == '\\') {
      j->at++;
      to = escape(j, to);
    } else if (c >= 0x80) {
      int tail = tail_length((unsigned char *)j->at, (unsigned char *)j->end);
      if (tail < 0) break;
      for (; tail >= 0; tail--) *to++ = *j->at++;
    } else if (c >= ' ') {
      *to++ = *j->at++;
    } else {
      break; // a control character
    }
  }
  fail(j);
  return (json_text){0};
}

static bool is_digit(json *j) { return j->at < j->end && *j->at >= '0' && *j->at <= '9'; }

static void digits(json *j) {
  if (!is_digit(j)) fail(j);
  while (is_digit(j)) j->at++;
}

// number moves over a number and says whether it is a whole one.
static bool number(json *j) {
  bool whole = true;
  if (*j->at == '-') j->at++;
  if (j->at < j->end && *j->at == '0') j->at++;
  else digits(j);
  if (j->at < j->end && *j->at == '.') {
    j->at++;
    digits(j);
    whole = false;
  }
  if (j->at < j->end && (*j->at == 'e' || *j->at == 'E')) {
    j->at++;
    if (j->at < j->end && (*j->at == '+' || *j->at == '-')) j->at++;
    digits(j);
    whole = false;
  }
  return whole;
}

int64_t json_int(json *j) {
  peek(j);
  const char *digit = j->at;
  if (j->at == j->end || !number(j) || j->at - digit > 18) {
    fail(j);
    return 0;
  }
  bool negative = *digit == '-';
  int64_t n = 0;
  for (digit += negative; digit < j->at; digit++) n = n * 10 + (*digit - '0');
  return negative ? -n : n;
}

static void word(json *j, const char *text) {
  size_t n = strlen(text);
  if ((size_t)(j->end - j->at) < n || memcmp(j->at, text, n) != 0) fail(j);
  else j->at += n;
}

void json_skip(json *j) {
  json_text name;
  switch (peek(j)) {
  case '{':
    for (json_level o = json_object(j); json_member(j, &o, &name);) json_skip(j);
    break;
  case '[':
    for (json_level a = json_array(j); json_element(j, &a);) json_skip(j);
    break;
  case '"': json_string(j); break;
  case 't': word(j, "true"); break;
  case 'f': word(j, "false"); break;
  case 'n': word(j, "null"); break;
  case 0: fail(j); break;
  default: number(j);
  }
}

bool json_is(json_text text, const char *word) {
  size_t n = strlen(word);
  return text.length == n && memcmp(text.at, word, n) == 0;
}

static void put(json_out *o, const char *text, size_t n) {
  if (n > o->room - o->length) {
    o->full = true;
    return;
  }
  memcpy(o->buf + o->length, text, n);
  o->length += n;
}

void json_put(json_out *o, const char *text) { put(o, text, strlen(text)); }

void json_put_text(json_out *o, json_text text) {
  static const char hex[] = "0123456789abcdef";
  put(o, "\"", 1);
  for (size_t i = 0; i < text.length; i++) {
    char c = text.at[i];
    char code[] = {'\\', 'u', '0', '0', hex[c >> 4 & 15], hex[c & 15]};
    if (c == '"' || c == '\\') put(o, (char[]){'\\', c}, 2);
    else if ((unsigned char)c < ' ') put(o, code, sizeof code);
    else put(o, &c, 1);
  }
  put(o, "\"", 1);
}

void json_put_int(json_out *o, int64_t n) {
  char digits[20];
  size_t at = sizeof digits;
  uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
  do digits[--at] = (char)('0' + left % 10);
  while (left /= 10);
  if (n < 0) digits[--at] = '-';
  put(o, digits + at, sizeof digits - at);
}
