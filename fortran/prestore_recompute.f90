! Failure-safe loops: include/prestore_recompute.h, which explains everything, for Fortran.
!
!     type(loop_nest_t) :: nest
!     nest = loop_nest('sweep', iterations, arrays, c_funloc(step), order=LOOP_APART)
!     loop = loop_open(nest, 'sweep.loop', 'R')
!     if (.not. c_associated(loop)) stop loop_error()
!     status = loop_run(loop)
!
! The body's functions are bind(C); array numbers, regions and iterations begin at 0 as in C. Compile this file with the
! program and link with -lprestore_recompute.
module prestore_recompute_m
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer(c_int), parameter, public :: LOOP_CARRIED = 0, LOOP_FRESH = 1
    integer(c_int), parameter, public :: LOOP_TOGETHER = 0, LOOP_APART = 1
    integer(c_int), parameter, public :: LOOP_AUTO = 0, LOOP_FLUSH = 1, LOOP_MSYNC = 2

    public :: loop_array_t, loop_nest_t, loop_report_t, loop_level_t, loop_measured_t, loop_advice_t
    public :: loop_input, loop_output, loop_nest, loop_open, loop_error, loop_durability
    public :: loop_state, loop_run, loop_array_at, loop_close, loop_advise, loop_crossing

    type, bind(C) :: loop_array_t
        integer(c_size_t) :: rows, row_bytes, tile_rows, tile_bytes, every, phase
        integer(c_int) :: by_columns
    end type

    type, bind(C) :: c_nest_t
        type(c_ptr) :: name
        integer(c_size_t) :: outer
        type(c_ptr) :: arrays
        integer(c_size_t) :: array_count
        integer(c_int) :: dependence, order
        type(c_ptr) :: context
        type(c_funptr) :: init, reset, step, writes
    end type

    ! A description, with what it points to.
    type :: loop_nest_t
        private
        character(kind=c_char), allocatable :: name(:)
        type(loop_array_t), allocatable :: arrays(:)
        type(c_nest_t) :: c
    end type

    type, bind(C) :: loop_report_t
        integer(c_int) :: was_finished
        integer(c_size_t) :: resumed_at
        integer(c_int64_t) :: recomputed, steps
    end type

    type, bind(C) :: loop_level_t
        type(c_ptr) :: name = c_null_ptr
        real(c_double) :: seconds, persist_seconds
    end type

    type, bind(C) :: loop_measured_t
        integer(c_int64_t) :: outer
        real(c_double) :: outer_seconds, copy_seconds
        integer(c_int64_t) :: workers
        integer(c_int) :: fresh
        real(c_double) :: mttf_seconds
        type(c_ptr) :: levels
        integer(c_size_t) :: level_count
    end type

    type, bind(C) :: loop_advice_t
        character(kind=c_char) :: scheme(32)
        integer(c_intptr_t) :: level
        real(c_double) :: overhead, recovery_seconds, expected, crossing
    end type

    interface
        function c_open(nest, path, scheme, workers, durability) bind(C, name='prestore_loop_open') result(loop)
            import :: c_ptr, c_nest_t, c_char, c_int
            type(c_nest_t), intent(in) :: nest
            character(kind=c_char), intent(in) :: path(*), scheme(*)
            integer(c_int), value :: workers, durability
            type(c_ptr) :: loop
        end function

        function c_error() bind(C, name='prestore_loop_error') result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function

        function c_durability(loop) bind(C, name='prestore_loop_durability') result(text)
            import :: c_ptr
            type(c_ptr), value :: loop
            type(c_ptr) :: text
        end function

        function loop_state(loop) bind(C, name='prestore_loop_state') result(state)
            import :: c_ptr, c_int
            type(c_ptr), value :: loop
            integer(c_int) :: state
        end function

        function loop_run(loop, report) bind(C, name='prestore_loop_run') result(status)
            import :: c_ptr, c_int, loop_report_t
            type(c_ptr), value :: loop
            type(loop_report_t), intent(out), optional :: report
            integer(c_int) :: status
        end function

        ! For c_f_pointer.
        function loop_array_at(loop, array) bind(C, name='prestore_loop_array_at') result(address)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: loop
            integer(c_size_t), value :: array
            type(c_ptr) :: address
        end function

        subroutine loop_close(loop) bind(C, name='prestore_loop_close')
            import :: c_ptr
            type(c_ptr), value :: loop
        end subroutine

        function loop_advise(measured, advice) bind(C, name='prestore_loop_advise') result(status)
            import :: c_int, loop_measured_t, loop_advice_t
            type(loop_measured_t), intent(in) :: measured
            type(loop_advice_t), intent(out) :: advice
            integer(c_int) :: status
        end function

        function loop_crossing(checkpoint, iteration, overhead) bind(C, name='prestore_loop_crossing') result(at)
            import :: c_double
            real(c_double), value :: checkpoint, iteration, overhead
            real(c_double) :: at
        end function

        function c_strlen(text) bind(C, name='strlen') result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
    end interface

