//! From the user's words to a running program under the engine.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use prestore_symbols::{Executable, inspect};

use crate::image::Image;
use crate::{Engine, Options, ProgramOutput, RecordError, inherited};

/// Interpreters of interpreters: as many as Linux follows.
const MAX_SCRIPTS: usize = 4;

/// What will be executed for a command: the ELF file and its arguments from argv[0] on. Names
/// without a slash are looked up on PATH; scripts are resolved to their interpreter, as the kernel
/// would do.
///
/// # Errors
/// Where the program is missing, not executable, or not one that can be traced.
pub fn resolve(command: &[OsString]) -> Result<(PathBuf, Vec<OsString>), RecordError> {
    let name = command.first().filter(|name| !name.is_empty());
    let name = name.ok_or(RecordError::NoCommand)?;
    let mut path = on_path(name)?;
    let mut args: Vec<OsString> = command.to_vec();
    let mut named_by: Option<PathBuf> = None;
    for _ in 0..=MAX_SCRIPTS {
        let found = inspect(&path).map_err(|error| match named_by.take() {
            Some(script) => RecordError::Interpreter { script, error },
            None => error.into(),
        })?;
        match found {
            Executable::Elf(program) => {
                program.require_x86_64()?;
                let absolute = std::path::absolute(&path).unwrap_or(path);
                return Ok((absolute, args));
            }
            Executable::Script(script) => {
                let tail = std::mem::take(&mut args).into_iter().skip(1);
                args = vec![script.interpreter.clone().into_os_string()];
                args.extend(script.argument.map(OsString::from));
                args.push(path.clone().into_os_string());
                args.extend(tail);
                named_by = Some(std::mem::replace(&mut path, script.interpreter));
            }
        }
    }
    Err(RecordError::ScriptLoop { path })
}

fn on_path(name: &OsStr) -> Result<PathBuf, RecordError> {
    // `.` and `..` are folders wherever one is.
    if name.as_encoded_bytes().contains(&b'/') || name == "." || name == ".." {
        return Ok(name.into());
    }
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&dirs)
        .map(|dir| dir.join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| RecordError::NotOnPath {
            name: name.to_string_lossy().into_owned(),
        })
}

/// What the kernel would be asked to execute for a command: the new image is called so, and not as the file that it is.
///
/// # Errors
/// Where it is not found.
pub(crate) fn name(command: &[OsString]) -> Result<PathBuf, RecordError> {
    on_path(command.first().ok_or(RecordError::NoCommand)?)
}

/// Starts `program`, executed as `name`, under the engine, its client reporting to the session in `dir`.
pub(crate) fn start(
    engine: &Engine,
    program: &Path,
    name: &Path,
    args: &[OsString],
    options: &Options,
    streams: Streams,
    dir: &Path,
) -> Result<Child, RecordError> {
    let client = engine.client();
    // Traces cost what is large and runs a little half its time (each head of one leaves the code cache fifty times), and
    // recorded code gains next to nothing by them. The client's code is entered with all flags clear: the program may
    // have its accesses checked for being aligned (AC), and compilers take others' not to be. The engine's own routines stay
    // writable, as its code cache is: programs that write code again and again had the list of all mappings read each time.
    // Code that was flushed is kept until no thread can be within it. Once the engine had 35 such pieces it used to empty the
    // whole cache, and threads that waited for a buffer within their blocks came back to code that was no longer there.
    // Its heap and its cache grow by larger steps than a page, each of which is a system call. What is a thread's alone has no
    // guard pages but below its stacks: they made twelve mappings more for each thread, of which a process may have 65,530.
    let engine_options = format!(
        "-code_api -disable_traces -no_cleancall_ignore_eflags -max_bb_instrs 128 -protect_mask 0 -reset_every_nth_pending 0 -heap_commit_increment 64K -cache_commit_increment 64K -no_per_thread_guard_pages {} -client_lib '{};0;{}'",
        Engine::options(),
        client.display(),
        options.client_args(&dir.to_string_lossy())
    );
    let image = Image::new(
        &engine.core(),
        args,
        &[
            ("DYNAMORIO_EXE_PATH", program.as_os_str()),
            ("DYNAMORIO_EXE_NAME", name.as_os_str()),
            ("DYNAMORIO_RUNUNDER", OsStr::new("2")),
            ("DYNAMORIO_OPTIONS", OsStr::new(&engine_options)),
        ],
    );
    let failed = |source| RecordError::Start {
        program: program.into(),
        source,
    };
    inherited::hear_of_children().map_err(failed)?;
    inherited::close_again();
    let timers = inherited::take_timers();
    let mut command = Command::new(engine.core());
    // SAFETY: between fork and exec, `sigaction`, `setitimer`, `personality` and `execve` alone are called, which are bare system calls.
    unsafe {
        command.pre_exec(move || {
            inherited::restore()?;
            place_alike()?;
            timers.run();
            image.execute()
        });
    }
    command.stdin(streams.stdin);
    command.stdout(streams.stdout);
    command.stderr(streams.stderr);
    command.spawn().map_err(failed)
}

/// Lets the kernel place the program as it did last time, as debuggers do: addresses decide which
/// way libraries copy and which data shares a line, so that two runs could otherwise not agree.
/// Where that is forbidden (some containers), the program runs all the same. The flag beside it tells
/// the client that this one is ours and not the program's (`client/personality.c`).
fn place_alike() -> io::Result<()> {
    // SAFETY: changes nothing but the calling process's flags.
    unsafe {
        let now = libc::personality(0xffff_ffff);
        if now != -1 && now & libc::ADDR_NO_RANDOMIZE == 0 {
            let alike = now | libc::ADDR_NO_RANDOMIZE;
            libc::personality((alike | libc::FDPIC_FUNCPTRS) as libc::c_ulong);
        }
    }
    Ok(())
}

/// The program's standard streams.
pub(crate) struct Streams {
    pub(crate) stdin: Stdio,
    pub(crate) stdout: Stdio,
    pub(crate) stderr: Stdio,
}

impl Streams {
    /// Of a program that is recorded.
    pub(crate) fn recorded(stdin: Stdio, output: ProgramOutput) -> io::Result<Self> {
        Ok(Self {
            stdin,
            stdout: match output {
                ProgramOutput::Inherited => Stdio::inherit(),
                ProgramOutput::Stderr => io::stderr().as_fd().try_clone_to_owned()?.into(),
                ProgramOutput::Discarded => Stdio::null(),
            },
            stderr: Stdio::inherit(),
        })
    }
}
