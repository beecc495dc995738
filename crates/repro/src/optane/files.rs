//! Files of measurements: which kind a file is, its columns say.

use std::path::{Path, PathBuf};

use super::figure::{FigurePoint, LAYOUTS, Layout};
use super::point::{Point, parse_sweep};
use crate::error::ReproError;

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Measurements {
    /// Points of a sweep: each says all that was run.
    Sweep(Vec<Point>),
    /// A figure.
    Figure(Vec<FigurePoint>),
}

/// Columns of a sweep that must be there.
const SWEEP: [&str; 5] = [
    "operation",
    "task_type",
    "access_size",
    "stride_size",
    "threads",
];

/// What is wrong, and in which line if it is one.
pub(super) type Wrong = (Option<u64>, String);

/// The measurements of a file, or of all CSV files in a folder, by name.
///
/// # Errors
/// A file cannot be read, is of no known kind, or a line of it is wrong.
pub fn read_measurements(path: &Path) -> Result<Vec<Measurements>, ReproError> {
    let error = |path: &Path, (line, what): Wrong| ReproError::Points {
        path: path.to_owned(),
        line,
        what,
    };
    let files = if path.is_dir() {
        csv_files(path).map_err(|e| error(path, (None, e.to_string())))?
    } else {
        vec![path.to_owned()]
    };
    if files.is_empty() {
        let what = "there is no .csv file in this folder; give one with measurements";
        return Err(error(path, (None, what.to_owned())));
    }
    let read = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).map_err(|e| (None, e.to_string()));
        text.and_then(|text| parse(&text))
            .map_err(|wrong| error(file, wrong))
    };
    files.iter().map(read).collect()
}

/// The measurements that this project has (`data/optane`), by name.
macro_rules! bundled {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../data/optane/", $name)))),+]
    };
}

const BUNDLED: [(&str, &str); 6] = bundled![
    "bandwidth_by_access_size_1dimm.csv",
    "bandwidth_by_threads_1dimm.csv",
    "flush_latency_ns_by_size.csv",
    "idle_latency_ns.csv",
    "sweep_1dimm.csv",
    "write_amplification_by_region_size.csv",
];

/// The measurements of FAST'20 that come with this crate.
///
/// # Errors
/// As [`read_measurements`].
pub fn bundled_measurements() -> Result<Vec<Measurements>, ReproError> {
    let read = |(name, text): (&str, &str)| {
        parse(text).map_err(|(line, what)| ReproError::Points {
            path: name.into(),
            line,
            what,
        })
    };
    BUNDLED.into_iter().map(read).collect()
}

fn csv_files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "csv") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn parse(text: &str) -> Result<Measurements, Wrong> {
    if text.trim().is_empty() {
        return Err((None, format!("the file is empty; {}", expected())));
    }
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|e| (Some(1), e.to_string()))?;
    let headers = headers.clone();
    if let Some(layout) = LAYOUTS.iter().find(|l| headers == l.header[..]) {
        return Ok(Measurements::Figure(figure(layout, &mut reader)?));
    }
    let missing: Vec<&str> = (SWEEP.into_iter())
        .filter(|column| !headers.iter().any(|h| h == *column))
        .collect();
    if missing.len() == SWEEP.len() {
        let what = format!("these columns are of no known kind of file; {}", expected());
        return Err((Some(1), what));
    }
    if !missing.is_empty() {
        let what = format!(
            "a sweep without the column {}: add it",
            missing.join(" and without ")
        );
        return Err((Some(1), what));
    }
    Ok(Measurements::Sweep(parse_sweep(&headers, &mut reader)?))
}

fn figure(layout: &Layout, reader: &mut csv::Reader<&[u8]>) -> Result<Vec<FigurePoint>, Wrong> {
    let mut points = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| (e.position().map(csv::Position::line), e.to_string()))?;
        let line = record.position().map(csv::Position::line);
        points.extend(layout.points(&record).map_err(|what| (line, what))?);
    }
    if points.is_empty() {
        return Err((None, "there are no points in it".to_owned()));
    }
    Ok(points)
}

