//! The same work as System.Reflection.Metadata, in the same run: `cargo bench -p metadata`.
//!
//! Prints one line per measurement: ours, theirs, the ratio, and the goal. The .NET to compare with and the compiled fixtures are those of
//! `NDBG_TEST_DOTNET` and `NDBG_TEST_FIXTURES`, or those that `cargo xtask` set up last.

#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "modules of the tests are included here"
)]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/encodings/builder.rs"]
mod builder;
#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

use metadata::tables::Table;
use metadata::{Bytes, Module, Symbols};

use builder::{Builder, compressed, compressed_signed};
use common::variable;

const DOCUMENT: &str = "Folder137/File137.cs";
const LINE: u32 = 71;
const TYPE: (&str, &str) = ("System.Threading.Tasks", "Task");

/// A PDB of the size of a large project: 400 documents, 10,000 methods, 45,000 points.
fn large_pdb() -> Vec<u8> {
    const N_DOCUMENTS: u32 = 400;
    const METHODS_EACH: u32 = 25;
    let mut builder = Builder::pdb(&[(Table::Method, N_DOCUMENTS * METHODS_EACH)]);
    builder.sorted = (1 << 0x32) | (1 << 0x36) | (1 << 0x37);
    let root = builder.blob(b"/home/user/projects/solution/src");
    let sha256 = metadata::Guid::new(0x8829_d00f, 0x11b8, 0x4213, 0x878b_770e_8597_ac16);
    let csharp = metadata::Guid::new(0x3f51_62f8, 0x07c6, 0x11d3, 0x9053_00c0_4fa3_02a1);
    let (sha256, csharp) = (builder.guid(sha256), builder.guid(csharp));
    for document in 0..N_DOCUMENTS {
        let folder = builder.blob(format!("Folder{document}").as_bytes());
        let file = builder.blob(format!("File{document}.cs").as_bytes());
        let mut name = vec![b'/'];
        [root, folder, file]
            .into_iter()
            .for_each(|part| compressed(&mut name, part));
        let (name, hash) = (builder.blob(&name), builder.blob(&[document as u8; 32]));
        builder.row(Table::Document, &[name, sha256, hash, csharp]);
    }
    builder.row(Table::ImportScope, &[0, 0]);
    for method in 1..=N_DOCUMENTS * METHODS_EACH {
        let document = (method - 1) / METHODS_EACH + 1;
        let first_line = 10 + (method - 1) % METHODS_EACH * 12;
        let n_points = 2 + method % 6;
        let mut blob = vec![1];
        for point in 0..n_points {
            compressed(&mut blob, if point == 0 { 0 } else { 3 + point });
            let hidden = point == 3;
            compressed(&mut blob, 0);
            compressed(&mut blob, if hidden { 0 } else { 10 + method % 30 });
            if point == 0 {
                compressed(&mut blob, first_line);
                compressed(&mut blob, 9);
            } else if !hidden {
                compressed_signed(&mut blob, 1);
                compressed_signed(&mut blob, if point % 2 == 0 { 4 } else { -4 });
            }
        }
        let points = builder.blob(&blob);
        builder.row(Table::MethodDebugInformation, &[document, points]);
        let name = builder.string(&format!("local{method}"));
        let variable = builder.row(Table::LocalVariable, &[0, 0, name]);
        builder.row(Table::LocalScope, &[method, 1, variable, 1, 0, 40]);
    }
    builder.build()
}

/// The best of many runs, in nanoseconds: the least disturbed by what else runs.
fn best(mut run: impl FnMut()) -> u64 {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < 301 || start.elapsed().as_millis() < 300 {
        let start = Instant::now();
        run();
        times.push(start.elapsed().as_nanos() as u64);
    }
    times.into_iter().min().unwrap_or_default()
}

fn once(run: impl FnOnce()) -> u64 {
    let start = Instant::now();
    run();
    start.elapsed().as_nanos() as u64
}

fn map(path: &Path) -> Bytes {
    Bytes::new(cordebug::file::MappedFile::open(path).expect("a file that can be mapped"))
}

fn open_assembly(path: &Path) {
    let module = Module::open(map(path)).expect("an assembly");
    let name = module
        .metadata()
        .module()
        .and_then(|it| module.metadata().string(it.name).map(|it| it.len()));
    black_box(name.expect("a name"));
}

fn open_symbols(path: &Path) -> Symbols {
    Symbols::open(map(path)).expect("a PDB")
}

fn all_points(symbols: &Symbols) -> u64 {
    let mut sum = 0;
    let add = |_, point: metadata::pdb::SequencePoint| {
        sum += u64::from(point.offset.0) + point.span.map_or(0, |it| u64::from(it.start_line));
    };
    symbols.pdb().for_each_point(add).expect("points");
    sum
}

fn first_line(symbols: &Symbols) -> usize {
    let found = symbols.documents().find(DOCUMENT).expect("the document");
    let (_, document) = *found.documents.first().expect("a document");
    symbols.points_on(document, LINE).len()
}

