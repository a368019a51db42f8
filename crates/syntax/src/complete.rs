//! What is being written at a position of a text: the question behind completion.
//!
//! The text before the cursor may be unfinished anywhere. It is parsed with all missing parts made up, so
//! the binder gets a whole tree around the name to complete; text behind the cursor is not looked at, but
//! for the rest of that name.

use crate::MAX_LENGTH;
use crate::error::ErrorKind;
use crate::lexer::{T, Token, Until, Value, Word, identifier_name, is_identifier_part, lex};
use crate::parser::Parser;
use crate::span::Span;
use crate::tree::{Expr, Identifier, MemberAccess, QualifiedName, Type};

/// What is being written at a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// What can stand there.
    pub kind: CompletionKind,
    /// The part of the name that is written before the cursor; empty right behind a dot.
    pub prefix: String,
    /// The name as it stands in the text, on both sides of the cursor: what a choice replaces.
    pub replace: Span,
    /// The whole expression, or what could be parsed around the cursor, with the prefix as a name in it.
    ///
    /// It tells what lambda parameters, range variables and pattern variables are in scope: those whose
    /// span is before the cursor. Everything the text does not have yet is made up, with empty names.
    pub tree: Expr,
}

/// What kind of name is being written.
#[derive(Debug, Clone, PartialEq)]
pub enum CompletionKind {
    /// Anything in scope: a variable, member, type, namespace, keyword.
    Name,
    /// A type or a namespace, as in `new `, `typeof(` or `x as `.
    TypeName,
    /// A member of `receiver`, which may turn out to be a type or a namespace.
    Member {
        /// What stands before the dot. Behind `?.` it is what stands before the `?`.
        receiver: Expr,
        /// `.` or `->`.
        access: MemberAccess,
    },
    /// A type or a namespace in `qualifier`, as in `new A.B.`.
    TypeMember {
        /// What stands before the dot.
        qualifier: QualifiedName,
    },
    /// A name behind `alias::`.
    AliasMember {
        /// The alias, perhaps `global`.
        alias: Identifier,
    },
    /// A member to set, as in `new T { `; also any expression to add, if `T` is a collection.
    InitializerMember {
        /// The type, if one is written.
        ty: Option<Type>,
    },
    /// A member to test, as in `x is T { `; in `x is T { A.` one of `A`.
    PatternMember {
        /// The type, if one is written.
        ty: Option<Type>,
        /// The names before the last dot.
        path: Vec<Identifier>,
    },
    /// A variable of the debugger, as in `$ex`; the prefix has the `$`.
    Pseudo,
}

/// What is being written at byte offset `cursor` of `text`, or `None` where there is nothing to complete:
/// in a string, a number or a comment.
pub fn complete(text: &str, cursor: usize) -> Option<Completion> {
    let before = text.get(..cursor)?;
    if text.len() > MAX_LENGTH {
        return None;
    }
    let mut tokens = lex(before, 0, Until::End);
    if tokens.ends_outside_code {
        return None;
    }
    let rest = text.get(cursor..)?;
    let behind = rest.find(|c| !is_identifier_part(c)).unwrap_or(rest.len());
    let end = u32::try_from(cursor).ok()?;
    let replace_end = u32::try_from(cursor + behind).ok()?;

    // The last token is the end; the one before it is perhaps the name that is being written.
    tokens.tokens.pop();
    // A hole that is not closed yet is no mistake here.
    if let Some(T::Error(index)) = tokens.tokens.last().map(|it| it.kind)
        && let Some(Value::Error(error)) = tokens.values.get(index as usize)
        && error.kind == ErrorKind::UnclosedHole
    {
        tokens.tokens.pop();
    }
    let last = tokens.tokens.last().copied();
    let touching = last.filter(|it| it.span.end == end).map(|it| it.kind);
    let is_pseudo = pseudo_start(before).is_some() && !matches!(touching, Some(T::Literal(_)));
    let start = match touching {
        Some(T::Identifier(_) | T::Keyword(_) | T::Predefined(_)) => {
            tokens.tokens.pop().map_or(end, |it| it.span.start)
        }
        Some(T::Pseudo(_) | T::Error(_)) if is_pseudo => {
            tokens.tokens.pop().map_or(end, |it| it.span.start)
        }
        Some(T::Literal(_)) => return None,
        _ => end,
    };
    // A string that is not closed swallows the cursor.
    if let Some(T::Error(_)) = tokens.tokens.last().map(|it| it.kind) {
        return None;
    }
    let word = match touching {
        Some(T::Identifier(Word::Verbatim)) => Word::Verbatim,
        _ => Word::Other,
    };
    let marker = tokens.tokens.len();
    let token = |kind, span| Token {
        kind,
        span,
        matching: 0,
        depth: 0,
    };
    tokens
        .tokens
        .push(token(T::Identifier(word), Span::new(start, end)));
    tokens.tokens.push(token(T::End, Span::empty(end)));

    let mut parser = Parser::new(before, &tokens);
    parser.complete(marker);
    let mut from = 0;
    let mut attempts = 0;
    while from <= marker {
        attempts += 1;
        if attempts > MAX_ATTEMPTS {
            from = from.max(marker.saturating_sub(MAX_TAIL));
        }
        parser.restart(from);
        let tree = parser.any_expression();
        if let Some(kind) = parser.take_completion()
            && let Ok(tree) = tree
        {
            let name = Span::new(start, end).of(before);
            let kind = if is_pseudo {
                CompletionKind::Pseudo
            } else {
                kind
            };
            let prefix = if is_pseudo {
                name.to_owned()
            } else {
                identifier_name(name)
            };
            let replace = Span::new(start, replace_end);
            return Some(Completion {
                kind,
                prefix,
                replace,
                tree,
            });
        }
        // Start again at the spot that does not fit what is before it.
        from = parser.position().max(from + 1);
    }
    None
}

/// How often to start again behind a mistake before only the end of the text is looked at.
const MAX_ATTEMPTS: usize = 30;

/// How many tokens before the cursor are looked at then.
const MAX_TAIL: usize = 200;

/// The offset of the `$` of a pseudo-variable that ends at the end of `before`.
fn pseudo_start(before: &str) -> Option<usize> {
    let name = before.trim_end_matches(is_identifier_part);
    name.ends_with('$').then(|| name.len() - 1)
}
