//! The grammar by example: a text and the shape of its tree, as [`syntax::dump`] shows it.
//!
//! `compiler.rs` has many more, compared with the C# compiler; these are to read.

use syntax::tree::{Expr, ExprKind, IntegerType, Literal};
use syntax::{Span, dump, parse};

#[track_caller]
fn check(text: &str, shape: &str) {
    match parse(text) {
        Ok(expr) => assert_eq!(dump(&expr), shape, "{text}"),
        Err(error) => panic!("{}", error.render(text)),
    }
}

#[test]
fn precedence() {
    check("1 + 2 * 3", "(+ 1 (* 2 3))");
    check("a - b - c", "(- (- a b) c)");
    check("a ?? b ?? c", "(?? a (?? b c))");
    check("a = b += c", "(= a (+= b c))");
    check(
        "a || b && c | d ^ e & f == g < h << i + j * -k",
        "(|| a (&& b (| c (^ d (& e (== f (< g (<< h (+ i (* j (- k)))))))))))",
    );
    check("a ? b : c ? d : e", "(?: a b (?: c d e))");
    check("a ? b : c = d", "(?: a b (= c d))");
    check("-a.b++", "(- (post++ (. a b)))");
    check("!a is b", "(is (! a) (name b))");
    check("a >> b >>> c", "(>>> (>> a b) c)");
    check("a >>>= b", "(>>>= a b)");
    check("a..b + c", "(+ (.. a b) c)");
    check("a + b switch { } * c", "(+ a (* (switch b) c))");
    check("^1..^2", "(.. (^ 1) (^ 2))");
}

#[test]
fn cast_or_parenthesis() {
    check("(a)b", "(cast a b)");
    check("(a)-b", "(- (paren a) b)");
    check("(int)-b", "(cast int (- b))");
    check("(a[])-b", "(cast ([] a) (- b))");
    check("(a)(b)", "(cast a (paren b))");
    check("(a.b<c>)d", "(cast (. a (<> b c)) d)");
    check("(a)[b]", "(index (paren a) b)");
    check("(List<int>)[1, 2]", "(cast (<> List int) (list 1 2))");
    check("(a)", "(paren a)");
    check("(a) is b", "(is (paren a) (name b))");
}

#[test]
fn type_arguments_or_comparison() {
    check("a < b", "(< a b)");
    check("a<b>(c)", "(call (<> a b) c)");
    check("a < b > c", "(> (< a b) c)");
    check("f(a<b, c>(d))", "(call f (call (<> a b c) d))");
    check("f(a < b, c > d)", "(call f (< a b) (> c d))");
    check("a<b>>c", "(< a (>> b c))");
    check("A<B<C>>.D", "(. (<> A (<> B C)) D)");
    check("x is A<B> && c", "(&& (is x (type (<> A B))) c)");
}

#[test]
fn conditional_access() {
    check("a?.b.c", "(?. a (. (.bind b) c))");
    check("a?.b?.c", "(?. a (?. (.bind b) (.bind c)))");
    check("(a?.b).c", "(. (paren (?. a (.bind b))) c)");
    check("a?[b].c()", "(?. a (call (. ([]bind b) c)))");
    check("a?.b!.c", "(?. a (. (suppress (.bind b)) c))");
    check("a?.b!", "(suppress (?. a (.bind b)))");
    check("a?.5:b", "(?: a 0.5 b)");
    check("a ? [b] : c", "(?: a (list b) c)");
    check("a ? b?[c] : d", "(?: a (?. b ([]bind c)) d)");
}

#[test]
fn calls() {
    check(
        "f(a, x: b, ref c, in d, out e)",
        "(call f a (: x b) (ref c) (in d) (out e))",
    );
    check(
        "f(out var x, out int y, out _)",
        "(call f (out (decl var x)) (out (decl int y)) (out _))",
    );
    check(
        "a.b<int, A[]>(c)[d]",
        "(index (call (. a (<> b int ([] A))) c) d)",
    );
    check("p->x", "(-> p x)");
    check(
        "global::System.Int32.Parse(s)",
        "(call (. (. (:: global System) Int32) Parse) s)",
    );
    check("int.Parse(s)", "(call (. int Parse) s)");
    check("@class.@int", "(. @class @int)");
}

#[test]
fn tuples_and_deconstruction() {
    check("(a, b: c)", "(tuple a (: b c))");
    check(
        "(int a, var b) = c",
        "(= (tuple (decl int a) (decl var b)) c)",
    );
    check(
        "var (a, (_, b)) = c",
        "(= (decl var (vars a (vars _ b))) c)",
    );
}

