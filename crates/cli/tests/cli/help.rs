//! Help, version and completions go to standard output; usage errors to standard error, with code 2.

use crate::run;

#[test]
fn version_is_one_line() {
    for flag in ["--version", "-V"] {
        let ran = run(&[flag]);
        assert_eq!(ran.code, Some(0));
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(ran.stdout, format!("ndbg {version}\n"));
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn help_names_every_command_and_hides_the_internal_one() {
    let ran = run(&["--help"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stderr, "");
    for word in [
        "run",
        "debug",
        "attach",
        "ps",
        "doctor",
        "completions",
        "Exit codes:",
        "NDBG_LOG",
    ] {
        assert!(
            ran.stdout.contains(word),
            "{word} is missing:\n{}",
            ran.stdout
        );
    }
    assert!(!ran.stdout.contains("host"), "{}", ran.stdout);
}

#[test]
fn help_of_each_command_documents_its_exit_codes() {
    for (command, code) in [
        ("run", "127"),
        ("debug", "123"),
        ("attach", "Exit codes"),
        ("ps", "125"),
        ("doctor", "cannot be debugged"),
    ] {
        for arguments in [[command, "--help"], ["help", command]] {
            let ran = run(&arguments);
            assert_eq!(ran.code, Some(0));
            assert!(ran.stdout.contains("Exit codes:"), "{}", ran.stdout);
            assert!(ran.stdout.contains(code), "{}", ran.stdout);
        }
    }
}

#[test]
fn usage_errors_have_code_2_and_say_what_is_wrong() {
    let cases: [(&[&str], &str); 6] = [
        (&[], "Usage: ndbg"),
        (&["rum"], "run"),
        (&["run"], "PROGRAM"),
        (&["run", "--env", "=x", "a.dll"], "a variable needs a name"),
        (&["ps", "--xml"], "--xml"),
        (&["completions", "tcsh"], "bash"),
    ];
    for (arguments, word) in cases {
        let ran = run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(ran.stderr.contains(word), "{arguments:?}:\n{}", ran.stderr);
    }
}

#[test]
fn completions_are_made_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{shell}");
        assert!(ran.stdout.contains("doctor"), "{shell}");
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn bash_accepts_its_completions() {
    let script = run(&["completions", "bash"]).stdout;
    let check = std::process::Command::new("bash")
        .args(["-n", "-c", &script])
        .output()
        .expect("bash is installed");
    assert!(check.status.success(), "{check:?}");
}
