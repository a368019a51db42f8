//! The secret that every request has to know.
//!
//! Whoever knows it can run any program as this user, so it is random or chosen by the user, is compared in constant
//! time, and is never written to a log.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The environment variable with the token, if the user chooses one. No program that ndbg starts gets it.
pub use host::TOKEN_VARIABLE;

/// Characters of the shortest token that is taken.
const SHORTEST: usize = 16;
/// Characters of the longest one.
const LONGEST: usize = 512;

/// A bearer token.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one that nobody can guess: 256 random bits.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// The one that a user chose; the error says what is wrong with it.
    pub fn chosen(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if !(SHORTEST..=LONGEST).contains(&text.len()) {
            return Err(format!(
                "a token has {SHORTEST} to {LONGEST} characters, this one has {}",
                text.len()
            ));
        }
        // RFC 6750 2.1: what may stand behind `Bearer`.
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if !text.bytes().all(fits) {
            return Err("a token is made of letters, digits and - . _ ~ + / =".into());
        }
        Ok(Self(text.to_owned()))
    }

    /// The one in a file.
    pub fn in_file(path: &Path) -> Result<Self, String> {
        let read = || {
            let mut text = String::new();
            let limit = u64::try_from(LONGEST + 2).unwrap_or(u64::MAX);
            let file = File::open(path)?;
            let mode = file.metadata()?.permissions().mode();
            file.take(limit).read_to_string(&mut text)?;
            Ok((text, mode))
        };
        let (text, mode) = read().map_err(|error: io::Error| {
            format!("the token file {} cannot be read: {error}", path.display())
        })?;
        // Whoever can read it can run programs as this user; whoever can write it, too.
        if mode & 0o026 != 0 {
            let path = path.display();
            return Err(format!(
                "the token file {path} can be read or written by other users (mode {:04o}): `chmod 600 {path}`",
                mode & 0o7777
            ));
        }
        Self::chosen(&text).map_err(|why| format!("the token file {}: {why}", path.display()))
    }

    /// The token itself, for the one who may know it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether a text is this token. The time this takes tells nothing but its length.
    pub(super) fn matches(&self, text: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), text.as_bytes());
        let differences = ours
            .iter()
            .zip(theirs)
            .fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
        ours.len() == theirs.len() && differences == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_tokens_are_long_and_differ() {
        let (a, b) = (
            Token::random().expect("bytes"),
            Token::random().expect("bytes"),
        );
        assert_eq!(a.reveal().len(), 64);
        assert_ne!(a, b);
        assert!(a.matches(a.reveal()) && !a.matches(b.reveal()));
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::chosen(" 0123456789abcdef\n").expect("long enough");
        assert!(token.matches("0123456789abcdef"));
        for wrong in [
            "",
            "0",
            "0123456789abcde",
            "0123456789abcdef0",
            "0123456789ABCDEF",
            "x123456789abcdef",
        ] {
            assert!(!token.matches(wrong), "{wrong:?}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn poor_tokens_are_refused() {
        assert!(Token::chosen("short").is_err_and(|why| why.contains("16 to 512")));
        assert!(Token::chosen(&"a".repeat(513)).is_err());
        assert!(Token::chosen("sixteen letters \u{e4}").is_err());
        assert!(
            Token::in_file(Path::new("/no/such/file"))
                .is_err_and(|why| why.contains("/no/such/file"))
        );
    }
}
