//! Each kernel computes what its textbook definition says, under every scheme, with any number of workers.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use prestore_recompute::kernels::{
    Convolution, Fft, Gauss, Gemm, Granularity, Lu, Packing, Persistence, Tmm, Variant,
};
use prestore_recompute::{Element, Kernel, Memory, Options, Scheme, Session, State};

fn run<K: Kernel, T: Element>(
    kernel: &K,
    scheme: Scheme,
    workers: usize,
    arrays: &[usize],
) -> Vec<Vec<T>> {
    let options = Options { scheme, workers };
    let memory = Memory::new(Session::<K, Memory>::needs(kernel, options).unwrap());
    let mut session = Session::open(kernel, memory, options, "memory").unwrap();
    assert_eq!(session.state(), State::New);
    let report = session.run().unwrap();
    assert_eq!(report.resumed_at, 0);
    assert!(report.steps > 0 && !report.was_finished);
    arrays.iter().map(|array| session.read(*array)).collect()
}

/// Every scheme and number of workers gives the very bits that one worker without a scheme gives.
fn same_under_all<K: Kernel>(kernel: &K, result: usize) -> Vec<Vec<f64>> {
    let plain = run::<K, u64>(kernel, Scheme::None, 1, &[result]);
    let schemes = [
        "none", "CP", "CPall", "CP3", "L", "R", "HRx1", "HRx2", "HRx32", "HRx64",
    ];
    for scheme in schemes {
        let scheme: Scheme = scheme.parse().unwrap();
        let fresh = kernel.nest().dependence == prestore_recompute::Dependence::Fresh;
        if fresh && matches!(scheme, Scheme::Hybrid { .. }) {
            continue;
        }
        for workers in [1, 2, 3, 7] {
            let got = run::<K, u64>(kernel, scheme, workers, &[result]);
            assert!(got == plain, "{scheme} with {workers} workers");
        }
    }
    run(kernel, Scheme::Recompute, 1, &[0, result])
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

#[test]
fn tiled_matrix_multiply() {
    for (n, block) in [(24, 4), (16, 16), (12, 2), (5, 1)] {
        for granularity in [Granularity::Ii, Granularity::Jj] {
            let kernel = Tmm::new(n, block, granularity);
            same_under_all(&kernel, Tmm::RESULT);
            let arrays = run::<_, f32>(&kernel, Scheme::Recompute, 2, &[0, 1, 2]);
            for i in 0..n {
                for j in 0..n {
                    let products = (0..n)
                        .map(|k| f64::from(arrays[0][i * n + k]) * f64::from(arrays[1][k * n + j]));
                    close(f64::from(arrays[2][i * n + j]), products.sum(), 1e-5);
                }
            }
        }
    }
}

#[test]
fn gauss_elimination() {
    for (n, block) in [(20, 4), (13, 3), (9, 1), (8, 8)] {
        let arrays = same_under_all(&Gauss::new(n, block), Gauss::RESULT);
        let (given, work, width) = (&arrays[0], &arrays[1], n + 1);
        let mut x = vec![0.0; n];
        for row in (0..n).rev() {
            assert!((0..row).all(|column| work[row * width + column] == 0.0));
            let known: f64 = (row + 1..n).map(|c| work[row * width + c] * x[c]).sum();
            x[row] = (work[row * width + n] - known) / work[row * width + row];
        }
        for row in 0..n {
            let left: f64 = (0..n).map(|c| given[row * width + c] * x[c]).sum();
            close(left, given[row * width + n], 1e-12);
        }
    }
}

#[test]
fn lu_decomposition() {
    for (n, block) in [(24, 4), (16, 16), (12, 3), (6, 1)] {
        let arrays = same_under_all(&Lu::new(n, block), Lu::RESULT);
        let (given, work) = (&arrays[0], &arrays[1]);
        let lower = |i: usize, k: usize| match k.cmp(&i) {
            std::cmp::Ordering::Less => work[i * n + k],
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => 0.0,
        };
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..=j).map(|k| lower(i, k) * work[k * n + j]).sum();
                close(product, given[i * n + j], 1e-12);
            }
        }
    }
}

#[test]
fn fourier_transform() {
    for (side, block) in [(8, 2), (4, 4), (16, 3), (2, 1), (1, 1)] {
        let kernel = Fft::new(side, block);
        same_under_all(&kernel, Fft::RESULT);
        // What the transform begins with is there before it runs.
        let options = Options {
            scheme: Scheme::Recompute,
            workers: 1,
        };
        let memory = Memory::new(Session::<Fft, Memory>::needs(&kernel, options).unwrap());
        let mut session = Session::open(&kernel, &memory, options, "memory").unwrap();
        let given: Vec<f64> = session.read(0);
        session.run().unwrap();
        let result: Vec<f64> = session.read(Fft::RESULT);
        let points = side * side;
        for k in 0..points {
            let (mut re, mut im) = (0.0, 0.0);
            for t in 0..points {
                let angle = -2.0 * std::f64::consts::PI * ((k * t) % points) as f64 / points as f64;
                re += given[2 * t] * angle.cos() - given[2 * t + 1] * angle.sin();
                im += given[2 * t] * angle.sin() + given[2 * t + 1] * angle.cos();
            }
            close(result[2 * k], re, 1e-12 * points as f64);
            close(result[2 * k + 1], im, 1e-12 * points as f64);
        }
    }
}