fn expected() -> String {
    let figures: Vec<String> = (LAYOUTS.iter())
        .map(|l| format!("'{}'", l.header.join(",")))
        .collect();
    format!(
        "its first line is to be that of a sweep ('{}', then throughput_mb_s and ewr if measured, whole_units if \
         known) or of \
         a figure ({})",
        SWEEP.join(","),
        figures.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::{Measurements, parse};
    use crate::optane::figure::Quantity;
    use crate::optane::point::{Operation, Task};

    const SWEEP: &str = "operation,task_type,access_size,stride_size,threads,prefetching,\
                         throughput_mb_s,ewr,err,runs\n";

    #[test]
    fn empty_columns_are_values_that_were_not_measured() {
        let text = format!("{SWEEP}Store+Flush,StrideBW,64,128,2,0,1811.2,,,2\n");
        let Ok(Measurements::Sweep(points)) = parse(&text) else {
            panic!("not a sweep");
        };
        let point = &points[0];
        assert_eq!(point.work.operation, Operation::StoreFlush);
        assert_eq!(point.work.task_type, Task::Stride);
        assert_eq!((point.throughput_mb_s, point.ewr), (Some(1811.2), None));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (line, part) in [
            ("Sore,RandBW,64,0,1,0,1,1,,1", "`Sore`, expected one of"),
            (
                "Load,RandomBW,64,0,1,0,1,1,,1",
                "`RandomBW`, expected `RandBW`",
            ),
            ("Load,RandBW,100,0,1,0,1,1,,1", "multiple of 64"),
            ("Load,RandBW,0,0,1,0,1,1,,1", "multiple of 64"),
            ("Load,StrideBW,64,100,1,0,1,1,,1", "stride_size is 100"),
            ("Load,RandBW,64,0,0,0,1,1,,1", "threads is 0"),
            ("Load,RandBW,64,0,x,0,1,1,,1", "column 5"),
            ("Load,RandBW,64,0,1,0,fast,1,,1", "column 7"),
            ("Load,RandBW,64,0,1,0,-5,1,,1", "throughput_mb_s is -5"),
            ("Load,RandBW,64,0,1,0,1,NaN,,1", "ewr is NaN"),
            ("Load,RandBW,64", "fields"),
        ] {
            let text = format!("{SWEEP}Load,RandBW,64,0,1,0,1,1,,1\n{line}\n");
            let (at, what) = parse(&text).unwrap_err();
            assert_eq!(at, Some(3), "{what}");
            assert!(what.contains(part), "{what}");
        }
    }

    const STATED: &str = "operation,task_type,access_size,stride_size,threads,whole_units\n";

    #[test]
    fn whole_units_may_be_stated() {
        let text = format!("{STATED}Store+Flush,StrideBW,64,0,4,3\nNTStore,StrideBW,64,0,4,\n");
        let Ok(Measurements::Sweep(points)) = parse(&text) else {
            panic!("not a sweep");
        };
        assert_eq!([points[0].whole_units, points[1].whole_units], [3, 0]);
    }

    #[test]
    fn whole_units_are_those_of_threads_that_rewrite_a_place_of_the_dimm() {
        for (line, part) in [
            ("Store+Flush,StrideBW,64,0,4,5", "whole_units is 5, of 4"),
            ("Store+Flush,StrideBW,64,64,4,1", "do not rewrite one place"),
            ("NTStore,RandBW,64,0,4,1", "do not rewrite one place"),
            ("Store,StrideBW,64,0,4,1", "do not rewrite one place"),
            ("Load,StrideBW,64,0,4,1", "do not rewrite one place"),
            ("NTStore,StrideBW,64,0,4,-1", "column 6"),
        ] {
            let (at, what) = parse(&format!("{STATED}{line}\n")).unwrap_err();
            assert_eq!(at, Some(2), "{what}");
            assert!(what.contains(part), "{what}");
        }
    }

    #[test]
    fn a_file_of_no_kind_and_one_without_points_are_told() {
        for (text, part) in [
            ("", "the file is empty"),
            (" \n", "the file is empty"),
            (SWEEP, "no points"),
            ("Threads,Read,Write(ntstore),Write(clwb)\n", "no points"),
            ("a,b\n1,2\n", "no known kind"),
            (
                "operation,task_type,access_size,threads\nLoad,RandBW,64,1\n",
                "without the column stride_size",
            ),
        ] {
            let (_, what) = parse(text).unwrap_err();
            assert!(what.contains(part), "{text:?}: {what}");
        }
    }

    #[test]
    fn a_figure_is_known_by_its_columns() {
        let text = "Threads,Read,Write(ntstore),Write(clwb)\n3,6.45,2.21,1.79\n";
        let Ok(Measurements::Figure(points)) = parse(text) else {
            panic!("not a figure");
        };
        let Quantity::Bandwidth(work) = points[1].quantity else {
            panic!("not a bandwidth");
        };
        assert_eq!((work.operation, work.threads), (Operation::NtStore, 3));
        assert_eq!(points[1].published, 2.21);
    }

    #[test]
    fn a_wrong_value_of_a_figure_is_told_with_its_line() {
        for (text, part) in [
            ("RegionSize,WriteAmp\n256,1\n100,1\n", "multiple of 256"),
            (
                "RegionSize,WriteAmp\n256,1\n256,?\n",
                "column WriteAmp: '?'",
            ),
            (
                "Threads,Read,Write(ntstore),Write(clwb)\n1,1,1,1\n0,1,1,1\n",
                "column Threads: '0'",
            ),
            (
                ",DRAM,DRAM-Err,Optane,Optane-Err\nRead/Random,1,1,1,1\nRead,1,1,1,1\n",
                "'Read' is none of",
            ),
        ] {
            let (at, what) = parse(text).unwrap_err();
            assert_eq!(at, Some(3), "{what}");
            assert!(what.contains(part), "{what}");
        }
    }
}
