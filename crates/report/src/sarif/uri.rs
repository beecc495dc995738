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

/// `file` relative to `cwd` where it lies below it, else as a `file:` URI.
pub fn artifact(file: &str, cwd: Option<&str>) -> ArtifactLocation {
    let below = cwd
        .and_then(|cwd| file.strip_prefix(cwd.trim_end_matches('/')))
        .and_then(|rest| rest.strip_prefix('/'));
    match below {
        Some(rest) => based(rest),
        None if file.starts_with('/') => ArtifactLocation {
            uri: format!("file://{}", utf8_percent_encode(file, PATH)),
            uri_base_id: None,
        },
        None => based(file),
    }
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
}
