//! The names and forms that people's settings have.

use serde_json::json;

use super::*;

#[track_caller]
fn check_split(line: &str, expected: &[&str]) {
    assert_eq!(split(line).expect("words"), expected, "{line}");
}

#[test]
fn what_a_tool_starts_is_debugged() {
    let child = |text: Option<&str>| Follow::Child {
        command_line: text.map(str::to_owned),
    };
    let of = |settings: Value| {
        let settings: LaunchSettings = serde_json::from_value(settings).expect("settings");
        settings
            .launch(&mut Vec::new())
            .map(|it| (it.follow, it.await_launcher))
    };
    let check = |settings: Value, follow: Follow, awaits: bool| {
        assert_eq!(
            of(settings.clone()).ok(),
            Some((follow, awaits)),
            "{settings}"
        );
    };
    let dotnet = "/x/dotnet";
    let run = json!({"program": dotnet, "args": ["run", "--project", "a"]});
    check(run, child(None), false);
    check(
        json!({"program": dotnet, "args": "test a"}),
        child(None),
        true,
    );
    check(
        json!({"program": dotnet, "args": ["a.dll"]}),
        Follow::Program,
        false,
    );
    check(
        json!({"program": "/x/a", "args": ["run"]}),
        Follow::Program,
        false,
    );
    let only_run = json!({"program": dotnet, "args": ["run"], "noDebug": true});
    check(only_run, Follow::Program, false);
    let itself = json!({"program": dotnet, "args": ["run"], "followChild": false});
    check(itself, Follow::Program, false);
    check(
        json!({"program": "/x/a", "followChild": true}),
        child(None),
        false,
    );
    check(
        json!({"program": "/x/a", "followChild": "b.dll"}),
        child(Some("b.dll")),
        false,
    );
    assert!(of(json!({"program": dotnet, "args": ["watch", "run"]})).is_err());
}

#[test]
fn lines_of_arguments_are_split_as_a_shell_would() {
    check_split("", &[]);
    check_split("  a  b ", &["a", "b"]);
    check_split(
        r#"--name "a b" 'c "d"' x\ y "" $HOME"#,
        &["--name", "a b", "c \"d\"", "x y", "", "$HOME"],
    );
    assert!(split("\"open").is_err());
}

#[track_caller]
fn check_variable(line: &str, expected: Option<(&str, &str)>) {
    let expected = expected.map(|(name, value)| (name.to_owned(), Some(value.to_owned())));
    assert_eq!(variable(line), Ok(expected), "{line}");
}

