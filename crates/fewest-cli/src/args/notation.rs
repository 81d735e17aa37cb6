//! The small notations of option values: lists of names, `n:names`, times and sizes.

use std::time::Duration;

pub(crate) use fewest_report::{SOME, some};

/// Splits at `separator`, outside double quotes and unless escaped by a backslash. Quotes and
/// escapes are removed; blanks around a part are dropped. `at_most` parts (the last keeps the rest
/// as written).
fn split(text: &str, separator: char, at_most: usize) -> Result<Vec<String>, String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let (mut quoted, mut was_quoted) = (false, false);
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            _ if c == separator && !quoted => {
                parts.push(finish(&part, was_quoted));
                (part, was_quoted) = (String::new(), false);
                if parts.len() + 1 == at_most {
                    parts.push(text[at + c.len_utf8()..].to_owned());
                    return Ok(parts);
                }
            }
            '\\' => match rest.next() {
                Some((_, next)) if next == separator || matches!(next, '"' | '\\' | ',' | ':' | '=') => part.push(next),
                Some((_, next)) => part.extend(['\\', next]),
                None => part.push('\\'),
            },
            '"' if quoted => quoted = false,
            '"' if part.trim().is_empty() => {
                (quoted, was_quoted) = (true, true);
                part.clear();
            }
            _ => part.push(c),
        }
    }
    if quoted {
        return Err(format!("{text}: a quote is not closed"));
    }
    parts.push(finish(&part, was_quoted));
    Ok(parts)
}

/// A part as meant: blanks around it count only when quoted.
fn finish(part: &str, quoted: bool) -> String {
    if quoted { part.to_owned() } else { part.trim().to_owned() }
}

/// `a,b,"c,d",e\,f` as names.
pub(crate) fn names(text: &str) -> Result<Vec<String>, String> {
    let names = split(text, ',', usize::MAX)?;
    if names.iter().any(String::is_empty) {
        return Err(format!("\"{text}\" has an empty name; write names separated by commas"));
    }
    Ok(names)
}

/// Names separated by commas, as an option takes them.
#[derive(Debug, Clone)]
pub(crate) struct NameList(pub(crate) Vec<String>);

impl NameList {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        names(text).map(Self)
    }
}

/// `left:rest` at the first colon outside quotes.
pub(crate) fn before_colon(text: &str) -> Result<(String, String), String> {
    let mut parts = split(text, ':', 2)?;
    let rest = if parts.len() == 2 { parts.pop() } else { None };
    match (parts.pop(), rest) {
        (Some(left), Some(rest)) => Ok((left, rest)),
        _ => Err(format!("\"{text}\" has no colon")),
    }
}

/// `a:b,c` as a and the list of b and c.
pub(crate) fn implication(text: &str) -> Result<(String, Vec<String>), String> {
    let (left, rest) = before_colon(text).map_err(|why| format!("{why}; write A:B for \"A needs B\""))?;
    if left.is_empty() {
        return Err(format!("\"{text}\" has no name before the colon"));
    }
    Ok((left, names(&rest)?))
}

/// `2:a,b,c` as 2 and the list of a, b and c.
pub(crate) fn counted(text: &str) -> Result<(usize, Vec<String>), String> {
    let (left, rest) = before_colon(text).map_err(|why| format!("{why}; write N:A,B,C"))?;
    let count = left.parse().map_err(|_| format!("\"{left}\" in \"{text}\" is not a count; write N:A,B,C"))?;
    Ok((count, names(&rest)?))
}

/// `a:+,b:-` as pairs.
pub(crate) fn signs(text: &str) -> Result<Vec<(String, String)>, String> {
    let pair = |item: &String| before_colon(item).map_err(|why| format!("{why}; write NAME:+ or NAME:-"));
    let pairs: Vec<(String, String)> = raw_items(text)?.iter().map(pair).collect::<Result<_, _>>()?;
    Ok(pairs.into_iter().map(|(name, sign)| (name, sign.trim().to_owned())).collect())
}

/// The fields of a line of a csv file, which may be empty.
pub(crate) fn fields(line: &str, separator: char) -> Result<Vec<String>, String> {
    split(line, separator, usize::MAX)
}

/// `a=2,b=0.5` as pairs.
pub(crate) fn weighted(text: &str) -> Result<Vec<(String, f64)>, String> {
    let mut pairs = Vec::new();
    for item in raw_items(text)? {
        let parts = split(&item, '=', 2)?;
        let [name, weight] = parts.as_slice() else {
            return Err(format!("\"{item}\" has no =; write NAME=WEIGHT"));
        };
        let number = weight.trim().parse().map_err(|_| format!("\"{weight}\" in \"{item}\" is not a number"))?;
        pairs.push((name.clone(), number));
    }
    Ok(pairs)
}

/// Splits at commas outside quotes, leaving quotes and escapes for the next reader.
fn raw_items(text: &str) -> Result<Vec<String>, String> {
    let (mut items, mut item, mut quoted, mut escaped) = (Vec::new(), String::new(), false, false);
    for c in text.chars() {
        if c == ',' && !quoted && !escaped {
            items.push(std::mem::take(&mut item));
            continue;
        }
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        item.push(c);
    }
    if quoted {
        return Err(format!("{text}: a quote is not closed"));
    }
    items.push(item);
    Ok(items)
}

