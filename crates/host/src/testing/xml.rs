//! A reader for the XML of test result files: elements, attributes, text; nothing is resolved or fetched.
//!
//! Invariant: total. What is not well formed ends the document or is passed over; nothing panics or grows beyond the
//! input, and no entity but the five of the standard and characters by number is known.

use std::borrow::Cow;

/// What comes next in a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// `<name …>`; an element without content is followed by its end like any other.
    Start(Tag<'a>),
    /// `</name>`.
    End(&'a str),
    /// Text between tags, as it is meant.
    Text(Cow<'a, str>),
}

/// A start tag.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// The name without a namespace's prefix.
    pub(super) name: &'a str,
    attributes: &'a str,
}

/// The pieces of a document in order.
pub(super) struct Pieces<'a> {
    rest: &'a str,
    /// The end of an element without content.
    pending: Option<&'a str>,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            rest: text,
            pending: None,
        }
    }

    /// Takes everything up to a mark, and the mark.
    fn until(&mut self, mark: &str) -> Option<&'a str> {
        let Some((before, after)) = self.rest.split_once(mark) else {
            self.rest = "";
            return None;
        };
        self.rest = after;
        Some(before)
    }

    /// The inside of a tag: up to the `>` that is in no quoted value.
    fn tag(&mut self) -> Option<&'a str> {
        let mut quote = None;
        for (at, byte) in self.rest.bytes().enumerate() {
            match (quote, byte) {
                (None, b'>') => {
                    let (inside, after) = self.rest.split_at(at);
                    self.rest = after.get(1..).unwrap_or_default();
                    return Some(inside);
                }
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), _) if open == byte => quote = None,
                _ => {}
            }
        }
        self.rest = "";
        None
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if let Some(name) = self.pending.take() {
            return Some(Piece::End(name));
        }
        loop {
            if self.rest.is_empty() {
                return None;
            }
            if let Some(after) = self.rest.strip_prefix("<!--") {
                self.rest = after;
                self.until("-->")?;
            } else if let Some(after) = self.rest.strip_prefix("<![CDATA[") {
                self.rest = after;
                return self.until("]]>").map(|text| Piece::Text(text.into()));
            } else if self.rest.starts_with("<?") || self.rest.starts_with("<!") {
                self.until(">")?;
            } else if let Some(after) = self.rest.strip_prefix("</") {
                self.rest = after;
                return self.until(">").map(|name| Piece::End(local(name.trim())));
            } else if let Some(after) = self.rest.strip_prefix('<') {
                self.rest = after;
                let inside = self.tag()?;
                let empty = inside.ends_with('/');
                let inside = inside.strip_suffix('/').unwrap_or(inside);
                let (name, attributes) = inside
                    .split_once(char::is_whitespace)
                    .unwrap_or((inside, ""));
                let name = local(name);
                self.pending = empty.then_some(name);
                return Some(Piece::Start(Tag { name, attributes }));
            } else {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                let (text, after) = self.rest.split_at(end);
                self.rest = after;
                return Some(Piece::Text(unescaped(text)));
            }
        }
    }
}

impl Tag<'_> {
    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        let mut rest = self.attributes;
        loop {
            let (key, after) = rest.split_once('=')?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|it| matches!(it, '"' | '\''))?;
            let (value, after) = after.get(1..)?.split_once(quote)?;
            if key.trim() == name {
                return Some(unescaped(value));
            }
            rest = after;
        }
    }
}

/// A name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Text with what was escaped in it.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        // The longest one is `&#x10FFFF;`.
        let name = after.split_once(';').filter(|(name, _)| name.len() <= 8);
        match name.and_then(|(name, after)| Some((character(name)?, after))) {
            Some((character, after)) => {
                out.push(character);
                rest = after;
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out.into()
}

fn character(name: &str) -> Option<char> {
    let number = match name.strip_prefix('#') {
        Some(digits) => match digits.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => digits.parse(),
        },
        None => {
            return Some(match name {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                "apos" => '\'',
                _ => return None,
            });
        }
    };
    char::from_u32(number.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let piece = |piece: Piece<'_>| match piece {
            Piece::Start(tag) => {
                format!("<{} a={:?}>", tag.name, tag.attribute("a"))
            }
            Piece::End(name) => format!("</{name}>"),
            Piece::Text(text) => format!("{text:?}"),
        };
        Pieces::of(text).map(piece).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn elements_attributes_and_text_are_read() {
        let text = "\u{feff}<?xml version='1.0'?><!-- no <b> --><r a=\"1 &lt; 2\"><x:b c='>' a='q\"'/>t &amp;&#65;&#x42;&no;<![CDATA[<raw>&amp;]]></r>";
        let expected = "\"\\u{feff}\" <r a=Some(\"1 < 2\")> <b a=Some(\"q\\\"\")> </b> \"t &AB&no;\" \"<raw>&amp;\" </r>";
        assert_eq!(told(text), expected);
    }

    #[test]
    fn what_is_not_well_formed_ends_it() {
        for text in [
            "<",
            "<a",
            "<a b",
            "<a b=",
            "<a b='",
            "</",
            "<!--",
            "<![CDATA[",
            "<?",
            "&",
            "&#xD800;",
            "&#99999999;",
            "<a b=c>",
            "é<é é='é&'",
        ] {
            told(text);
            told(&text.repeat(3));
        }
        assert_eq!(told("<a b='1' a>x"), "<a a=None> \"x\"");
    }
}