fn ours(assembly: &Path, pdb: &Path) -> HashMap<&'static str, u64> {
    let symbols = open_symbols(pdb);
    let (_, document) = symbols
        .documents()
        .find(DOCUMENT)
        .expect("the document")
        .documents[0];
    let module = Module::open(map(assembly)).expect("an assembly");
    let name = format!("{}.{}", TYPE.0, TYPE.1);
    let repeat = |run: &mut dyn FnMut()| best(|| (0..1000).for_each(|_| run())) / 1000;
    HashMap::from([
        ("open-cold", once(|| open_assembly(assembly))),
        ("open-warm", best(|| open_assembly(assembly))),
        ("pdb-open-warm", best(|| drop(black_box(open_symbols(pdb))))),
        (
            "all-points",
            best(|| assert!(black_box(all_points(&symbols)) > 0)),
        ),
        (
            "first-line",
            best(|| assert!(first_line(&open_symbols(pdb)) > 0, "no such line")),
        ),
        (
            "line-again",
            repeat(&mut || {
                assert!(
                    !black_box(symbols.points_on(document, LINE)).is_empty(),
                    "no such line"
                )
            }),
        ),
        // Opening again throws the index away; the copy of the bytes is not part of the lookup.
        ("type-first", {
            let bytes = map(assembly);
            best(|| {
                let module = Module::open(bytes.clone()).expect("an assembly");
                assert!(
                    !module.types().find(module.metadata(), &name).is_empty(),
                    "no such type"
                );
            })
        }),
        (
            "type-again",
            repeat(&mut || {
                assert!(
                    !black_box(module.types().find(module.metadata(), &name)).is_empty(),
                    "no such type"
                );
            }),
        ),
    ])
}

fn resident_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status
        .lines()
        .find_map(|it| it.strip_prefix("VmRSS:"))
        .expect("its resident size");
    line.trim()
        .trim_end_matches("kB")
        .trim()
        .parse()
        .expect("a number")
}

fn run(command: &mut Command) -> HashMap<String, u64> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .expect("starting a process");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let pair = |line: &str| {
        line.split_once('\t')
            .and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)))
    };
    text.lines().filter_map(pair).collect()
}

fn theirs(assembly: &Path, pdb: &Path) -> HashMap<String, u64> {
    let dotnet = variable("NDBG_TEST_DOTNET");
    let command = |extra: &[&str]| {
        let mut command = Command::new(dotnet.join("dotnet"));
        command
            .arg("exec")
            .arg(variable("NDBG_TEST_FIXTURES").join("metadata_bench/metadata_bench.dll"))
            .args([assembly, pdb])
            .args([DOCUMENT, &LINE.to_string(), TYPE.0, TYPE.1])
            .args(extra)
            .env("DOTNET_ROOT", &dotnet)
            .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        command
    };
    let mut results = run(&mut command(&[]));
    results.extend(run(&mut command(&["memory"])));
    results
}

fn core_library() -> PathBuf {
    let base = variable("NDBG_TEST_DOTNET").join("shared/Microsoft.NETCore.App");
    let versions = fs::read_dir(&base)
        .expect("a shared framework")
        .map(|it| it.expect("an entry").path());
    let newest = versions
        .max_by_key(|it| (it.as_os_str().len(), it.clone()))
        .expect("a version");
    newest.join("System.Private.CoreLib.dll")
}

fn main() {
    let arguments: Vec<_> = env::args().collect();
    if let Some(at) = arguments.iter().position(|it| it == "--memory-of") {
        let symbols = open_symbols(Path::new(&arguments[at + 1]));
        black_box(all_points(&symbols) + first_line(&symbols) as u64);
        println!("memory\t{}", resident_kilobytes());
        return;
    }
    if let Some(at) = arguments.iter().position(|it| it == "--write-pdb") {
        fs::write(&arguments[at + 1], large_pdb()).expect("writing the PDB");
        return;
    }
    let folder = env::temp_dir().join(format!("ndbg-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let pdb = folder.join("large.pdb");
    fs::write(&pdb, large_pdb()).expect("writing the PDB");
    let assembly = core_library();

    let mut ours: HashMap<String, u64> = ours(&assembly, &pdb)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let me = env::current_exe().expect("the path of this program");
    // Ours always filters.
    ours.extend(
        ours.get("first-line")
            .map(|&value| ("first-line-filtered".to_owned(), value)),
    );
    ours.extend(run(Command::new(me).arg("--memory-of").arg(&pdb)));
    let theirs = theirs(&assembly, &pdb);
    fs::remove_dir_all(&folder).expect("removing the folder");

    let rows = [
        ("open-cold", "open CoreLib, first time in the process", None),
        ("open-warm", "open CoreLib, again", None),
        ("pdb-open-warm", "open a PDB of 10,000 methods", None),
        ("all-points", "decode all 45,000 sequence points", Some(5.0)),
        (
            "first-line",
            "open the PDB and look up a first line",
            Some(20.0),
        ),
        (
            "first-line-filtered",
            "the same, theirs filtering by document",
            None,
        ),
        ("line-again", "look up another line", None),
        ("type-first", "first type by name in CoreLib", None),
        ("type-again", "another type by name", None),
        ("memory", "resident memory after that", Some(5.0)),
    ];
    println!(
        "{:<42} {:>12} {:>12} {:>8}  goal",
        "", "ours", "theirs", "ratio"
    );
    for (name, text, goal) in rows {
        let (mine, other) = (ours[name], theirs[name]);
        let ratio = other as f64 / mine.max(1) as f64;
        let unit = |value: u64| {
            if name == "memory" {
                format!("{value} kB")
            } else {
                format!("{:.2} µs", value as f64 / 1e3)
            }
        };
        let goal = goal.map_or_else(String::new, |goal: f64| {
            format!(
                "≥ {goal} {}",
                if ratio >= goal { "reached" } else { "MISSED" }
            )
        });
        println!(
            "{text:<42} {:>12} {:>12} {ratio:>7.1}×  {goal}",
            unit(mine),
            unit(other)
        );
    }
}
