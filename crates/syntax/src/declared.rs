//! Where a source file declares a local function: only braces, names and arrows are looked at, no statement is parsed.

use crate::lexer::{P, T, Token, Until, lex};
use crate::span::Span;

/// A longer file is not one that a person wrote.
const MAX_FILE: usize = 4 << 20;

/// The block that declares the local function `name` whose code holds the byte at `inside`: the whole text for one among
/// top-level statements. Nothing if there is none, or if the brackets of the text do not match.
///
/// ```
/// let text = "void M() { { int F(int x) => x + 1; F(2); } F(3); }";
/// let block = syntax::block_of_local_function(text, "F", 28).expect("a block");
/// assert_eq!(block.of(text), "{ int F(int x) => x + 1; F(2); }");
/// ```
#[must_use]
pub fn block_of_local_function(text: &str, name: &str, inside: u32) -> Option<Span> {
    if text.len() > MAX_FILE {
        return None;
    }
    let tokens = lex(text, 0, Until::EndOfFile).tokens;
    if !are_matched(&tokens) {
        return None;
    }
    // Of functions of one name inside each other, the last that begins is the innermost.
    let declared = (1..tokens.len()).rev().find(|&at| {
        let is_name = |it: &Token| {
            matches!(it.kind, T::Identifier(_)) && it.span.of(text).trim_start_matches('@') == name
        };
        tokens.get(at).is_some_and(is_name)
            && extent(text, &tokens, at).is_some_and(|it| it.start <= inside && inside < it.end)
    })?;
    let at = tokens.get(declared)?.span.start;
    let blocks = tokens.iter().filter_map(|it| block(&tokens, it));
    let around = blocks.filter(|it| it.start <= at && at < it.end);
    let whole = Span::new(0, u32::try_from(text.len()).ok()?);
    Some(around.max_by_key(|it| it.start).unwrap_or(whole))
}

/// Whether each bracket has the one that it goes with: alternatives of `#if` may have too many.
fn are_matched(tokens: &[Token]) -> bool {
    let is = |it: &&Token, kinds: [P; 3]| matches!(it.kind, T::Punct(it) if kinds.contains(&it));
    let opening = [P::OpenParen, P::OpenBracket, P::OpenBrace];
    let closing = [P::CloseParen, P::CloseBracket, P::CloseBrace];
    let closed = tokens.iter().filter(|it| is(it, closing)).count();
    let mut opened = tokens.iter().filter(|it| is(it, opening));
    opened.clone().count() == closed && opened.all(|it| it.matching != 0)
}

/// What a brace and the one that closes it are around.
fn block(tokens: &[Token], open: &Token) -> Option<Span> {
    let is_brace = open.kind == T::Punct(P::OpenBrace);
    let close = is_brace
        .then(|| tokens.get(open.matching as usize))
        .flatten()?;
    Some(open.span.to(close.span))
}

/// From the name of a function to the end of its body, if one is declared here: a type, the name, parameters and a body.
fn extent(text: &str, tokens: &[Token], at: usize) -> Option<Span> {
    let name = tokens.get(at)?;
    let before = tokens.get(at.checked_sub(1)?)?;
    let ends_type = match before.kind {
        T::Identifier(_) | T::Predefined(_) => true,
        T::Punct(it) => matches!(
            it,
            P::Greater | P::CloseBracket | P::CloseParen | P::Question | P::Star
        ),
        // `void` alone is a type that no expression names.
        _ => before.span.of(text) == "void",
    };
    if !ends_type {
        return None;
    }
    let beside = |it: &&Token| it.depth == name.depth;
    let mut rest = tokens.iter().skip(at + 1);
    let parameters = match rest.next()? {
        it if it.kind == T::Punct(P::Less) => rest.find(|it| it.kind == T::Punct(P::OpenParen))?,
        it if it.kind == T::Punct(P::OpenParen) => it,
        _ => return None,
    };
    let mut rest = tokens.iter().skip(parameters.matching as usize + 1);
    let body = match rest.next()? {
        it if it.span.of(text) == "where" => {
            let begins = [
                T::Punct(P::OpenBrace),
                T::Punct(P::FatArrow),
                T::Punct(P::Semicolon),
            ];
            rest.filter(beside).find(|it| begins.contains(&it.kind))?
        }
        it => it,
    };
    let end = match body.kind {
        T::Punct(P::OpenBrace) => tokens.get(body.matching as usize)?,
        T::Punct(P::FatArrow) => {
            let mut behind = tokens.iter().skip(parameters.matching as usize + 1);
            behind.find(|it| beside(it) && it.kind == T::Punct(P::Semicolon))?
        }
        _ => return None,
    };
    Some(name.span.to(end.span))
}

#[cfg(test)]
mod tests {
    use super::block_of_local_function;

    /// `^` is where the code of `F` is, `«` and `»` are around the block that is to be found.
    #[track_caller]
    fn check(marked: &str) {
        let text: String = marked.replace(['^', '«', '»'], "");
        let clean = |it: &str| it.replace(['^', '«', '»'], "");
        let at = |mark: char| clean(marked.split(mark).next().unwrap_or("")).len();
        let inside = u32::try_from(at('^')).expect("short");
        let found = block_of_local_function(&text, "F", inside);
        let expected = marked
            .contains('«')
            .then(|| text.get(at('«')..at('»')).expect("marks"));
        assert_eq!(found.map(|it| it.of(&text)), expected, "{marked}");
    }

    #[test]
    fn the_block_of_a_local_function_is_found() {
        check("void M() «{ int F(int x) => ^x; F(1); }»");
        check("void M() «{ F(1); static async Task<int> F(int x) { await ^x; } }»");
        check("void M() { if (a) «{ int? F<T>(T x) where T : class { return ^1; } }» F(2); }");
        check("void M() «{ F(1); void F() { foreach (var it in all) { ^G(); } } }»");
        check("«F F(int id) => ^new F(); F(1); class F { }»");
        check("void M() { «{ int F() => ^1; }» { int F() => 2; } }");
        check("void M() { { int F() => 1; } «{ int F() => ^2; }» }");
        check("void M() «{ int F() { { int F() => 1; } return ^2; } }»");
        check("void M() { int F() { «{ int F() => ^1; }» return 2; } }");
        check("void M() { switch (x) «{ case 1: (int, int)[] F() => ^null; break; }» }");
    }

    #[test]
    fn braces_of_texts_comments_and_directives_are_none() {
        check(
            "void M() «{ var a = \"}\" + '}' + $\"{b}}}\" + @\"}\"; /* } */ int F() => ^1; }» // {\n",
        );
        check(
            "#region it's {\n#nullable enable\nvoid M() «{\n#pragma x\nint F() => ^1; }»\n#endregion\n",
        );
    }

    #[test]
    fn what_is_not_declared_or_not_matched_is_not_found() {
        check("void M() { F(1); ^G(); }");
        check("void M() { var a = new F(1) { X = ^1 }; }");
        check("#if A\nvoid M() {\n#else\nvoid N() {\n#endif\nint F() => ^1; }");
    }
}
