//! What is offered where a name is being written, and what each is said to be.

use engine::api::{Complete, CompletedName, NameKind, Reply, Request};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::language::stopped_in;

fn offered(program: &Debuggee<'_>, text: &str) -> Vec<CompletedName> {
    let request = Complete {
        text: text.into(),
        position: u32::try_from(text.len()).expect("a short text"),
        thread: None,
        frame: 0,
        stop: None,
    };
    match program.request(Request::Complete(request)) {
        Ok(Reply::Completions(found)) => found.names,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_place_has_its_names() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_completed", "here");
    let names = |text: &str| -> Vec<String> {
        let all = offered(&program, text).into_iter();
        all.map(|it| it.name).collect()
    };
    // Elements of tuples, also inside lambdas.
    assert_eq!(names("box.W"), ["Width"]);
    assert_eq!(names("box.Item"), ["Item1", "Item2"]);
    assert_eq!(names("boxes.FindAll(it => it.La"), ["Label"]);
    // What is dynamic has the members of what it holds now.
    assert_eq!(names("held.Ha"), ["Handle"]);
    assert_eq!(names("open.Ad"), ["Added"]);
    // Members that patterns test and that initialisers set, of types that are not written too.
    assert_eq!(names("garden is { Pl"), ["Place"]);
    assert_eq!(names("garden is { Tool.Ha"), ["Handle"]);
    assert_eq!(names("garden is { Tool: { we"), ["weight"]);
    assert_eq!(names("box is { Wi"), ["Width"]);
    assert_eq!(names("garden with { Fr"), ["Fruit"]);
    assert_eq!(names("new Garden(\"\", fruit) { To"), ["Tool"]);
    assert_eq!(names("garden switch { { Fru"), ["Fruit"]);
    // Arguments by their names, beside all that could be passed.
    assert_eq!(names("Cut(bra"), ["branch:"]);
    assert_eq!(names("Cut(\"a\", tim")[..1], ["times:"]);
    assert_eq!(names("new Garden(Plac"), ["Place:"]);
    // Values of the enum that is compared.
    assert_eq!(
        names("fruit == A").first().map(String::as_str),
        Some("Fruit.Apple")
    );
    assert_eq!(names("fruit != ")[..2], ["Fruit.Apple", "Fruit.Pear"]);
    // … or that a pattern asks for, an assignment sets, or an argument is.
    for text in [
        "fruit is P",
        "fruit switch { P",
        "garden is { Fruit: P",
        "fruit = P",
        "new Garden(\"\", P",
        "garden with { Fruit = P",
    ] {
        let first = names(text).into_iter().next();
        assert_eq!(first.as_deref(), Some("Fruit.Pear"), "{text}");
    }
    // Inside the block of a lambda, where its own variables are known.
    assert_eq!(names("boxes.FindAll(it => { var y = it.La"), ["Label"]);
    assert_eq!(
        names("boxes.FindAll(it => { var y = it.Label; y.Lengt"),
        ["Length"]
    );
    assert_eq!(names("boxes.FindAll(it => { it.La"), ["Label"]);
    assert_eq!(
        names("boxes.FindAll(it => { var yard = it; return ya")[..1],
        ["yard"]
    );
    assert_eq!(
        names("boxes.FindAll(it => { int yard = 1; yard++; ya")[..1],
        ["yard"]
    );
    assert_eq!(
        names(
            "boxes.FindAll(it => { var other = numbers.Where(n => { var z = n; return z.CompareT"
        ),
        ["CompareTo"]
    );
    // Local functions, those that captured something too.
    assert_eq!(names("Doubled"), ["Doubled"]);
    assert_eq!(names("Joine"), ["Joined"]);
    assert_eq!(names("Elsewher"), [""; 0]);
    // What the framework has for itself is nothing to write.
    assert_eq!(names("fruit.val"), [""; 0]);
    assert_eq!(names("Fruit.EnumS"), [""; 0]);
    assert_eq!(names("boxes._"), [""; 0]);
    assert_eq!(names("boxes.Cap"), ["Capacity"]);
    assert_eq!(names("Fruit.Ap"), ["Apple"]);
    assert_eq!(names("fruit.Has"), ["HasFlag"]);
    assert_eq!(names("garden.Tool.wei"), ["weight"]);
    // LINQ, which the program has not loaded.
    assert_eq!(names("numbers.Whe"), ["Where"]);
    program.cont();
    program.expect_exit(0);
}

#[test]
fn every_name_says_what_it_is() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_completed", "here");
    let kind = |text: &str, name: &str| {
        let all = offered(&program, text).into_iter();
        let found = all.filter(|it| it.name == name).map(|it| it.kind);
        found.collect::<Vec<_>>()
    };
    for (text, name, expected) in [
        ("gar", "garden", NameKind::Variable),
        ("Gar", "Garden", NameKind::Class),
        ("Fru", "Fruit", NameKind::Enum),
        ("Cu", "Cut", NameKind::Method),
        ("Tool.", "IMade", NameKind::Interface),
        ("Tool.", "Blade", NameKind::Struct),
        ("Fruit.", "Pear", NameKind::EnumMember),
        ("garden.", "Place", NameKind::Property),
        ("garden.Tool.", "weight", NameKind::Field),
        ("garden.", "ToString", NameKind::Method),
        ("box.", "Label", NameKind::Field),
        ("System.", "Collections", NameKind::Namespace),
        ("new List<", "int", NameKind::Keyword),
        ("Cut(", "branch:", NameKind::Argument),
        ("$", "$pid", NameKind::Variable),
    ] {
        assert_eq!(kind(text, name), [expected], "{name} of {text}");
    }
    program.cont();
    program.expect_exit(0);
}