#[test]
fn creation() {
    check(
        "new A(b) { C = d, E = { f, g }, [h] = i }",
        "(new A (args b) {(set C d) (set E {f g}) (set (at h) i)})",
    );
    check("new() { { a, b }, c }", "(new () (args) {(add a b) c})");
    check("new int[2, n][]", "(newarr ([] int) [2, n])");
    check("new int[,] { { 1 }, { 2 } }", "(newarr int [,] {{1} {2}})");
    check("new[] { a }", "(newarr () [] {a})");
    check("new { A = 1, b.C }", "(anon (set A 1) (. b C))");
    check("stackalloc int[3]", "(stackalloc int [3])");
    check("[a, ..b]", "(list a (spread b))");
    check("a with { B = c }", "(with a {(set B c)})");
    check("new (int, string)[3]", "(newarr (tuple int string) [3])");
}

#[test]
fn types() {
    check(
        "typeof(A.B<C?, (int x, D*)[,][]>)",
        "(typeof (. A (<> B (nullable C) ([,] ([] (tuple (: int x) (ptr D)))))))",
    );
    check("typeof(Dictionary<,>)", "(typeof (<> Dictionary ,_))");
    check("typeof(void)", "(typeof void)");
    check(
        "default(delegate* unmanaged[Cdecl]<ref int, void>)",
        "(default (fnptr unmanaged[Cdecl] (ref int) void))",
    );
    check("x as dynamic", "(as x dynamic)");
    check("sizeof(int)", "(sizeof int)");
}

#[test]
fn patterns() {
    check("x is A", "(is x (name A))");
    check("x is int", "(is x (type int))");
    check("x is A a", "(is x (decl A a))");
    check("x is var (a, _)", "(is x (var (vars a _)))");
    check(
        "x is not null and > 1 or -1",
        "(is x (or (and (not null) (rel> 1)) (- 1)))",
    );
    check(
        "x is A { B: 1, C.D: var e } f",
        "(is x (pattern A {(: B 1) (: (. C D) (var e))} f))",
    );
    check(
        "x is (1, y: _)",
        "(is x (pattern () (pos 1 (: y (discard)))))",
    );
    check(
        "x is [1, .. var y, _]",
        "(is x (listpat 1 (slice (var y)) (discard)))",
    );
    check(
        "x is (int or string)",
        "(is x (paren (or (type int) (type string))))",
    );
    check("x is (A)", "(is x (name (paren A)))");
    check("x is T ? a : b", "(?: (is x (name T)) a b)");
    check(
        "x switch { A a when b => c, _ => d }",
        "(switch x ((decl A a) when b => c) ((discard) => d))",
    );
}

#[test]
fn lambdas() {
    check("x => x + 1", "(lambda x (+ x 1))");
    check("(x, y) => x", "(lambda (x y) x)");
    check(
        "static async (ref int x, A y = 1) => y",
        "(lambda static async ((: ref int x) (: A y = 1)) y)",
    );
    check("int (x) => x", "(lambda int (x) x)");
    check("x => { return x; }", "(lambda x return x)");
    check(
        "x => { var a = x; int b = a; f(a); return a + b; }",
        "(lambda x (= var a x); (= int b a); (call f a); return (+ a b))",
    );
    check("x => { f(x); }", "(lambda x (call f x))");
    check("a ? (x) => b : c", "(?: a (lambda (x) b) c)");
    check("x => ref y", "(lambda x (ref y))");
}

#[test]
fn queries() {
    check(
        "from int x in xs where x > 1 select x",
        "(query (from (: int x) xs) (where (> x 1)) (select x))",
    );
    check(
        "from x in xs join y in ys on x.A equals y.B into g let z = g.Count() orderby z descending, x group x by z into h select h.Key",
        "(query (from x xs) (join y ys (. x A) (. y B) into g) (let z (call (. g Count))) (orderby (desc z) x) (group x z) (into h) (select (. h Key)))",
    );
}

#[test]
fn literals() {
    check("1_000u + 0xFFL + 0b1", "(+ (+ 1000u 0xffl) 0b1)");
    check("2147483648", "2147483648:uint");
    check("1.5e3f + .5 + 1.50m", "(+ (+ 1500.0f 0.5) 1.50m)");
    check("'\\x41' + \"\\u00e9\\t\"", "(+ 'A' \"\\u00e9\\u0009\")");
    check("@\"a\"\"b\\\"", "\"a\\\"b\\\\\"");
    check("\"\"\"\n  a\n   \"b\"\n  \"\"\"", "\"a\\u000a \\\"b\\\"\"");
    check("\"é\"u8", "\"\\u00e9\"u8");
    check(
        "$\"a{b,-3:x2}{{}}\"",
        "($ \"a\" (hole b , (- 3) : \"x2\") \"{}\")",
    );
    check("$$\"\"\"{a}{{b}}\"\"\"", "($ \"{a}\" (hole b))");
    check("$\"{$\"{\"x\"}\"}\"", "($ (hole ($ (hole \"x\"))))");
}