contains

    ! An array that is only read.
    pure function loop_input(rows, row_bytes) result(array)
        integer, intent(in) :: rows, row_bytes
        type(loop_array_t) :: array
        array = loop_array_t(rows, row_bytes, 0, 0, 0, 0, 0)
    end function

    ! An array that is written, in all iterations or those that are phase modulo every.
    pure function loop_output(rows, row_bytes, tile_rows, tile_bytes, every, phase, by_columns) result(array)
        integer, intent(in) :: rows, row_bytes, tile_rows, tile_bytes
        integer, intent(in), optional :: every, phase
        logical, intent(in), optional :: by_columns
        type(loop_array_t) :: array
        array = loop_array_t(rows, row_bytes, tile_rows, tile_bytes, 0, 0, 0)
        if (present(every)) array%every = every
        if (present(phase)) array%phase = phase
        if (present(by_columns)) then
            if (by_columns) array%by_columns = 1
        end if
    end function

    ! Without reset, a loop that begins again has its arrays zeroed and init called once more; LOOP_CARRIED with init needs
    ! reset under R and HR: it is not opened without.
    function loop_nest(name, outer, arrays, step, init, reset, writes, dependence, order, context) result(nest)
        character(*), intent(in) :: name
        integer, intent(in) :: outer
        type(loop_array_t), intent(in) :: arrays(:)
        type(c_funptr), intent(in) :: step
        type(c_funptr), intent(in), optional :: init, reset, writes
        integer(c_int), intent(in), optional :: dependence, order
        type(c_ptr), intent(in), optional :: context
        type(loop_nest_t) :: nest
        nest%name = c_text(name)
        nest%arrays = arrays
        nest%c%outer = outer
        nest%c%array_count = size(arrays)
        nest%c%dependence = LOOP_CARRIED
        nest%c%order = LOOP_TOGETHER
        nest%c%context = c_null_ptr
        nest%c%init = c_null_funptr
        nest%c%reset = c_null_funptr
        nest%c%writes = c_null_funptr
        nest%c%step = step
        if (present(init)) nest%c%init = init
        if (present(reset)) nest%c%reset = reset
        if (present(writes)) nest%c%writes = writes
        if (present(dependence)) nest%c%dependence = dependence
        if (present(order)) nest%c%order = order
        if (present(context)) nest%c%context = context
    end function

    ! Not associated if it cannot be opened: loop_error says why.
    function loop_open(nest, path, scheme, workers, durability) result(loop)
        type(loop_nest_t), intent(in), target :: nest
        character(*), intent(in) :: path, scheme
        integer, intent(in), optional :: workers
        integer(c_int), intent(in), optional :: durability
        type(c_ptr) :: loop
        type(c_nest_t) :: c
        integer(c_int) :: many, how
        c = nest%c
        c%name = c_loc(nest%name)
        c%arrays = c_loc(nest%arrays)
        many = 1
        how = LOOP_AUTO
        if (present(workers)) many = workers
        if (present(durability)) how = durability
        loop = c_open(c, c_text(path), c_text(scheme), many, how)
    end function

    ! What went wrong last.
    function loop_error() result(message)
        character(:), allocatable :: message
        message = text(c_error())
    end function

    ! How data becomes durable and what it survives.
    function loop_durability(loop) result(message)
        type(c_ptr), intent(in) :: loop
        character(:), allocatable :: message
        message = text(c_durability(loop))
    end function

    pure function c_text(string) result(copy)
        character(*), intent(in) :: string
        character(kind=c_char) :: copy(len_trim(string) + 1)
        integer :: i
        do i = 1, len_trim(string)
            copy(i) = string(i:i)
        end do
        copy(len_trim(string) + 1) = c_null_char
    end function

    function text(address) result(copy)
        type(c_ptr), intent(in) :: address
        character(:), allocatable :: copy
        character(kind=c_char), pointer :: bytes(:)
        integer :: i, length
        length = int(c_strlen(address))
        call c_f_pointer(address, bytes, [length])
        allocate(character(length) :: copy)
        do i = 1, length
            copy(i:i) = bytes(i)
        end do
    end function

end module
