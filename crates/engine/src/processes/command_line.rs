//! Command lines as a person would type them.

use std::borrow::Cow;

/// The words of a command line in one text, from which each of them can be told: those that hold more than the plain
/// characters of names and paths stand in single quotes, as a shell reads them.
pub fn quoted<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&quoted_word(word.as_ref()));
    }
    line
}

fn quoted_word(word: &str) -> Cow<'_, str> {
    let plain = |character: char| character.is_alphanumeric() || "-_./:=,+@%^".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_can_be_told_apart() {
        let check = |words: &[&str], expected| assert_eq!(quoted(words), expected);
        check(&["/a/b.dll", "--rate=5%", "x,y"], "/a/b.dll --rate=5% x,y");
        check(&["a b", "", "$HOME", "\"*\""], "'a b' '' '$HOME' '\"*\"'");
        check(&["it's", "grün", "a\nb"], "'it'\\''s' grün 'a\nb'");
        check(&[], "");
    }
}
