//! What a person wants to know about an assembly's symbols, as plain data and as text.
//!
//! Files are read by the caller's closure, so that this stays free of I/O.

mod line;
mod text;

use std::path::{Path, PathBuf};

use crate::bytes::Bytes;
use crate::checksum::checksum;
use crate::error::{Error, Malformed, Result};
use crate::locate::{PdbLocation, PdbVerdict};
use crate::module::Module;
use crate::pdb::Language;
use crate::pe::PdbId;
use crate::symbols::Symbols;
use crate::tables::Table;
use crate::token::Token;

pub use line::{LineOutcome, LineReport, LineTarget};

/// Reads a file, or says that there is none.
pub type ReadFile<'r> = dyn Fn(&Path) -> Option<Bytes> + 'r;

/// An assembly with its PDB, or a PDB with its assembly, opened from one file.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// The assembly; a PDB may be inspected without it.
    pub module: Option<Module>,
    /// The PDB.
    pub symbols: Option<Symbols>,
    /// Where a PDB was looked for, and what was found there.
    pub tried: Vec<(PdbLocation, PdbVerdict)>,
}

/// What is known about an assembly and its PDB.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The assembly's display name, such as `Demo, Version=1.0.0.0`.
    pub identity: Option<String>,
    /// The module's name and version id.
    pub module: Option<(String, String)>,
    /// The framework it was built for.
    pub target_framework: Option<String>,
    /// Whether the compiler optimised it, if it says so.
    pub is_optimized: Option<bool>,
    /// Whether it holds ahead-of-time compiled code.
    pub is_ready_to_run: bool,
    /// The id of the PDB that it names.
    pub expected_pdb: Option<PdbId>,
    /// The id of the PDB that was opened.
    pub pdb: Option<PdbId>,
    /// Where a PDB was looked for, and what was found there.
    pub tried: Vec<(PdbLocation, PdbVerdict)>,
    /// How many methods the assembly has.
    pub n_methods: u32,
    /// How many methods have sequence points.
    pub n_methods_with_points: u32,
    /// How many sequence points there are.
    pub n_points: u64,
    /// How many of them are hidden.
    pub n_hidden_points: u64,
    /// The documents.
    pub documents: Vec<DocumentReport>,
    /// Patterns of paths, and where their text can be fetched from.
    pub source_link: Vec<(String, String)>,
}

/// What is known about a source document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentReport {
    /// Its path as the compiler saw it.
    pub path: String,
    /// Its language, if it is a known one.
    pub language: Option<&'static str>,
    /// Where its text is.
    pub source: SourceState,
    /// How many methods have code from it.
    pub n_methods: usize,
    /// Where SourceLink says that its text can be fetched from.
    pub url: Option<String>,
}

/// Where the text of a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceState {
    /// In a file with the right checksum.
    Found(PathBuf),
    /// In a file, but the PDB has no checksum that could be compared.
    Unverified(PathBuf),
    /// In the PDB.
    Embedded,
    /// In a file that is not the one that was compiled.
    ChecksumDiffers(PathBuf),
    /// Nowhere.
    Missing,
}

/// Opens an assembly and finds its PDB, or opens a PDB and looks for its assembly beside it.
pub fn inspect(path: &Path, bytes: Bytes, read: &ReadFile<'_>) -> Result<Inspection, Error> {
    if !is_pdb(path, &bytes) {
        let module = Module::open(bytes)?;
        let search = module.find_symbols(Some(path), read)?;
        return Ok(Inspection {
            module: Some(module),
            symbols: search.symbols,
            tried: search.tried,
        });
    }
    let symbols = Symbols::open(bytes)?;
    let beside = ["dll", "exe"]
        .iter()
        .filter_map(|extension| read(&path.with_extension(extension)));
    let mut tried = Vec::new();
    let mut module = None;
    for candidate in beside.filter_map(|bytes| Module::open(bytes).ok()) {
        let verdict = candidate.verdict(&symbols)?;
        // Names of another build would be lies.
        let matches = verdict == PdbVerdict::Matches;
        tried.push((PdbLocation::Beside(path.to_owned()), verdict));
        if matches {
            module = Some(candidate);
            break;
        }
    }
    Ok(Inspection {
        module,
        symbols: Some(symbols),
        tried,
    })
}

