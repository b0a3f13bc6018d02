//! JSON from front to back, in one pass over the text. The first fault ends it: all that follows gives nothing, and `end`
//! says that there was one. Reading is strict about what this guest reads, and the text is known to be UTF-8.

use std::borrow::Cow;

pub struct Json<'a> {
    text: &'a str,
    at: usize,
    failed: bool,
}

impl<'a> Json<'a> {
    pub fn new(text: &'a str) -> Self {
        Json { text, at: 0, failed: false }
    }

    /// Says whether the document was read to its end without a fault.
    pub fn end(&mut self) -> bool {
        self.peek() == 0 && !self.failed && self.at == self.text.len()
    }

    /// Reads an object; `member` must read the value of each member.
    pub fn object(&mut self, mut member: impl FnMut(&str, &mut Self)) {
        self.sequence(b'{', b'}', |json| {
            let name = json.string();
            if json.take(b':') {
                member(&name, json);
            }
        });
    }

    /// Reads an array; `element` must read each element.
    pub fn array(&mut self, element: impl FnMut(&mut Self)) {
        self.sequence(b'[', b']', element);
    }

    fn sequence(&mut self, open: u8, close: u8, mut each: impl FnMut(&mut Self)) {
        self.take(open);
        let mut first = true;
        while !self.failed && self.peek() != close {
            if !first && !self.take(b',') {
                return;
            }
            first = false;
            each(self);
        }
        self.take(close);
    }

    /// Reads a string, which is copied only where it has escapes.
    pub fn string(&mut self) -> Cow<'a, str> {
        if !self.take(b'"') {
            return Cow::Borrowed("");
        }
        let start = self.at;
        let mut copy = String::new();
        let mut from = start;
        loop {
            match self.byte(self.at) {
                b'"' => break,
                b'\\' => {
                    copy.push_str(&self.text[from..self.at]);
                    self.at += 1;
                    self.escape(&mut copy);
                    from = self.at;
                }
                0..b' ' => self.fail(),
                _ => self.at += 1,
            }
            if self.failed {
                return Cow::Borrowed("");
            }
        }
        let rest = &self.text[from..self.at];
        self.at += 1;
        if from == start {
            return Cow::Borrowed(rest);
        }
        copy.push_str(rest);
        Cow::Owned(copy)
    }

    fn escape(&mut self, to: &mut String) {
        let c = self.byte(self.at);
        self.at += 1;
        to.push(match c {
            b'"' | b'\\' | b'/' => c as char,
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unicode(),
            _ => {
                self.fail();
                return;
            }
        });
    }

    fn unicode(&mut self) -> char {
        let mut code = self.hex();
        if (0xd800..0xdc00).contains(&code) && self.byte(self.at) == b'\\' && self.byte(self.at + 1) == b'u' {
            self.at += 2;
            let low = self.hex();
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        char::from_u32(code).unwrap_or_else(|| {
            self.fail();
            ' '
        })
    }

    fn hex(&mut self) -> u32 {
        let mut code = 0;
        for _ in 0..4 {
            match (self.byte(self.at) as char).to_digit(16) {
                Some(digit) => code = code << 4 | digit,
                None => self.fail(),
            }
            self.at += 1;
        }
        code
    }

    /// Reads a whole number.
    pub fn int(&mut self) -> i64 {
        self.peek();
        let start = self.at;
        if self.byte(self.at) == b'-' {
            self.at += 1;
        }
        while self.byte(self.at).is_ascii_digit() {
            self.at += 1;
        }
        self.text.get(start..self.at).and_then(|n| n.parse().ok()).unwrap_or_else(|| {
            self.fail();
            0
        })
    }

    /// Reads a value of any kind.
    pub fn skip(&mut self) {
        match self.peek() {
            b'{' => self.object(|_, json| json.skip()),
            b'[' => self.array(|json| json.skip()),
            b'"' => drop(self.string()),
            _ => {
                let start = self.at;
                while matches!(self.byte(self.at), b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E') {
                    self.at += 1;
                }
                if !is_scalar(&self.text[start..self.at]) {
                    self.fail();
                }
            }
        }
    }

    /// The next byte that is no white space, or 0 at the end.
    fn peek(&mut self) -> u8 {
        while matches!(self.byte(self.at), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
        self.byte(self.at)
    }

    /// Moves over a byte that must be there.
    fn take(&mut self, byte: u8) -> bool {
        if self.peek() != byte {
            self.fail();
            return false;
        }
        self.at += 1;
        true
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn fail(&mut self) {
        self.failed = true;
        self.at = self.text.len();
    }
}

fn is_scalar(word: &str) -> bool {
    matches!(word, "true" | "false" | "null") || is_number(word)
}

fn is_number(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && digits(fraction)
        && digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))
}

/// Writes text as a JSON string.
pub fn put_text(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..' ' => {
                out.push_str("\\u00");
                out.extend([HEX[c as usize >> 4] as char, HEX[c as usize & 15] as char]);
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// Writes a number.
pub fn put_int(out: &mut String, n: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = n.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if n < 0 {
        out.push('-');
    }
    out.extend(digits[at..].iter().map(|&d| d as char));
}
