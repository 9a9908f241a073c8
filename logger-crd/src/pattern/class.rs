//! Classes of characters: brackets, escapes, POSIX and Unicode names.

use super::{
    Error,
    parse::{Flags, error, escape},
};

/// The characters of POSIX classes, as ranges within brackets.
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

/// General categories of Unicode by the names Go knows, and their short names.
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

/// Scripts of Unicode that Go 1.26 finds by name: those whose name is one word, for it looks others up without their `_`.
const SCRIPTS: &str = "Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille \
    Buginese Buhid Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari \
    Dogra Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul \
    Hanunoo Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki Khudawadi \
    Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Medefaidrin Miao \
    Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene \
    Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac \
    Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi \
    Wancho Yezidi Yi";

const BAD_RANGE: &str = "invalid character class range";

/// Reads what stands in brackets, from the bracket on; gives its words and the rest.
pub(super) fn bracketed(text: &str, flags: Flags) -> Result<(String, &str), Error> {
    let (negated, mut rest) = match text[1..].strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, &text[1..]),
    };
    let mut inside = String::new();
    let mut first = true;
    while rest.is_empty() || first || !rest.starts_with(']') {
        first = false;
        rest = match named(rest)? {
            Some((words, rest)) => {
                inside.push_str(&words);
                rest
            }
            None => range(rest, text, &mut inside)?,
        };
    }
    Ok((flags.fold(&brackets(negated, &inside)), &rest[1..]))
}

/// Words for brackets; those with nothing inside match nothing.
fn brackets(negated: bool, inside: &str) -> String {
    match (negated, inside) {
        (true, "") => r"[\x{0}-\x{10FFFF}]".to_owned(),
        (false, "") => r"[^\x{0}-\x{10FFFF}]".to_owned(),
        (true, _) => format!("[^{inside}]"),
        (false, _) => format!("[{inside}]"),
    }
}

/// A class with a name: `[:alpha:]`, `\pL`, `\d`.
fn named(text: &str) -> Result<Option<(String, &str)>, Error> {
    if let Some(found) = posix(text)? {
        return Ok(Some(found));
    }
    if let Some(found) = unicode(text)? {
        return Ok(Some(found));
    }
    Ok(perl(text))
}

fn posix(text: &str) -> Result<Option<(String, &str)>, Error> {
    let Some((name, rest)) = text.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) else {
        return Ok(None);
    };
    let (negated, bare) = name.strip_prefix('^').map_or((false, name), |bare| (true, bare));
    match POSIX.iter().find(|(known, _)| *known == bare) {
        Some((_, inside)) => Ok(Some((brackets(negated, inside), rest))),
        None => Err(error(BAD_RANGE, &format!("[:{name}:]"))),
    }
}

/// `\d`, `\s`, `\w` and what they leave: of ASCII alone.
pub(super) fn perl(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('\\')?.chars();
    let name = chars.next()?;
    let inside = match name.to_ascii_lowercase() {
        'd' => "0-9",
        's' => r"\t\n\f\r\x{20}",
        'w' => "0-9A-Za-z_",
        _ => return None,
    };
    Some((brackets(name.is_ascii_uppercase(), inside), chars.as_str()))
}

/// `\pN`, `\p{Greek}` and their negations.
pub(super) fn unicode(text: &str) -> Result<Option<(String, &str)>, Error> {
    let Some(after) = text.strip_prefix("\\p").or_else(|| text.strip_prefix("\\P")) else {
        return Ok(None);
    };
    let negated = text.as_bytes()[1] == b'P';
    let (name, rest) = match after.strip_prefix('{') {
        Some(braced) => braced.split_once('}').ok_or_else(|| error(BAD_RANGE, text))?,
        None => after.split_at(after.chars().next().map_or(0, char::len_utf8)),
    };
    let (negated, bare) = name.strip_prefix('^').map_or((negated, name), |bare| (!negated, bare));
    let Some(inside) = unicode_inside(&canonical(bare)) else {
        return Err(error(BAD_RANGE, &text[..text.len() - rest.len()]));
    };
    Ok(Some((brackets(negated, &inside), rest)))
}

/// Without spaces, hyphens and underscores, with a capital first.
fn canonical(name: &str) -> String {
    let letters = name.chars().filter(|c| !" -_".contains(*c)).enumerate();
    letters.map(|(index, c)| if index == 0 { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect()
}

fn unicode_inside(name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    if let Some((_, short)) = CATEGORIES.iter().find(|(known, _)| *known == name) {
        return Some(match *short {
            "Any" => r"\x{0}-\x{10FFFF}".to_owned(),
            "ASCII" => r"\x{0}-\x{7f}".to_owned(),
            "Assigned" => r"\P{Cn}".to_owned(),
            // No text that is UTF-8 has any.
            "Cs" => String::new(),
            short => format!(r"\p{{gc={short}}}"),
        });
    }
    SCRIPTS.split_whitespace().any(|script| script == name).then(|| format!(r"\p{{sc={name}}}"))
}

/// One character or a range; `whole` begins at the bracket.
fn range<'a>(text: &'a str, whole: &str, inside: &mut String) -> Result<&'a str, Error> {
    let (low, mut rest) = character(text, whole)?;
    let mut high = low;
    // A hyphen before the closing bracket is a hyphen.
    if let Some(after) = rest.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']')) {
        (high, rest) = character(after, whole)?;
        if high < low {
            return Err(error(BAD_RANGE, &text[..text.len() - rest.len()]));
        }
    }
    push_range(inside, low, high);
    Ok(rest)
}

/// Surrogates are left out: no text has any.
fn push_range(inside: &mut String, low: u32, high: u32) {
    let low = if (0xD800..=0xDFFF).contains(&low) { 0xE000 } else { low };
    let high = if (0xD800..=0xDFFF).contains(&high) { 0xD7FF } else { high };
    if low <= high {
        inside.push_str(&format!(r"\x{{{low:x}}}-\x{{{high:x}}}"));
    }
}

fn character<'a>(text: &'a str, whole: &str) -> Result<(u32, &'a str), Error> {
    let mut chars = text.chars();
    match chars.next() {
        None => Err(error("missing closing ]", whole)),
        Some('\\') => escape(text),
        Some(c) => Ok((c.into(), chars.as_str())),
    }
}
