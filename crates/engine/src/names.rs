//! Names of methods and types as a person writes them.

use metadata::csharp::{GenericNames, Style};
use metadata::{Metadata, Token};

/// Types in the middle of a signature are short; what a name begins with is not.
const SHORT: Style = Style { namespaces: false };
const FULL: Style = Style { namespaces: true };

/// `Namespace.Type.Method(int count, string name)`; `declared` is the method whose parameters are shown, which for the
/// code of an async method or iterator is the one that the user wrote.
pub(crate) fn method(metadata: Metadata<'_>, token: Token, declared: Token) -> String {
    let names = GenericNames::default();
    let named = || -> metadata::Result<String> {
        let name = metadata.method_name(token, &names, FULL)?;
        let parameters = metadata.parameters_text(&metadata.method(declared)?, &names, SHORT)?;
        Ok(format!("{name}({parameters})"))
    };
    named().unwrap_or_else(|_| format!("0x{:08x}", token.0))
}

/// `Namespace.Type`.
pub(crate) fn type_name(metadata: Metadata<'_>, token: Token) -> String {
    metadata.type_def_text(
        token,
        &GenericNames::declared(metadata, Some(token), None),
        FULL,
    )
}
