//! Just enough of Rust's lexer to look at code without its comments and strings.

/// One token of Rust, as far as the checks care.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// An identifier or keyword.
    Word(String),
    /// A punctuation character.
    Mark(char),
    /// A string, character or number.
    Literal,
}

impl Token {
    /// Whether it is this identifier or keyword.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }

    /// Whether it is this character.
    pub(crate) fn is_mark(&self, mark: char) -> bool {
        matches!(self, Self::Mark(own) if *own == mark)
    }
}

/// The tokens of a source with the lines they stand on, without comments and blanks.
pub(crate) fn tokens(source: &str) -> Vec<(Token, usize)> {
    let mut lexer = Lexer {
        rest: source,
        line: 1,
    };
    let mut tokens = Vec::new();
    while let Some(first) = lexer.rest.chars().next() {
        let line = lexer.line;
        if lexer.rest.starts_with("//") {
            lexer.skip_while(|c| c != '\n');
        } else if lexer.rest.starts_with("/*") {
            lexer.skip_block_comment();
        } else if first.is_whitespace() {
            lexer.skip(first.len_utf8());
        } else if lexer.skip_string() {
            tokens.push((Token::Literal, line));
        } else if first.is_alphabetic() || first == '_' {
            let word = lexer.take_word();
            tokens.push((Token::Word(word), line));
        } else if first.is_ascii_digit() {
            lexer.skip_while(|c| c.is_alphanumeric() || c == '_');
            tokens.push((Token::Literal, line));
        } else {
            lexer.skip(first.len_utf8());
            tokens.push((Token::Mark(first), line));
        }
    }
    tokens
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl Lexer<'_> {
    fn skip(&mut self, n_bytes: usize) {
        let (skipped, rest) = self
            .rest
            .split_at_checked(n_bytes)
            .unwrap_or((self.rest, ""));
        self.line += skipped.matches('\n').count();
        self.rest = rest;
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        self.skip(end);
    }

    fn take_word(&mut self) -> String {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let word = self.rest.get(..end).unwrap_or_default().to_owned();
        self.skip(end);
        word
    }

    /// Block comments nest.
    fn skip_block_comment(&mut self) {
        let mut depth = 0_u32;
        loop {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.skip(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.skip(2);
            } else if let Some(next) = self.rest.chars().next() {
                self.skip(next.len_utf8());
            } else {
                return;
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips a string or character literal, if one begins here.
    fn skip_string(&mut self) -> bool {
        let prefix = self.rest.trim_start_matches(['b', 'c', 'r']);
        let n_prefix = self.rest.len() - prefix.len();
        let raw = self
            .rest
            .get(..n_prefix)
            .is_some_and(|prefix| prefix.contains('r'));
        if n_prefix > 2 {
            return false;
        }
        let hashes = prefix.len() - prefix.trim_start_matches('#').len();
        if raw
            && prefix
                .get(hashes..)
                .is_some_and(|rest| rest.starts_with('"'))
        {
            self.skip(n_prefix + hashes + 1);
            let end = format!("\"{}", "#".repeat(hashes));
            let n_bytes = self
                .rest
                .find(&end)
                .map_or(self.rest.len(), |at| at + end.len());
            self.skip(n_bytes);
            true
        } else if !raw && prefix.starts_with('"') {
            self.skip(n_prefix + 1);
            self.skip_escaped('"');
            true
        } else if !raw && is_character(prefix) {
            self.skip(n_prefix + 1);
            self.skip_escaped('\'');
            true
        } else {
            false
        }
    }

    fn skip_escaped(&mut self, end: char) {
        while let Some(next) = self.rest.chars().next() {
            self.skip(next.len_utf8());
            if next == end {
                return;
            }
            if next == '\\'
                && let Some(escaped) = self.rest.chars().next()
            {
                self.skip(escaped.len_utf8());
            }
        }
    }
}

/// Whether a quote begins a character and not a lifetime.
fn is_character(text: &str) -> bool {
    let mut chars = text.chars();
    if chars.next() != Some('\'') {
        return false;
    }
    match chars.next() {
        Some('\\') => true,
        Some(_) => chars.next() == Some('\''),
        None => false,
    }
}

#[track_caller]
fn check(source: &str, expected: &str) {
    let words: Vec<_> = tokens(source)
        .into_iter()
        .map(|(token, line)| match token {
            Token::Word(word) => format!("{word}@{line}"),
            Token::Mark(mark) => mark.to_string(),
            Token::Literal => "_".to_owned(),
        })
        .collect();
    assert_eq!(words.join(" "), expected);
}

#[test]
fn comments_and_strings_are_no_code() {
    check("a // unsafe\nb", "a@1 b@2");
    check("a /* x /* unsafe */ y */ b", "a@1 b@1");
    check(r#"f("unsafe \" unsafe")"#, "f@1 ( _ )");
    check("r#\"un\"safe\"# x", "_ x@1");
    check("b\"unsafe\" br\"\\\" c\"x\"", "_ _ _");
    check("\"two\nlines\" a", "_ a@2");
}

#[test]
fn characters_and_lifetimes_are_told_apart() {
    check("'a' 'b", "_ ' b@1");
    check("'\\'' x", "_ x@1");
    check("&'static str", "& ' static@1 str@1");
    check("b'\"' x", "_ x@1");
}

#[test]
fn words_keep_their_letters() {
    check(
        "unsafe_code crate b r#fn",
        "unsafe_code@1 crate@1 b@1 r@1 # fn@1",
    );
    check("1_000u64 0x1f", "_ _");
}

#[test]
fn broken_source_is_read_to_its_end() {
    check("\"open", "_");
    check("/* open", "");
    check("r#\"open", "_");
    check("'", "'");
}
