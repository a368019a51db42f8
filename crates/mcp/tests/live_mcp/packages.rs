//! Tests of real test projects: xunit and NUnit (VSTest) and MSTest (Microsoft.Testing.Platform).
//!
//! They need an SDK that builds them and a folder with the packages; `cargo xtask test` leaves them out, and says so,
//! where those are missing.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::{Map, Value, json};
use testkit::fixtures;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, run, structured, text};

const TEST_SDK: &str = r#"<PackageReference Include="Microsoft.NET.Test.Sdk" Version="18.0.1"/>"#;

/// The projects: name, properties, packages.
fn projects() -> [(&'static str, &'static str, String); 3] {
    [
        (
            "ShopXunit",
            "",
            format!(
                r#"{TEST_SDK}<PackageReference Include="xunit" Version="2.9.3"/><PackageReference Include="xunit.runner.visualstudio" Version="3.1.5"/>"#
            ),
        ),
        (
            "ShopNunit",
            "",
            format!(
                r#"{TEST_SDK}<PackageReference Include="NUnit" Version="4.4.0"/><PackageReference Include="NUnit3TestAdapter" Version="5.2.0"/>"#
            ),
        ),
        (
            "ShopMstest",
            "<OutputType>Exe</OutputType><EnableMSTestRunner>true</EnableMSTestRunner>",
            r#"<PackageReference Include="MSTest.TestFramework" Version="4.4.0"/><PackageReference Include="MSTest.TestAdapter" Version="4.4.0"/>"#.into(),
        ),
    ]
}

fn sources() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("crates/mcp").join("fixtures/_tests")
}

/// The line of a marker in a source file.
fn line(file: &Path, marker: &str) -> u32 {
    let source = fs::read_to_string(file).expect("a source file");
    let found = fixtures::markers(&source).find(|(name, _)| *name == marker);
    found.expect("a marker").1
}

/// Test projects.
struct Projects {
    folder: PathBuf,
    env: Map<String, Value>,
}

/// The text of a project.
fn project_text(properties: &str, references: &str) -> String {
    format!(
        "<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup><TargetFramework>net10.0</TargetFramework>\
         <IsPackable>false</IsPackable><RunAnalyzers>false</RunAnalyzers>{properties}</PropertyGroup>\
         <ItemGroup>{references}</ItemGroup></Project>\n"
    )
}