/// Sizes as `1..20` (both ends count), `1..20:2` (every second), `5`, or several of these separated
/// by commas; ascending, each once.
///
/// # Errors
/// What is wrong, to follow "but".
pub(crate) fn sizes(text: &str) -> Result<Vec<usize>, String> {
    let number = |part: &str| match part.trim().parse::<usize>() {
        Ok(0) | Err(_) => Err("must be sizes of at least 1, as in 1..20, 1..20:2 or 1,2,5".to_owned()),
        Ok(k) => Ok(k),
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if first > last {
            return Err(format!("{first} is above {last}; write {last}..{first}"));
        }
        if (last - first) / step >= MOST_SIZES {
            return Err(format!("that is more than {MOST_SIZES} sizes; take fewer, as in {first}..{last}:1000"));
        }
        all.extend((first..=last).step_by(step));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Most sizes of one range; no one reads as many, and they would fill the memory before p is known.
const MOST_SIZES: usize = 10_000;

/// `500ms`, `60s`, `5m`, `1h`, or plain seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("\"{text}\" is not a time; write for example 500ms, 60s, 5m or 1h");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.trim().parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| wrong())
}

/// A time as [`time`] reads it: `1.5s`, `10m`, `2h`.
pub(crate) fn typed_time(time: Duration) -> String {
    match time.as_secs() {
        whole if whole > 0 && whole % 3600 == 0 => format!("{}h", whole / 3600),
        whole if whole > 0 && whole % 60 == 0 => format!("{}m", whole / 60),
        _ => format!("{}s", time.as_secs_f64()),
    }
}

/// `2G`, `500M`, `1.5GiB`, or plain bytes; K, M, G, T are powers of 1024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("\"{text}\" is not a size above 0; write for example 500M or 2G");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.trim().parse().map_err(|_| wrong())?;
    let bytes = number * 1024f64.powi(power);
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(wrong()) }
}

/// A size for people: 1536 is "1.5 KiB".
pub(crate) fn bytes(count: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let power = (count.max(1).ilog2() / 10).min(4);
    if power == 0 {
        format!("{count} bytes")
    } else {
        format!("{:.1} {}", count as f64 / 1024f64.powi(power as i32), units[power as usize])
    }
}

/// `5`, `1 feature`, `3 features`: a count with its noun.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix("ss")) {
        (1, _) => format!("1 {noun}"),
        (n, Some(_)) => format!("{n} {noun}es"),
        (n, None) => format!("{n} {noun}s"),
    }
}

/// The name closest to `wrong`, if one is close: at most a third of its letters changed.
pub(crate) fn closest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = wrong.to_lowercase().chars().collect();
    let limit = (wanted.len() / 3).max(1);
    let near = names.into_iter().filter(|n| n.chars().count().abs_diff(wanted.len()) <= limit);
    near.map(|n| (distance(&wanted, n), n)).filter(|d| d.0 <= limit).min_by_key(|d| d.0).map(|d| d.1)
}

/// Letters to insert, delete, change or swap (case ignored).
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut least = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_commas() {
        assert_eq!(names(r#"a, b ,"c,d",e\,f,g\h"#).unwrap(), ["a", "b", "c,d", "e,f", "g\\h"]);
        assert!(names("a,,b").is_err() && names("\"a").is_err() && names("").is_err());
    }

    #[test]
    fn pairs_and_counts() {
        assert_eq!(implication(r#""x:y":b,"c,d""#).unwrap(), ("x:y".into(), vec!["b".into(), "c,d".into()]));
        assert_eq!(counted("2:a:1,b").unwrap(), (2, vec!["a:1".into(), "b".into()]));
        assert!(counted("a,b").is_err() && counted("-1:a").is_err() && implication(":b").is_err());
        assert_eq!(
            weighted(r#"1=2,"a,b"=0.5,c\=d=3"#).unwrap(),
            [("1".into(), 2.0), ("a,b".into(), 0.5), ("c=d".into(), 3.0)]
        );
    }

    #[test]
    fn times_and_sizes() {
        assert_eq!(time("1.5m").unwrap(), Duration::from_secs(90));
        assert_eq!(time("0s").unwrap(), Duration::ZERO);
        assert_eq!([600_000, 1500].map(|ms| typed_time(Duration::from_millis(ms))), ["10m", "1.5s"]);
        assert!(time("-1s").is_err() && time("soon").is_err() && time("nan").is_err());
        assert_eq!((size("2G").unwrap(), size("512").unwrap()), (2 << 30, 512));
        assert!(size("0").is_err() && size("-1G").is_err() && size("2X").is_err());
        assert_eq!((bytes(12), bytes(1536), bytes(3 << 30)), ("12 bytes".into(), "1.5 KiB".into(), "3.0 GiB".into()));
    }

    #[test]
    fn sizes_of_a_path() {
        assert_eq!(sizes("1..4").unwrap(), [1, 2, 3, 4]);
        assert_eq!(sizes("1..8:3").unwrap(), [1, 4, 7]);
        assert_eq!(sizes("5, 1,2..3,2").unwrap(), [1, 2, 3, 5]);
        assert_eq!(sizes("7").unwrap(), [7]);
        assert!(sizes("5..2").unwrap_err().contains("2..5"));
        assert!(sizes("1..99999999999").unwrap_err().contains("more than"));
        for wrong in ["", "0..3", "0", "1..", "..4", "1..5:0", "1,,2", "-1", "a..b", "1.5", "1...3"] {
            assert!(sizes(wrong).unwrap_err().contains("at least 1"), "{wrong}");
        }
    }

    #[test]
    fn suggests_only_what_is_close() {
        let names = ["mean_area", "mean_radius", "texture"];
        assert_eq!(closest("mean_aera", names), Some("mean_area"));
        assert_eq!(closest("Mean_Area", names), Some("mean_area"));
        assert_eq!(closest("3", names), None);
    }
}
