//! The "modified UTF-8" of class files (JVMS 4.4.7): U+0000 takes two bytes and a character beyond
//! the basic plane is a surrogate pair of three bytes each.

use std::borrow::Cow;

/// Decodes modified UTF-8; an unpaired surrogate or a malformed sequence becomes U+FFFD.
///
/// Nothing is copied when the bytes are plain UTF-8 as well, which nearly all are.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(
            char::decode_utf16(units(bytes))
                .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
        ),
    }
}

/// The UTF-16 code units that modified UTF-8 stands for: exact also for unpaired surrogates.
pub fn units(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (unit, length) = match *rest {
            [] => return None,
            [a, ..] if a < 0x80 => (a as u16, 1),
            [a, b, ..] if a & 0xe0 == 0xc0 && b & 0xc0 == 0x80 => {
                ((a as u16 & 0x1f) << 6 | (b as u16 & 0x3f), 2)
            }
            [a, b, c, ..] if a & 0xf0 == 0xe0 && b & 0xc0 == 0x80 && c & 0xc0 == 0x80 => (
                (a as u16 & 0x0f) << 12 | (b as u16 & 0x3f) << 6 | (c as u16 & 0x3f),
                3,
            ),
            _ => (0xfffd, 1),
        };
        rest = &rest[length..];
        Some(unit)
    })
}

/// Encodes text as modified UTF-8.
pub fn encode(text: &str) -> Cow<'_, [u8]> {
    if text.bytes().all(|byte| byte != 0 && byte < 0x80) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len() + 8);
    for unit in text.encode_utf16() {
        match unit {
            1..=0x7f => bytes.push(unit as u8),
            0 | 0x80..=0x7ff => {
                bytes.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]);
            }
            _ => bytes.extend([
                0xe0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ]),
        }
    }
    Cow::Owned(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode, units};

    #[test]
    fn text_survives_both_ways() {
        for text in ["", "plain", "nul\0inside", "naïve", "漢字", "clef 𝄞 and 😀"] {
            assert_eq!(decode(&encode(text)), text);
        }
        assert_eq!(&*encode("\0"), [0xc0, 0x80]);
        assert_eq!(encode("😀").len(), 6);
    }

    #[test]
    fn an_unpaired_surrogate_is_kept_in_units_and_replaced_in_text() {
        let lone = [b'a', 0xed, 0xa0, 0x80, b'b'];
        assert_eq!(units(&lone).collect::<Vec<_>>(), [0x61, 0xd800, 0x62]);
        assert_eq!(decode(&lone), "a\u{fffd}b");
        assert_eq!(decode(&[0xff, 0x41]), "\u{fffd}A");
    }
}