fn packages() -> PathBuf {
    fixtures::nuget_packages()
        .expect("NDBG_TEST_NUGET names no folder with packages: use `cargo xtask test`")
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

/// The folder for projects with this content, these packages and this SDK: built once, used by every test and run.
fn cache() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    projects().hash(&mut hasher);
    project_text("", "").hash(&mut hasher);
    for file in names(&sources()) {
        fs::read(sources().join(file))
            .expect("a source file")
            .hash(&mut hasher);
    }
    packages().hash(&mut hasher);
    names(&packages()).hash(&mut hasher);
    fixtures::dotnet_root().hash(&mut hasher);
    names(&fixtures::dotnet_root().join("sdk")).hash(&mut hasher);
    let name = format!("test-projects-{:016x}", hasher.finish());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

impl Projects {
    /// The named ones, not built yet; restoring them takes packages from the cache, where they are unpacked already.
    fn written(sandbox: &Sandbox, folder: PathBuf, names: &[&str]) -> Self {
        fs::create_dir_all(&folder).expect("a folder");
        let feeds = format!(
            "<configuration><packageSources><clear/><add key=\"offline\" value=\"{}\"/></packageSources></configuration>\n",
            packages().display()
        );
        fs::write(folder.join("nuget.config"), feeds).expect("written");
        let mut solution = String::from("<Solution>\n");
        let wanted = projects()
            .into_iter()
            .filter(|(name, ..)| names.contains(name));
        for (name, properties, references) in wanted {
            let project = folder.join(name);
            fs::create_dir(&project).expect("a folder");
            for source in ["Basket", name] {
                let file = format!("{source}.cs");
                fs::copy(sources().join(&file), project.join(&file)).expect("copied");
            }
            let text = project_text(properties, &references);
            fs::write(project.join(format!("{name}.csproj")), text).expect("written");
            solution += &format!("  <Project Path=\"{name}/{name}.csproj\" />\n");
        }
        fs::write(folder.join("shop.slnx"), solution + "</Solution>\n").expect("written");
        Self::at(sandbox, folder)
    }

    fn at(sandbox: &Sandbox, folder: PathBuf) -> Self {
        let text = |value: std::ffi::OsString| value.into_string().expect("UTF-8");
        let ours = sandbox
            .environment()
            .into_iter()
            .map(|(name, value)| (text(name), json!(text(value))));
        let dotnet = fixtures::dotnet_environment()
            .into_iter()
            .map(|(name, value)| (name, json!(text(value))));
        let mut env: Map<String, Value> = ours.chain(dotnet).collect();
        env.insert("NUGET_PACKAGES".into(), json!(cache().join("packages")));
        Self { folder, env }
    }

    /// All of them, built: by the first test that wants them, for all others.
    fn built(sandbox: &Sandbox) -> Self {
        let (cache, folder) = (cache(), cache().join("shop"));
        fs::create_dir_all(&cache).expect("a folder");
        // One test builds, the others wait for it.
        let lock = fs::File::create(cache.join("lock")).expect("a file");
        lock.lock().expect("locked");
        let done = cache.join("done");
        if done.exists() {
            return Self::at(sandbox, folder);
        }
        if folder.exists() {
            // Of a test that was ended while it built.
            fs::remove_dir_all(&folder).expect("removed");
        }
        let all = ["ShopXunit", "ShopNunit", "ShopMstest"];
        let projects = Self::written(sandbox, folder, &all);
        let variables = projects.env.iter();
        let variables = variables.map(|(name, value)| (name, value.as_str().expect("a text")));
        let built = Command::new(fixtures::dotnet_root().join("dotnet"))
            .args([
                "build",
                "shop.slnx",
                "-v:q",
                "-nologo",
                "-p:UseSharedCompilation=false",
            ])
            .envs(variables)
            .env("MSBUILDDISABLENODEREUSE", "1")
            .current_dir(&projects.folder)
            .stdin(Stdio::null())
            .output()
            .expect("dotnet runs");
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stdout)
        );
        fs::write(done, "").expect("written");
        projects
    }

    /// One of them in the sandbox, as an editor has it: built before, and built again when something changes.
    fn copied(sandbox: &Sandbox, name: &str) -> Self {
        // Unpacks the packages.
        Self::built(sandbox);
        Self::written(sandbox, sandbox.folder().join("shop"), &[name])
    }

    fn source(&self, project: &str) -> PathBuf {
        self.folder.join(project).join(format!("{project}.cs"))
    }

    fn assembly(&self, project: &str) -> PathBuf {
        let folder = self.folder.join(project).join("bin/Debug/net10.0");
        folder.join(format!("{project}.dll"))
    }
}

/// Why and where it is stopped: a kind, a file of the user's and a line.
fn stop(report: &Value) -> (String, String, u64) {
    let stop = &report["stop"];
    let kind = stop["reasons"][0]["kind"].as_str().expect("a reason");
    let frames = stop["frames"].as_array().expect("frames");
    let user = frames
        .iter()
        .find(|frame| frame["kind"] == "user")
        .expect("the user's");
    let file = user["file"].as_str().expect("a file").rsplit('/').next();
    (
        kind.to_owned(),
        file.expect("a name").to_owned(),
        user["line"].as_u64().expect("a line"),
    )
}

