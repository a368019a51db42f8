//! Errors point at the spot and say what to do.

use syntax::parse;

/// `at` is the caret under the spot and the message behind it; `code` the compiler's.
#[track_caller]
fn check(text: &str, code: &str, at: &str) {
    let error = match parse(text) {
        Ok(expr) => panic!("{text} is {expr:?}"),
        Err(error) => error,
    };
    let rendered = error.render(text);
    let mark = rendered
        .lines()
        .last()
        .and_then(|it| it.strip_prefix("  "))
        .unwrap_or("");
    assert_eq!(format!("{mark} {error}"), at, "{text}");
    assert_eq!(error.code().unwrap_or(""), code, "{text}");
}

#[test]
fn something_is_missing() {
    check("", "CS1733", "^ expected an expression, found the end");
    check(
        "a +",
        "CS1733",
        "   ^ expected an expression, found the end",
    );
    check(
        "a + ",
        "CS1733",
        "   ^ expected an expression, found the end",
    );
    check("a.", "CS1001", "  ^ expected a member name, found the end");
    check("f(a", "CS1026", "   ^ expected `,` or `)`, found the end");
    check("(a", "CS1026", "  ^ expected `)`, found the end");
    check("a[1", "CS1003", "   ^ expected `,` or `]`, found the end");
    check("a ? b", "CS1003", "     ^ expected `:`, found the end");
    check(
        "new A",
        "CS1526",
        "     ^ expected `(`, `[` or `{` after the type to create, found the end",
    );
    check(
        "new int[]",
        "CS1586",
        "         ^ expected an array size or an initialiser, found the end",
    );
    check("typeof()", "CS1031", "       ^ expected a type, found `)`");
    check(
        "x is",
        "CS1733",
        "    ^ expected an expression, found the end",
    );
    check(
        "x switch { 1 }",
        "CS1003",
        "             ^ expected `=>`, found `}`",
    );
    check(
        "from x in y",
        "CS0742",
        "           ^ expected `select` or `group`, found the end",
    );
    check(
        "from x in y join z in w on a select b",
        "CS0744",
        "                             ^^^^^^ expected `equals`, found `select`",
    );
    check(
        "(a: 1)",
        "CS8124",
        "     ^ expected `,` and a second element, as a tuple has two or more, found `)`",
    );
}

#[test]
fn something_is_wrong() {
    check(
        "1 +* 2 )",
        "CS1073",
        "       ^ unexpected `)` after the expression",
    );
    check("a b", "CS1073", "  ^ unexpected `b` after the expression");
    check(
        "1 + / 2",
        "CS1525",
        "    ^ expected an expression, found `/`",
    );
    check("f(a b)", "CS1003", "    ^ expected `,` or `)`, found `b`");
    check("f(,a)", "CS0839", "  ^ expected an argument, found `,`");
    check("a[]", "CS0443", "  ^ expected an index, found `]`");
    check("a.1", "CS1073", " ^^ unexpected `.1` after the expression");
    check(
        "x is == 1",
        "CS1525",
        "     ^^ a pattern tests for equality without an operator: `is 5`, `is not 5`",
    );
    check(
        "x is {} + 1",
        "CS1073",
        "        ^ unexpected `+` after the expression",
    );
    check(
        "a::b::c",
        "CS7000",
        "    ^^ only the first name can be an alias before `::`; write `.`",
    );
    check(
        "new int[2][3]",
        "CS0178",
        "           ^ a size can only stand in the first brackets, behind the type of the elements",
    );
    check(
        "default(void)",
        "CS1547",
        "        ^^^^ `void` is not the type of a value",
    );
    check(
        "a with { 1 }",
        "CS0747",
        "         ^ expected `Name = value`, found `1`",
    );
    check("int", "CS1525", "^^^ expected an expression, found `int`");
    check("a ` b", "CS1056", "  ^ unexpected character '`'");
    check("@ a", "CS1646", "^ expected a name or a string after `@`");
    check(
        "[...a]",
        "CS8635",
        " ^^^ unexpected `...`; a range or a spread is written with two dots",
    );
}

