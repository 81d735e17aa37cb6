//! Dates and times in text, recognised by their form alone.

/// Names of months, by their first three letters.
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Whether a text is a date (`2024-01-31`, `31.1.2024`, `1/31/24`, `31-Jan-2024`, `2024-01`), a time
/// (`12:30`) or both.
pub(crate) fn is_date(text: &str) -> bool {
    let text = text.trim();
    // Most text is known by its first character.
    if !text.starts_with(|c: char| c.is_ascii_digit()) && month(text).is_none() {
        return false;
    }
    if is_time(text) || is_day(text) {
        return true;
    }
    let parts = text.split_once(['T', ' ']).map(|(day, time)| (day, time.trim_start()));
    parts.is_some_and(|(day, time)| is_day(day) && is_time(time))
        || text.rsplit_once(' ').is_some_and(|(day, time)| is_day(day) && is_time(time))
}

/// Whether a text begins with the name of a month; the rest behind its letters.
fn month(text: &str) -> Option<&str> {
    let start = text.get(..3)?;
    MONTHS
        .iter()
        .any(|name| start.eq_ignore_ascii_case(name))
        .then(|| text.trim_start_matches(|c: char| c.is_ascii_alphabetic()))
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let right = digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if right { text.parse().ok() } else { None }
}

fn is_year(text: &str) -> bool {
    number(text, 4..=4).is_some_and(|year| (1000..=2999).contains(&year))
}

fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '/', '.', ' ', ',']).filter(|part| !part.is_empty()).collect();
    let day = |text: &str| number(text, 1..=2).filter(|day| (1..=31).contains(day));
    let is_month = |text: &str| number(text, 1..=2).is_some_and(|month| (1..=12).contains(&month));
    let named = |text: &str| month(text).is_some_and(str::is_empty);
    match parts[..] {
        [year, of] => is_year(year) && of.len() == 2 && is_month(of) && text.contains('-'),
        [first, second, third] if is_year(first) => (is_month(second) || named(second)) && day(third).is_some(),
        [first, second, third] => {
            let last = is_year(third) || third.len() == 2 && number(third, 2..=2).is_some();
            let numbers = day(first).is_some() && day(second).is_some() && (is_month(first) || is_month(second));
            let words = day(first).is_some() && named(second) || named(first) && day(second).is_some();
            last && (numbers || words)
        }
        _ => false,
    }
}

fn is_time(text: &str) -> bool {
    let end = text.find(['Z', '+']).or_else(|| text.rfind('-')).unwrap_or(text.len());
    let (time, zone) = text.split_at(end);
    let shift = zone.trim_start_matches(['Z', '+', '-']);
    if !(shift.is_empty() || number(&shift.replace(':', ""), 2..=4).is_some()) {
        return false;
    }
    let mut parts = time.trim_end().split(':');
    let (Some(hour), Some(minute)) = (parts.next(), parts.next()) else { return false };
    let below = |text: &str, limit: u32| number(text, 1..=2).is_some_and(|x| x < limit);
    let second = parts.next().is_none_or(|second| {
        let (whole, fraction) = second.split_once('.').unwrap_or((second, ""));
        below(whole, 61) && fraction.bytes().all(|b| b.is_ascii_digit())
    });
    below(hour, 25) && minute.len() == 2 && below(minute, 60) && second && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn dates_and_other_text() {
        for text in [
            "2024-01-31",
            "31.1.2024",
            "1/31/24",
            "31/1/2024",
            "31-Jan-2024",
            "31 January 2024",
            "Jan 31, 2024",
            "2024-01",
            "2024-01-31 12:30",
            "2024-01-31T12:30:05.25Z",
            "2024-01-31 12:30:00+02:00",
            "12:30",
            "7:05:59",
            "2024/1/5",
            "31.01.24",
            "1/31/2024 4:05",
            "2020-Feb-01",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "",
            "2024",
            "1.2.3",
            "45.46.2024",
            "12",
            "a",
            "10-12",
            "2024-13-01",
            "1-2",
            "march",
            "May",
            "192.168.1.1",
            "3/4",
            "12:99",
            "P-2024-01-31",
            "1.5",
            "1:2:3:4",
            "12.5 mg",
            "2024-5",
            "é",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }
}
