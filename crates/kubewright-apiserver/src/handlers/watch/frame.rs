//! Frames: encoded events that a watch sends together.

use bytes::{Bytes, BytesMut};

/// The maximum number of events of a frame.
pub(super) const MAX_EVENTS: usize = 64;
/// The size from which on a frame takes no further events, in bytes.
const FULL_BYTES: usize = 64 << 10;

/// Encoded events of a watch, in order. The size of a frame is bounded, except for that of its last event.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    events: Vec<Bytes>,
    size: usize,
}

impl Frame {
    pub(super) fn push(&mut self, event: Bytes) {
        self.size += event.len();
        self.events.push(event);
    }

    pub(super) fn has_room(&self) -> bool {
        self.events.len() < MAX_EVENTS && self.size < FULL_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the joined events. A single event is not copied.
    pub(crate) fn into_bytes(mut self) -> Bytes {
        if self.events.len() == 1 {
            return self.events.pop().unwrap_or_default();
        }
        let mut joined = BytesMut::with_capacity(self.size);
        self.events.iter().for_each(|event| joined.extend_from_slice(event));
        joined.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(event: &'static [u8]) -> Frame {
        let mut frame = Frame::default();
        while frame.has_room() {
            frame.push(Bytes::from_static(event));
        }
        frame
    }

    #[test]
    fn the_number_and_the_size_of_the_events_are_bounded() {
        let many = filled(b"event\n");
        assert_eq!((many.events.len(), many.into_bytes().len()), (MAX_EVENTS, 6 * MAX_EVENTS));
        let large = filled(&[b'x'; FULL_BYTES / 2 + 1]);
        assert_eq!((large.events.len(), large.into_bytes().len()), (2, FULL_BYTES + 2));
    }

    #[test]
    fn events_are_joined_in_order() {
        let mut frame = Frame::default();
        assert!(frame.is_empty());
        frame.push(Bytes::from_static(b"a\n"));
        frame.push(Bytes::from_static(b"b\n"));
        assert_eq!(frame.into_bytes(), "a\nb\n");
    }

    #[test]
    fn a_single_event_is_not_copied() {
        let event = Bytes::from(vec![b'x'; 10]);
        let mut frame = Frame::default();
        frame.push(event.clone());
        assert_eq!(frame.into_bytes().as_ptr(), event.as_ptr());
    }
}
