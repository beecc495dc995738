//! Files as URIs.

use super::model::ArtifactLocation;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Name of the folder that relative URIs start from.
pub const SRCROOT: &str = "SRCROOT";

/// What a path may keep (RFC 3986, unreserved characters and the separator).
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// `file` relative to `cwd` where it lies below it, else as a `file:` URI. Compilers put names together of
/// where they ran and what they were given (`build/../src/put.c`): a viewer looks for the file, whose name is
/// without the detour.
pub fn artifact(file: &str, cwd: Option<&str>) -> ArtifactLocation {
    let (file, cwd) = match cwd {
        Some(cwd) if !file.starts_with('/') => (direct(&format!("{cwd}/{file}")), direct(cwd)),
        cwd => (direct(file), direct(cwd.unwrap_or_default())),
    };
    let below = below(&file, &cwd).map(str::to_owned).or_else(|| {
        // Compilers name folders as the shell does, links and all; the system names `cwd` without any.
        let real = std::fs::canonicalize(&file).ok()?;
        Some(below(real.to_str()?, &cwd)?.to_owned())
    });
    match below {
        Some(rest) => based(&rest),
        None if file.starts_with('/') => ArtifactLocation {
            uri: format!("file://{}", utf8_percent_encode(&file, PATH)),
            uri_base_id: None,
        },
        None => based(&file),
    }
}

/// What of `file` is behind the folder `cwd`, where it lies below it.
fn below<'a>(file: &'a str, cwd: &str) -> Option<&'a str> {
    let rest = file.strip_prefix(cwd.trim_end_matches('/'))?;
    rest.strip_prefix('/').filter(|_| !cwd.is_empty())
}

/// `path` without `.` and, where a folder is before them, `..` (RFC 3986, section 5.2.4).
fn direct(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(&last)) if last != ".." => drop(parts.pop()),
            // There is nothing above the root.
            ("..", None) if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// The folder `cwd` itself, with the final slash that a base needs.
pub fn base(cwd: &str) -> ArtifactLocation {
    let folder = cwd.trim_end_matches('/');
    ArtifactLocation {
        uri: format!("file://{}/", utf8_percent_encode(folder, PATH)),
        uri_base_id: None,
    }
}

fn based(relative: &str) -> ArtifactLocation {
    ArtifactLocation {
        uri: utf8_percent_encode(relative, PATH).to_string(),
        uri_base_id: Some(SRCROOT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_the_folder_is_relative_and_encoded() {
        let a = artifact("/src/my kv/put#1.c", Some("/src/my kv/"));
        assert_eq!(a.uri, "put%231.c");
        assert_eq!(a.uri_base_id, Some(SRCROOT));
    }

    #[test]
    fn elsewhere_is_absolute() {
        let a = artifact("/opt/lib/x.c", Some("/src/kv"));
        assert_eq!(a.uri, "file:///opt/lib/x.c");
        assert_eq!(a.uri_base_id, None);
        assert_eq!(base("/src/kv").uri, "file:///src/kv/");
    }

    #[test]
    fn detours_of_compilers_are_not_in_the_way() {
        let of = |file, cwd| {
            let a = artifact(file, cwd);
            (a.uri, a.uri_base_id)
        };
        let below = (String::from("src/put.c"), Some(SRCROOT));
        assert_eq!(of("/kv/build/../src/put.c", Some("/kv")), below);
        assert_eq!(of("/kv/./src//put.c", Some("/kv/")), below);
        assert_eq!(of("build/../src/put.c", Some("/kv")), below);
        assert_eq!(of("build/../src/put.c", None), below);
        assert_eq!(of("/kv/src/put.c", Some("/")).0, "kv/src/put.c");
        // Above the folder that it would be relative to, it is not.
        let above = (String::from("file:///kv/src/put.c"), None);
        assert_eq!(of("../src/put.c", Some("/kv/build")), above);
        assert_eq!(of("/kv/build/../src/put.c", Some("/kv/build")), above);
        assert_eq!(of("/kv/src/put.c", None), above);
        assert_eq!(of("../put.c", None).0, "../put.c");
        assert_eq!(of("/../put.c", None).0, "file:///put.c");
    }
}