/// Whether a file is to be read as a PDB: its first bytes say so, or else its name.
fn is_pdb(path: &Path, bytes: &Bytes) -> bool {
    match bytes.first_chunk() {
        Some(b"BSJB" | b"Micr") => true,
        Some([b'M', b'Z', ..]) => false,
        _ => path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("pdb")),
    }
}

impl Inspection {
    /// Gathers everything that [`Report`] holds; sources are looked for at their recorded paths.
    pub fn report(&self, read: &ReadFile<'_>) -> Result<Report> {
        let mut report = Report {
            tried: self.tried.clone(),
            ..Report::default()
        };
        if let Some(module) = &self.module {
            report.describe_module(module)?;
        }
        if let Some(symbols) = &self.symbols {
            report.describe_symbols(symbols, read)?;
        }
        Ok(report)
    }
}

impl Report {
    fn describe_module(&mut self, module: &Module) -> Result<()> {
        let metadata = module.metadata();
        if let Some(assembly) = metadata.assembly()? {
            let it = assembly.identity;
            let mut text = format!("{}, Version={}", it.name, it.version);
            if !it.culture.is_empty() {
                text.push_str(&format!(", Culture={}", it.culture));
            }
            self.identity = Some(text);
        }
        let row = metadata.module()?;
        let mvid = metadata.guid(row.mvid)?.unwrap_or_default();
        self.module = Some((metadata.string(row.name)?.into_owned(), mvid.to_string()));
        self.target_framework = metadata.target_framework().map(Into::into);
        self.is_optimized = metadata.is_optimized();
        self.is_ready_to_run = module.image().ready_to_run().is_some();
        self.expected_pdb = module.pdb_id()?;
        self.n_methods = metadata.row_count(Table::Method);
        Ok(())
    }

    fn describe_symbols(&mut self, symbols: &Symbols, read: &ReadFile<'_>) -> Result<()> {
        let pdb = symbols.pdb();
        self.pdb = Some(pdb.id()?);
        self.n_methods = self.n_methods.max(pdb.method_count());
        let budget = pdb.point_budget() as u64;
        for row in 1..=pdb.method_count() {
            if self.n_points > budget {
                return Err(Malformed::new(
                    "sequence points shared by many methods",
                    row as usize,
                ));
            }
            let mut points = 0;
            for point in pdb.sequence_points(Token::new(Table::Method, row))? {
                points += 1;
                self.n_hidden_points += u64::from(point?.span.is_none());
            }
            self.n_points += points;
            self.n_methods_with_points += u32::from(points > 0);
        }
        let source_link = pdb.source_link()?.unwrap_or_default();
        for document in pdb.documents() {
            let document = document?;
            let path = document.path()?;
            let source = source_state(symbols, document.token(), &path, read)?;
            self.documents.push(DocumentReport {
                language: match document.language()? {
                    Some(Language::CSharp) => Some("C#"),
                    Some(Language::VisualBasic) => Some("Visual Basic"),
                    Some(Language::FSharp) => Some("F#"),
                    Some(Language::Other(_)) | None => None,
                },
                source,
                n_methods: symbols.methods_of(document.token()).len(),
                url: source_link.url(&path),
                path,
            });
        }
        self.source_link = source_link.entries().to_vec();
        Ok(())
    }
}

/// Where the text of a document is; a file with the right checksum comes first, then the PDB.
fn source_state(
    symbols: &Symbols,
    document: Token,
    path: &str,
    read: &ReadFile<'_>,
) -> Result<SourceState> {
    let pdb = symbols.pdb();
    let document = pdb.document(document)?;
    let file = PathBuf::from(path);
    let text = read(&file);
    let expected = document.hash()?;
    let actual = match (&text, document.hash_algorithm()?) {
        (Some(text), Some(algorithm)) if !expected.is_empty() => checksum(algorithm, text),
        _ => None,
    };
    let is_embedded = pdb.has_embedded_source(document.token())?;
    Ok(match (text, actual) {
        (Some(_), Some(actual)) if actual == expected => SourceState::Found(file),
        _ if is_embedded => SourceState::Embedded,
        (Some(_), Some(_)) => SourceState::ChecksumDiffers(file),
        (Some(_), None) => SourceState::Unverified(file),
        (None, _) => SourceState::Missing,
    })
}
