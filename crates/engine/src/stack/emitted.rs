//! Names of methods in a module that is emitted while the program runs.
//!
//! Such a module has no image to read; the library is asked for each name, since there may be more of them at any time.

use cordebug::emitted::Emitted;
use cordebug::module::Module;
use metadata::Token;
use metadata::csharp::type_display_name;
use metadata::signature::{self, Type};

/// A method with its parameters, and with the arguments that it runs with; `None` if the library does not know it.
pub(crate) fn method_name(module: &Module, token: Token, arguments: &[String]) -> Option<String> {
    let emitted = module.emitted().ok()?;
    let method = emitted.method(token.0).ok()?;
    let names = emitted.type_names(method.class).unwrap_or_default();
    let mut left = arguments.iter().map(String::as_str);
    let mut path: Vec<_> = names.iter().map(|it| type_name(it, &mut left)).collect();
    // Functions of the module itself are in a type that only metadata has.
    path.retain(|it| it != "<Module>");
    let own: Vec<_> = left.collect();
    let of_method = match own.as_slice() {
        [] => String::new(),
        own => format!("<{}>", own.join(", ")),
    };
    path.push(format!("{}{of_method}", method.name));
    let parameters = parameters(&emitted, token, &method.signature).unwrap_or_else(|| "…".into());
    Some(format!("{}({parameters})", path.join(".")))
}

/// A type's name with as many arguments as its own tells.
fn type_name<'a>(name: &str, arguments: &mut impl Iterator<Item = &'a str>) -> String {
    let (simple, arity) = name.rsplit_once('`').unwrap_or((name, ""));
    let count = arity.parse().unwrap_or(0);
    let own: Vec<_> = arguments.take(count).collect();
    if own.is_empty() {
        return type_display_name(simple).into_owned();
    }
    format!("{}<{}>", type_display_name(simple), own.join(", "))
}

fn parameters(emitted: &Emitted, method: Token, signature: &[u8]) -> Option<String> {
    let signature = signature::method_signature(signature).ok()?;
    let texts = signature.parameters.iter().zip(1..).map(|(ty, sequence)| {
        let name = emitted.parameter_name(method.0, sequence);
        let text = type_text(emitted, ty);
        match name {
            Ok(name) if !name.is_empty() => format!("{text} {name}"),
            _ => text,
        }
    });
    Some(texts.collect::<Vec<_>>().join(", "))
}

/// A type as C# has it, without namespaces.
fn type_text(emitted: &Emitted, ty: &Type) -> String {
    let text = |ty: &Type| type_text(emitted, ty);
    let named = |token: &Token| {
        let names = emitted.type_names(token.0).unwrap_or_default();
        let last = names.last().map_or("?", String::as_str);
        let simple = last.rsplit('.').next().unwrap_or(last);
        simple.split('`').next().unwrap_or(simple).to_owned()
    };
    match ty {
        Type::Primitive(primitive) => primitive.keyword().to_owned(),
        Type::Named { token, .. } => named(token),
        Type::Generic {
            token, arguments, ..
        } => {
            let arguments: Vec<_> = arguments.iter().map(text).collect();
            format!("{}<{}>", named(token), arguments.join(", "))
        }
        Type::TypeParameter(number) => format!("!{number}"),
        Type::MethodParameter(number) => format!("!!{number}"),
        Type::SzArray(element) => format!("{}[]", text(element)),
        Type::Array { element, shape } => {
            let commas = shape.rank.saturating_sub(1).min(31) as usize;
            format!("{}[{}]", text(element), ",".repeat(commas))
        }
        Type::Pointer(inner) => format!("{}*", text(inner)),
        Type::ByRef(inner) => format!("ref {}", text(inner)),
        Type::Function(_) => "delegate*".into(),
        Type::Pinned(inner) | Type::Modified { inner, .. } => text(inner),
    }
}
