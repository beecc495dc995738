//! Names and what they stand for.

use super::{Page, TextOptions};

/// Two columns: names, and what each is.
pub fn list_text(entries: &[(&str, String)], options: TextOptions) -> String {
    let width = (entries.iter().map(|(name, _)| name.len()))
        .max()
        .unwrap_or(0);
    let mut page = Page::new(options, None);
    for (name, about) in entries {
        page.wrapped(&format!("{name:<width$}  "), about);
    }
    page.into_text()
}

/// A message in lines of at most `width` columns, hanging at the width of `label`. Lines that begin with blanks are commands or
/// excerpts, which are copied: they stay as they are.
pub fn message_text(label: &str, message: &str, width: usize) -> String {
    let options = TextOptions {
        width,
        ..TextOptions::default()
    };
    let mut page = Page::new(options, None);
    for (i, line) in message.lines().enumerate() {
        match line.starts_with(' ') {
            true => page.line(line),
            false if i == 0 => page.wrapped(label, line),
            false => page.wrapped("", line),
        }
    }
    page.into_text()
}

#[cfg(test)]
mod tests {
    use super::message_text;

    #[test]
    fn messages_are_wrapped_and_commands_are_not() {
        let command = format!("    make {}", "target ".repeat(12));
        let text = message_text(
            "prestore: ",
            &format!("{}\n{command}\nso it is", "word ".repeat(20)),
            60,
        );
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("prestore: word"), "{text}");
        assert!(lines[1].starts_with("          word"), "{text}");
        assert!(lines.contains(&command.trim_end()), "{text}");
        assert_eq!(lines.last(), Some(&"so it is"));
        let wide = lines.iter().filter(|l| l.len() > 60).count();
        assert_eq!(wide, 1, "{text}");
    }
}
