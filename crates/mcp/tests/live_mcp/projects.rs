//! Projects are built before they are launched.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use testkit::fixtures;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, run, structured, text};

/// The framework that the SDK under test builds for.
fn framework() -> String {
    let sdks = fs::read_dir(fixtures::dotnet_root().join("sdk")).expect("an SDK");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let major = |name: String| name.split('.').next()?.parse::<u32>().ok();
    match sdks
        .flatten()
        .map(name)
        .filter_map(major)
        .max()
        .expect("an SDK")
    {
        3 => "netcoreapp3.1".to_owned(),
        major => format!("net{major}.0"),
    }
}

/// A project whose `Main` is this statement.
fn project(sandbox: &Sandbox, statement: &str) -> PathBuf {
    let folder = sandbox.folder().join("shop");
    fs::create_dir(&folder).expect("a folder");
    let framework = framework();
    let project = format!(
        "<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup><OutputType>Exe</OutputType>\
         <TargetFramework>{framework}</TargetFramework></PropertyGroup></Project>\n"
    );
    fs::write(folder.join("shop.csproj"), project).expect("written");
    let source = format!(
        "static class Program\n{{\n    static int Main()\n    {{\n        {statement}\n    }}\n}}\n"
    );
    fs::write(folder.join("Program.cs"), source).expect("written");
    folder
}

/// What a build in this sandbox needs: it runs in the server's environment, with these changes.
fn environment(sandbox: &Sandbox) -> Map<String, Value> {
    let text = |value: std::ffi::OsString| value.into_string().expect("UTF-8");
    let ours = sandbox
        .environment()
        .into_iter()
        .map(|(name, value)| (text(name), json!(text(value))));
    let dotnet = fixtures::dotnet_environment()
        .into_iter()
        .map(|(name, value)| (name, json!(text(value))));
    ours.chain(dotnet).collect()
}

#[test]
fn a_project_is_built_and_launched() {
    // An SDK leaves files in the temporary folder.
    let sandbox = Sandbox::with_default_tmp();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let folder = project(&sandbox, "System.Console.WriteLine(\"built\"); return 41;");
        let launch =
            json!({"program": folder, "env": environment(&sandbox), "timeout_ms": 600_000});
        let exited = agent.call("debug_launch", launch).await;
        assert_eq!(structured(&exited)["exit"]["code"], 41, "{}", text(&exited));
        assert!(text(&exited).contains("out| built"), "{}", text(&exited));
        agent.close().await;
    });
}

#[test]
fn what_the_compiler_says_comes_back_as_data() {
    let sandbox = Sandbox::with_default_tmp();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let folder = project(&sandbox, "return \"text\";");
        let launch =
            json!({"program": folder, "env": environment(&sandbox), "timeout_ms": 600_000});
        let failed = agent.call("debug_launch", launch).await;
        let error = structured(&failed)["error"].clone();
        assert_eq!(error["code"], "BUILD_FAILED", "{}", text(&failed));
        let diagnostic = &error["details"]["diagnostics"][0];
        assert_eq!(
            (&diagnostic["code"], &diagnostic["line"]),
            (&json!("CS0029"), &json!(5)),
            "{error}"
        );
        assert!(text(&failed).contains("CS0029"), "{}", text(&failed));
        agent.close().await;
    });
}

#[test]
fn a_build_can_be_given_up() {
    let sandbox = Sandbox::with_default_tmp();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let folder = project(&sandbox, "return 0;");
        let launch = json!({"program": folder, "env": environment(&sandbox), "timeout_ms": 0});
        let starting = agent.call("debug_launch", launch).await;
        assert_eq!(
            structured(&starting)["state"],
            "starting",
            "{}",
            text(&starting)
        );
        assert!(
            text(&starting).contains("debug_disconnect gives up"),
            "{}",
            text(&starting)
        );
        let given_up = agent.call("debug_disconnect", json!({})).await;
        assert_eq!(
            structured(&given_up)["state"],
            "failed",
            "{}",
            text(&given_up)
        );
        assert!(
            text(&given_up).contains("was given up"),
            "{}",
            text(&given_up)
        );
        agent.close().await;
        sandbox.assert_clean();
    });
}

/// Its processes are killed in the middle of their work, and so cannot tidy up themselves.
#[test]
fn a_build_that_is_given_up_leaves_no_process_and_no_pipe() {
    let sandbox = Sandbox::with_default_tmp();
    let tmp = sandbox.folder().join("builds");
    std::fs::create_dir(&tmp).expect("a new folder");
    let folder = project(&sandbox, "return 0;");
    for disconnects in [false, true] {
        run(async {
            let agent = Agent::new(&sandbox).await;
            let mut env = environment(&sandbox);
            env.insert("TMPDIR".into(), json!(tmp));
            let launch = json!({"program": folder, "env": env, "timeout_ms": 0});
            agent.call("debug_launch", launch).await;
            let pipe = || {
                let entries = std::fs::read_dir(&tmp).expect("our own folder");
                let names = entries.filter_map(|it| it.ok()?.file_name().into_string().ok());
                names
                    .filter(|name| {
                        name.starts_with("clr-debug-pipe-")
                            || name.starts_with("dotnet-diagnostic-")
                    })
                    .collect::<Vec<_>>()
            };
            let deadline = testkit::deadline();
            while pipe().is_empty() {
                assert!(std::time::Instant::now() < deadline, "no build begins");
                tokio::task::yield_now().await;
            }
            if disconnects {
                agent.call("debug_disconnect", json!({})).await;
            }
            agent.close().await;
            // The server has ended: nothing is waited for.
            assert_eq!(pipe(), Vec::<String>::new());
        });
    }
}
