//! What is being written at the cursor, which is marked `|`.

use syntax::tree::{Identifier, QualifiedName, Type};
use syntax::{CompletionKind, complete};

/// `kind [what it belongs to] "prefix"`
fn describe(text: &str) -> String {
    let cursor = text.find('|').expect("a cursor");
    let source = text.replacen('|', "", 1);
    let Some(completion) = complete(&source, cursor) else {
        return "nothing".to_owned();
    };
    let replaced = completion.replace.of(&source);
    assert!(
        replaced.starts_with(
            source[..cursor]
                .get(completion.replace.start as usize..)
                .unwrap_or("")
        )
    );
    let or_none = |ty: &Option<Type>| ty.as_ref().map_or("?".to_owned(), Type::to_string);
    let dotted = |names: &[Identifier]| {
        names
            .iter()
            .map(|it| &*it.text)
            .collect::<Vec<_>>()
            .join(".")
    };
    let kind = match &completion.kind {
        CompletionKind::Name => "name".to_owned(),
        CompletionKind::TypeName => "type".to_owned(),
        CompletionKind::Member { receiver, access } => {
            format!("member {receiver}{}", access.text())
        }
        CompletionKind::TypeMember { qualifier } => format!("type in {}", shown(qualifier)),
        CompletionKind::AliasMember { alias } => format!("name in {}::", alias.text),
        CompletionKind::InitializerMember { ty } => format!("member to set of {}", or_none(ty)),
        CompletionKind::PatternMember { ty, path } => {
            format!("member to test of {} {}", or_none(ty), dotted(path))
                .trim_end()
                .to_owned()
        }
        CompletionKind::Pseudo => "pseudo-variable".to_owned(),
    };
    format!("{kind} {:?}", completion.prefix)
}

fn shown(name: &QualifiedName) -> String {
    name.to_expr().expect("a name has parts").to_string()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(describe(text), expected, "{text}");
}

#[test]
fn names() {
    check("|", "name \"\"");
    check("fo|", "name \"fo\"");
    check("fo|o.bar", "name \"fo\"");
    check("@cla|", "name \"cla\"");
    check("a + b|", "name \"b\"");
    check("f(a, |", "name \"\"");
    check("f(out |", "name \"\"");
    check("a[|", "name \"\"");
    check("from x in |", "name \"\"");
    check("x is |", "name \"\"");
    check("x is not Co|", "name \"Co\"");
    check("x => |", "name \"\"");
    check("new { A = |", "name \"\"");
}

#[test]
fn members() {
    check("foo.|", "member foo. \"\"");
    check("foo.ba|", "member foo. \"ba\"");
    check("foo.b|ar", "member foo. \"b\"");
    check("a.Bar(b.|", "member b. \"\"");
    check("a.Bar(b, c.D|", "member c. \"D\"");
    check("a.b(c)[d].e|", "member a.b(c)[d]. \"e\"");
    check("(A)b.|", "member b. \"\"");
    check("((A)b).|", "member ((A)b). \"\"");
    check("-a.|", "member a. \"\"");
    check("a!.|", "member a!. \"\"");
    check("p->|", "member p-> \"\"");
    check("int.|", "member int. \"\"");
    check("List<int>.|", "member List<int>. \"\"");
    check("\"abc\".|", "member \"abc\". \"\"");
    check("1.|", "member 1. \"\"");
    check("a.is|", "member a. \"is\"");
    check("x is A.|", "member A. \"\"");
    check("$exception.|", "member $exception. \"\"");
}

#[test]
fn members_of_what_may_be_null() {
    check("a?.|", "member a. \"\"");
    check("a?.b.|", "member a?.b. \"\"");
    check("a?.b?.c.|", "member a?.b?.c. \"\"");
    check("a?.b?.|", "member a?.b. \"\"");
    check("a?[0].|", "member a?[0]. \"\"");
    check("a?.b(c.|", "member c. \"\"");
    check("a?.b(c?.d.|", "member c?.d. \"\"");
}

#[test]
fn within_unfinished_text() {
    check("list.Where(o => o.Total > 10 && o.|", "member o. \"\"");
    check("from x in y where x.|", "member x. \"\"");
    check("from x in y join z in w on x.|", "member x. \"\"");
    check("a ? b.|", "member b. \"\"");
    check("x switch { A => b.|", "member b. \"\"");
    check("x switch { 1 when a.|", "member a. \"\"");
    check("$\"a{b.|", "member b. \"\"");
    check("$\"{$\"\"\"{a.|", "member a. \"\"");
    check("[a, ..b.|", "member b. \"\"");
    check("new A { B = x.|", "member x. \"\"");
    check("new A[x.|", "member x. \"\"");
    check("a.b(|)", "name \"\"");
    check("a.|(b)", "member a. \"\"");
}

#[test]
fn behind_mistakes() {
    check("var y = x.|", "member x. \"\"");
    check("if (x.|", "member x. \"\"");
    check("foo bar.|", "member bar. \"\"");
    check(") a.|", "member a. \"\"");
    check("await x.|", "member x. \"\"");
    check("x => { return y.|", "member y. \"\"");
}

#[test]
fn types() {
    check("new |", "type \"\"");
    check("new Fo|", "type \"Fo\"");
    check("new A.B.|", "type in A.B \"\"");
    check("new List<|", "type \"\"");
    check("typeof(A.|", "type in A \"\"");
    check("x as |", "type \"\"");
    check("default(global::A.|", "type in global::A \"\"");
    check("global::Sys|", "name in global:: \"Sys\"");
    check("new A::|", "name in A:: \"\"");
}

#[test]
fn members_to_set_or_test() {
    check("new A { |", "member to set of A \"\"");
    check("new A<int> { B = 1, C|", "member to set of A<int> \"C\"");
    check("new() { A|", "member to set of ? \"A\"");
    check("x with { |", "member to set of ? \"\"");
    check("x is A { B|", "member to test of A \"B\"");
    check("x is { |", "member to test of ? \"\"");
    check("x is A { B: 1, C.|", "member to test of A C \"\"");
    check("x is A { B: c.|", "member c. \"\"");
}

#[test]
fn pseudo_variables() {
    check("$|", "pseudo-variable \"$\"");
    check("a + $ex|", "pseudo-variable \"$ex\"");
    check("$exception|", "pseudo-variable \"$exception\"");
    check("$\"{$ex|", "pseudo-variable \"$ex\"");
}

#[test]
fn nothing_in_literals_and_comments() {
    check("\"abc|", "nothing");
    check("\"abc\"|", "nothing");
    check("\"$ex|", "nothing");
    check("'a|", "nothing");
    check("12|", "nothing");
    check("1.5|", "nothing");
    check("// a.|", "nothing");
    check("a /* b.|", "nothing");
    check("$\"a{b.c} d.|", "nothing");
    check("$\"a{b:|", "nothing");
    check("$\"a{\"b.|", "nothing");
    assert_eq!(complete("é", 1), None);
    assert_eq!(complete("a", 5), None);
}

#[test]
fn the_tree_is_whole() {
    let completion = complete("list.Where(o => o.", 18).expect("a completion");
    assert_eq!(
        syntax::dump(&completion.tree),
        "(call (. list Where) (lambda o (. o )))"
    );
    let completion = complete("a.Bar(b.Baz, 1)", 9).expect("a completion");
    assert_eq!(completion.prefix, "B");
    assert_eq!(completion.replace.of("a.Bar(b.Baz, 1)"), "Baz");
}
