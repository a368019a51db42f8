//! Types and symbols of a real program over MCP.

use expect_test::expect;
use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

async fn launched(sandbox: &Sandbox) -> Agent {
    let agent = Agent::new(sandbox).await;
    let launch = json!({"program": dll("demo_shop")});
    let report = structured(&agent.call("debug_launch", launch).await);
    assert_eq!(report["state"], "stopped", "{report}");
    agent
}

#[test]
fn types_are_told_with_their_members() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = launched(&sandbox).await;
        for arguments in [
            json!({"name": "Order"}),
            json!({"name": "order", "members": ["t*"]}),
            json!({"name": "Item", "count": 3}),
            json!({"name": "Coupons"}),
            json!({"name": "List<T>", "members": ["Add", "Capacity"]}),
            json!({"name": "System.DayOfWeek"}),
            json!({"name": "Ordr"}),
            json!({"name": "Coupon"}),
            json!({"name": "Order", "module": "no-such"}),
            json!({"name": " "}),
        ] {
            agent.say("type_get", arguments).await;
        }
        let number = agent.call("type_get", json!({"name": "int"})).await;
        let number = structured(&number);
        assert_eq!(number["module"], "System.Private.CoreLib.dll", "{number}");
        assert_eq!(number["declaration"], "public readonly struct", "{number}");
        // As people call it, or with its type parameters.
        for name in ["ConvertAll", "ConvertAll<TOutput>"] {
            let list = json!({"name": "List<T>", "members": [name]});
            let list = text(&agent.call("type_get", list).await);
            assert!(list.contains(" ConvertAll<TOutput>("), "{name}: {list}");
        }
        let plain = agent.call("type_get", json!({"name": "Action"})).await;
        assert_ne!(plain.is_error, Some(true), "{}", text(&plain));
        let several = agent.call("type_get", json!({"name": "Enumerator"})).await;
        assert_eq!(several.is_error, Some(true));
        assert!(
            text(&several).contains(
                "several types are called Enumerator\n  System.ArraySegment<T>.Enumerator\n"
            ),
            "{}",
            text(&several)
        );
        // Pages fit together, and each is short.
        let (mut start, mut told) = (Some(0), 0);
        while let Some(from) = start {
            let page = json!({"name": "string", "start": from, "count": 200});
            let answer = agent.call("type_get", page).await;
            assert!(text(&answer).len() < 20_000);
            let page = structured(&answer);
            told += page["members"].as_array().expect("members").len() as u64;
            assert!(page["total"].as_u64().is_some_and(|it| it > 150), "{page}");
            start = page["next_start"].as_u64();
            if start.is_none() {
                assert_eq!(page["total"], told);
            }
        }
        expect![[r#"
            > type_get {"name":"Order"}
            internal class Order : object (demo_shop.dll)
              public required int Id { get; init; }
              public required string Customer { get; init; }
              public List<Item> Items { get; }
              public string Coupon { get; set; }
              public decimal Total()
              public .ctor()
            > type_get {"members":["t*"],"name":"order"}
            internal class Order : object (demo_shop.dll)
              public decimal Total()
            > type_get {"count":3,"name":"Item"}
            internal class Item : object, System.IEquatable<Item> (demo_shop.dll)
              protected virtual Type EqualityContract { get; }
              public string Name { get; init; }
              public decimal Price { get; init; }
              … 14 members in all: type_get with start=3 tells more
            > type_get {"name":"Coupons"}
            internal static class Coupons : object (demo_shop.dll)
              public static decimal Percent(string coupon)
            > type_get {"members":["Add","Capacity"],"name":"List<T>"}
            public class System.Collections.Generic.List<T> : object, System.Collections.Generic.IList<T>, System.Collections.Generic.ICollection<T>, System.Collections.Generic.IEnumerable<T>, System.Collections.IEnumerable, System.Collections.IList, System.Collections.ICollection, System.Collections.Generic.IReadOnlyList<T>, System.Collections.Generic.IReadOnlyCollection<T> (System.Private.CoreLib.dll)
              public int Capacity { get; set; }
              public void Add(T item)
            > type_get {"name":"System.DayOfWeek"}
            public enum System.DayOfWeek : System.Enum (System.Private.CoreLib.dll)
              Sunday = 0
              Monday = 1
              Tuesday = 2
              Wednesday = 3
              Thursday = 4
              Friday = 5
              Saturday = 6
            > type_get {"name":"Ordr"}
            !INVALID_PARAMETER: no loaded module has a type Ordr
              Order
            Hint: name one of these
            > type_get {"name":"Coupon"}
            !INVALID_PARAMETER: no loaded module has a type Coupon
              Coupons
            Hint: name one of these
            > type_get {"module":"no-such","name":"Order"}
            !MODULE_NOT_LOADED: no loaded module has "no-such" in its name
            Hint: modules_get lists them; what is loaded later is found later
            > type_get {"name":" "}
            !INVALID_PARAMETER: an empty pattern would find everything; write a part of a name, or *
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn declarations_are_those_of_the_source() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("declared").marker("stop");
        let launch = json!({
            "program": dll("declared"),
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        for (name, declared) in [
            ("Shape", "public required string Name { get; init; }"),
            ("Shape", "public int Size { get; private set; }"),
            (
                "Shape",
                "public int this[int row, string column] { get; protected set; }",
            ),
            (
                "Shape",
                "public string Draw(string pen = \"black\", double width = 1.5, object paper = default, int times = 1)",
            ),
            ("Shape", "public static implicit operator int(Shape shape)"),
            (
                "Shape",
                "public static T Make<T>() where T : class, IShape, new()",
            ),
            ("IShape", "public static abstract int Corners()"),
            ("Point", "internal readonly struct Point"),
            ("Point", "public int X { get; init; }"),
            ("Window", "internal ref struct Window"),
        ] {
            let told = text(&agent.call("type_get", json!({"name": name})).await);
            assert!(told.contains(declared), "{declared}:\n{told}");
        }
        agent.close().await;
    });
}

#[test]
fn declarations_in_generic_types_constants_and_base_types_are_those_of_the_source() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("declared_generic").marker("stop");
        let launch = json!({
            "program": dll("declared_generic"),
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        for (name, declared) in [
            ("Kept<T>", "public T? One\n"),
            ("Kept<T>", "public List<T?>? All\n"),
            ("Kept<T>", "public string?[]? Names\n"),
            ("Kept<T>", "public Kept<T>? Next { get; set; }"),
            ("Fixed", "public const decimal Rate = 1.5m"),
            ("Fixed", "public const Day Start = Day.Tuesday"),
            ("Fixed", "public const Day Odd = (Day)9"),
            ("Fixed", "public const DayOfWeek Week = (DayOfWeek)5"),
            ("Fixed", "public const string Zero = \"a\\u200bb\""),
            ("Fixed", "public static void At(Day day = Day.Monday)"),
            ("Day", "Tuesday = 2"),
            (
                "Said",
                "public static string Twice(this string text, Day? day = Day.Monday)",
            ),
            ("Said", "static volatile int Busy"),
            ("Said", "static extern int getpid()"),
            ("Said", "Only<T>(T value) where T : unmanaged"),
            ("ITold", "static virtual int Told()"),
        ] {
            let told = text(&agent.call("type_get", json!({"name": name})).await) + "\n";
            assert!(told.contains(declared), "{declared}:\n{told}");
        }
        for (path, field, inherited) in [
            ("holder", "Value", false),
            ("mine", "Own", false),
            ("mine", "Value", true),
        ] {
            let told = agent.call("object_inspect", json!({"path": path})).await;
            let line = format!("{field}: ");
            let told = text(&told);
            let line = told
                .lines()
                .find(|it| it.contains(&line))
                .expect("the field");
            assert_eq!(line.contains(", of Holder<Part>"), inherited, "{told}");
        }
        agent.close().await;
    });
}

