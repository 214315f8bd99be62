//! Specifiers of unit files such as `%i` (systemd.unit(5), "Specifiers").

use crate::file::stem;

/// `None` if a specifier is known only when the unit starts.
pub fn expanded(value: &str, unit: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => text += &of_unit(letters.next()?, unit)?,
            letter => text.push(letter),
        }
    }
    Some(text)
}

fn of_unit(specifier: char, unit: &str) -> Option<String> {
    let stem = stem(unit);
    let parts = stem.split_once('@');
    let prefix = parts.map_or(stem, |(prefix, _)| prefix);
    let instance = parts.map_or("", |(_, instance)| instance);
    let last = prefix.rsplit('-').next().unwrap_or(prefix);
    match specifier {
        '%' => Some("%".to_owned()),
        'n' => Some(unit.to_owned()),
        'N' => Some(stem.to_owned()),
        'p' => Some(prefix.to_owned()),
        'P' => unescaped(prefix),
        'i' => Some(instance.to_owned()),
        'I' => unescaped(instance),
        'j' => Some(last.to_owned()),
        'J' => unescaped(last),
        'f' => unescaped(if instance.is_empty() { prefix } else { instance })
            .map(|path| format!("/{path}")),
        _ => None,
    }
}

/// `-` is a slash, `\x2d` the byte with this number (systemd-escape(1)).
fn unescaped(name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    loop {
        rest = match rest {
            [] => return String::from_utf8(bytes).ok(),
            [b'\\', b'x', high, low, rest @ ..] => {
                let high = char::from(*high).to_digit(16)?;
                let low = char::from(*low).to_digit(16)?;
                bytes.push(u8::try_from(high << 4 | low).ok()?);
                rest
            }
            [b'-', rest @ ..] => {
                bytes.push(b'/');
                rest
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifiers_expand_from_unit_name() {
        let unit = r"net-watch@2\x2d4.service";
        for (value, text) in [
            ("%i", r"2\x2d4"),
            ("%I", "2-4"),
            ("0 %I,7", "0 2-4,7"),
            ("%p", "net-watch"),
            ("%P", "net/watch"),
            ("%j", "watch"),
            ("%n", unit),
            ("%N", r"net-watch@2\x2d4"),
            ("%f", "/2-4"),
            ("%%i", "%i"),
        ] {
            assert_eq!(expanded(value, unit).as_deref(), Some(text), "{value}");
        }
        assert_eq!(expanded("%i", "plain.service").as_deref(), Some(""));
        for unknown in ["%H", "%m", "%"] {
            assert_eq!(expanded(unknown, unit), None, "{unknown}");
        }
        assert_eq!(expanded("%I", r"a@\xzz.service"), None);
    }
}
