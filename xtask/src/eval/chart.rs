//! Bars as SVG, light and dark by what the reader's system says.

use std::fmt::Write;

/// A bar for each row: its name, its value, and the text behind it.
pub struct Bars<'b> {
    pub title: &'b str,
    pub rows: Vec<(String, f64, String)>,
    /// The value of a full bar.
    pub full: f64,
}

const LEFT: f64 = 190.0;
const WIDTH: f64 = 360.0;
const ROW: f64 = 24.0;
const TOP: f64 = 34.0;

impl Bars<'_> {
    pub fn svg(&self) -> String {
        let at = |row: usize| TOP + ROW * row as f64;
        let (width, height) = (LEFT + WIDTH + 90.0, at(self.rows.len()) + 10.0);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
             <title>{}</title>\n\
             <style>\n\
             text {{ font: 13px sans-serif; fill: #24292f }}\n\
             .title {{ font-weight: bold }}\n\
             .rail {{ fill: #eaeef2 }}\n\
             .bar {{ fill: #2f6fbb }}\n\
             @media (prefers-color-scheme: dark) {{\n\
             text {{ fill: #e6edf3 }}\n\
             .rail {{ fill: #2b313a }}\n\
             .bar {{ fill: #6aa7ee }}\n\
             }}\n\
             </style>\n\
             <text class=\"title\" x=\"8\" y=\"20\">{}</text>\n",
            escaped(self.title),
            escaped(self.title)
        );
        for (row, (name, value, text)) in self.rows.iter().enumerate() {
            let y = at(row);
            let length = WIDTH * (value / self.full).clamp(0.0, 1.0);
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n\
                 <rect class=\"rail\" x=\"{LEFT}\" y=\"{}\" width=\"{WIDTH}\" height=\"16\"/>\n\
                 <rect class=\"bar\" x=\"{LEFT}\" y=\"{}\" width=\"{length:.1}\" height=\"16\"/>\n\
                 <text x=\"{}\" y=\"{}\">{}</text>\n",
                LEFT - 8.0,
                y + 14.0,
                escaped(name),
                y + 1.0,
                y + 1.0,
                LEFT + WIDTH + 8.0,
                y + 14.0,
                escaped(text)
            );
        }
        svg + "</svg>\n"
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share_and_both_schemes_have_colors() {
        let svg = Bars {
            title: "Bugs & repairs",
            rows: vec![("half".to_owned(), 5.0, "5".to_owned())],
            full: 10.0,
        }
        .svg();
        assert!(svg.contains("width=\"180.0\"") && svg.contains("Bugs &amp; repairs"));
        assert!(svg.contains("prefers-color-scheme: dark"));
    }
}
