//! How saved documents look: a line for each part and each finding, so that they can be compared line by line, and nothing indented below, which would make them twice as large.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Lines are broken in the document itself and in what it holds directly.
const BROKEN: usize = 2;

/// Writes a line for each part of a document.
#[derive(Debug, Default)]
pub struct Lines {
    depth: usize,
    has_value: bool,
}

impl Lines {
    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn part<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= BROKEN {
            self.line(writer)?;
        }
        Ok(())
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value && self.depth < BROKEN {
            self.line(writer)?;
        }
        self.has_value = true;
        writer.write_all(bracket)
    }

    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.part(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.part(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::{Serializer, json};

    use super::Lines;

    #[test]
    fn each_part_and_each_finding_has_a_line() -> Result<(), Box<dyn std::error::Error>> {
        let value = json!({"findings": [{"a": [1, 2], "b": {}}, {"a": []}], "none": [], "stats": {"x": {"y": 1}}});
        let mut text = Vec::new();
        value.serialize(&mut Serializer::with_formatter(&mut text, Lines::default()))?;
        let text = String::from_utf8(text)?;
        let expected = r#"{
  "findings": [
    {"a": [1,2],"b": {}},
    {"a": []}
  ],
  "none": [],
  "stats": {
    "x": {"y": 1}
  }
}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text)?, value);
        Ok(())
    }
}
