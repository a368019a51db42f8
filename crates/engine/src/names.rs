//! Names of methods and types as a person writes them.

use metadata::{Metadata, Token};

/// `Namespace.Type.Method`.
pub(crate) fn method(metadata: Metadata<'_>, token: Token) -> String {
    let named = || -> metadata::Result<String> {
        let method = metadata.method(token)?;
        let owner = metadata.full_name(method.declaring_type()?)?;
        Ok(format!("{owner}.{}", method.name()?))
    };
    named().unwrap_or_else(|_| format!("0x{:08x}", token.0))
}

/// `Namespace.Type`.
pub(crate) fn type_name(metadata: Metadata<'_>, token: Token) -> String {
    metadata
        .full_name(token)
        .unwrap_or_else(|_| format!("0x{:08x}", token.0))
}
