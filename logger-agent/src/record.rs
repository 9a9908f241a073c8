//! One record: a line of JSON with a sequence number, a time and a checksum.

use std::{fmt::Write, net::IpAddr};

use flate2::Crc;
use jiff::Timestamp;
use memchr::{memchr, memchr2};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// The key of the checksum, which is the last member of a line.
const CHECKSUM_KEY: &[u8] = b",\"crc\":\"";

/// What follows the digits of the checksum.
const END: &[u8] = b"\"}";

/// The number of hexadecimal digits of a checksum.
const CHECKSUM_DIGITS: usize = 8;

/// The size of the members of a line except for the id and the body, at most.
const LINE_OVERHEAD: usize = 192;

/// The maximum length of a line, with its newline.
pub const MAX_LINE: u64 = 16 << 20;

/// The maximum sequence number: every JSON parser represents it exactly.
pub const MAX_SEQUENCE: u64 = (1 << 53) - 1;

/// Where a record comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A record of an application.
    Activity,
    /// An audit event of an API server.
    Audit,
    /// The agent itself, at each interval.
    Heartbeat,
}

impl Source {
    /// All sources.
    pub const ALL: [Source; 3] = [Source::Activity, Source::Audit, Source::Heartbeat];

    /// Returns the name in records and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Source::Activity => "activity",
            Source::Audit => "audit",
            Source::Heartbeat => "heartbeat",
        }
    }
}

/// A record without its sequence number and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    source: Source,
    id: Option<String>,
    peer: Option<IpAddr>,
    body: String,
}

impl Draft {
    /// Creates a draft of a JSON value. Records of one source with equal ids are written once.
    #[must_use]
    pub fn new(source: Source, id: Option<String>, body: &RawValue) -> Self {
        Draft { source, id, peer: None, body: compact(body.get()) }
    }

    /// Sets the address of the peer that sent the record.
    #[must_use]
    pub fn from_peer(mut self, peer: IpAddr) -> Self {
        self.peer = Some(peer.to_canonical());
        self
    }

    /// Returns the source.
    #[must_use]
    pub fn source(&self) -> Source {
        self.source
    }

    /// Returns the id, if there is one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the size of the line, at most.
    pub(crate) fn max_line(&self) -> usize {
        // A character of an id becomes up to six in JSON.
        LINE_OVERHEAD + self.id.as_ref().map_or(0, |id| 6 * id.len()) + self.body.len()
    }

    /// Returns the body as JSON text on one line.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }
}

/// A record that was read from a file.
#[derive(Clone, Debug, Deserialize)]
pub struct Record {
    /// The position in the log. It orders the records, also if the clock was set back.
    pub sequence: u64,
    /// The time at which the agent received the record.
    pub time: Timestamp,
    /// Where the record comes from.
    pub source: Source,
    /// Identifies the record to its source.
    pub id: Option<String>,
    /// The address of the peer that sent the record. Heartbeats have none.
    pub peer: Option<IpAddr>,
    /// The JSON value.
    pub body: Box<RawValue>,
}

/// A line that is not a valid record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The line has no checksum at its end.
    #[error("the line has no checksum")]
    NoChecksum,
    /// The line was changed.
    #[error("the checksum is `{found}`, but that of the line is `{computed}`")]
    Checksum {
        /// The checksum in the line.
        found: String,
        /// The checksum of the line.
        computed: String,
    },
    /// The checksum is correct, but the line is not a record.
    #[error("not a record: {0}")]
    Json(#[from] serde_json::Error),
    /// The sequence number exceeds [`MAX_SEQUENCE`].
    #[error("the sequence number {0} exceeds {max}", max = MAX_SEQUENCE)]
    Sequence(u64),
    /// The line exceeds [`MAX_LINE`].
    #[error("the line is longer than {} bytes", MAX_LINE)]
    TooLong,
}

/// Encodes a record as one line with its newline.
#[must_use]
pub fn encode(sequence: u64, time: Timestamp, draft: &Draft) -> String {
    let mut line = String::with_capacity(draft.max_line());
    let source = draft.source.name();
    // Writing to a string cannot fail.
    let _ = write!(line, "{{\"sequence\":{sequence},\"time\":\"{time}\",\"source\":\"{source}\"");
    if let Some(id) = &draft.id {
        let _ = write!(line, ",\"id\":{}", Value::String(id.clone()));
    }
    if let Some(peer) = draft.peer {
        let _ = write!(line, ",\"peer\":\"{peer}\"");
    }
    let _ = write!(line, ",\"body\":{}", draft.body);
    let checksum = checksum(line.as_bytes());
    let _ = writeln!(line, ",\"crc\":\"{checksum}\"}}");
    line
}

/// Parses a line without its newline, and verifies its checksum.
///
/// # Errors
/// Fails if the line is not a record as [`encode`] writes it, or was changed.
pub fn parse(line: &[u8]) -> Result<Record, RecordError> {
    let (content, found) = split_checksum(line).ok_or(RecordError::NoChecksum)?;
    let computed = checksum(content);
    if found != computed.as_bytes() {
        return Err(RecordError::Checksum { found: String::from_utf8_lossy(found).into_owned(), computed });
    }
    let record: Record = serde_json::from_slice(line)?;
    match record.sequence <= MAX_SEQUENCE {
        true => Ok(record),
        false => Err(RecordError::Sequence(record.sequence)),
    }
}