#[test]
fn the_debugger_s_own() {
    check("$exception.Message", "(. $exception Message)");
    check("$ReturnValue", "$returnvalue");
    check("$ReturnValue2", "$returnvalue2");
    check("$1 == $2", "(== $1 $2)");
    check("$pid + $tid + $hitcount", "(+ (+ $pid $tid) $hitcount)");
}

#[test]
fn comments_and_blanks() {
    check(" /* a */ b // c", "b");
    check("a // b\n + c", "(+ a c)");
    check("a\u{a0}+\u{feff}b", "(+ a b)");
}

/// All nodes on the left edge of `expr`, with the text each covers.
fn left_edge(expr: &Expr, text: &str, out: &mut Vec<String>) {
    out.push(expr.span.of(text).to_owned());
    match &expr.kind {
        ExprKind::Binary(_, left, _) | ExprKind::Conditional(left, ..) => {
            left_edge(left, text, out)
        }
        ExprKind::Member { target, .. } | ExprKind::Call { target, .. } => {
            left_edge(target, text, out)
        }
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => {
            left_edge(inner, text, out);
        }
        ExprKind::Is(left, pattern) => {
            out.push(pattern.span.of(text).to_owned());
            left_edge(left, text, out);
        }
        _ => {}
    }
}

#[track_caller]
fn check_spans(text: &str, expected: &[&str]) {
    let expr = parse(text).expect("an expression");
    let mut spans = Vec::new();
    left_edge(&expr, text, &mut spans);
    assert_eq!(spans, expected);
}

#[test]
fn spans_cover_what_was_written() {
    check_spans(" a + b ", &["a + b", "a"]);
    check_spans("f(x) . y", &["f(x) . y", "f(x)", "f"]);
    check_spans("( é ) + 1", &["( é ) + 1", "( é )", "é"]);
    check_spans("-x ? a : b", &["-x ? a : b", "-x", "x"]);
    check_spans("(A) b.c", &["(A) b.c", "b.c", "b"]);
    check_spans(
        "x is A { B: 1 } && y",
        &["x is A { B: 1 } && y", "x is A { B: 1 }", "A { B: 1 }", "x"],
    );
    assert_eq!(parse("a").map(|it| it.span), Ok(Span::new(0, 1)));
}

#[test]
fn names_can_be_types() {
    let ty = |text: &str| {
        parse(text)
            .expect("an expression")
            .to_type()
            .map(|it| it.to_string())
    };
    assert_eq!(ty("A.B<int>.C"), Some("A.B<int>.C".to_owned()));
    assert_eq!(ty("(global::A.B)"), Some("global::A.B".to_owned()));
    assert_eq!(ty("a.b()"), None);
    let name = parse("A<int>.B.C")
        .expect("an expression")
        .to_name()
        .expect("a name");
    assert_eq!(name.to_expr(), parse("A<int>.B.C").ok());
}

#[test]
fn nameof_looks_like_a_call() {
    let argument = |text: &str| {
        let expr = parse(text).expect("an expression");
        expr.as_nameof().map(ToString::to_string)
    };
    assert_eq!(argument("nameof(a.b)"), Some("a.b".to_owned()));
    assert_eq!(argument("nameof(List<int>)"), Some("List<int>".to_owned()));
    assert_eq!(argument("@nameof(a)"), None);
    assert_eq!(argument("nameof(a, b)"), None);
    assert_eq!(argument("x.nameof(a)"), None);
}

#[test]
fn the_smallest_int_is_told_from_its_parts() {
    let types = |text: &str| match parse(text).expect("an expression").kind {
        ExprKind::Unary(_, operand) => match operand.kind {
            ExprKind::Literal(Literal::Integer(it)) => (it.ty(), it.ty_after_minus()),
            other => panic!("a literal, not {other:?}"),
        },
        other => panic!("a sign, not {other:?}"),
    };
    assert_eq!(
        types("-2147483648"),
        (IntegerType::UInt, Some(IntegerType::Int))
    );
    assert_eq!(
        types("-9223372036854775808"),
        (IntegerType::ULong, Some(IntegerType::Long))
    );
    assert_eq!(
        types("-0x80000000"),
        (IntegerType::UInt, Some(IntegerType::Int))
    );
    assert_eq!(types("-2147483648u"), (IntegerType::UInt, None));
}
