//! A loop each of whose steps is a transaction of libpmemobj (Debian's libpmemobj-dev), to compare with.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;

use prestore_recompute::{Arrays, Error, Initial, Kernel, Medium, Nest};

#[repr(C)]
struct Oid {
    pool: u64,
    offset: u64,
}

#[link(name = "pmemobj")]
unsafe extern "C" {
    fn pmemobj_create(
        path: *const c_char,
        layout: *const c_char,
        size: usize,
        mode: u32,
    ) -> *mut c_void;
    fn pmemobj_close(pool: *mut c_void);
    fn pmemobj_root(pool: *mut c_void, size: usize) -> Oid;
    fn pmemobj_persist(pool: *mut c_void, address: *const c_void, len: usize);
    fn pmemobj_tx_begin(pool: *mut c_void, env: *mut c_void, end: c_int) -> c_int;
    fn pmemobj_tx_add_range_direct(address: *const c_void, len: usize) -> c_int;
    fn pmemobj_tx_commit();
    fn pmemobj_tx_end() -> c_int;
}

/// The root object of a pool.
pub struct Pool {
    pool: *mut c_void,
    base: *mut u8,
    len: usize,
}

// SAFETY: the library's functions may be called by any thread.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    /// A new pool with a root object of so many zero bytes.
    pub fn create(path: &Path, len: usize) -> Pool {
        let name = CString::new(path.display().to_string()).expect("a path without NUL");
        // SAFETY: texts end in NUL.
        let pool =
            unsafe { pmemobj_create(name.as_ptr(), c"loop".as_ptr(), 2 * len + (64 << 20), 0o600) };
        assert!(!pool.is_null(), "no pool at {}", path.display());
        // SAFETY: the pool is open. The address of an object is its pool's and its offset.
        let base = unsafe {
            pool.cast::<u8>()
                .add(pmemobj_root(pool, len + 64).offset as usize)
        };
        Pool {
            pool,
            base: base.wrapping_add(base.align_offset(64)),
            len,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: open, and nobody uses it any more.
        unsafe { pmemobj_close(self.pool) }
    }
}

// SAFETY: the root object is that large and lives as long as the pool is open.
unsafe impl Medium for Pool {
    fn base(&self) -> *mut u8 {
        self.base
    }

    fn len(&self) -> usize {
        self.len
    }

    fn flush(&self, at: usize, len: usize) {
        // SAFETY: within the object.
        unsafe { pmemobj_persist(self.pool, self.base.add(at).cast(), len) }
    }

    fn fence(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// A kernel whose steps are transactions.
pub struct InTransactions<'a, K> {
    pub kernel: &'a K,
    pub pool: &'a Pool,
    pub nest: Nest,
    /// Where each array begins; known when the loop is opened.
    pub arrays: Vec<usize>,
}

// SAFETY: the kernel's.
unsafe impl<K: Kernel> Kernel for InTransactions<'_, K> {
    type Scratch = K::Scratch;

    fn nest(&self) -> Nest {
        self.nest.clone()
    }

    fn initial(&self) -> Initial {
        self.kernel.initial()
    }

    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>) {
        self.kernel.init(arrays);
    }

    fn reset<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize) {
        self.kernel.reset(arrays, region);
    }

    fn step<M: Medium>(
        &self,
        arrays: &Arrays<'_, M>,
        scratch: &mut K::Scratch,
        outer: usize,
        region: usize,
    ) {
        // SAFETY: the pool is open and the ranges are within its root object; this thread is in no transaction yet.
        unsafe {
            assert_eq!(pmemobj_tx_begin(self.pool.pool, std::ptr::null_mut(), 0), 0);
            for array in self.nest.written(outer) {
                for span in self.nest.arrays[array].spans(region) {
                    let address = self.arrays[array] + span.start;
                    assert_eq!(
                        pmemobj_tx_add_range_direct(address as *const c_void, span.len()),
                        0
                    );
                }
            }
        }
        self.kernel.step(arrays, scratch, outer, region);
        // SAFETY: in the transaction that was begun above.
        unsafe {
            pmemobj_tx_commit();
            assert_eq!(pmemobj_tx_end(), 0);
        }
    }

    fn regions(&self, outer: usize) -> std::ops::Range<usize> {
        self.kernel.regions(outer)
    }

    fn writes(&self, outer: usize, region: usize) -> bool {
        self.kernel.writes(outer, region)
    }
}
