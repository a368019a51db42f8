//! The same work as System.Reflection.Metadata, in the same run and in turns: `cargo xtask bench symbols`.
//!
//! Prints one line per figure: its name, its unit and its samples; a name that ends in `/theirs` is what System.Reflection.Metadata
//! takes, in a process that is warmed up. `cargo xtask bench` makes a table with ratios of them. The .NET to compare with and the
//! compiled fixtures are those of `NDBG_TEST_DOTNET` and `NDBG_TEST_FIXTURES`, or those that `cargo xtask` set up last.

#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "modules of the tests are included here"
)]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../metadata/tests/encodings/builder.rs"]
mod builder;
#[path = "../../metadata/tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

use metadata::search::{Pattern, SymbolKind};
use metadata::tables::Table;
use metadata::{Bytes, Module, Symbols};

use builder::{Builder, compressed, compressed_signed};
use common::variable;

/// Samples by the names of their figures.
type Figures = BTreeMap<String, Vec<u64>>;

/// How often both take turns.
const N_ROUNDS: usize = 3;
/// How many processes of each there are in a round for what a process can do only once.
const N_PROCESSES: usize = 3;

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

/// Samples of a figure that are printed.
const N_SAMPLES: usize = 25;

/// The times of many runs, in nanoseconds, thinned out evenly from the shortest to the longest.
fn times(mut run: impl FnMut()) -> Vec<u64> {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < 301 || start.elapsed().as_millis() < 300 {
        times.push(once(&mut run));
    }
    times.sort_unstable();
    let last = times.len() - 1;
    (0..N_SAMPLES)
        .map(|i| times[i * last / (N_SAMPLES - 1)])
        .collect()
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

fn ours(assembly: &Path, pdb: &Path) -> Figures {
    let symbols = open_symbols(pdb);
    let (_, document) = symbols
        .documents()
        .find(DOCUMENT)
        .expect("the document")
        .documents[0];
    let module = Module::open(map(assembly)).expect("an assembly");
    let bytes = map(assembly);
    let pattern = Pattern::new("task.whenal").expect("a pattern");
    let name = format!("{}.{}", TYPE.0, TYPE.1);
    let repeat = |run: &mut dyn FnMut()| {
        let times = times(|| (0..1000).for_each(|_| run()));
        times.into_iter().map(|time| time / 1000).collect()
    };
    let first_line = times(|| assert!(first_line(&open_symbols(pdb)) > 0, "no such line"));
    Figures::from([
        ("open.warm".into(), times(|| open_assembly(assembly))),
        (
            "pdb.open".into(),
            times(|| drop(black_box(open_symbols(pdb)))),
        ),
        (
            "points".into(),
            times(|| assert!(black_box(all_points(&symbols)) > 0)),
        ),
        // Ours always passes over other documents.
        ("line.filtered".into(), first_line.clone()),
        ("line.first".into(), first_line),
        (
            "line.again".into(),
            repeat(&mut || {
                assert!(
                    !black_box(symbols.points_on(document, LINE)).is_empty(),
                    "no such line"
                )
            }),
        ),
        (
            "search".into(),
            times(|| {
                let found = module.metadata().search(&pattern, &SymbolKind::ALL, 50);
                assert!(found.is_complete && !black_box(found).symbols.is_empty());
            }),
        ),
        // Opening again throws the index away; the copy of the bytes is not part of the lookup.
        (
            "type.first".into(),
            times(|| {
                let module = Module::open(bytes.clone()).expect("an assembly");
                assert!(
                    !module.types().find(module.metadata(), &name).is_empty(),
                    "no such type"
                );
            }),
        ),
        (
            "type.again".into(),
            repeat(&mut || {
                assert!(
                    !black_box(module.types().find(module.metadata(), &name)).is_empty(),
                    "no such type"
                );
            }),
        ),
    ])
}

fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status
        .lines()
        .find_map(|it| it.strip_prefix("VmRSS:"))
        .expect("its resident size");
    let kilobytes: u64 = line
        .trim()
        .trim_end_matches("kB")
        .trim()
        .parse()
        .expect("a number");
    kilobytes * 1024
}

/// Has a program print samples.
fn run(command: &mut Command) -> Figures {
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
    let figure = |line: &str| {
        let (name, samples) = line.split_once('\t').expect("a name");
        let samples = samples.split(' ').map(|it| it.parse().expect("a number"));
        (name.to_owned(), samples.collect())
    };
    text.lines().map(figure).collect()
}

/// System.Reflection.Metadata, with `what` it is to do.
fn theirs(assembly: &Path, pdb: &Path, what: &str) -> Figures {
    let dotnet = variable("NDBG_TEST_DOTNET");
    let mut command = Command::new(dotnet.join("dotnet"));
    command
        .arg("exec")
        .arg(variable("NDBG_TEST_FIXTURES").join("metadata_bench/metadata_bench.dll"))
        .arg(what)
        .args([assembly, pdb])
        .args([DOCUMENT, &LINE.to_string(), TYPE.0, TYPE.1])
        .env("DOTNET_ROOT", &dotnet)
        .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
    run(&mut command)
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

/// What a process of its own does: the figures that can be measured only once in a process.
fn alone(what: &str, path: &Path) {
    match what {
        "--memory-of" => {
            let symbols = open_symbols(path);
            black_box(all_points(&symbols) + first_line(&symbols) as u64);
            println!("memory\t{}", resident_bytes());
        }
        "--open" => println!("open.cold\t{}", once(|| open_assembly(path))),
        other => panic!("unknown argument {other}"),
    }
}

fn main() {
    // Cargo adds an argument of its own.
    let arguments: Vec<_> = env::args().skip(1).filter(|it| it != "--bench").collect();
    if let [what, path] = &arguments[..] {
        return alone(what, Path::new(path));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pdb = folder.path().join("large.pdb");
    fs::write(&pdb, large_pdb()).expect("writing the PDB");
    let assembly = core_library();
    let me = env::current_exe().expect("the path of this program");

    let mut all = Figures::new();
    let mut add = |figures: Figures, suffix: &str| {
        for (name, samples) in figures {
            all.entry(format!("symbols.{name}{suffix}"))
                .or_default()
                .extend(samples);
        }
    };
    for _ in 0..N_ROUNDS {
        add(ours(&assembly, &pdb), "");
        add(theirs(&assembly, &pdb, "warm"), "/theirs");
        for _ in 0..N_PROCESSES {
            add(run(Command::new(&me).arg("--memory-of").arg(&pdb)), "");
            add(theirs(&assembly, &pdb, "memory"), "/theirs");
            add(run(Command::new(&me).arg("--open").arg(&assembly)), "");
            add(theirs(&assembly, &pdb, "cold"), "/theirs");
        }
    }
    for (name, samples) in all {
        let is_memory = name.starts_with("symbols.memory");
        let unit = if is_memory { "bytes" } else { "ns" };
        let samples: Vec<_> = samples.iter().map(u64::to_string).collect();
        println!("{name}\t{unit}\t{}", samples.join(" "));
    }
}
