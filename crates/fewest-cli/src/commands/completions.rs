//! `fewest completions` and `fewest man`: what packagers install beside the program.

use clap::CommandFactory;

use crate::cli::{Cli, with_all_methods};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: clap_complete::Shell, terminal: Terminal) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_all_methods(), "fewest", &mut script);
    terminal.out(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Prints the manual page of `fewest`, or of one command.
pub(crate) fn man(command: Option<&str>, terminal: Terminal) -> Result<u8, Failure> {
    let mut all = Cli::command();
    all.build();
    let page = match command {
        None => clap_mangen::Man::new(all),
        Some(name) => {
            let known: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
            let unknown = || Failure::Input(format!("there is no command {name}; there are {}", known.join(", ")));
            let found = all.find_subcommand(name).ok_or_else(unknown)?.clone();
            clap_mangen::Man::new(found).title(format!("fewest-{name}"))
        }
    };
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| Failure::writing("the manual page", &error))?;
    terminal.out(&String::from_utf8_lossy(&text))?;
    Ok(0)
}
