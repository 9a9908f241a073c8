//! Counts what the copies of a Logger allocate.

fn main() {
    bench::copies::each(|case, copy| {
        let counted = allocation_counter::measure(copy);
        println!("{case}\t{}:{}", counted.count_total, counted.bytes_total);
    });
}
