//! A loop as C describes it.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::{Array, Arrays, Dependence, Initial, Kernel, Medium, Nest, Order};

/// `prestore_loop_array` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CArray {
    rows: usize,
    row_bytes: usize,
    tile_rows: usize,
    tile_bytes: usize,
    every: usize,
    phase: usize,
    by_columns: c_int,
}

type OnAll = unsafe extern "C" fn(*mut c_void, *const *mut c_void);
type OnRegion = unsafe extern "C" fn(*mut c_void, *const *mut c_void, usize);
type OnStep = unsafe extern "C" fn(*mut c_void, *const *mut c_void, usize, usize);
type Asked = unsafe extern "C" fn(*mut c_void, usize, usize) -> c_int;

/// `prestore_loop_nest` of the header.
#[repr(C)]
pub struct CNest {
    name: *const c_char,
    outer: usize,
    arrays: *const CArray,
    array_count: usize,
    dependence: c_int,
    order: c_int,
    context: *mut c_void,
    init: Option<OnAll>,
    reset: Option<OnRegion>,
    step: Option<OnStep>,
    writes: Option<Asked>,
}

/// A loop whose body is C.
pub struct CKernel {
    nest: Nest,
    context: *mut c_void,
    init: Option<OnAll>,
    reset: Option<OnRegion>,
    step: OnStep,
    writes: Option<Asked>,
}

// SAFETY: what the context is for, the header says: it is given to the body of several workers at once.
unsafe impl Sync for CKernel {}

impl CKernel {
    /// # Safety
    /// `nest` and what it points to are valid, or null where the header allows it.
    pub unsafe fn new(nest: *const CNest) -> Result<CKernel, String> {
        // SAFETY: passed on to C.
        let Some(nest) = (unsafe { nest.as_ref() }) else {
            return Err("the description of the loop is NULL".to_string());
        };
        if nest.name.is_null() || nest.arrays.is_null() || nest.array_count == 0 {
            return Err("the loop has no name or no arrays".to_string());
        }
        if nest.array_count > isize::MAX as usize / size_of::<CArray>() {
            return Err(format!(
                "the loop has more arrays than there can be: {}",
                nest.array_count
            ));
        }
        let Some(step) = nest.step else {
            return Err("the loop has no step".to_string());
        };
        // SAFETY: passed on to C.
        let name = unsafe { CStr::from_ptr(nest.name) };
        // SAFETY: passed on to C.
        let arrays = unsafe { std::slice::from_raw_parts(nest.arrays, nest.array_count) };
        Ok(CKernel {
            nest: Nest {
                name: name.to_string_lossy().into_owned(),
                outer: nest.outer,
                arrays: arrays.iter().map(array).collect(),
                dependence: match nest.dependence {
                    0 => Dependence::Carried,
                    1 => Dependence::Fresh,
                    other => {
                        return Err(format!("dependence {other} is neither carried nor fresh"));
                    }
                },
                order: match nest.order {
                    0 => Order::Together,
                    1 => Order::Apart,
                    other => return Err(format!("order {other} is neither together nor apart")),
                },
            },
            context: nest.context,
            init: nest.init,
            reset: nest.reset,
            step,
            writes: nest.writes,
        })
    }

    pub fn name(&self) -> &str {
        &self.nest.name
    }

    fn addresses<M: Medium>(&self, arrays: &Arrays<'_, M>) -> Vec<*mut c_void> {
        let count = self.nest.arrays.len();
        (0..count)
            .map(|array| arrays.address(array).cast())
            .collect()
    }
}

fn array(of: &CArray) -> Array {
    if of.tile_rows == 0 && of.tile_bytes == 0 {
        return Array::input(of.rows, of.row_bytes);
    }
    let array = Array::output(of.rows, of.row_bytes, of.tile_rows, of.tile_bytes)
        .in_phase(of.every.max(1), of.phase);
    if of.by_columns != 0 {
        array.by_columns()
    } else {
        array
    }
}

/// The arrays' addresses, found once a worker.
#[derive(Default)]
pub struct Addresses(Vec<*mut c_void>);

// SAFETY: the header asks of C what `Kernel` asks.
unsafe impl Kernel for CKernel {
    type Scratch = Addresses;

    fn nest(&self) -> Nest {
        self.nest.clone()
    }

    fn initial(&self) -> Initial {
        match (self.init, self.reset) {
            (_, Some(_)) => Initial::Reset,
            (Some(_), None) => Initial::Init,
            (None, None) => Initial::Zeros,
        }
    }

    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>) {
        if let Some(init) = self.init {
            // SAFETY: the arrays are there; the rest is C's.
            unsafe { init(self.context, self.addresses(arrays).as_ptr()) }
        }
    }

    fn reset<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize) {
        if let Some(reset) = self.reset {
            // SAFETY: the arrays are there; the rest is C's.
            unsafe { reset(self.context, self.addresses(arrays).as_ptr(), region) }
        }
    }

    fn step<M: Medium>(
        &self,
        arrays: &Arrays<'_, M>,
        addresses: &mut Addresses,
        outer: usize,
        region: usize,
    ) {
        if addresses.0.is_empty() {
            addresses.0 = self.addresses(arrays);
        }
        // SAFETY: the arrays are there; the rest is C's.
        unsafe { (self.step)(self.context, addresses.0.as_ptr(), outer, region) }
    }

    fn writes(&self, outer: usize, region: usize) -> bool {
        // SAFETY: C's.
        self.writes
            .is_none_or(|writes| unsafe { writes(self.context, outer, region) } != 0)
    }
}
