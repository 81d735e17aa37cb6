//! Why a command ended early, and with which exit code.

/// Everything that ends a command before it is done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Usage or bad input: exit 2.
    Input(String),
    /// Something broke that the user's input is not to blame for: exit 1.
    Broken(String),
    /// Whoever read our output went away: quiet, exit 0.
    ReaderGone,
}

impl Failure {
    /// Exit 2 with this message.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Failure::Input(message.into())
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

impl From<fewest::Error> for Failure {
    /// Every error of the library is about input: data, a setting, rules, or memory allowed.
    fn from(error: fewest::Error) -> Self {
        match error {
            fewest::Error::Setting { name, value, range } => {
                Failure::Input(format!("--{} is {value}, but must be {range}", name.replace([' ', '_'], "-")))
            }
            other => Failure::Input(other.to_string()),
        }
    }
}

impl From<fewest_data::DataError> for Failure {
    /// Bad input, except where the operating system failed under a file that is fine.
    fn from(error: fewest_data::DataError) -> Self {
        use fewest_data::DataError;
        match error {
            DataError::Design(error) => error.into(),
            DataError::Output { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            other => {
                let text = other.to_string();
                Failure::Input(text.replace("No such file", "no such file").split(" (os error").enumerate().fold(
                    String::new(),
                    |whole, (at, part)| {
                        let rest = if at == 0 { part } else { part.split_once(')').map_or("", |p| p.1) };
                        whole + rest
                    },
                ))
            }
        }
    }
}