#[test]
fn convolution() {
    for (n, block, rounds) in [(12, 3, 4), (7, 2, 3), (5, 5, 1), (1, 1, 2)] {
        let kernel = Convolution::new(n, block, rounds);
        same_under_all(&kernel, kernel.result());
        let options = Options {
            scheme: Scheme::Recompute,
            workers: 1,
        };
        let memory = Memory::new(Session::<Convolution, Memory>::needs(&kernel, options).unwrap());
        let mut session = Session::open(&kernel, &memory, options, "memory").unwrap();
        let mut picture: Vec<f64> = session.read(0);
        session.run().unwrap();
        for _ in 0..rounds {
            let at = |y: i64, x: i64| {
                let inside = (0..n as i64).contains(&y) && (0..n as i64).contains(&x);
                if inside {
                    picture[(y * n as i64 + x) as usize]
                } else {
                    0.0
                }
            };
            let smooth = |y, x| {
                let near = at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1);
                let far = at(y - 1, x - 1) + at(y - 1, x + 1) + at(y + 1, x - 1) + at(y + 1, x + 1);
                at(y, x) / 4.0 + near / 8.0 + far / 16.0
            };
            picture = (0..n as i64)
                .flat_map(|y| (0..n as i64).map(move |x| (y, x)))
                .map(|(y, x)| smooth(y, x))
                .collect();
        }
        let result: Vec<f64> = session.read(kernel.result());
        result
            .iter()
            .zip(&picture)
            .for_each(|(a, b)| close(*a, *b, 1e-13));
    }
}

#[test]
fn six_ways_to_multiply() {
    for (n, block) in [(12, 3), (8, 8), (5, 1)] {
        for variant in Variant::ALL {
            for persistence in [Persistence::Eager, Persistence::Lazy] {
                let of = |packing| Gemm::new(variant, n, block, packing, persistence);
                let arrays = same_under_all(&of(Packing::Off), Gemm::RESULT);
                let packed = same_under_all(&of(Packing::On), Gemm::RESULT);
                assert!(arrays == packed, "{variant}: packing changes the result");
                let all: Vec<Vec<f64>> = run(&of(Packing::Off), Scheme::None, 1, &[0, 1, 2]);
                for i in 0..n {
                    for j in 0..n {
                        let product: f64 =
                            (0..n).map(|k| all[0][i * n + k] * all[1][k * n + j]).sum();
                        close(all[2][i * n + j], product, 1e-13);
                    }
                }
            }
        }
    }
}

/// OpenBLAS comes to the same numbers, but for rounding.
#[test]
fn as_a_blas() {
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c/blas.c");
    let program = folder.path().join("blas");
    let built = std::process::Command::new("cc")
        .args(["-O1", source, "-o"])
        .arg(&program)
        .arg("-lopenblas")
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "is libopenblas-dev installed (scripts/setup.sh test)? {}",
        String::from_utf8_lossy(&built.stderr)
    );
    let n = 48;
    let gemm = |variant| Gemm::new(variant, n, 16, Packing::On, Persistence::Eager);
    let inputs: Vec<Vec<f64>> = run(&gemm(Variant::Naive), Scheme::None, 1, &[0, 1]);
    let bytes: Vec<u8> = inputs
        .concat()
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    std::fs::write(folder.path().join("in"), bytes).unwrap();
    let ran = std::process::Command::new(&program)
        .current_dir(folder.path())
        .arg(n.to_string())
        .status()
        .unwrap();
    assert!(ran.success());
    let product = std::fs::read(folder.path().join("out")).unwrap();
    let product: Vec<f64> = product
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(product.len(), n * n);
    for variant in Variant::ALL {
        let ours: Vec<Vec<f64>> = run(&gemm(variant), Scheme::Recompute, 2, &[2]);
        ours[0]
            .iter()
            .zip(&product)
            .for_each(|(a, b)| close(*a, *b, 1e-12));
    }
}

/// A recording finds a worker's loop: region 4095 of `include/prestore_region.h`.
#[cfg(target_arch = "x86_64")]
#[test]
fn loops_are_marked_for_recordings() {
    run::<_, u8>(&Tmm::new(4, 2, Granularity::Ii), Scheme::Recompute, 1, &[]);
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    for edge in [1, 2] {
        let word: u32 = 0x5053 << 16 | edge << 12 | 4095;
        let marker = [&[0x0f, 0x1f, 0x80], &word.to_le_bytes()[..]].concat();
        assert!(
            program.windows(marker.len()).any(|bytes| bytes == marker),
            "{edge}"
        );
    }
}