/// Runs all tests of a project and looks at every stop and at the results.
async fn every_stop(sandbox: &Sandbox, projects: &Projects, name: &str) {
    let agent = Agent::new(sandbox).await;
    let source = projects.source(name);
    let basket = source.with_file_name("Basket.cs");
    let launch = json!({
        "program": projects.assembly(name),
        "env": projects.env,
        "breakpoints": [
            {"file": source, "text": "int total = 90;"},
            {"file": basket, "line": line(&basket, "first_line")},
        ],
        "timeout_ms": 120_000,
    });
    let mut answer = agent.call("debug_launch_test", launch).await;
    let mut stops = Vec::new();
    while structured(&answer)["state"] == "stopped" {
        let report = structured(&answer);
        let at = stop(&report);
        if at.0 == "exception_user_unhandled" && at.1 == format!("{name}.cs") {
            // The assertion is seen from the test, whoever threw.
            let told = text(&answer);
            let current = report["stop"]["source"].as_array().expect("source").iter();
            let current = current
                .clone()
                .find(|line| line["current"] == true)
                .expect("a line");
            assert!(
                current["text"].as_str().expect("text").contains("//@fails"),
                "{told}"
            );
        }
        stops.push(at);
        answer = agent
            .call("debug_continue", json!({"timeout_ms": 120_000}))
            .await;
    }
    let file = format!("{name}.cs");
    let exception = "exception_user_unhandled".to_owned();
    // An await throws again what it was handed.
    let expected = [
        (
            "breakpoint".to_owned(),
            "Basket.cs".to_owned(),
            line(&basket, "first_line"),
        ),
        (
            "breakpoint".to_owned(),
            file.clone(),
            line(&source, "breakpoint"),
        ),
        (exception.clone(), file.clone(), line(&source, "fails")),
        (exception, file, line(&source, "fails_later")),
    ];
    let expected = expected.map(|(kind, file, line)| (kind, file, u64::from(line)));
    assert_eq!(stops.first(), expected.first(), "{name}: {stops:?}");
    assert_eq!(stops.len(), expected.len(), "{name}: {stops:?}");
    assert_eq!(
        BTreeSet::from_iter(stops),
        BTreeSet::from_iter(expected),
        "{name}"
    );

    let report = structured(&answer);
    let told = text(&answer);
    assert_eq!(report["state"], "exited", "{told}");
    let tests = &report["tests"];
    let counts = ["total", "passed", "failed", "skipped"].map(|name| tests[name].as_u64());
    assert_eq!(counts, [Some(5), Some(2), Some(2), Some(1)], "{told}");
    assert!(tests.get("incomplete").is_none(), "{told}");
    assert!(
        told.contains("Tests: 5, of which 2 passed, 2 failed, 1 was skipped."),
        "{told}"
    );
    let unnamed = tests["without_result"][0].as_str().unwrap_or_default();
    assert!(
        unnamed.contains("Skipped") && unnamed.ends_with("not now"),
        "{told}"
    );
    let failures = tests["failures"].as_array().expect("failures");
    let named = |part: &str| {
        let found = failures
            .iter()
            .find(|it| it["test"].as_str().is_some_and(|it| it.contains(part)));
        found.unwrap_or_else(|| panic!("{part}: {told}"))
    };
    let discount = named("Discount_is_taken");
    assert!(
        discount["message"].as_str().expect("told").contains("81"),
        "{told}"
    );
    assert!(
        discount["stack"][0]
            .as_str()
            .expect("told")
            .contains(&format!("{name}.cs")),
        "{told}"
    );
    let later = named("Paying_later_works");
    assert!(
        later["message"]
            .as_str()
            .expect("told")
            .contains("nothing to pay"),
        "{told}"
    );
    agent.close().await;
}

#[test]
fn tests_stop_where_they_fail_and_their_results_come_back() {
    let sandbox = Sandbox::with_default_tmp();
    let projects = Projects::built(&sandbox);
    run(async {
        let all = ["ShopXunit", "ShopNunit", "ShopMstest"]
            .map(|name| every_stop(&sandbox, &projects, name));
        let [xunit, nunit, mstest] = all;
        tokio::join!(xunit, nunit, mstest);
    });
}

/// A test that ends its host is told as that, not as a filter that chose nothing.
async fn ended_by_a_test(sandbox: &Sandbox, projects: &Projects, name: &str, code: &str) {
    let agent = Agent::new(sandbox).await;
    let mut env = projects.env.clone();
    env.insert("SHOP_EXIT".into(), json!(code));
    let launch = json!({
        "program": projects.assembly(name),
        "env": env,
        "filter": "Discount",
        "stop_at_failure": false,
        "breakpoints": [{"file": projects.source(name), "text": "int paid = Basket.Discounted(90);"}],
        "timeout_ms": 120_000,
    });
    agent.call("debug_launch_test", launch).await;
    let ended = agent
        .call("debug_continue", json!({"timeout_ms": 120_000}))
        .await;
    let told = text(&ended);
    assert!(!told.contains("no test was run"), "{told}");
    let how = format!("the test host exited with code {code} while tests ran");
    assert!(told.contains(&how), "{told}");
    assert!(
        told.contains("at the last stop BasketTests.Discount_is_taken() ran"),
        "{told}"
    );
    agent.close().await;
}

#[test]
fn pause_of_a_hung_test_tells_where_it_hangs() {
    let sandbox = Sandbox::with_default_tmp();
    let projects = Projects::built(&sandbox);
    run(async {
        for name in ["ShopXunit", "ShopMstest"] {
            let agent = Agent::new(&sandbox).await;
            let mut env = projects.env.clone();
            env.insert("SHOP_HANGS".into(), json!("1"));
            let launch = json!({
                "program": projects.assembly(name),
                "env": env,
                "filter": "Discount",
                "breakpoints": [{"function": "Shop.Basket.Hang", "max_hits": 1}],
                "timeout_ms": 120_000,
            });
            agent.call("debug_launch_test", launch).await;
            agent.call("debug_continue", json!({"timeout_ms": 1})).await;
            let paused = agent.call("debug_pause", json!({})).await;
            let told = text(&paused);
            // It may not have come to the wait itself yet.
            assert!(
                told.contains("Shop.Basket.Hang() at ")
                    && told.contains("BasketTests.Discount_is_taken()"),
                "{told}"
            );
            agent.close().await;
        }
    });
}

