//! What `Message` gives for exceptions whose override is the framework's own, made of their fields as it does.
//!
//! Its texts are English: programs whose texts of resources are in another language are told what the fields hold.

use crate::fields::Fields;

/// Fields of an exception.
pub(crate) trait Parts {
    /// A text; `None` for null, and if it cannot be read.
    fn text(&mut self, field: &str) -> Option<String>;
    /// Whether it refers to nothing, or is not there.
    fn is_null(&mut self, field: &str) -> bool;
    /// A text or whole number in a box as the program would write it; `None` for what is anything else.
    fn plain(&mut self, field: &str) -> Option<String>;
}

/// The message of an exception of a type, whose `Message` is that of another one (its full name); `None` if only code can tell.
/// What the inner exceptions of an `AggregateException` add to it is not in it.
pub(crate) fn message(type_name: &str, of: &str, parts: &mut impl Parts) -> Option<String> {
    let text = parts.text("_message");
    let own = |text: Option<String>| {
        text.unwrap_or_else(|| format!("Exception of type '{type_name}' was thrown."))
    };
    let is_given = |it: &String| !it.is_empty();
    let argument = |text, parts: &mut dyn FnMut() -> Option<String>| match parts().filter(is_given)
    {
        Some(name) => format!("{} (Parameter '{name}')", own(text)),
        None => own(text),
    };
    match of {
        "System.Exception" | "System.AggregateException" | "System.Net.Sockets.SocketException" => {
            Some(own(text))
        }
        "System.ArgumentException" => Some(argument(text, &mut || parts.text("_paramName"))),
        "System.ArgumentOutOfRangeException" => {
            let text = argument(text, &mut || parts.text("_paramName"));
            if parts.is_null("_actualValue") {
                return Some(text);
            }
            let value = parts.plain("_actualValue")?;
            Some(format!("{text}\nActual value was {value}."))
        }
        "System.ObjectDisposedException" => {
            let text = own(text);
            Some(match parts.text("_objectName").filter(is_given) {
                Some(name) => format!("{text}\nObject name: '{name}'."),
                None => text,
            })
        }
        // Without one they make up a text of what else they know.
        "System.IO.FileNotFoundException"
        | "System.IO.FileLoadException"
        | "System.BadImageFormatException"
        | "System.TypeLoadException"
        | "System.Text.Json.JsonException"
        | "System.Xml.XmlException" => text,
        "System.MissingMemberException"
        | "System.MissingMethodException"
        | "System.MissingFieldException"
            if parts.is_null("_className") && parts.is_null("ClassName") =>
        {
            Some(own(text))
        }
        _ => None,
    }
}

/// What a type and its `Message` say where only code can tell more; exceptions and values are told with the same words.
pub(crate) fn overridden(by: &str, is_made_with_text: bool) -> String {
    let made = match is_made_with_text {
        true => ": this is the text it was made with",
        false => "",
    };
    format!("its Message is that of {by}, which needs code to run{made}")
}

/// The text of a number in a box, by the name of its type in `System`.
pub(super) fn whole_number(name: &str, bytes: &[u8]) -> Option<String> {
    let signed = |bits: u32| {
        let mut all = [0_u8; 8];
        for (to, from) in all.iter_mut().zip(bytes.get(..bits as usize / 8)?) {
            *to = *from;
        }
        let unused = 64 - bits;
        Some((i64::from_le_bytes(all) << unused) >> unused)
    };
    let unsigned = |bits: u32| {
        let number = signed(bits)?.cast_unsigned();
        Some(number & (u64::MAX >> (64 - bits)))
    };
    Some(match name {
        "SByte" => signed(8)?.to_string(),
        "Int16" => signed(16)?.to_string(),
        "Int32" => signed(32)?.to_string(),
        "Int64" | "IntPtr" => signed(64)?.to_string(),
        "Byte" => unsigned(8)?.to_string(),
        "UInt16" => unsigned(16)?.to_string(),
        "UInt32" => unsigned(32)?.to_string(),
        "UInt64" | "UIntPtr" => unsigned(64)?.to_string(),
        _ => return None,
    })
}

/// The fields of an exception that the library reads.
pub(super) struct Read<'r, 'f> {
    pub(super) fields: &'r mut Fields<'f>,
    pub(super) exception: &'r cordebug::value::Value,
}

impl Parts for Read<'_, '_> {
    fn text(&mut self, field: &str) -> Option<String> {
        self.fields.string(self.exception, field)
    }

    fn is_null(&mut self, field: &str) -> bool {
        self.fields.object(self.exception, field).is_none()
    }

    fn plain(&mut self, field: &str) -> Option<String> {
        let object = self.fields.object(self.exception, field)?;
        if let Some(text) = self.fields.string(self.exception, field) {
            return Some(text);
        }
        let value = object.unboxed().ok()?;
        let name = self.fields.raw_name(&value);
        whole_number(&name, &value.bytes().ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_program_does() {
        for (name, bytes, told) in [
            ("Int32", &[0xfb, 0xff, 0xff, 0xff][..], Some("-5")),
            ("UInt32", &[0xfb, 0xff, 0xff, 0xff], Some("4294967291")),
            ("Byte", &[200], Some("200")),
            ("SByte", &[200], Some("-56")),
            ("UInt64", &[0xff; 8], Some("18446744073709551615")),
            ("Int64", &[1, 0], None),
            ("Double", &[0; 8], None),
        ] {
            assert_eq!(whole_number(name, bytes).as_deref(), told, "{name}");
        }
    }
}
