//! Source files: those that are here by their path, those that only the program's symbols hold by a number.

use std::collections::HashMap;
use std::path::Path;

use host::api::{Line, Reply, Request as EngineRequest};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::naming;
use crate::types::{
    BreakpointLocation, BreakpointLocationsArguments, BreakpointLocationsResponseBody,
    LoadedSourcesArguments, LoadedSourcesResponseBody, Source, SourceArguments,
    SourcePresentationHint, SourceResponseBody,
};

/// Source files that the client may ask us for. Numbers stay for the whole connection.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// By path; `None` for those that the client can open, or that nobody has.
    numbers: HashMap<String, Option<i32>>,
    held: Vec<String>,
}

impl Adapter {
    /// The path of a source file that the client names: by its path, its number, or its bare name.
    pub(crate) fn engine_path(&self, source: Source) -> Option<String> {
        let path = source.path.map(|path| match self.speaks_of_uris() {
            true => naming::path_of(&path),
            false => path,
        });
        let number = source.source_reference.unwrap_or(0);
        let number = usize::try_from(number).ok();
        let held = number.and_then(|it| self.sources.held.get(it.checked_sub(1)?));
        path.or(held.cloned()).or(source.name)
    }

    /// Whether the client wants addresses for paths.
    fn speaks_of_uris(&self) -> bool {
        self.about
            .path_format
            .as_ref()
            .is_some_and(|it| it == "uri")
    }

    /// A source file as the client is told of it.
    pub(crate) fn source_of(&mut self, path: &str, user_code: bool) -> Source {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let number = self.source_number(path);
        Source {
            name: Some(name.to_owned()),
            path: Some(match self.speaks_of_uris() {
                true => naming::uri_of(path),
                false => path.to_owned(),
            }),
            source_reference: number,
            origin: number.map(|_| "from the program's symbols".to_owned()),
            presentation_hint: (!user_code).then_some(SourcePresentationHint::Deemphasize),
            ..Source::default()
        }
    }

    /// The number of a file that is not here, but whose text the program's symbols hold.
    fn source_number(&mut self, path: &str) -> Option<i32> {
        if let Some(known) = self.sources.numbers.get(path) {
            return *known;
        }
        let number = if Path::new(path).is_file() {
            None
        } else {
            let request = EngineRequest::Source { file: path.into() };
            self.ask(request).ok().and_then(|_| {
                self.sources.held.push(path.to_owned());
                i32::try_from(self.sources.held.len()).ok()
            })
        };
        self.sources.numbers.insert(path.to_owned(), number);
        number
    }

    pub(crate) fn source(
        &mut self,
        arguments: SourceArguments,
    ) -> Result<SourceResponseBody, Refusal> {
        let reference = arguments.source_reference;
        let given = arguments.source.unwrap_or_default();
        let number = given.source_reference.filter(|it| *it != 0);
        let number = number.unwrap_or(reference);
        // The number comes before the path: that is where the text is.
        let held = self.engine_path(Source {
            source_reference: Some(number),
            ..Source::default()
        });
        let path = held.or_else(|| self.engine_path(given));
        let file = path.ok_or_else(|| {
            Refusal::new("noSource", format!("there is no source file {reference}"))
        })?;
        match self.ask(EngineRequest::Source { file })? {
            Reply::Source(source) => Ok(SourceResponseBody {
                content: source.text,
                mime_type: Some("text/x-csharp".into()),
            }),
            _ => Err(Refusal::bug("no source was told")),
        }
    }

    pub(crate) fn loaded_sources(
        &mut self,
        _: LoadedSourcesArguments,
    ) -> Result<LoadedSourcesResponseBody, Refusal> {
        let Reply::SourceFiles(files) = self.ask(EngineRequest::SourceFiles)? else {
            return Err(Refusal::bug("no source files were told"));
        };
        let sources = files.iter().map(|file| self.source_of(&file.path, true));
        Ok(LoadedSourcesResponseBody {
            sources: sources.collect(),
        })
    }

    pub(crate) fn breakpoint_locations(
        &mut self,
        arguments: BreakpointLocationsArguments,
    ) -> Result<BreakpointLocationsResponseBody, Refusal> {
        let file = self.engine_path(arguments.source);
        let file = file.ok_or_else(|| {
            Refusal::new(
                "badArguments",
                "breakpointLocations needs the path of a source file",
            )
        })?;
        let first = self.engine_line(arguments.line);
        let last = arguments
            .end_line
            .map_or(first, |line| self.engine_line(line));
        // The range begins and ends at columns, of which a client gives some or none.
        let from = arguments.column.map_or(1, |it| self.engine_column(it));
        let until = arguments
            .end_column
            .map_or(u32::MAX, |it| self.engine_column(it));
        let reply = self.ask(EngineRequest::Statements {
            file,
            from: Line(first),
            to: Line(last),
        })?;
        let Reply::Statements(points) = reply else {
            return Err(Refusal::bug("no statements were told"));
        };
        let points = points.into_iter().filter(|point| {
            (point.start_line, point.start_column) >= (first, from)
                && (point.start_line, point.start_column) <= (last, until)
        });
        let breakpoints = points.map(|point| BreakpointLocation {
            line: self.client_line(point.start_line),
            column: Some(self.client_column(point.start_column)),
            end_line: Some(self.client_line(point.end_line)),
            end_column: Some(self.client_column(point.end_column)),
        });
        Ok(BreakpointLocationsResponseBody {
            breakpoints: breakpoints.collect(),
        })
    }
}
