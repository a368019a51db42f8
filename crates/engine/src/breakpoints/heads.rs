//! Whether a line belongs to the head of a method: its attributes, its signature, its opening brace.
//!
//! Symbols know only statements, so this is read from the text. It need not know C#: from the line to the first statement of the
//! method there may be nothing that ends another declaration or begins a type. The statements of a constructor also lie in the
//! initialisers of fields, all over the type: whether a line is in its body the braces around tell.

/// What accessors begin with.
const ACCESSORS: [&str; 9] = [
    "get",
    "set",
    "init",
    "add",
    "remove",
    "private",
    "protected",
    "internal",
    "readonly",
];
/// What declares something else than a method.
const TYPES: [&str; 6] = [
    "class",
    "struct",
    "record",
    "interface",
    "enum",
    "namespace",
];

/// A part of the text that is no comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'t> {
    Word(&'t str),
    Sign(char),
    /// A text or character in quotes.
    Quoted,
}

/// Whether the text from the beginning of a line to a place, the first statement of a method, is the head of that method. Lines and
/// columns count from 1, columns in UTF-16 units.
pub(super) fn leads_to(text: &str, line: u32, place: (u32, u32)) -> bool {
    let Some(begin) = offset(text, (line, 1)) else {
        return false;
    };
    let (Some(next), Some(end)) = (offset(text, (line + 1, 1)), offset(text, place)) else {
        return false;
    };
    let pieces = pieces(text.get(..end).unwrap_or(text));
    let first = pieces.partition_point(|(at, _)| *at < begin);
    let place = Place {
        is_in_type: member(&pieces, end).is_none(),
        is_brace: text.get(end..).is_some_and(|it| it.starts_with('{')),
    };
    let pieces = pieces.get(first..).unwrap_or_default();
    // A line without code, between methods perhaps, belongs to none.
    let has_code = pieces.first().is_some_and(|(at, _)| *at < next);
    has_code && is_head(pieces.iter().map(|(_, piece)| *piece), place)
}

/// Whether a line lies in the same member of a type as a place behind it: not between members, or in another one.
pub(super) fn are_in_one_member(text: &str, line: u32, place: (u32, u32)) -> bool {
    let (Some(line), Some(end)) = (offset(text, (line, 1)), offset(text, place)) else {
        return false;
    };
    let pieces = pieces(text.get(..end).unwrap_or(text));
    let of_line = member(&pieces, line);
    of_line.is_some() && of_line == member(&pieces, end)
}

/// The column at which the first `switch` statement of a line begins.
pub(super) fn switch_on(text: &str, line: u32) -> Option<u32> {
    let (begin, next) = (offset(text, (line, 1))?, offset(text, (line + 1, 1)));
    let pieces = pieces(text.get(..next.unwrap_or(text.len()))?);
    let is_switch = |pair: &&[(usize, Piece<'_>)]| {
        let pair = (pair.first().copied(), pair.get(1).copied());
        let (Some((at, Piece::Word("switch"))), Some((_, Piece::Sign('(')))) = pair else {
            return false;
        };
        // `@switch` is a name.
        at >= begin && !text.get(..at).is_some_and(|it| it.ends_with('@'))
    };
    let (at, _) = *pieces.windows(2).find(is_switch)?.first()?;
    let units = text.get(begin..at)?.encode_utf16().count();
    u32::try_from(units + 1).ok()
}

/// Where the member of a type opens that a place of the text lies in; none between members.
fn member(pieces: &[(usize, Piece<'_>)], place: usize) -> Option<usize> {
    // For each brace that is open, where it is, if it is not that of a type or namespace.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut declared = Vec::new();
    let mut depth = 0_u32;
    for (at, piece) in pieces.iter().take_while(|(at, _)| *at < place) {
        match piece {
            Piece::Sign('(' | '[') => depth += 1,
            Piece::Sign(')' | ']') => depth = depth.saturating_sub(1),
            Piece::Sign('{') => {
                open.push((depth > 0 || !declares_type(&declared)).then_some(*at));
                declared.clear();
            }
            Piece::Sign('}') => {
                open.pop();
                declared.clear();
            }
            Piece::Sign(';') => declared.clear(),
            piece if depth == 0 => declared.push(*piece),
            _ => {}
        }
    }
    open.into_iter().flatten().next()
}

fn declares_type(declared: &[Piece<'_>]) -> bool {
    declared.iter().enumerate().any(|(at, piece)| {
        // As a constraint it stands behind a colon or a comma.
        let before = at.checked_sub(1).and_then(|it| declared.get(it));
        let is_constraint = matches!(before, Some(Piece::Sign(':' | ',')));
        matches!(piece, Piece::Word(word) if TYPES.contains(word)) && !is_constraint
    })
}

/// What is known of the statement behind a head.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// It lies in no member's braces: an initialiser, or what a constructor calls first.
    is_in_type: bool,
    /// It is the opening brace.
    is_brace: bool,
}

fn is_head<'t>(pieces: impl Iterator<Item = Piece<'t>>, place: Place) -> bool {
    let mut depth = 0_u32;
    let mut outside = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Sign('(' | '[') => depth += 1,
            // The line lies inside a list of parameters or attributes.
            Piece::Sign(')' | ']') if depth == 0 => outside.clear(),
            Piece::Sign(')' | ']') => depth -= 1,
            _ if depth > 0 => {}
            Piece::Sign(';' | '}') => return false,
            piece => outside.push(piece),
        }
    }
    let mut parts = outside.split(|it| *it == Piece::Sign('{'));
    let declared = parts.next().unwrap_or_default();
    let Some(opened) = parts.next() else {
        // Without a brace it is the head of a type with a primary constructor, which calls that of its base.
        return true;
    };
    if declares_type(declared) || place.is_in_type {
        return false;
    }
    let is_accessor = |piece: &Piece<'_>| match piece {
        Piece::Word(word) => ACCESSORS.contains(word),
        Piece::Sign(sign) => matches!(sign, '=' | '>'),
        Piece::Quoted => false,
    };
    if !opened.iter().all(is_accessor) {
        return false;
    }
    match (opened.is_empty(), parts.next()) {
        // The brace of a type.
        (true, None) => !place.is_brace,
        (true, Some(_)) => false,
        (false, None) => true,
        (false, Some(rest)) => rest.is_empty() && !place.is_brace && parts.next().is_none(),
    }
}

