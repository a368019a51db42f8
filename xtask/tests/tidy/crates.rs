//! The arrows between crates, as cargo reads them from the Cargo.tomls.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// One crate's rule.
struct Rule {
    name: &'static str,
    /// The crates of this workspace it may use.
    may_use: &'static [&'static str],
    /// Other crates it must not know.
    must_not_know: &'static [&'static str],
}

/// `docs/architecture.md` in a form that fails.
const RULES: [Rule; 12] = [
    Rule {
        name: "metadata",
        may_use: &[],
        must_not_know: &[
            "serde",
            "serde_json",
            "tokio",
            "rmcp",
            "axum",
            "libc",
            "rustix",
            "anyhow",
        ],
    },
    Rule {
        name: "syntax",
        may_use: &[],
        must_not_know: &[
            "serde",
            "serde_json",
            "tokio",
            "rmcp",
            "axum",
            "libc",
            "rustix",
            "anyhow",
            "object",
        ],
    },
    Rule {
        name: "cordebug",
        may_use: &[],
        must_not_know: &["serde", "serde_json", "tokio", "rmcp", "axum", "anyhow"],
    },
    Rule {
        name: "engine",
        may_use: &["metadata", "syntax", "cordebug"],
        must_not_know: &["serde_json", "tokio", "rmcp", "axum", "anyhow"],
    },
    Rule {
        name: "host",
        may_use: &["engine"],
        must_not_know: &["tokio", "rmcp", "axum", "anyhow"],
    },
    Rule {
        name: "report",
        may_use: &["engine"],
        must_not_know: &["tokio", "rmcp", "axum", "anyhow", "rustix"],
    },
    Rule {
        name: "mcp",
        may_use: &["host", "engine", "report"],
        must_not_know: &["anyhow"],
    },
    Rule {
        name: "dap",
        may_use: &["host", "engine"],
        must_not_know: &["tokio", "rmcp", "axum", "anyhow"],
    },
    Rule {
        name: "repl",
        may_use: &["host", "engine", "report"],
        must_not_know: &["tokio", "rmcp", "axum", "anyhow"],
    },
    Rule {
        name: "cli",
        may_use: &["metadata", "syntax", "engine", "host", "mcp", "dap", "repl"],
        must_not_know: &[],
    },
    Rule {
        name: "testkit",
        may_use: &["host", "engine"],
        must_not_know: &[],
    },
    Rule {
        name: "xtask",
        may_use: &[],
        must_not_know: &[],
    },
];

/// The only crate that may have `unsafe` code.
pub(crate) const UNSAFE_CRATE: &str = "cordebug";

/// What the checks need to know of a crate.
#[derive(Debug)]
pub(crate) struct Package {
    name: String,
    /// `(crate, is it for tests only)`.
    dependencies: Vec<(String, bool)>,
    /// The files of its library and programs, with their text.
    roots: Vec<(PathBuf, String)>,
}

/// All crates of the workspace.
pub(crate) fn read(root: &Path) -> Vec<Package> {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .current_dir(root)
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    list(&metadata, "packages").iter().map(package).collect()
}

fn package(value: &Value) -> Package {
    let dependencies = list(value, "dependencies").iter().map(|dependency| {
        let tests_only = dependency.get("kind").and_then(Value::as_str) == Some("dev");
        (text(dependency, "name"), tests_only)
    });
    let targets = list(value, "targets").iter().filter(|target| {
        let kinds = list(target, "kind");
        kinds.iter().any(|kind| kind == "lib" || kind == "bin")
    });
    let roots = targets.map(|target| {
        let path = PathBuf::from(text(target, "src_path"));
        let source = fs::read_to_string(&path).expect("a crate's root can be read");
        (path, source)
    });
    Package {
        name: text(value, "name"),
        dependencies: dependencies.collect(),
        roots: roots.collect(),
    }
}

/// The edges that should not be.
pub(crate) fn check(packages: &[Package]) -> Vec<String> {
    let own: BTreeSet<_> = packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut findings = Vec::new();
    for package in packages {
        let name = &package.name;
        let Some(rule) = RULES.iter().find(|rule| rule.name == *name) else {
            findings.push(format!(
                "the crate {name} has no rule in xtask/tests/tidy/crates.rs"
            ));
            continue;
        };
        for (used, tests_only) in &package.dependencies {
            let used = used.as_str();
            let allowed = !own.contains(used)
                || rule.may_use.contains(&used)
                || (*tests_only && used == "testkit");
            if !allowed {
                findings.push(format!("{name} must not use {used}: arrows go down only"));
            }
            if !tests_only && rule.must_not_know.contains(&used) {
                findings.push(format!("{name} must not know {used}"));
            }
        }
    }
    findings
}

/// The crates that do not forbid unsafe code and should.
pub(crate) fn check_forbids_unsafe(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages
        .iter()
        .filter(|package| package.name != UNSAFE_CRATE)
    {
        for (path, source) in &package.roots {
            if !source
                .lines()
                .any(|line| line.trim() == "#![forbid(unsafe_code)]")
            {
                findings.push(format!("{} lacks #![forbid(unsafe_code)]", path.display()));
            }
        }
    }
    findings
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn text(value: &Value, name: &str) -> String {
    let text = value.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn example(name: &str, dependencies: &[(&str, bool)]) -> Package {
    let owned = dependencies
        .iter()
        .map(|(name, dev)| ((*name).to_owned(), *dev));
    Package {
        name: name.to_owned(),
        dependencies: owned.collect(),
        roots: vec![("lib.rs".into(), "//! Nothing.\n".to_owned())],
    }
}

#[track_caller]
fn check_example(name: &str, dependencies: &[(&str, bool)], expected: &[&str]) {
    let mut packages: Vec<_> = ["metadata", "engine", "cordebug", "testkit", "mcp"]
        .iter()
        .filter(|other| **other != name)
        .map(|other| example(other, &[]))
        .collect();
    packages.push(example(name, dependencies));
    assert_eq!(check(&packages), expected);
}

#[test]
fn edges_that_go_up_are_found() {
    check_example("engine", &[("metadata", false), ("serde", false)], &[]);
    let up = "metadata must not use engine: arrows go down only";
    check_example("metadata", &[("engine", false)], &[up]);
    let com = "mcp must not use cordebug: arrows go down only";
    check_example("mcp", &[("cordebug", false)], &[com]);
}

#[test]
fn tests_may_use_testkit_and_nothing_else_may() {
    check_example("metadata", &[("testkit", true)], &[]);
    let normal = "metadata must not use testkit: arrows go down only";
    check_example("metadata", &[("testkit", false)], &[normal]);
    let up = "metadata must not use engine: arrows go down only";
    check_example("metadata", &[("engine", true)], &[up]);
}

#[test]
fn foreign_crates_are_known_only_where_they_belong() {
    check_example(
        "engine",
        &[("tokio", false)],
        &["engine must not know tokio"],
    );
    check_example("engine", &[("tokio", true)], &[]);
    check_example("mcp", &[("tokio", false)], &[]);
}

#[test]
fn crate_without_rule_is_found() {
    let expected = "the crate extras has no rule in xtask/tests/tidy/crates.rs";
    check_example("extras", &[], &[expected]);
}

#[test]
fn crate_that_does_not_forbid_unsafe_is_found() {
    let packages = [example("engine", &[]), example(UNSAFE_CRATE, &[])];
    assert_eq!(
        check_forbids_unsafe(&packages),
        ["lib.rs lacks #![forbid(unsafe_code)]"]
    );
}
