//! Makes the seeds of all targets, most of them from compiled fixtures: `cargo run --example seeds FIXTURES CORPUS`.

use std::path::{Path, PathBuf};
use std::{env, fs};

use metadata::signature;
use metadata::tables::{
    CustomAttributeRow, MethodDebugInformationRow, MethodRow, StandAloneSigRow, TypeSpecRow,
};
use metadata::{Module, Symbols};

/// Larger files find the same bugs more slowly.
const MAX_SEED: u64 = 24 * 1024;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder)
        .expect("a folder of fixtures")
        .flatten()
    {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if fs::metadata(&path).is_ok_and(|it| it.len() <= MAX_SEED) {
            found.push(path);
        }
    }
}

struct Corpus {
    folder: PathBuf,
    count: usize,
}

impl Corpus {
    fn add(&mut self, target: &str, bytes: &[u8]) {
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder).expect("a folder of the corpus");
        fs::write(folder.join(format!("seed-{:05}", self.count)), bytes).expect("writing a seed");
        self.count += 1;
    }
}

fn main() {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(fixtures), Some(folder)) = (arguments.next(), arguments.next()) else {
        panic!("usage: seeds FIXTURES CORPUS")
    };
    let mut corpus = Corpus { folder, count: 0 };
    editor(&mut corpus);
    let mut paths = Vec::new();
    files(&fixtures, &mut paths);
    paths.sort();
    for path in paths {
        let bytes = fs::read(&path).expect("a fixture");
        match path.extension().and_then(|it| it.to_str()) {
            Some("dll") => assembly(&mut corpus, bytes),
            Some("pdb") => pdb(&mut corpus, bytes),
            _ => {}
        }
    }
}

fn editor(corpus: &mut Corpus) {
    for seed in fuzz::conversation::seeds() {
        corpus.add("dap_dispatcher", &seed);
        let mut framed = Vec::new();
        for body in seed.split(|byte| *byte == b'\n') {
            dap::framing::write(&mut framed, body).expect("a vector takes all");
        }
        corpus.add("dap_framing", &framed);
    }
}

fn assembly(corpus: &mut Corpus, bytes: Vec<u8>) {
    corpus.add("pe", &bytes);
    let Ok(module) = Module::open(bytes) else {
        return;
    };
    let metadata = module.metadata();
    corpus.add("tables", module.image().metadata_bytes());
    corpus.add("attributes", module.image().metadata_bytes());
    if let Ok(Some(embedded)) = module.image().embedded_pdb(1 << 20) {
        pdb(corpus, embedded);
    }
    let methods = metadata
        .rows::<MethodRow>()
        .filter_map(|(_, row)| Some(row.ok()?.signature));
    let locals = metadata
        .rows::<StandAloneSigRow>()
        .filter_map(|(_, row)| Some(row.ok()?.signature));
    let types = metadata
        .rows::<TypeSpecRow>()
        .filter_map(|(_, row)| Some(row.ok()?.signature));
    for blob in methods
        .chain(locals)
        .chain(types)
        .filter_map(|it| metadata.blob(it).ok())
    {
        if blob.len() > 12 || signature::type_spec(blob).is_ok() {
            corpus.add("signatures", blob);
        }
    }
    // The values of attributes alone also make signatures of a kind.
    for (_, row) in metadata.rows::<CustomAttributeRow>().take(8) {
        if let Some(blob) = row.ok().and_then(|row| metadata.blob(row.value).ok()) {
            corpus.add("signatures", blob);
        }
    }
}

fn pdb(corpus: &mut Corpus, bytes: Vec<u8>) {
    corpus.add("tables", &bytes);
    corpus.add(
        "embedded_pdb",
        &miniz_oxide::deflate::compress_to_vec(&bytes, 6),
    );
    let Ok(symbols) = Symbols::open(bytes) else {
        return;
    };
    let metadata = symbols.pdb().metadata();
    for (_, row) in metadata.rows::<MethodDebugInformationRow>() {
        let Ok(row) = row else { continue };
        if let Ok(blob) = metadata.blob(row.sequence_points) {
            let mut seed = vec![row.document.row() as u8];
            seed.extend_from_slice(blob);
            corpus.add("sequence_points", &seed);
        }
    }
}