#[test]
fn variables_are_read_from_lines() {
    check_variable("# no", None);
    check_variable("", None);
    check_variable("A=1", Some(("A", "1")));
    check_variable(" export B = \"x y\" ", Some(("B", "x y")));
    check_variable("C='z'", Some(("C", "z")));
    check_variable(r#"D="quoted \"x\" #no""#, Some(("D", r#"quoted "x" #no"#)));
    check_variable("E='single' # tail", Some(("E", "single")));
    check_variable("F=plain # tail", Some(("F", "plain")));
    check_variable("G=a#b", Some(("G", "a#b")));
    check_variable("H='it' is", Some(("H", "'it' is")));
    check_variable("I=", Some(("I", "")));
    assert!(variable("nonsense").is_err());
    assert!(variable("=1").is_err());
}

#[test]
fn what_is_left_empty_is_not_wanted_and_two_names_mean_one_thing() {
    let settings: LaunchSettings = serde_json::from_value(json!({
        "program": "/x/a.dll", "launchSettingsProfile": "", "envFile": "",
        "stopAtEntry": false, "stopOnEntry": true,
    }))
    .expect("settings");
    let launch = settings.launch(&mut Vec::new()).expect("a launch");
    assert!(launch.stop_at_entry);
    assert!(launch.env.is_empty());
}

#[test]
fn settings_of_other_adapters_are_understood() {
    let settings: LaunchSettings = serde_json::from_value(serde_json::json!({
        "type": "coreclr", "request": "launch", "preLaunchTask": "build",
        "program": "bin/a.dll", "cwd": "/x", "args": "--port 80", "env": {"A": 1, "B": null},
        "console": "internalConsole", "stopAtEntry": true, "logging": {"moduleLoad": false},
    }))
    .expect("settings");
    let launch = settings.launch(&mut Vec::new()).expect("a launch");
    assert_eq!(launch.program, Path::new("/x/bin/a.dll"));
    assert_eq!(launch.args, ["--port", "80"]);
    assert_eq!(launch.env.get("A"), Some(&Some("1".to_owned())));
    assert_eq!(launch.env.get("B"), Some(&None));
    assert!(launch.stop_at_entry);
    assert_eq!(settings.unused(), None);
}

#[test]
fn settings_that_are_null_are_not_set() {
    let settings = without_nulls(serde_json::json!({
        "program": "/a.dll", "args": null, "env": null, "cwd": null, "console": null,
        "stopAtEntry": null, "noDebug": null, "sourceFileMap": {"/a": null}, "envFile": null,
        "expressionEvaluationOptions": {"showRawValues": null},
    }));
    let settings: LaunchSettings = serde_json::from_value(settings).expect("settings");
    let expected = LaunchSettings {
        program: Some("/a.dll".into()),
        ..LaunchSettings::default()
    };
    assert_eq!(settings, expected);
}

#[test]
fn files_are_relative_to_the_working_directory_and_commands_are_found() {
    let folder = std::env::temp_dir().join(format!("ndbg-settings-{}", std::process::id()));
    let inner = folder.join("Properties");
    std::fs::create_dir_all(&inner).expect("a folder");
    std::fs::write(folder.join("some.env"), "A=1").expect("a file");
    std::fs::write(folder.join("tool"), "").expect("a file");
    let profile = r#"{ // mine
        "profiles": {"p": {"commandLineArgs": "x y", /* no */ },
            "e": {"commandName": "Executable", "executablePath": "/bin/ls"}},}"#;
    std::fs::write(inner.join("launchSettings.json"), profile).expect("a file");
    let settings = |program: &str, path: Option<&Path>| -> LaunchSettings {
        let mut env = serde_json::Map::new();
        env.extend(path.map(|path| ("PATH".to_owned(), serde_json::json!(path))));
        serde_json::from_value(serde_json::json!({
            "program": program, "cwd": folder, "envFile": "some.env",
            "launchSettingsProfile": "p", "env": env,
        }))
        .expect("settings")
    };
    let launch = settings("a.dll", None);
    let launch = launch.launch(&mut Vec::new()).expect("a launch");
    assert_eq!(launch.program, folder.join("a.dll"));
    assert_eq!(launch.env.get("A"), Some(&Some("1".to_owned())));
    assert_eq!(launch.args, ["x", "y"]);
    let other = LaunchSettings {
        launch_settings_profile: Some("e".into()),
        ..settings("a.dll", None)
    };
    let refused = other.launch(&mut Vec::new()).expect_err("not of a project");
    assert!(refused.text.contains("Executable"), "{refused:?}");
    let tool = |path| settings("tool", path).program().expect("a program");
    assert_eq!(tool(None), folder.join("tool"));
    std::fs::rename(folder.join("tool"), inner.join("tool")).expect("renamed");
    assert_eq!(tool(Some(&inner)), inner.join("tool"));
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[track_caller]
fn check_shown(options: &str, raw: bool, run_code: bool) {
    let options: EvaluationSettings = serde_json::from_str(options).expect("options");
    assert_eq!(options.shown(), Shown { raw, run_code }, "{options:?}");
}

#[test]
fn options_of_evaluation_choose_what_is_shown() {
    check_shown("{}", false, false);
    check_shown(r#"{"showRawValues": true}"#, true, false);
    check_shown(r#"{"allowImplicitFuncEval": true}"#, false, true);
    check_shown(
        r#"{"allowImplicitFuncEval": true, "allowToString": false}"#,
        false,
        false,
    );
    check_shown(
        r#"{"allowImplicitFuncEval": false, "allowFastEvaluate": true}"#,
        false,
        false,
    );
}

#[test]
fn settings_that_mean_nothing_are_told() {
    let settings: LaunchSettings = serde_json::from_value(serde_json::json!({
        "program": "a.dll", "__sessionId": 1, "stopOnEntyr": true, "symbolOptions": {},
        "expressionEvaluationOptions": {"allowMagic": true},
    }))
    .expect("settings");
    let text = settings.unused().expect("a text");
    assert_eq!(
        text,
        "settings that are not used: stopOnEntyr, symbolOptions (symbols are taken from beside the program), \
         expressionEvaluationOptions.allowMagic"
    );
}

#[test]
fn folder_of_a_profile_is_meant_from_the_project() {
    let folder = std::env::temp_dir().join(format!("ndbg-profile-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("Properties")).expect("a folder");
    let file = folder.join("Properties/launchSettings.json");
    let profiles = json!({"profiles": {
        "near": {"workingDirectory": "data"},
        "far": {"workingDirectory": "/srv"},
        "none": {"workingDirectory": ""},
    }});
    std::fs::write(&file, profiles.to_string()).expect("a file");
    let of = |profile: &str| {
        let settings = json!({"program": "/a.dll", "launchSettingsProfile": profile,
            "launchSettingsFilePath": file});
        let settings: LaunchSettings = serde_json::from_value(settings).expect("settings");
        settings.launch(&mut Vec::new()).expect("a launch").cwd
    };
    assert_eq!(of("near"), Some(folder.join("data")));
    assert_eq!(of("far"), Some("/srv".into()));
    assert_eq!(of("none"), None);
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn files_without_an_end_are_not_read() {
    for settings in [
        json!({"program": "/a.dll", "envFile": "/dev/zero"}),
        json!({"program": "/a.dll", "launchSettingsProfile": "a", "launchSettingsFilePath": "/dev/zero"}),
    ] {
        let settings: LaunchSettings = serde_json::from_value(settings).expect("settings");
        let refused = settings
            .launch(&mut Vec::new())
            .expect_err("no settings")
            .text;
        assert!(refused.contains("this is not a file"), "{refused}");
    }
}
