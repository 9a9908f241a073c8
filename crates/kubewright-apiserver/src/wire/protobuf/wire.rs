//! The wire format: keys, numbers and lengths, with the errors of Go's generated code.

/// The wire types.
pub(super) const VARINT: u8 = 0;
pub(super) const FIXED64: u8 = 1;
pub(super) const BYTES: u8 = 2;
const START_GROUP: u8 = 3;
const END_GROUP: u8 = 4;
const FIXED32: u8 = 5;

const UNEXPECTED_EOF: &str = "unexpected EOF";

/// Reads the fields of one message, and never reads beyond its end.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number and the wire type of the next field, if there is one. Errors name the `message`.
    pub(super) fn key(&mut self, message: &str) -> Result<Option<(u32, u8)>, String> {
        if self.is_at_end() {
            return Ok(None);
        }
        let key = self.varint()?;
        let wire_type = (key & 7) as u8;
        if wire_type == END_GROUP {
            return Err(format!("proto: {message}: wiretype end group for non-group"));
        }
        // Go truncates the number to 32 bits.
        let number = (key >> 3) as u32 as i32;
        match u32::try_from(number) {
            Ok(number) if number > 0 => Ok(Some((number, wire_type))),
            _ => Err(format!("proto: {message}: illegal tag {number} (wire type {key})")),
        }
    }

    pub(super) fn varint(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.read_bytes(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("proto: integer overflow".to_owned())
    }

    pub(super) fn fixed64(&mut self) -> Result<u64, String> {
        let bytes = self.read_bytes(8)?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Reads a length-delimited field.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], String> {
        let length = self.varint()?;
        if i64::try_from(length).is_err() {
            return Err("proto: negative length found during unmarshaling".to_owned());
        }
        self.read_bytes(usize::try_from(length).map_err(|_| UNEXPECTED_EOF)?)
    }

    /// Skips an unknown field.
    pub(super) fn skip(&mut self, wire_type: u8) -> Result<(), String> {
        let mut groups = 0_u32;
        let mut wire_type = wire_type;
        loop {
            match wire_type {
                VARINT => drop(self.varint()?),
                FIXED64 => drop(self.read_bytes(8)?),
                BYTES => drop(self.bytes()?),
                FIXED32 => drop(self.read_bytes(4)?),
                START_GROUP => groups += 1,
                END_GROUP if groups == 0 => return Err("proto: unexpected end of group".to_owned()),
                END_GROUP => groups -= 1,
                other => return Err(format!("proto: illegal wireType {other}")),
            }
            if groups == 0 {
                return Ok(());
            }
            wire_type = (self.varint()? & 7) as u8;
        }
    }

    fn read_bytes(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(UNEXPECTED_EOF)?;
        self.0 = rest;
        Ok(bytes)
    }
}

/// Rejects a field, named as in Go, whose wire type does not match its type.
pub(super) fn expect(wire_type: u8, expected: u8, field: &str) -> Result<(), String> {
    if wire_type == expected { Ok(()) } else { Err(format!("proto: wrong wireType = {wire_type} for field {field}")) }
}

pub(super) fn bytes<'a>(reader: &mut Reader<'a>, wire_type: u8, field: &str) -> Result<&'a [u8], String> {
    expect(wire_type, BYTES, field)?;
    reader.bytes()
}

/// Reads a string. Invalid UTF-8 is replaced, as when Go encodes JSON.
pub(super) fn text(reader: &mut Reader<'_>, wire_type: u8, field: &str) -> Result<String, String> {
    Ok(String::from_utf8_lossy(bytes(reader, wire_type, field)?).into_owned())
}

/// Writes the fields of one message.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn with_prefix(prefix: &[u8]) -> Self {
        Self(prefix.to_vec())
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn varint(&mut self, number: u32, value: u64) {
        self.key(number, VARINT);
        self.raw_varint(value);
    }

    pub(crate) fn fixed64(&mut self, number: u32, value: u64) {
        self.key(number, FIXED64);
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, number: u32, value: &[u8]) {
        self.key(number, BYTES);
        self.raw_varint(value.len() as u64);
        self.0.extend(value);
    }

    fn key(&mut self, number: u32, wire_type: u8) {
        self.raw_varint(u64::from(number) << 3 | u64::from(wire_type));
    }

    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
