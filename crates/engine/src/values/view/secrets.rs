//! Which names say that a value is not for everybody's eyes.
//!
//! Names are compared word by word, where a word ends at a capital letter, a digit or a mark: `dbPassword` and
//! `API_KEY` are secrets, `cwdpwd` and `tokenizer` are not.

/// Single words that make a name a secret.
const WORDS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "pwd",
    "passphrase",
    "passphrases",
    "secret",
    "secrets",
    "token",
    "tokens",
    "pwds",
    "credential",
    "credentials",
    "apikey",
    "apikeys",
    "connectionstring",
    "connectionstrings",
    "connstr",
    "connstring",
    "accesskey",
    "accesskeys",
    "privatekey",
    "privatekeys",
    "pin",
    "otp",
    "jwt",
    "bearer",
    "authorization",
];

/// Words that make a name a secret together.
const PAIRS: &[(&str, &str)] = &[
    ("api", "key"),
    ("api", "keys"),
    ("connection", "string"),
    ("connection", "strings"),
    ("conn", "str"),
    ("conn", "string"),
    ("access", "key"),
    ("access", "keys"),
    ("private", "key"),
    ("private", "keys"),
    ("account", "key"),
    ("shared", "key"),
    ("encryption", "key"),
    ("signing", "key"),
    ("pass", "word"),
];

/// Words that turn what follows into something about secrets: `CancellationToken`, `tokenCount`.
const HARMLESS: &[(&str, &str)] = &[
    ("cancellation", "token"),
    ("token", "count"),
    ("token", "type"),
    ("token", "kind"),
    ("syntax", "token"),
    ("metadata", "token"),
    ("stopping", "token"),
    ("token", "index"),
    ("token", "source"),
    ("cancellation", "tokens"),
    ("syntax", "tokens"),
    ("max", "tokens"),
    ("total", "tokens"),
    ("password", "length"),
];

/// Whether values of that name are masked for those who asked for it.
pub(crate) fn is_secret(name: &str) -> bool {
    let words = words(name);
    let pairs: Vec<(&str, &str)> = words
        .windows(2)
        .filter_map(|pair| match pair {
            [first, second] => Some((first.as_str(), second.as_str())),
            _ => None,
        })
        .collect();
    if pairs.iter().any(|pair| HARMLESS.contains(pair)) {
        return false;
    }
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        || pairs.iter().any(|pair| PAIRS.contains(pair))
}

/// Whether an expression has a name or key of a secret in it: `user.Password`, `settings["ApiKey"]`.
pub(crate) fn is_secret_named(expression: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    expression
        .split(|letter| !is_part(letter))
        .any(|name| !name.is_empty() && is_secret(name))
}

fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().take(256).collect();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        // `dbPassword`, and the last capital of `APIKey` begins a word.
        let begins = letter.is_uppercase()
            && (before.is_some_and(|it| it.is_lowercase())
                || before.is_some_and(|it| it.is_uppercase())
                    && after.is_some_and(|it| it.is_lowercase()));
        if (begins || !letter.is_alphabetic()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphabetic() {
            word.extend(letter.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_searched_for_names() {
        for text in ["user.Password", "a[\"Api_Key\"].b", "f(token)", "x + dbPwd"] {
            assert!(is_secret_named(text), "{text}");
        }
        for text in [
            "user.Name",
            "tokenizer.Next()",
            "cancellationToken",
            "1 + 2",
            "",
        ] {
            assert!(!is_secret_named(text), "{text}");
        }
    }

    #[test]
    fn names_are_compared_word_by_word() {
        for name in [
            "password",
            "dbPassword",
            "_password",
            "Password2",
            "API_KEY",
            "apiKey",
            "APIKey",
            "ConnectionString",
            "connection_string",
            "authToken",
            "[\"client-secret\"]",
            "pwd",
            "GITHUB_TOKEN",
            "apiKeys",
            "connectionStrings",
            "dbConnStr",
            "refreshTokens",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "cwdpwd",
            "tokenizer",
            "cancellationToken",
            "secretary",
            "compass",
            "key",
            "connection",
            "spin",
            "pinned",
            "tokenCount",
            "",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
