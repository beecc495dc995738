//! Real programs do the same recorded as natively, and they and their children are recorded.
//!
//! A program that is not installed is skipped with a message; the setup script installs them.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use common::{Facts, cc, cxx, found, same, scratch, source, str};

/// Processes recorded of a command that has at least `processes`, none of them killed.
fn whole(facts: &Facts, processes: usize, threads: usize) {
    assert_eq!(facts.torn, 0, "{facts:?}");
    assert!(facts.processes.len() >= processes, "{facts:?}");
    assert!(facts.threads.len() >= threads, "{facts:?}");
}

/// 200 kB that compress well.
fn numbers(dir: &Path) -> String {
    let path = dir.join("numbers");
    let text: String = (0..30_000).map(|n| format!("{n}\n")).collect();
    std::fs::write(&path, text).unwrap();
    str(&path).to_owned()
}

#[test]
fn gzip() {
    if !found("gzip") {
        return;
    }
    let dir = scratch();
    whole(
        &same(&[], &["gzip", "-c", "-n", &numbers(dir.path())]),
        1,
        1,
    );
}

#[test]
fn xz_with_two_threads() {
    if !found("xz") {
        return;
    }
    let dir = scratch();
    let file = numbers(dir.path());
    let command = ["xz", "-c", "-0", "-T2", "--block-size=50000", &file];
    whole(&same(&[], &command), 1, 3);
}

#[test]
fn sqlite3() {
    if !found("sqlite3") {
        return;
    }
    let dir = scratch();
    let file = dir.path().join("db");
    let sql = "drop table if exists t; create table t(a integer primary key, b text);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
        insert into t select i, 'row ' || i from n;
        select count(*), sum(a), max(b) from t; select * from t where a % 100 = 0;";
    whole(&same(&[], &["sqlite3", str(&file), sql]), 1, 1);
}

#[test]
fn python3() {
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: python3 is not installed");
        return;
    }
    let facts = same(&[], &["/usr/bin/python3", str(&source("script.py"))]);
    whole(&facts, 2, 10);
}

#[test]
fn node() {
    if !found("node") {
        return;
    }
    let facts = same(&[], &["node", str(&source("script.js"))]);
    assert!(facts.threads.len() >= 3, "{facts:?}");
}

#[test]
fn bash_script_with_children() {
    let facts = same(&[], &[source("script.sh")]);
    assert!(facts.processes.len() >= 10, "{facts:?}");
    assert_eq!(facts.status, "exit status: 7");
    assert!(facts.program.ends_with("bash"), "{facts:?}");
    let (first, _) = facts.processes[0];
    assert!(facts.processes.iter().any(|p| p.1 == first), "{facts:?}");
}

#[test]
fn exceptions() {
    let facts = same(&[], &[cxx("exceptions", &[])]);
    whole(&facts, 1, 2);
    assert_eq!(facts.status, "exit status: 3");
}

#[test]
fn signals() {
    let facts = same(&[], &[cc("signals", &[])]);
    assert_eq!(facts.status, "signal: 15 (SIGTERM)");
}

#[test]
fn libraries_that_come_and_go() {
    let plugin = cc("plugin", &["-shared", "-fPIC"]);
    whole(&same(&[], &[cc("loader", &[]), plugin]), 1, 1);
}

#[test]
fn static_and_position_dependent_programs() {
    for flags in [&["-static"][..], &["-static-pie"], &["-no-pie"], &["-pie"]] {
        let command = [str(&cc("plain", flags)), "one", "two words"].map(String::from);
        let facts = same(&[], &command);
        whole(&facts, 1, 1);
        assert_eq!(facts.status, "exit status: 3", "{flags:?}");
    }
}

#[test]
fn children_of_all_sorts() {
    let facts = same(&[], &[cc("children", &[])]);
    whole(&facts, 16, 16);
    assert_eq!(facts.status, "exit status: 4");
}

#[test]
fn children_are_counted_too() {
    let facts = same(&["count"], &[cc("children", &["-DCOUNTED"])]);
    whole(&facts, 16, 16);
}