#[test]
fn a_test_that_ends_its_host_is_told() {
    let sandbox = Sandbox::with_default_tmp();
    let projects = Projects::built(&sandbox);
    run(async {
        ended_by_a_test(&sandbox, &projects, "ShopXunit", "3").await;
        ended_by_a_test(&sandbox, &projects, "ShopXunit", "0").await;
        ended_by_a_test(&sandbox, &projects, "ShopMstest", "3").await;
    });
}

/// A transcript without the place where a test program tells its results.
fn without_socket(transcript: &str) -> String {
    let (before, rest) = transcript
        .split_once("--dotnet-test-pipe ")
        .expect("a program of Microsoft.Testing.Platform");
    let (_, after) = rest.split_once(' ').expect("more follows");
    format!("{before}--dotnet-test-pipe <socket> {after}")
}

#[test]
fn a_test_project_is_built_first_and_a_filter_chooses_its_tests() {
    let sandbox = Sandbox::with_default_tmp();
    let projects = Projects::copied(&sandbox, "ShopMstest");
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let some = |filter: &str| {
            json!({
                "program": projects.folder.join("ShopMstest"),
                "env": projects.env,
                "filter": filter,
                "stop_at_failure": false,
                "timeout_ms": 300_000,
            })
        };
        let result = agent.call("debug_launch_test", some("Discount")).await;
        let ended = structured(&result);
        let one_failed = |report: &Value| {
            let tests = &report["tests"];
            let counts = (&tests["total"], &tests["failed"]);
            assert_eq!(counts, (&json!(1), &json!(1)), "{report}");
        };
        one_failed(&ended);
        crate::one_value::check(&result);
        let mut none = some("FullyQualifiedName=Nobody");
        none["program"] = json!(projects.assembly("ShopMstest"));
        let ended = agent.call("debug_launch_test", none).await;
        assert!(text(&ended).contains("no test was run"), "{}", text(&ended));
        // A session of tests begins again as it began.
        let mut one = some("Discount");
        one["program"] = json!(projects.assembly("ShopMstest"));
        one["env"] = json!({});
        agent.say("debug_launch_test", one).await;
        expect![[r#"
            > debug_launch_test {"env":{},"filter":"Discount","program":"<sandbox>/shop/ShopMstest/bin/Debug/net10.0/ShopMstest.dll","stop_at_failure":false,"timeout_ms":300000}
            s3 has run its tests; their host exited with code 2.
            Launched <sandbox>/shop/ShopMstest/bin/Debug/net10.0/ShopMstest.dll --server dotnettestcli --dotnet-test-pipe <socket> --filter Discount, process <pid>, .NET <version>.
            Tests: 1, of which 0 passed, 1 failed, 0 were skipped.
            Failed: Discount_is_taken
              | Assertion failed. Expected values to be equal.
              | 
              | expected: 81
              | actual:   72
              | 
              | Assert.AreEqual(81, paid)
                at BasketTests.Discount_is_taken() in <sandbox>/shop/ShopMstest/ShopMstest.cs:line 21
                at InvokeStub_BasketTests.Discount_is_taken(Object, Object, IntPtr*)
                at System.Reflection.MethodBaseInvoker.InvokeWithNoArgs(Object obj, BindingFlags invokeAttr)
        "#]]
        .assert_eq(&without_socket(&agent.transcript()));
        let again = agent.call("debug_restart", json!({})).await;
        assert_eq!(structured(&again)["session"], "s4", "{}", text(&again));
        one_failed(&structured(&again));

        // What the compiler says comes back as data.
        let source = projects.source("ShopMstest");
        let broken = fs::read_to_string(&source).expect("source");
        let broken = broken.replace("Assert.AreEqual(81, paid);", "Assert.AreEqual(81, pay);");
        fs::write(&source, broken).expect("written");
        let failed = agent.say("debug_launch_test", some("Discount")).await;
        assert_eq!(failed["error"]["code"], "BUILD_FAILED", "{failed}");
        let diagnostic = &failed["error"]["details"]["diagnostics"][0];
        assert_eq!(
            (&diagnostic["code"], &diagnostic["line"]),
            (&json!("CS0103"), &json!(line(&source, "fails"))),
            "{failed}"
        );
        agent.close().await;
    });
}