/// Where a place begins in a text.
fn offset(text: &str, (line, column): (u32, u32)) -> Option<usize> {
    let mut start = 0;
    for _ in 1..line {
        start += text.get(start..)?.find('\n')? + 1;
    }
    let mut units = 0;
    for (at, it) in text.get(start..)?.char_indices() {
        if units + 1 >= column as usize {
            return Some(start + at);
        }
        units += it.len_utf16();
    }
    Some(text.len())
}

/// What is in a text, with where it begins.
fn pieces(text: &str) -> Vec<(usize, Piece<'_>)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut begins_line = true;
    while let Some(rest) = text.get(at..).filter(|it| !it.is_empty()) {
        let first = rest.chars().next().unwrap_or('\n');
        let length = if first == '\n' || first == '\u{feff}' {
            begins_line = true;
            at += first.len_utf8();
            continue;
        } else if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if rest.starts_with("//") || (first == '#' && begins_line) {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = quoted(rest) {
            pieces.push((at, Piece::Quoted));
            length
        } else if is_of_word(first) {
            let length = rest.find(|it| !is_of_word(it)).unwrap_or(rest.len());
            pieces.push((at, Piece::Word(rest.get(..length).unwrap_or(rest))));
            length
        } else {
            pieces.push((at, Piece::Sign(first)));
            first.len_utf8()
        };
        begins_line = false;
        at += length.max(1);
    }
    pieces
}

fn is_of_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

/// The length of the literal in quotes that a text begins with.
fn quoted(text: &str) -> Option<usize> {
    let prefix = text.find(|it| !matches!(it, '$' | '@'))?;
    let (signs, rest) = text.split_at_checked(prefix)?;
    let quotes = rest.find(|it| it != '"').unwrap_or(rest.len());
    let end = |found: Option<usize>, behind: usize| {
        found.map_or(text.len(), |it| (it + behind).min(text.len()))
    };
    if quotes >= 3 && !signs.contains('@') {
        let mark = rest.get(..quotes)?;
        let inside = prefix + quotes;
        let found = text.get(inside..)?.find(mark);
        return Some(end(found.map(|it| inside + it), quotes));
    }
    let quote = rest
        .chars()
        .next()
        .filter(|it| *it == '"' || (*it == '\'' && signs.is_empty()))?;
    let verbatim = signs.contains('@');
    let mut inside = rest.char_indices().skip(1).peekable();
    while let Some((at, it)) = inside.next() {
        match it {
            '\\' if !verbatim => {
                inside.next();
            }
            '\n' if !verbatim => return Some(prefix + at),
            it if it == quote => {
                if verbatim && inside.peek().is_some_and(|(_, next)| *next == quote) {
                    inside.next();
                    continue;
                }
                return Some(prefix + at + 1);
            }
            _ => {}
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|` marks the line, `^` the first statement.
    #[track_caller]
    fn check(marked: &str, expected: bool) {
        let place = |text: &str, mark: char| {
            let at = text.find(mark).expect("a mark");
            let before = text.get(..at).expect("the text before");
            let line = before.matches('\n').count() + 1;
            let column = at - before.rfind('\n').map_or(0, |it| it + 1) + 1;
            let number = |it: usize| u32::try_from(it).expect("a short text");
            (number(line), number(column))
        };
        let without_line = marked.replace('|', "");
        let (line, _) = place(marked, '|');
        let place = place(&without_line, '^');
        let text = without_line.replace('^', "");
        assert_eq!(leads_to(&text, line, place), expected, "{marked}");
    }

    #[test]
    fn heads_of_methods_and_accessors_lead_to_their_bodies() {
        check("|int F()\n^{", true);
        check("|public int F(\n int a = 3)\n^{", true);
        check("public int F(\n| int a = 3,\n int b)\n^{", true);
        check("|[Attr(\"};\")] // };\n T F<T>() where T : class\n^{", true);
        check("|int F()\n{\n ^return 1; }", true);
        check("int F()\n|{\n ^return 1; }", true);
        check("|int F(int a)\n => ^a;", true);
        check("|int P\n{\n get ^{ return 1; } }", true);
        check("|int P\n{\n get { ^return 1; } }", true);
        check("|int P {\n [Attr] private set => ^x = value; }", true);
        check("int P {\n |get\n ^{", true);
        check("class C {\n int P {\n |get\n ^{", true);
    }

    #[test]
    fn heads_of_constructors_lead_to_what_they_run_first() {
        check("class C {\n|public C(int a)\n : ^base(a)\n{", true);
        check("class C {\n|static C()\n^{", true);
        check("class C {\n|static C()\n{\n ^a = 1; }", true);
        check("|class C(int a)\n : ^B(a)\n{", true);
        check("class C\n{\n|[Attr]\n^int x = 3;", true);
        check("class C\n|{\n ^int x = 3;", false);
        check("class C {\n int y;\n|\n ^int x = 3;", false);
    }

    #[test]
    fn lines_between_members_are_in_none() {
        let check = |text: &str, line: u32, place: (u32, u32), expected: bool| {
            assert_eq!(are_in_one_member(text, line, place), expected, "{text}");
        };
        let text = "class C<T> where T : class {\nint a = 1;\n\nC()\n{\nF();\n\nG(new { B = 1 });\n}\n\nint b = 2;\nint P {\nget { }\n\n}\nint c = 3; }";
        check(text, 3, (4, 1), false);
        check(text, 7, (8, 1), true);
        check(text, 10, (11, 1), false);
        check(text, 14, (16, 1), false);
        check(
            &text.replace("class C<T>", "record struct C<T>"),
            7,
            (8, 1),
            true,
        );
    }

    #[test]
    fn other_lines_lead_nowhere() {
        check("int x;\n|\nint F()\n^{", false);
        check("|// of F\nint F()\n^{", false);
        check("/* of\n|  F */\nint F()\n^{", false);
        check("|#region F\nint F()\n^{", false);
        check("|class C\n{\n int F()\n ^{", false);
        check("class C\n|{\n int F()\n ^{", false);
        check("|struct C\n{\n ^int x = 3;", false);
        check("|record C : B\n{\n int P => ^1;", false);
        check("|int x;\nint F()\n^{", false);
        check("|}\nint F()\n^{", false);
        check("|using System;\nint F()\n^{", false);
    }

    #[test]
    fn switch_statements_are_found_on_their_line() {
        let check = |text: &str, expected: Option<u32>| {
            assert_eq!(switch_on(text, 2), expected, "{text}");
        };
        check("\n  switch (a) { switch (b)", Some(3));
        check("\n\"🦀\"; switch /* */ (a)\n", Some(7));
        check("switch (a)\n  case 1: // switch (b)\nswitch (c)", None);
        check("\nreturn a switch { _ => \"switch (\" };", None);
        check("\n@switch (a);", None);
        check("", None);
    }

    #[test]
    fn quotes_and_comments_hide_what_they_hold() {
        check("string a = @\"{\"\"\n}\"; |\nint F()\n^{", false);
        check("|[A(@\"{\"\"\n;}\", '\\'', $\"{1};\")]\nint F()\n^{", true);
        check("|[A(\"\"\"\n;} \" \n\"\"\")]\nint F()\n^{", true);
        check("|[A(\"🦀\")]\n int F() => ^1;", true);
        check("|[A(\"never closed\nint F()\n^{", true);
    }
}
