//! Names as the client wants them: of frames with their parameters, of files as paths or addresses.

use host::api::Variable as EngineVariable;

use crate::types::StackFrameFormat;

/// A method with as much of its parameters as a format asks for; what it does not speak of stays.
pub(crate) fn method(
    method: &str,
    format: &StackFrameFormat,
    values: Option<&[EngineVariable]>,
) -> String {
    let (Some(open), Some(close)) = (method.find('('), method.rfind(')')) else {
        return method.to_owned();
    };
    let name = method.get(..open).unwrap_or(method);
    if format.parameters == Some(false) {
        return name.to_owned();
    }
    let list = method.get(open + 1..close).unwrap_or_default();
    let behind = method.get(close + 1..).unwrap_or_default();
    let shown = parts(list).map(|parameter| {
        let (ty, own) = parameter.rsplit_once(' ').unwrap_or((parameter, ""));
        let mut words = Vec::new();
        if format.parameter_types != Some(false) {
            words.push(ty.to_owned());
        }
        if format.parameter_names != Some(false) && !own.is_empty() {
            words.push(own.to_owned());
        }
        let value = values.and_then(|values| values.iter().find(|it| it.name == own));
        if let Some(value) = value {
            words.push(format!("= {}", crate::values::text_of(&value.value)));
        }
        words.join(" ")
    });
    let shown: Vec<String> = shown.collect();
    format!("{name}({}){behind}", shown.join(", "))
}

/// The parameters of a list: commas inside brackets belong to types.
fn parts(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let parts = list.split(move |letter: char| {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// A path as an address.
pub(crate) fn uri_of(path: &str) -> String {
    let mut uri = String::from("file://");
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte.into()),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The path of an address; what is none is a path already.
pub(crate) fn path_of(uri: &str) -> String {
    let Some(rest) = uri.strip_prefix("file://") else {
        return uri.to_owned();
    };
    // Before the path there may be the name of this machine.
    let path = rest.find('/').and_then(|at| rest.get(at..));
    let mut bytes = Vec::new();
    let mut left = path.unwrap_or(rest).as_bytes();
    while let Some((first, rest)) = left.split_first() {
        let digits = rest.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|it| std::str::from_utf8(it).ok());
        let escaped = digits.and_then(|it| u8::from_str_radix(it, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        let taken = if escaped.is_some() { 2 } else { 0 };
        left = rest.get(taken..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(types: Option<bool>, names: Option<bool>, expected: &str) {
        let format = StackFrameFormat {
            parameter_types: types,
            parameter_names: names,
            ..StackFrameFormat::default()
        };
        let text = "A.F<int>(Dictionary<int, string> map, ref int at) [lambda]";
        assert_eq!(method(text, &format, None), expected);
    }

    #[test]
    fn parameters_are_told_as_asked_for() {
        let whole = "A.F<int>(Dictionary<int, string> map, ref int at) [lambda]";
        check(None, None, whole);
        check(Some(true), Some(true), whole);
        check(Some(false), None, "A.F<int>(map, at) [lambda]");
        check(
            None,
            Some(false),
            "A.F<int>(Dictionary<int, string>, ref int) [lambda]",
        );
        let none = StackFrameFormat {
            parameters: Some(false),
            ..StackFrameFormat::default()
        };
        assert_eq!(method("A.F(int a)", &none, None), "A.F");
        assert_eq!(method("native", &none, None), "native");
    }

    #[test]
    fn paths_and_addresses_are_each_others_opposite() {
        for (path, uri) in [
            ("/a/b-c.cs", "file:///a/b-c.cs"),
            ("/a b/é#%.cs", "file:///a%20b/%C3%A9%23%25.cs"),
        ] {
            assert_eq!(uri_of(path), uri);
            assert_eq!(path_of(uri), path);
        }
        assert_eq!(path_of("/plain/a%20b.cs"), "/plain/a%20b.cs");
        assert_eq!(path_of("file://localhost/a.cs"), "/a.cs");
        assert_eq!(path_of("file:///a%2"), "/a%2");
        assert_eq!(path_of("file:///%zz"), "/%zz");
    }
}
