//! SourceLink: from a document's path to the address that its text can be fetched from.
//!
//! The map is JSON, `{"documents": {"/src/*": "https://host/commit/*"}}`. Only that much of JSON is kept; the rest is checked and skipped.

use super::Pdb;
use crate::error::{Malformed, Result};

/// Nobody nests anything here; a hostile map must not exhaust the stack.
const MAX_DEPTH: u32 = 32;

/// A SourceLink map.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceLink {
    entries: Vec<(String, String)>,
}

impl Pdb<'_> {
    /// The SourceLink map, if the PDB has one.
    pub fn source_link(self) -> Result<Option<SourceLink>> {
        self.source_link_json()?.map(SourceLink::parse).transpose()
    }
}

impl SourceLink {
    /// Reads the JSON text of a map.
    pub fn parse(json: &[u8]) -> Result<Self> {
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        let mut parser = Parser { json, pos: 0 };
        let mut entries = Vec::new();
        parser.object(|parser, key| {
            if key != "documents" {
                return parser.skip(0);
            }
            parser.object(|parser, pattern| {
                entries.push((pattern, parser.string()?));
                Ok(())
            })
        })?;
        Ok(Self { entries })
    }

    /// The patterns and addresses, in the order of the map.
    #[must_use]
    pub fn entries(&self) -> &[(String, String)] {
        &self.entries
    }

    /// The address of a document's text: of the entry that names it, else of the one with the longest prefix.
    #[must_use]
    pub fn url(&self, path: &str) -> Option<String> {
        let matches = self.entries.iter().filter_map(|(pattern, url)| {
            let Some(prefix) = pattern.strip_suffix('*') else {
                return (pattern == path).then(|| (usize::MAX, url.clone()));
            };
            let rest = path.strip_prefix(prefix)?;
            let rest = rest.replace('\\', "/");
            Some((prefix.len(), url.replacen('*', &rest, 1)))
        });
        matches
            .max_by_key(|&(length, _)| length)
            .map(|(_, url)| url)
    }
}

struct Parser<'a> {
    json: &'a [u8],
    pos: usize,
}

impl<'a> Parser<'a> {
    fn bad(&self) -> Malformed {
        Malformed::new("SourceLink map", self.pos)
    }

    fn rest(&self) -> &'a [u8] {
        self.json.get(self.pos..).unwrap_or_default()
    }

    /// The next byte that is not white space, left in place.
    fn peek(&mut self) -> Result<u8> {
        let blanks = self
            .rest()
            .iter()
            .take_while(|byte| b" \t\r\n".contains(byte))
            .count();
        self.pos += blanks;
        self.rest().first().copied().ok_or(self.bad())
    }

    fn accept(&mut self, byte: u8) -> Result<bool> {
        let found = self.peek()? == byte;
        self.pos += usize::from(found);
        Ok(found)
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.accept(byte)? {
            Ok(())
        } else {
            Err(self.bad())
        }
    }

    /// An object; `member` must consume each value.
    fn object(&mut self, mut member: impl FnMut(&mut Self, String) -> Result<()>) -> Result<()> {
        self.expect(b'{')?;
        if self.accept(b'}')? {
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(self, key)?;
            if !self.accept(b',')? {
                return self.expect(b'}');
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        self.expect(b'"')?;
        let mut text = Vec::new();
        loop {
            let rest = self.rest();
            let plain = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\'))
                .ok_or(self.bad())?;
            text.extend_from_slice(rest.get(..plain).unwrap_or_default());
            self.pos += plain + 1;
            if rest.get(plain) == Some(&b'"') {
                return String::from_utf8(text).map_err(|_| self.bad());
            }
            let mut buffer = [0; 4];
            text.extend_from_slice(self.escape()?.encode_utf8(&mut buffer).as_bytes());
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char> {
        let code = *self.rest().first().ok_or(self.bad())?;
        self.pos += 1;
        Ok(match code {
            b'"' | b'\\' | b'/' => char::from(code),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hex()?;
                let mut units = vec![first];
                if (0xd800..0xdc00).contains(&first) && self.rest().starts_with(b"\\u") {
                    self.pos += 2;
                    units.push(self.hex()?);
                }
                let decoded = char::decode_utf16(units).next().and_then(Result::ok);
                decoded.unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(self.bad()),
        })
    }

    fn hex(&mut self) -> Result<u16> {
        let digits = self
            .rest()
            .get(..4)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or(self.bad())?;
        self.pos += 4;
        Ok(unit)
    }

    /// Any value.
    fn skip(&mut self, depth: u32) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(self.bad());
        }
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' => self.object(|parser, _| parser.skip(depth + 1)),
            b'[' => {
                self.pos += 1;
                if self.accept(b']')? {
                    return Ok(());
                }
                loop {
                    self.skip(depth + 1)?;
                    if !self.accept(b',')? {
                        return self.expect(b']');
                    }
                }
            }
            _ => {
                let word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                let length = self.rest().iter().take_while(word).count();
                self.pos += length;
                if length > 0 { Ok(()) } else { Err(self.bad()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_entry_wins() {
        let map = br#"{ "x": [1, {"y": null}], "documents": {
            "/src/*": "https://h/a/*", "/src/gen/*": "https://h/g/*?raw", "C:\\one.cs": "https://h/1" } }"#;
        let map = SourceLink::parse(map).expect("a map");
        assert_eq!(
            map.url("/src/b/c.cs").as_deref(),
            Some("https://h/a/b/c.cs")
        );
        assert_eq!(
            map.url("/src/gen/x.cs").as_deref(),
            Some("https://h/g/x.cs?raw")
        );
        assert_eq!(map.url("C:\\one.cs").as_deref(), Some("https://h/1"));
        assert_eq!(map.url("/other/x.cs"), None);
    }

    #[test]
    fn what_is_not_a_map_is_an_error() {
        for text in [
            "",
            "{",
            "[]",
            r#"{"documents": {"a" "b"}}"#,
            r#"{"documents": {"a": 1}}"#,
        ] {
            assert!(SourceLink::parse(text.as_bytes()).is_err(), "{text}");
        }
        let deep = format!(r#"{{"x": {}"#, "[".repeat(100_000));
        assert!(SourceLink::parse(deep.as_bytes()).is_err());
    }
}