#[test]
fn literals() {
    check(
        "\"abc",
        "CS1010",
        "^ the literal is not closed before the end of the line; expected `\"`",
    );
    check(
        "'a",
        "CS1010",
        "^ the literal is not closed before the end of the line; expected `'`",
    );
    check(
        "''",
        "CS1011",
        "^^ a character literal holds exactly one character, this one is empty",
    );
    check(
        "'ab'",
        "CS1012",
        "^^^^ a character literal holds exactly one UTF-16 unit; use a string in double quotes",
    );
    check(
        "\"a\\qb\"",
        "CS1009",
        r#"  ^^ unknown escape sequence; known are \' \" \\ \0 \a \b \e \f \n \r \t \v \xH \uHHHH \UHHHHHHHH"#,
    );
    check(
        "@\"a",
        "CS1039",
        "^^ the string is not closed; expected `\"`",
    );
    check(
        "\"\"\"a",
        "CS8997",
        "^^^ the string is not closed; expected `\"\"\"`",
    );
    check(
        "18446744073709551616",
        "CS1021",
        "^^^^^^^^^^^^^^^^^^^^ the integer is too large; the largest is 18446744073709551615",
    );
    check(
        "1 + 1e400",
        "CS0594",
        "    ^^^^^ the number is outside the range of type `double`",
    );
    check(
        "1e40f",
        "CS0594",
        "^^^^^ the number is outside the range of type `float`",
    );
    check(
        "1e30m",
        "CS0594",
        "^^^^^ the number is outside the range of type `decimal`",
    );
    check(
        "0x",
        "CS1013",
        "^^ invalid number; digits are missing or a `_` stands at the edge",
    );
    check(
        "1e+",
        "CS0595",
        "^^^ invalid real number; the exponent has no digits",
    );
    check(
        "\"\\ud800\"u8",
        "CS9026",
        "^^^^^^^^^^ the text of a `u8` literal must be valid Unicode; it holds half of a surrogate pair",
    );
    check(
        "a /* b",
        "CS1035",
        "  ^^ the comment is not closed; expected `*/`",
    );
}

#[test]
fn interpolated_strings() {
    check(
        "$\"{a\"",
        "CS8076",
        "  ^ the hole is not closed; expected `}`",
    );
    check(
        "$\"{}\"",
        "CS1733",
        "   ^ expected an expression, found the end of the hole",
    );
    check(
        "$\"a}\"",
        "CS8086",
        "   ^ write `}}` for a `}` in the text of an interpolated string",
    );
    check(
        "$\"\\{a}\"",
        "CS8087",
        "  ^ a brace in an interpolated string is escaped by doubling it, not with `\\`",
    );
    check(
        "$\"{a ? b : c}\"",
        "CS8361",
        "         ^^^ `:` starts the format of the hole; put the conditional expression in parentheses",
    );
    check("$\"{a:{b}}\"", "CS1056", "     ^ a format cannot hold `{`");
    check(
        "$$\"\"\"{{{{a}}}}\"\"\"",
        "CS9006",
        "     ^^^^ too many braces in a row for this raw string; start it with more `$`",
    );
}

#[test]
fn not_while_stopped() {
    check(
        "await Task",
        "",
        "^^^^^ `await` cannot be evaluated, as the program is stopped and the task cannot proceed; look at the task itself, or at `.Result` of one that is completed",
    );
    check(
        "a ?? throw b",
        "",
        "     ^^^^^ `throw` cannot be evaluated, as no code of the program could catch the exception; evaluate `new …Exception(…)` to look at one",
    );
    check(
        "x => { }",
        "",
        "     ^ a block of a lambda may declare variables (`var a = b;`), have calls and assignments, and end with `return c;`; other statements cannot be evaluated",
    );
    check(
        "delegate { }",
        "",
        "^^^^^^^^ an anonymous method cannot be evaluated; write a lambda with an expression body, such as `x => x + 1`",
    );
    check(
        "[A] x => x",
        "",
        "^ attributes have no effect in an evaluated lambda; leave them out",
    );
    check(
        "if (a) b",
        "",
        "^^ statements cannot be evaluated; write one expression",
    );
    check(
        "var x = 1",
        "",
        "    ^ statements cannot be evaluated; write one expression",
    );
    check(
        "__makeref(a)",
        "",
        "^^^^^^^^^ `__makeref`, `__reftype`, `__refvalue` and `__arglist` cannot be evaluated",
    );
    check(
        "#if A",
        "",
        "^ preprocessor directives cannot be evaluated; leave the line out",
    );
    check(
        "$foo",
        "",
        "^^^^ unknown pseudo-variable `$foo`; known are $exception, $returnvalue, $pid, $tid, $hitcount and $1, $2, …",
    );
}

#[test]
fn the_first_error_is_reported() {
    check("a b '", "CS1073", "  ^ unexpected `b` after the expression");
    check(
        "f('', \"",
        "CS1011",
        "  ^^ a character literal holds exactly one character, this one is empty",
    );
}

#[test]
fn an_error_is_shown_with_its_line() {
    let error = parse("a\n + (b *\n c").expect_err("unfinished");
    assert_eq!(
        error.render("a\n + (b *\n c"),
        "error CS1026: expected `)`, found the end\n   c\n    ^"
    );
}
