//! What a module offers for a place where a breakpoint is wanted.

use cordebug::process::Process;
use metadata::{IlOffset, Token};

use crate::api::{BoundLocation, Details, Error, ErrorCode, Place};
use crate::modules::LoadedModule;
use crate::source_files::SourceFiles;

use super::function::FunctionName;
use super::implementations::Slot;
use super::{CodeLocation, line};

/// What looking at modules needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) process: &'a Process,
    pub(super) files: &'a SourceFiles,
    /// Whether the user's code is compiled without optimisation, whatever its build says.
    pub(super) unoptimized: bool,
}

/// What a module has for a place.
#[derive(Debug)]
pub(super) enum Offer {
    /// Nothing; perhaps why.
    Nothing { hint: Option<String> },
    /// Code of the document that fits best; of methods for a place without a document.
    Code {
        document: Option<Match>,
        found: Vec<Found>,
        /// Methods that others are written for, which are meant as well.
        slots: Vec<Slot>,
    },
    /// It has the place, but no breakpoint can be set there.
    Refused {
        document: Option<Match>,
        error: Error,
    },
    /// Several of its documents fit equally well.
    Ambiguous { rank: Rank, paths: Vec<String> },
}

impl Offer {
    pub(super) const NOTHING: Self = Self::Nothing { hint: None };
}

/// A location in a module.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) method: Token,
    pub(super) offset: IlOffset,
    pub(super) shown: BoundLocation,
    /// Where it went instead of the place that was asked for.
    pub(super) moved: Option<String>,
    /// What else to know.
    pub(super) notes: Vec<String>,
}

/// The document that a path was taken for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) rank: Rank,
    /// Its path here.
    pub(super) path: String,
}

/// How well a document fits a path; the greatest is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// It is the very file that was named.
    pub(super) same: bool,
    /// Upper and lower case are the same.
    pub(super) case: bool,
    /// How many folders before the file name are the same.
    pub(super) folders: usize,
}

/// Refuses a place that makes no sense in any module.
pub(super) fn check(place: &Place) -> Result<(), Error> {
    match place {
        Place::Line { file, line, column } => {
            if file.trim().is_empty() {
                return Err(Error::new(
                    ErrorCode::InvalidFile,
                    "a breakpoint needs the name of a source file",
                ));
            }
            if line.0 == 0 || *column == Some(0) {
                return Err(Error::new(
                    ErrorCode::InvalidParameter,
                    "lines and columns count from 1",
                ));
            }
            Ok(())
        }
        Place::Function { name } => FunctionName::parse(name).map(|_| ()),
    }
}

/// What a module has for a place.
pub(super) fn of(place: &Place, module: &LoadedModule, around: Surroundings<'_>) -> Offer {
    match place {
        Place::Line { file, line, column } => line::find(file, *line, *column, module, around),
        Place::Function { name } => match FunctionName::parse(name) {
            Ok(name) => name.find(module, around),
            Err(error) => Offer::Refused {
                document: None,
                error,
            },
        },
    }
}

/// The places in the code of a module that a place stands for; an error if it has the file but no code there.
pub(crate) fn locations(
    place: &Place,
    module: &LoadedModule,
    process: &Process,
) -> Result<Vec<CodeLocation>, Error> {
    check(place)?;
    let around = Surroundings {
        process,
        files: module.source_files(),
        unoptimized: true,
    };
    let found = match of(place, module, around) {
        Offer::Nothing { .. } => Vec::new(),
        Offer::Code { found, slots, .. } => match slots.first() {
            Some(slot) if found.is_empty() => return Err(slot.refusal()),
            _ => found,
        },
        Offer::Refused { error, .. } => return Err(error),
        Offer::Ambiguous { paths, .. } => return Err(ambiguous(place, paths)),
    };
    let location = |found: Found| CodeLocation {
        module: module.identity(),
        method: found.method,
        offset: found.offset,
    };
    Ok(found.into_iter().map(location).collect())
}

/// Says that a path may mean several files.
pub(super) fn ambiguous(place: &Place, paths: Vec<String>) -> Error {
    let file = match place {
        Place::Line { file, .. } => file.as_str(),
        Place::Function { name } => name.as_str(),
    };
    let message = format!("{file} may be any of {}", paths.join(", "));
    Error::new(ErrorCode::InvalidFile, message)
        .hint("give more of the path")
        .details(Details::Candidates(paths))
}

/// Why no breakpoint can be set in a method, if so.
pub(super) fn obstacle(
    module: &LoadedModule,
    method: Token,
    around: Surroundings<'_>,
) -> Option<Error> {
    let metadata = module.metadata(around.process).ok()?.metadata();
    let flags = metadata.method(method).ok()?.impl_flags();
    if !flags.is_runtime_async() {
        return None;
    }
    let name = module.method_name(around.process, method);
    Some(
        Error::new(
            ErrorCode::NotSupported,
            format!("{name} is suspended by the runtime itself (runtime-async): a breakpoint in it would end the program"),
        )
        .hint("set it in a method that it calls, or compile without the runtime-async feature"),
    )
}

/// Whether a module's code is compiled without regard for debuggers.
pub(super) fn is_optimized(module: &LoadedModule, around: Surroundings<'_>) -> bool {
    let compiled_plainly = around.unoptimized && module.symbols(around.process).is_ok();
    let metadata = module.metadata(around.process).ok();
    let optimized = metadata.and_then(|it| it.metadata().is_optimized()) == Some(true);
    optimized && !compiled_plainly
}

/// What should be known of any breakpoint in a module.
pub(super) fn module_notes(module: &LoadedModule, around: Surroundings<'_>) -> Vec<String> {
    if !is_optimized(module, around) {
        return Vec::new();
    }
    vec![format!(
        "{} is optimised: calls that were compiled into their caller, and statements that were merged with others, do not stop here",
        module.file_name()
    )]
}
