//! JSON as people write it into settings: with comments, and with commas behind the last element.
//!
//! Invariant: what is JSON already comes out as it was, and positions stay, so that errors name the right line.

/// The text with spaces in place of comments and of commas behind which nothing follows.
pub(crate) fn plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Where the last comma stands, as long as nothing but space came since.
    let mut comma = None;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => letter.len_utf8(),
        };
        let (part, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = behind;
        match letter {
            '/' if length > 1 => {
                let blank = |it: char| if it == '\n' { '\n' } else { ' ' };
                plain.extend(part.chars().map(blank));
                continue;
            }
            ',' => comma = Some(plain.len()),
            '}' | ']' => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..=at, " ");
                }
            }
            _ if letter.is_whitespace() => {}
            _ => comma = None,
        }
        plain.push_str(part);
    }
    plain
}

/// The length of a string from its first quote to behind its last.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(plain_json(text), expected);
    }

    #[test]
    fn comments_and_last_commas_become_spaces() {
        check(r#"{"a": [1, 2,], }"#, r#"{"a": [1, 2 ]  }"#);
        check(
            "{ // é,\n \"a\": 1, /* x\n */ }",
            "{      \n \"a\": 1      \n    }",
        );
        check(
            r#"{"url": "http://x/*,}", "q": "\\\",]"}"#,
            r#"{"url": "http://x/*,}", "q": "\\\",]"}"#,
        );
        check("/* open", "       ");
        check("\"open", "\"open");
    }
}
