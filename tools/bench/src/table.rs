//! Markdown tables, aligned for terminals.

use std::fmt;

/// A table with N columns.
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// Creates an empty table with these titles.
    pub(crate) fn new(titles: [&str; N]) -> Self {
        Table { rows: vec![titles.map(str::to_owned)] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: [usize; N] =
            std::array::from_fn(|column| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
        for (i, row) in self.rows.iter().enumerate() {
            let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(f, "| {} |", cells.join(" | "))?;
            if i == 0 {
                writeln!(f, "|{}|", widths.map(|width| "-".repeat(width + 2)).join("|"))?;
            }
        }
        Ok(())
    }
}

/// Formats a figure with three significant digits, or in thousands.
pub(crate) fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "–".to_owned(),
        value if value >= 10_000.0 => format!("{:.0} k", value / 1_000.0),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// Formats a ratio with two digits after the point.
pub(crate) fn ratio(ratio: f64) -> String {
    if ratio.is_finite() { format!("{ratio:.2}") } else { "–".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_significant_digits() {
        let shown = [f64::NAN, 0.394, 45.52, 217.4, 9173.0, 65_318.0].map(number);
        assert_eq!(shown, ["–", "0.39", "45.5", "217", "9173", "65 k"]);
    }

    #[test]
    fn a_ratio_to_zero_is_not_shown() {
        assert_eq!([0.126, 2.0, f64::INFINITY, f64::NAN].map(ratio), ["0.13", "2.00", "–", "–"]);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["what", "µs"]);
        table.row(["a".to_owned(), "12.5".to_owned()]);
        assert_eq!(table.to_string(), "| what | µs   |\n|------|------|\n| a    | 12.5 |\n");
    }
}
