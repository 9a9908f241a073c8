//! Character classes: bracket expressions, and Perl, POSIX and Unicode classes.

use super::{error::Error, escape::escape, flags::Flags};

/// The POSIX classes and their ranges.
const POSIX: [(&str, &str); 14] = [
    ("alnum", "0-9A-Za-z"),
    ("alpha", "A-Za-z"),
    ("ascii", r"\x{0}-\x{7f}"),
    ("blank", r"\t\x{20}"),
    ("cntrl", r"\x{0}-\x{1f}\x{7f}"),
    ("digit", "0-9"),
    ("graph", r"\x{21}-\x{7e}"),
    ("lower", "a-z"),
    ("print", r"\x{20}-\x{7e}"),
    ("punct", r"\x{21}-\x{2f}\x{3a}-\x{40}\x{5b}-\x{60}\x{7b}-\x{7e}"),
    ("space", r"\t\n\v\f\r\x{20}"),
    ("upper", "A-Z"),
    ("word", "0-9A-Za-z_"),
    ("xdigit", "0-9A-Fa-f"),
];

/// The names of the Unicode general categories that Go accepts, and their short names.
const CATEGORIES: [(&str, &str); 84] = [
    ("C", "C"),
    ("Cc", "Cc"),
    ("Cf", "Cf"),
    ("Cn", "Cn"),
    ("Co", "Co"),
    ("Cs", "Cs"),
    ("L", "L"),
    ("Lc", "LC"),
    ("Ll", "Ll"),
    ("Lm", "Lm"),
    ("Lo", "Lo"),
    ("Lt", "Lt"),
    ("Lu", "Lu"),
    ("M", "M"),
    ("Mc", "Mc"),
    ("Me", "Me"),
    ("Mn", "Mn"),
    ("N", "N"),
    ("Nd", "Nd"),
    ("Nl", "Nl"),
    ("No", "No"),
    ("P", "P"),
    ("Pc", "Pc"),
    ("Pd", "Pd"),
    ("Pe", "Pe"),
    ("Pf", "Pf"),
    ("Pi", "Pi"),
    ("Po", "Po"),
    ("Ps", "Ps"),
    ("S", "S"),
    ("Sc", "Sc"),
    ("Sk", "Sk"),
    ("Sm", "Sm"),
    ("So", "So"),
    ("Z", "Z"),
    ("Zl", "Zl"),
    ("Zp", "Zp"),
    ("Zs", "Zs"),
    ("Casedletter", "LC"),
    ("Closepunctuation", "Pe"),
    ("Combiningmark", "M"),
    ("Connectorpunctuation", "Pc"),
    ("Control", "Cc"),
    ("Currencysymbol", "Sc"),
    ("Dashpunctuation", "Pd"),
    ("Decimalnumber", "Nd"),
    ("Enclosingmark", "Me"),
    ("Finalpunctuation", "Pf"),
    ("Format", "Cf"),
    ("Initialpunctuation", "Pi"),
    ("Letter", "L"),
    ("Letternumber", "Nl"),
    ("Lineseparator", "Zl"),
    ("Lowercaseletter", "Ll"),
    ("Mark", "M"),
    ("Mathsymbol", "Sm"),
    ("Modifierletter", "Lm"),
    ("Modifiersymbol", "Sk"),
    ("Nonspacingmark", "Mn"),
    ("Number", "N"),
    ("Openpunctuation", "Ps"),
    ("Other", "C"),
    ("Otherletter", "Lo"),
    ("Othernumber", "No"),
    ("Otherpunctuation", "Po"),
    ("Othersymbol", "So"),
    ("Paragraphseparator", "Zp"),
    ("Privateuse", "Co"),
    ("Punctuation", "P"),
    ("Separator", "Z"),
    ("Spaceseparator", "Zs"),
    ("Spacingmark", "Mc"),
    ("Surrogate", "Cs"),
    ("Symbol", "S"),
    ("Titlecaseletter", "Lt"),
    ("Unassigned", "Cn"),
    ("Uppercaseletter", "Lu"),
    ("Cntrl", "Cc"),
    ("Digit", "Nd"),
    ("Punct", "P"),
    ("Any", "Any"),
    ("Assigned", "Assigned"),
    ("Ascii", "ASCII"),
    ("", ""),
];

/// The Unicode scripts that Go 1.26 accepts. It finds only names of one word, because it removes `_` before the lookup.
const SCRIPTS: &str = "\
    Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese \
    Buhid Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra \
    Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul \
    Hanunoo Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki \
    Khudawadi Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen \
    Medefaidrin Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage \
    Osmanya Palmyrene Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo \
    Sundanese Syriac Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto \
    Ugaritic Vai Vithkuqi Wancho Yezidi Yi";

const BAD_RANGE: &str = "invalid character class range";

/// Parses a bracket expression. Returns its translation and the rest of the text.
pub(super) fn parse_bracket_expression(text: &str, flags: Flags) -> Result<(String, &str), Error> {
    let (negated, mut rest) = match text[1..].strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, &text[1..]),
    };
    let mut ranges = String::new();
    let mut first = true;
    while rest.is_empty() || first || !rest.starts_with(']') {
        first = false;
        rest = match parse_named_class(rest)? {
            Some((translated, rest)) => {
                ranges.push_str(&translated);
                rest
            }
            None => parse_range(rest, text, &mut ranges)?,
        };
    }
    Ok((flags.fold(&bracket_expression(negated, &ranges)), &rest[1..]))
}

