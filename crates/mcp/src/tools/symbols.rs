//! Types and members of loaded modules.

use host::api::{Error, Reply, Request, SymbolKind, SymbolsQuery, TypeQuery};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Call;
use crate::registry::Which;
use crate::report::symbols::{SymbolsReport, TypeReport};
use crate::session;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// Id, if several.
    session: Option<String>,
    /// Part of a name, its capitals (WrLi), Task.Run or Shop.*; * and ? are wildcards.
    pattern: String,
    /// Only these.
    #[serde(default)]
    kinds: Vec<KindName>,
    /// Only modules whose name contains this.
    module: Option<String>,
    /// First symbol; the best is 0.
    #[serde(default)]
    #[schemars(range(max = 1000))]
    start: u32,
    /// How many.
    #[serde(default = "symbols_count")]
    #[schemars(range(min = 1, max = 100))]
    count: u32,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum KindName {
    Type,
    Method,
    Property,
    Field,
    Event,
}

fn symbols_count() -> u32 {
    30
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeArguments {
    /// Id, if several.
    session: Option<String>,
    /// Order, Shop.Order, List<T>, int.
    name: String,
    /// Only modules whose name contains this.
    module: Option<String>,
    /// Only these names; * is any letters.
    #[serde(default)]
    members: Vec<String>,
    /// First member.
    #[serde(default)]
    start: u32,
    /// How many.
    #[serde(default = "members_count")]
    #[schemars(range(min = 1, max = 200))]
    count: u32,
}

fn members_count() -> u32 {
    60
}

pub(super) async fn search(
    call: &Call,
    arguments: SearchArguments,
) -> Result<SymbolsReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let kind = |kind: &KindName| match kind {
        KindName::Type => SymbolKind::Type,
        KindName::Method => SymbolKind::Method,
        KindName::Property => SymbolKind::Property,
        KindName::Field => SymbolKind::Field,
        KindName::Event => SymbolKind::Event,
    };
    let query = SymbolsQuery {
        pattern: arguments.pattern,
        kinds: arguments.kinds.iter().map(kind).collect(),
        module: arguments.module,
        start: arguments.start,
        count: arguments.count,
    };
    match session.request(Request::Symbols(Box::new(query))).await? {
        Reply::Symbols(found) => Ok(SymbolsReport::of(session.id(), &found)),
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn type_get(call: &Call, arguments: TypeArguments) -> Result<TypeReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let query = TypeQuery {
        name: arguments.name,
        module: arguments.module,
        members: arguments.members,
        start: arguments.start,
        count: arguments.count,
    };
    match session.request(Request::Type(Box::new(query))).await? {
        Reply::Type(found) => Ok(TypeReport::of(session.id(), &found)),
        other => Err(session::unexpected(&other)),
    }
}
