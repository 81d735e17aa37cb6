//! Why a command ended early, and with which exit code.

use fewest_data::Takes;

/// The text of a closed output, which is never shown.
const GONE: &str = "the reader of the output went away";

/// Everything that ends a command before it is done.
#[derive(Debug)]
pub enum Failure {
    /// Usage or bad input: exit 2.
    Input(String),
    /// Something broke that the user's input is not to blame for: exit 1.
    Broken(String),
    /// The reader of our output went away: quiet, exit 0.
    ReaderGone,
}

impl Failure {
    /// Exit 2 with this message.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Failure::Input(message.into())
    }

    /// The error of a training part that lacks a class.
    pub(crate) fn no_sample_left(class: &str) -> Self {
        Self::Input(format!(
            "no sample of class {class} is left to train on; use fewer or other folds, or keep other classes with --classes"
        ))
    }

    /// With the part of the run that it is of in front.
    #[must_use]
    pub(crate) fn within(self, part: &str) -> Self {
        match self {
            Failure::Input(text) => Failure::Input(format!("{part}: {text}")),
            Failure::Broken(text) => Failure::Broken(format!("{part}: {text}")),
            Failure::ReaderGone => Failure::ReaderGone,
        }
    }

    /// The message alone.
    pub fn into_text(self) -> String {
        self.to_string()
    }

    /// A failed write to `what`: quiet when the reader went away.
    pub(crate) fn writing(what: &str, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Failure::ReaderGone
        } else {
            Failure::Broken(format!("cannot write {what}: {}", plain(error)))
        }
    }
}

/// The text of an I/O error without "(os error 2)".
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Failure::Input(text) | Failure::Broken(text) => text,
            Failure::ReaderGone => GONE,
        })
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for fewest_eval::EvalError {
    /// The command's own functions fail in the middle of an evaluation.
    fn from(failure: Failure) -> Self {
        fewest_eval::EvalError::Caller(Box::new(failure))
    }
}

impl From<fewest::Error> for Failure {
    /// Data, settings, rules and memory are the user's; a solver that fails, or columns that cannot
    /// be read, are ours.
    fn from(error: fewest::Error) -> Self {
        match error {
            fewest::Error::Setting { name, value, range } => {
                let (option, range) = (name.replace([' ', '_'], "-"), in_options(&range));
                Failure::Input(format!("--{option} is {value}, but must be {range}"))
            }
            fewest::Error::Solver(_) | fewest::Error::Source(_) => Failure::Broken(in_options(&error.to_string())),
            other => Failure::Input(in_options(&other.to_string())),
        }
    }
}

/// A text of the library, whose settings are options here.
pub(crate) fn in_options(text: &str) -> String {
    fewest::in_words(text, |name| match name {
        "signs" => "--sign".to_owned(),
        "validation" => "--validate".to_owned(),
        _ => format!("--{}", name.replace('_', "-")),
    })
}

/// An error or a note of the readers, whose settings are options here.
pub(crate) fn told(message: &impl fewest_data::Told) -> String {
    message.in_words(option)
}

/// A text of the readers, whose settings are options here.
pub(crate) fn in_option_words(text: &str) -> String {
    fewest_data::in_words(text, option)
}

/// A setting as it is typed, with the value that is to be given.
pub(crate) fn option(said: fewest_data::Remedy<'_>) -> String {
    let option = format!("--{}", said.setting.replace('_', "-"));
    match (said.value, said.takes) {
        (None, _) => option,
        (Some(names), Takes::Names) => format!("{option} {}", fewest_text::typed(names)),
        (Some(value), _) => format!("{option} {}", fewest_text::quoted(value)),
    }
}

impl From<fewest_data::DataError> for Failure {
    /// Bad input, except where the operating system failed under a file that is fine.
    fn from(error: fewest_data::DataError) -> Self {
        use std::io::ErrorKind;

        use fewest_data::DataError;
        match error {
            DataError::Design(error) => error.into(),
            DataError::Output { source, .. } if source.kind() == ErrorKind::BrokenPipe => Failure::ReaderGone,
            DataError::Output { ref source, .. } if is_full(source) => Failure::Broken(without_number(&told(&error))),
            other => Failure::Input(without_number(&told(&other))),
        }
    }
}

/// Whether a write failed for lack of room.
fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge | ErrorKind::WriteZero
    )
}

/// A text without the numbers of errors of the operating system, "(os error 2)".
fn without_number(text: &str) -> String {
    let mut parts = text.split(" (os error");
    let first = parts.next().unwrap_or_default().to_owned();
    let whole = parts.fold(first, |whole, part| whole + part.split_once(')').map_or("", |rest| rest.1));
    whole.replace("No such file", "no such file")
}