/// Splits a line into the bytes that the checksum covers, and the digits of the checksum.
fn split_checksum(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (content, digits) = line.strip_suffix(END)?.split_last_chunk::<CHECKSUM_DIGITS>()?;
    Some((content.strip_suffix(CHECKSUM_KEY)?, digits.as_slice()))
}

/// Returns the CRC-32 of gzip and zlib as hexadecimal digits.
fn checksum(bytes: &[u8]) -> String {
    let mut crc = Crc::new();
    crc.update(bytes);
    format!("{:08x}", crc.sum())
}

/// Removes the whitespace between the tokens of a JSON text, newlines included.
fn compact(json: &str) -> String {
    let is_whitespace = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    // API servers send compact texts.
    if Parts(json).all(|(structure, _)| !structure.as_bytes().iter().any(is_whitespace)) {
        return json.to_owned();
    }
    let mut compact = String::with_capacity(json.len());
    for (structure, string) in Parts(json) {
        compact.extend(structure.split_ascii_whitespace());
        compact.push_str(string);
    }
    compact
}

/// The parts of a valid JSON text: what precedes a string, and the string with its quotes. The last string can be
/// empty.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'a>(pub(crate) &'a str);

impl<'a> Iterator for Parts<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let start = memchr(b'"', self.0.as_bytes()).unwrap_or(self.0.len());
        let (structure, rest) = self.0.split_at(start);
        let (string, rest) = rest.split_at_checked(string_length(rest.as_bytes())).unwrap_or((rest, ""));
        self.0 = rest;
        Some((structure, string))
    }
}

/// Returns the length of the string with its quotes at the start of a text.
fn string_length(text: &[u8]) -> usize {
    let mut length = 1;
    while let Some(rest) = text.get(length..)
        && let Some(at) = memchr2(b'"', b'\\', rest)
    {
        length += at + 1;
        match rest.get(at) {
            Some(b'"') => return length,
            // The escaped character is not a quote.
            _ => length += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn draft(source: Source, id: Option<String>, body: &str) -> Draft {
        Draft::new(source, id, serde_json::from_str(body).unwrap())
    }

    fn line(body: &str) -> String {
        encode(7, "2026-01-02T03:04:05.000000006Z".parse().unwrap(), &draft(Source::Audit, None, body))
    }

    #[test]
    fn a_line_is_json_with_the_checksum_of_what_precedes_it() {
        let line = line("{ \"a\" :\n [1, 2] }");
        let content = r#"{"sequence":7,"time":"2026-01-02T03:04:05.000000006Z","source":"audit","body":{"a":[1,2]}"#;
        assert_eq!(line, format!("{content},\"crc\":\"{}\"}}\n", checksum(content.as_bytes())));
        assert!(serde_json::from_str::<Value>(&line).is_ok());
        assert_eq!(checksum(b"123456789"), "cbf43926", "the check value of CRC-32");
    }

    #[test]
    fn a_line_has_the_address_of_its_peer() {
        let draft = draft(Source::Activity, None, "{}").from_peer("::ffff:192.0.2.7".parse().unwrap());
        let line = encode(7, Timestamp::UNIX_EPOCH, &draft);
        assert!(line.contains(r#","peer":"192.0.2.7","body":{},"#), "{line}");
        assert_eq!(parse(line.trim_end().as_bytes()).unwrap().peer, Some("192.0.2.7".parse().unwrap()));
        assert!(line.len() <= draft.max_line());
    }

    #[test]
    fn whitespace_in_strings_and_the_text_of_numbers_are_preserved() {
        let body = "{ \"a b\\\" \\\\\" : 1e400,\t\"n\\n\" : 12345678901234567890123 }";
        assert_eq!(compact(body), "{\"a b\\\" \\\\\":1e400,\"n\\n\":12345678901234567890123}");
    }

    #[test]
    fn every_changed_byte_is_found() {
        let line = line("{\"verb\":\"create\"}");
        let line = line.trim_end().as_bytes();
        for at in 0..line.len() {
            for mask in [1, 0x20, 0x80] {
                let mut changed = line.to_vec();
                changed[at] ^= mask;
                assert!(parse(&changed).is_err(), "byte {at} with mask {mask}");
            }
            assert!(parse(&line[..at]).is_err(), "{at} bytes");
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn source() -> impl Strategy<Value = Source> {
        prop::sample::select(Source::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn records_survive_a_round_trip(
            sequence in 0..=MAX_SEQUENCE,
            nanoseconds in 0_i128..4_000_000_000_000_000_000,
            source in source(),
            id: Option<String>,
            body in json(),
        ) {
            let time = Timestamp::from_nanosecond(nanoseconds).unwrap();
            let text = serde_json::to_string_pretty(&body).unwrap();
            let line = encode(sequence, time, &draft(source, id.clone(), &text));
            prop_assert_eq!(line.matches('\n').count(), 1);
            let record = parse(line.trim_end_matches('\n').as_bytes()).unwrap();
            prop_assert_eq!((record.sequence, record.time, record.source, record.id), (sequence, time, source, id));
            prop_assert_eq!(serde_json::from_str::<Value>(record.body.get()).unwrap(), body);
        }
    }
}