/// A bracket expression of these ranges. Without a range, it matches nothing; negated, it matches every character.
fn bracket_expression(negated: bool, ranges: &str) -> String {
    match (negated, ranges) {
        (true, "") => r"[\x{0}-\x{10FFFF}]".to_owned(),
        (false, "") => r"[^\x{0}-\x{10FFFF}]".to_owned(),
        (true, _) => format!("[^{ranges}]"),
        (false, _) => format!("[{ranges}]"),
    }
}

/// Parses a class such as `[:alpha:]`, `\pL` or `\d`; `None` for any other text.
fn parse_named_class(text: &str) -> Result<Option<(String, &str)>, Error> {
    if let Some(parsed) = parse_posix_class(text)? {
        return Ok(Some(parsed));
    }
    if let Some(parsed) = parse_unicode_class(text)? {
        return Ok(Some(parsed));
    }
    Ok(parse_perl_class(text))
}

fn parse_posix_class(text: &str) -> Result<Option<(String, &str)>, Error> {
    let Some((name, rest)) = text.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) else {
        return Ok(None);
    };
    let (negated, bare) = name.strip_prefix('^').map_or((false, name), |bare| (true, bare));
    match POSIX.iter().find(|(known, _)| *known == bare) {
        Some((_, ranges)) => Ok(Some((bracket_expression(negated, ranges), rest))),
        None => Err(Error::new(BAD_RANGE, &format!("[:{name}:]"))),
    }
}

/// Parses `\d`, `\s`, `\w` or their negations, which are ASCII classes in Go.
pub(super) fn parse_perl_class(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('\\')?.chars();
    let name = chars.next()?;
    let ranges = match name.to_ascii_lowercase() {
        'd' => "0-9",
        's' => r"\t\n\f\r\x{20}",
        'w' => "0-9A-Za-z_",
        _ => return None,
    };
    Some((bracket_expression(name.is_ascii_uppercase(), ranges), chars.as_str()))
}

/// Parses `\pN`, `\p{Greek}` or their negations.
pub(super) fn parse_unicode_class(text: &str) -> Result<Option<(String, &str)>, Error> {
    let Some(after) = text.strip_prefix("\\p").or_else(|| text.strip_prefix("\\P")) else {
        return Ok(None);
    };
    let negated = text.as_bytes()[1] == b'P';
    let (name, rest) = match after.strip_prefix('{') {
        Some(braced) => braced.split_once('}').ok_or_else(|| Error::new(BAD_RANGE, text))?,
        None => after.split_at(after.chars().next().map_or(0, char::len_utf8)),
    };
    let (negated, bare) = name.strip_prefix('^').map_or((negated, name), |bare| (!negated, bare));
    let Some(ranges) = unicode_ranges(&canonical(bare)) else {
        return Err(Error::new(BAD_RANGE, &text[..text.len() - rest.len()]));
    };
    Ok(Some((bracket_expression(negated, &ranges), rest)))
}

/// Normalizes a class name as Go does: without spaces, hyphens and underscores, and with an initial capital.
fn canonical(name: &str) -> String {
    let letters = name.chars().filter(|c| !" -_".contains(*c)).enumerate();
    letters.map(|(index, c)| if index == 0 { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect()
}

fn unicode_ranges(name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    if let Some((_, short)) = CATEGORIES.iter().find(|(known, _)| *known == name) {
        return Some(match *short {
            "Any" => r"\x{0}-\x{10FFFF}".to_owned(),
            "ASCII" => r"\x{0}-\x{7f}".to_owned(),
            "Assigned" => r"\P{Cn}".to_owned(),
            // UTF-8 has no surrogates.
            "Cs" => String::new(),
            short => format!(r"\p{{gc={short}}}"),
        });
    }
    SCRIPTS.split_whitespace().any(|script| script == name).then(|| format!(r"\p{{sc={name}}}"))
}

/// Parses a character or a range within the bracket expression `bracket`.
fn parse_range<'a>(text: &'a str, bracket: &str, ranges: &mut String) -> Result<&'a str, Error> {
    let (low, mut rest) = parse_character(text, bracket)?;
    let mut high = low;
    // A hyphen before the closing bracket is literal.
    if let Some(after) = rest.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']')) {
        (high, rest) = parse_character(after, bracket)?;
        if high < low {
            return Err(Error::new(BAD_RANGE, &text[..text.len() - rest.len()]));
        }
    }
    push_range(ranges, low, high);
    Ok(rest)
}

/// Adds a range without its surrogates, which the `regex` crate does not accept.
fn push_range(ranges: &mut String, low: u32, high: u32) {
    let low = if (0xD800..=0xDFFF).contains(&low) { 0xE000 } else { low };
    let high = if (0xD800..=0xDFFF).contains(&high) { 0xD7FF } else { high };
    if low <= high {
        ranges.push_str(&format!(r"\x{{{low:x}}}-\x{{{high:x}}}"));
    }
}

fn parse_character<'a>(text: &'a str, bracket: &str) -> Result<(u32, &'a str), Error> {
    let mut chars = text.chars();
    match chars.next() {
        None => Err(Error::new("missing closing ]", bracket)),
        Some('\\') => escape(text),
        Some(c) => Ok((c.into(), chars.as_str())),
    }
}