#[test]
fn symbols_are_found_in_all_modules_the_best_first() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = launched(&sandbox).await;
        for arguments in [
            json!({"pattern": "total", "module": "demo"}),
            json!({"pattern": "Order.*", "kinds": ["property"], "module": "demo"}),
            json!({"pattern": "*", "module": "demo_shop", "kinds": ["type"], "count": 2}),
            json!({"pattern": "*", "module": "demo_shop", "kinds": ["type"], "start": 2}),
            json!({"pattern": "NoSuchNameAnywhere", "module": "demo_shop"}),
            json!({"pattern": "x", "module": "no-such"}),
            json!({"pattern": "..."}),
        ] {
            agent.say("symbols_search", arguments).await;
        }
        let add = json!({"pattern": "List.Add", "kinds": ["method"], "module": "CoreLib"});
        let add = structured(&agent.call("symbols_search", add).await);
        let name = "System.Collections.Generic.List<T>.Add";
        let names = add["symbols"].as_array().expect("symbols").iter();
        assert!(names.clone().take(3).any(|it| it["name"] == name), "{add}");
        let long = json!({"pattern": "x".repeat(10_000)});
        let long = agent.call("symbols_search", long).await;
        assert_eq!(structured(&long)["error"]["code"], "INVALID_PARAMETER");
        // Those of one name are told apart by their parameters.
        let many = json!({"pattern": "Console.WriteLine", "kinds": ["method"], "count": 100});
        let many = agent.call("symbols_search", many).await;
        let lines = text(&many);
        assert!(
            lines.contains("method System.Console.WriteLine(string? value) (System.Console.dll)\n"),
            "{lines}"
        );
        let mut lines: Vec<_> = lines.lines().collect();
        let all = lines.len();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), all, "{lines:#?}");
        // The user's come before the framework's where both fit as well, and both are found at once.
        let all = json!({"pattern": "Total*", "count": 100});
        let all = structured(&agent.call("symbols_search", all).await);
        assert_eq!(all["symbols"][0]["name"], "Order.Total", "{all}");
        let modules = all["symbols"].as_array().expect("symbols").iter();
        let others = modules.filter(|it| it["module"] != "demo_shop.dll");
        assert!(others.count() > 0, "{all}");
        // A namespace holds what is in its types, too.
        let inside =
            json!({"pattern": "System.Collections.*", "kinds": ["method"], "module": "CoreLib"});
        let inside = structured(&agent.call("symbols_search", inside).await);
        assert!(
            inside["total"].as_u64().is_some_and(|it| it > 1000),
            "{inside}"
        );
        // However much fits, an answer is short and counts the rest.
        let many = json!({"pattern": "*", "count": 100});
        let many = agent.call("symbols_search", many).await;
        assert!(text(&many).len() < 20_000);
        let many = structured(&many);
        assert_eq!(many["symbols"].as_array().map(Vec::len), Some(100));
        assert!(
            many["total"].as_u64().is_some_and(|it| it > 10_000),
            "{many}"
        );
        assert_eq!(many["next_start"], 100);
        expect![[r#"
            > symbols_search {"module":"demo","pattern":"total"}
            method Order.Total() (demo_shop.dll)
            > symbols_search {"kinds":["property"],"module":"demo","pattern":"Order.*"}
            property Order.Id (demo_shop.dll)
            property Order.Items (demo_shop.dll)
            property Order.Coupon (demo_shop.dll)
            property Order.Customer (demo_shop.dll)
            > symbols_search {"count":2,"kinds":["type"],"module":"demo_shop","pattern":"*"}
            type Item (demo_shop.dll)
            type Order (demo_shop.dll)
            … 4 fit in all: symbols_search with start=2 tells more
            > symbols_search {"kinds":["type"],"module":"demo_shop","pattern":"*","start":2}
            type Coupons (demo_shop.dll)
            type Program (demo_shop.dll)
            > symbols_search {"module":"demo_shop","pattern":"NoSuchNameAnywhere"}
            Nothing fits in the module that could be searched. What is loaded later is found later.
            > symbols_search {"module":"no-such","pattern":"x"}
            !MODULE_NOT_LOADED: no loaded module has "no-such" in its name
            Hint: modules_get lists them; what is loaded later is found later
            > symbols_search {"pattern":"..."}
            !INVALID_PARAMETER: an empty pattern would find everything; write a part of a name, or *
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

/// A copy of the demo's shop that has no symbols.
fn without_symbols(sandbox: &Sandbox) -> std::path::PathBuf {
    let program = sandbox.folder().join("demo_shop.dll");
    for extension in ["dll", "runtimeconfig.json"] {
        let file = std::path::PathBuf::from(dll("demo_shop")).with_extension(extension);
        let mut bytes = std::fs::read(file).expect("read");
        // The place of the symbols is in the file.
        let name = b"demo_shop.pdb";
        if let Some(at) = bytes.windows(name.len()).position(|it| it == name) {
            bytes[at..at + name.len()].copy_from_slice(b"demo_shop.non");
        }
        std::fs::write(program.with_extension(extension), bytes).expect("written");
    }
    program
}

#[test]
fn stops_in_code_without_symbols_tell_its_arguments_and_how_to_step() {
    let sandbox = Sandbox::new();
    run(async {
        let program = without_symbols(&sandbox);
        let mut agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": program,
            "breakpoints": [{"function": "Coupons.Percent", "max_hits": 1}],
        });
        agent.say("debug_launch", launch).await;
        let step = json!({"kind": "out", "just_my_code": false});
        let stepped = text(&agent.call("debug_step", step).await);
        for expected in [
            "in Order.Total().\n",
            "  local0: decimal = 18.90\n",
            "returned by Coupons.Percent",
            "just_my_code=false",
        ] {
            assert!(stepped.contains(expected), "{stepped}");
        }
        agent.say("debug_continue", json!({})).await;
        expect![[r#"
            > debug_launch {"breakpoints":[{"function":"Coupons.Percent","max_hits":1}],"program":"<sandbox>/demo_shop.dll"}
            s1 stopped: at breakpoint 1 (thread <tid>), in Coupons.Percent(string coupon).
            Launched <sandbox>/demo_shop.dll, process <pid>, .NET <version>.
              coupon: string = null
              local0: string = null
              local1: bool = false
              local2: decimal = 0
              #0 Coupons.Percent(string coupon) in demo_shop.dll
              #1 Order.Total() in demo_shop.dll
              #2 Program.Main() in demo_shop.dll
            Output since the last report:
            out| The shop opens.
            Breakpoint 1 at Coupons.Percent, in Coupons.Percent(string coupon) (demo_shop.dll, IL offset 0): disabled, it switched itself off after its first hit. Hit once.
            Next: debug_continue lets it run on; debug_step runs to the next code with symbols, and with just_my_code=false one step of this code, which has none.
            > debug_continue
            s1 stopped: unhandled exception (thread <tid>), in System.Number.ThrowFormatException<char>(ReadOnlySpan<char> value), called from Coupons.Percent(string coupon).
            Exception System.FormatException: "The input string 'ER5' was not in a correct format."
              coupon: string = "SUMMER5"
              local0: string = "ER5"
              local1: bool = false
              local2: decimal = 0
              #0 System.Number.ThrowFormatException<char>(ReadOnlySpan<char> value) in System.Private.CoreLib.dll
              #1 int.Parse(string s) in System.Private.CoreLib.dll
              #2 Coupons.Percent(string coupon) in demo_shop.dll
              #3 Order.Total() in demo_shop.dll
              #4 Program.Main() in demo_shop.dll
            Output since the last report:
            out| Order 1 for Ada: 18.90
            out| Order 2 for Grace: 20.40
            Next: debug_continue lets it end as it would without a debugger; debug_disconnect ends it now.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn bare_name_that_only_code_without_symbols_has_is_suggested_in_full() {
    let sandbox = Sandbox::new();
    run(async {
        let program = without_symbols(&sandbox);
        let agent = Agent::new(&sandbox).await;
        agent
            .call("debug_launch", json!({"program": program}))
            .await;
        let set = agent
            .call("breakpoint_set", json!({"function": "Percent"}))
            .await;
        let told = text(&set);
        assert!(
            told.contains("no loaded module with symbols has a method Percent")
                && told.contains("did you mean Coupons.Percent(string coupon)?"),
            "{told}"
        );
        agent.close().await;
    });
}
