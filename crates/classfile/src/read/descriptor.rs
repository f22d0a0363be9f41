//! Field and method descriptors (JVMS 4.3).

/// The type a field descriptor stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType<'a> {
    Boolean,
    Byte,
    Char,
    Short,
    Int,
    Float,
    Long,
    Double,
    /// A class or interface, by internal name (`java/lang/String`).
    Object(&'a str),
    /// An array, by its whole descriptor (`[[I`).
    Array(&'a str),
}

impl<'a> FieldType<'a> {
    /// Reads a descriptor that is one field type and nothing else.
    pub fn parse(descriptor: &'a str) -> Option<Self> {
        match take(descriptor)? {
            (parsed, "") => Some(parsed),
            _ => None,
        }
    }

    /// Local variable or operand stack slots: two for `long` and `double`.
    pub fn slots(self) -> u16 {
        if matches!(self, Self::Long | Self::Double) {
            2
        } else {
            1
        }
    }

    pub fn is_reference(self) -> bool {
        matches!(self, Self::Object(_) | Self::Array(_))
    }

    /// The type of an array's elements: `[[I` gives `[I`.
    pub fn element(self) -> Option<Self> {
        match self {
            Self::Array(descriptor) => Self::parse(&descriptor[1..]),
            _ => None,
        }
    }

    /// The name a `CONSTANT_Class` of this type carries, if it is a class or an array.
    pub fn class_name(self) -> Option<&'a str> {
        match self {
            Self::Object(name) | Self::Array(name) => Some(name),
            _ => None,
        }
    }
}

/// A method descriptor, checked when it is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MethodType<'a> {
    parameters: &'a str,
    returns: Option<FieldType<'a>>,
}

impl<'a> MethodType<'a> {
    pub fn parse(descriptor: &'a str) -> Option<Self> {
        let list = descriptor.strip_prefix('(')?;
        let mut rest = list;
        while !rest.starts_with(')') {
            rest = take(rest)?.1;
        }
        let parameters = &list[..list.len() - rest.len()];
        let returns = match &rest[1..] {
            "V" => None,
            descriptor => Some(FieldType::parse(descriptor)?),
        };
        Some(Self {
            parameters,
            returns,
        })
    }

    /// Parameter types from left to right; the receiver is not among them.
    pub fn parameters(self) -> impl Iterator<Item = FieldType<'a>> + Clone {
        let mut rest = self.parameters;
        std::iter::from_fn(move || {
            let (parsed, left) = take(rest)?;
            rest = left;
            Some(parsed)
        })
    }

    /// The type returned; `None` is `void`.
    pub fn returns(self) -> Option<FieldType<'a>> {
        self.returns
    }

    /// Slots that the parameters take, without the receiver.
    pub fn parameter_slots(self) -> u16 {
        self.parameters()
            .map(FieldType::slots)
            .fold(0, u16::saturating_add)
    }
}

fn take(text: &str) -> Option<(FieldType<'_>, &str)> {
    let parsed = match text.as_bytes().first()? {
        b'Z' => FieldType::Boolean,
        b'B' => FieldType::Byte,
        b'C' => FieldType::Char,
        b'S' => FieldType::Short,
        b'I' => FieldType::Int,
        b'F' => FieldType::Float,
        b'J' => FieldType::Long,
        b'D' => FieldType::Double,
        b'L' => {
            let end = text.find(';')?;
            if end == 1 {
                return None;
            }
            return Some((FieldType::Object(&text[1..end]), &text[end + 1..]));
        }
        b'[' => {
            let dimensions = text.bytes().take_while(|&byte| byte == b'[').count();
            if dimensions > 255 {
                return None;
            }
            let (_, rest) = take(&text[dimensions..])?;
            return Some((FieldType::Array(&text[..text.len() - rest.len()]), rest));
        }
        _ => return None,
    };
    Some((parsed, &text[1..]))
}

#[cfg(test)]
mod tests {
    use super::{FieldType, MethodType};

    #[test]
    fn methods_split_into_their_types() {
        let method = MethodType::parse("(IJ[[DLjava/lang/String;[La/B;Z)[I").unwrap();
        assert_eq!(
            method.parameters().collect::<Vec<_>>(),
            [
                FieldType::Int,
                FieldType::Long,
                FieldType::Array("[[D"),
                FieldType::Object("java/lang/String"),
                FieldType::Array("[La/B;"),
                FieldType::Boolean,
            ]
        );
        assert_eq!(method.parameter_slots(), 7);
        assert_eq!(method.returns(), Some(FieldType::Array("[I")));
        assert_eq!(method.returns().unwrap().element(), Some(FieldType::Int));
        assert_eq!(MethodType::parse("()V").unwrap().returns(), None);
    }

    #[test]
    fn malformed_descriptors_are_refused() {
        for bad in [
            "", "(", "()", "(V)V", "(I", "()VV", "(L;)V", "(Lx)V", "([)V", "I", "()[V",
        ] {
            assert_eq!(MethodType::parse(bad), None, "{bad}");
        }
        for bad in ["", "V", "II", "L;", "Lx", "[", "x"] {
            assert_eq!(FieldType::parse(bad), None, "{bad}");
        }
        assert_eq!(FieldType::parse(&("[".repeat(256) + "I")), None);
        assert!(FieldType::parse(&("[".repeat(255) + "I")).is_some());
    }
}