#[test]
fn many_threads() {
    let facts = same(&[], &[cc("threads", &[])]);
    whole(&facts, 1, 212);
    assert_eq!(facts.status, "exit status: 5");
    let worked = facts.threads.iter().filter(|t| t.instrs > 10_000).count();
    assert!(worked >= 200, "{facts:?}");
}

#[test]
fn first_thread_that_ends_first() {
    let facts = same(&[], &[cc("leader", &[])]);
    whole(&facts, 1, 2);
    assert_eq!(facts.status, "exit status: 6");
    assert!(facts.stores() >= 300 * 4096, "{facts:?}");
}

#[test]
fn closing_all_files() {
    let facts = same(&[], &[cc("closer", &[])]);
    whole(&facts, 1, 1);
    assert!(facts.stores() >= 3_000_000, "{facts:?}");
}

#[test]
fn values_of_real_programs() {
    let facts = same(&["values"], &["/bin/sh", "-c", "echo a | sort; true"]);
    whole(&facts, 2, 2);
}

/// A port that nobody listens at.
fn free_port() -> u16 {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap().port()
}

/// Connects once the server listens.
fn connect(port: u16, server: &common::Running) -> std::net::TcpStream {
    let address = ("127.0.0.1", port);
    server.wait_until("listening", |_| {
        std::net::TcpStream::connect(address).is_ok()
    });
    std::net::TcpStream::connect(address).unwrap()
}

#[test]
fn redis_under_its_benchmark() {
    if !found("redis-server") || !found("redis-benchmark") {
        return;
    }
    let (dir, port) = (scratch(), free_port().to_string());
    let command = [
        "redis-server",
        "--save",
        "",
        "--port",
        &port,
        "--dir",
        str(dir.path()),
    ];
    let mut recorder = common::recorder(&[], &command);
    let server = recorder.start();
    let mut stream = connect(port.parse().unwrap(), &server);
    let benchmark = [
        "redis-benchmark",
        "-p",
        &port,
        "-n",
        "500",
        "-q",
        "-t",
        "set,get,lpush",
    ];
    let said = common::native(&benchmark);
    assert!(
        said.status.success() && said.stdout.contains("GET"),
        "{said:?}"
    );
    stream.write_all(b"SHUTDOWN NOSAVE\r\n").unwrap();
    let said = server.finish();
    let facts = recorder.facts();
    assert_eq!(facts.status, "exit status: 0", "{said:?} {facts:?}");
    assert_eq!(facts.failure, None, "{facts:?}");
    whole(&facts, 1, 4);
}

#[test]
fn memcached_under_a_client() {
    if !found("memcached") {
        return;
    }
    let port = free_port();
    let text = port.to_string();
    let command = [
        "memcached",
        "-u",
        "root",
        "-l",
        "127.0.0.1",
        "-p",
        &text,
        "-t",
        "2",
    ];
    let mut recorder = common::recorder(&[], &command);
    let server = recorder.start();
    let mut stream = connect(port, &server);
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    for n in 0..500 {
        let value = format!("value {n}");
        write!(
            stream,
            "set key{n} 0 0 {}\r\n{value}\r\nget key{n}\r\n",
            value.len()
        )
        .unwrap();
        for expected in ["STORED", "VALUE", &value, "END"] {
            line.clear();
            answers.read_line(&mut line).unwrap();
            assert!(line.starts_with(expected), "{line}");
        }
    }
    server.signal_child(libc::SIGTERM);
    let said = server.finish();
    let facts = recorder.facts();
    assert_eq!(facts.status, "exit status: 0", "{said:?} {facts:?}");
    assert_eq!(facts.failure, None, "{facts:?}");
    whole(&facts, 1, 3);
}

#[test]
fn threads_start_programs_at_the_same_time() {
    let program = cc("spawns", &[]);
    for options in [&["count"][..], &["count"], &[], &["values"]] {
        same(options, &[str(&program)]);
    }
}
