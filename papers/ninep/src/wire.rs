//! The parts of messages: little-endian numbers, texts, lists (intro(5) of the Plan 9 manual).

/// The most names in a walk, the longest list (`MAXWELEM`, walk(5)).
pub const MOST_NAMES: usize = 16;

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It ends too early.
    #[error("the message ends too early")]
    Short,
    /// It has further bytes.
    #[error("something follows the message")]
    Long,
    /// It has a list of more than [`MOST_NAMES`].
    #[error("a list has at most {MOST_NAMES} entries")]
    Many,
    /// Its number is unknown.
    #[error("unknown message type {0}")]
    Unknown(u8),
}

pub(crate) struct Rest<'a>(pub &'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (front, back) = self.0.split_at_checked(count).ok_or(Malformed::Short)?;
        self.0 = back;
        Ok(front)
    }
}

pub(crate) trait MessageField<'a>: Sized {
    fn put(&self, out: &mut Vec<u8>);

    /// Reads it from the start of the rest.
    fn take(from: &mut Rest<'a>) -> Result<Self, Malformed>;
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl<'a> MessageField<'a> for $kind {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(from: &mut Rest<'a>) -> Result<Self, Malformed> {
                let bytes = from.bytes(size_of::<$kind>())?;
                bytes.try_into().map(<$kind>::from_le_bytes).map_err(|_| Malformed::Short)
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64);

impl<'a> MessageField<'a> for &'a [u8] {
    fn put(&self, out: &mut Vec<u8>) {
        // Names have up to 255 bytes and links 4,095; longer texts are cut.
        let text = &self[..self.len().min(usize::from(u16::MAX))];
        (text.len() as u16).put(out);
        out.extend_from_slice(text);
    }

    fn take(from: &mut Rest<'a>) -> Result<Self, Malformed> {
        let length = u16::take(from)?;
        from.bytes(usize::from(length))
    }
}

/// Read or written data, as long as a message allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a>(pub &'a [u8]);

impl<'a> MessageField<'a> for Data<'a> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.0.len() as u32).put(out);
        out.extend_from_slice(self.0);
    }

    fn take(from: &mut Rest<'a>) -> Result<Self, Malformed> {
        let length = u32::take(from)?;
        from.bytes(length as usize).map(Data)
    }
}

impl<'a, T: MessageField<'a>> MessageField<'a> for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u16).put(out);
        self.iter().for_each(|entry| entry.put(out));
    }

    fn take(from: &mut Rest<'a>) -> Result<Self, Malformed> {
        match usize::from(u16::take(from)?) {
            count @ ..=MOST_NAMES => (0..count).map(|_| T::take(from)).collect(),
            _ => Err(Malformed::Many),
        }
    }
}

/// A structure, written field by field.
macro_rules! structure {
    ($name:ident { $($field:ident),* }) => {
        impl<'a> $crate::wire::MessageField<'a> for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn take(from: &mut $crate::wire::Rest<'a>) -> Result<Self, $crate::wire::Malformed> {
                Ok($name { $($field: $crate::wire::MessageField::take(from)?),* })
            }
        }
    };
}

/// An enum of messages with their numbers.
macro_rules! messages {
    ($(#[$about:meta])* $name:ident {
        $($(#[$doc:meta])* $variant:ident = $number:literal {
            $($(#[$meaning:meta])* $field:ident: $kind:ty),*
        })*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name<'a> {
            $($(#[$doc])* $variant { $($(#[$meaning])* $field: $kind),* },)*
        }

        impl<'a> $name<'a> {
            /// Parses the message with this number.
            ///
            /// # Errors
            /// [`Malformed`](crate::wire::Malformed).
            pub fn parse(number: u8, body: &'a [u8]) -> Result<Self, $crate::wire::Malformed> {
                let mut from = $crate::wire::Rest(body);
                let message = match number {
                    $($number => $name::$variant {
                        $($field: $crate::wire::MessageField::take(&mut from)?),*
                    },)*
                    other => return Err($crate::wire::Malformed::Unknown(other)),
                };
                if from.0.is_empty() { Ok(message) } else { Err($crate::wire::Malformed::Long) }
            }

            /// Its type's number.
            pub fn number(&self) -> u8 {
                match self { $($name::$variant { .. } => $number,)* }
            }

            /// Writes the whole frame, which replaces the content of `out`.
            pub fn frame(&self, tag: u16, out: &mut Vec<u8>) {
                $crate::frame::begin(self.number(), tag, out);
                match self {
                    $($name::$variant { $($field),* } => {
                        $($crate::wire::MessageField::put($field, out);)*
                    })*
                }
                $crate::frame::end(out);
            }
        }
    };
}

pub(crate) use {messages, structure};
