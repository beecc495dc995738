! Pre-stores for Fortran 2003: compile this file with the program, link with -lprestore.
!
!     use prestore_m
!     call prestore(loc(u(2, i2, i3)), 8 * (n1 - 2), PRESTORE_CLEAN)      ! as in P0, listing 5
!     call prestore(c_loc(u(2, i2, i3)), 8 * (n1 - 2), PRESTORE_CLEAN)    ! standard: u is a target
!
! Sizes are bytes. loc() is an extension that gfortran, ifx, flang and nvfortran know. docs/man says what each
! operation does and does not. Module and generic name cannot be the same, hence the _m.
module prestore_m
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer(c_int), parameter, public :: PRESTORE_DEMOTE = 0
    integer(c_int), parameter, public :: PRESTORE_CLEAN = 1
    integer(c_int), parameter, public :: PRESTORE_SKIP = 2

    public :: prestore, prestore_copy_skip, prestore_fill_skip, prestore_fence
    public :: prestore_chosen, prestore_reason, prestore_line_size, prestore_active
    public :: prestore_writer_t, prestore_writer_open, prestore_writer_put, prestore_writer_close
    public :: prestore_region_begin, prestore_region_end

    ! An address (loc) or a pointer (c_loc); a size of default or 8-byte kind.
    interface prestore
        module procedure prestore_address4, prestore_address8, prestore_pointer4, prestore_pointer8
    end interface

    ! A streaming writer. Not to be copied while it is open.
    type :: prestore_writer_t
        private
        ! The library's 192 bytes, wherever in here a cache line begins.
        integer(c_int64_t) :: room(31) = 0
    end type

    ! A number, or that many bytes at a pointer.
    interface prestore_writer_put
        module procedure put_integer4, put_integer8, put_real4, put_real8, put_bytes
    end interface

    type, bind(C) :: info_t
        type(c_ptr) :: instruction, reason, warning, line_source
        integer(c_size_t) :: line_size
        integer(c_int) :: active, retains
    end type

    interface
        subroutine c_prestore(address, bytes, op) bind(C, name='prestore')
            import :: c_intptr_t, c_size_t, c_int
            integer(c_intptr_t), value :: address
            integer(c_size_t), value :: bytes
            integer(c_int), value :: op
        end subroutine

        function c_copy_skip(to, from, bytes) bind(C, name='prestore_copy_skip') result(same)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: to, from
            integer(c_size_t), value :: bytes
            type(c_ptr) :: same
        end function

        function c_fill_skip(to, byte, bytes) bind(C, name='prestore_fill_skip') result(same)
            import :: c_ptr, c_size_t, c_int
            type(c_ptr), value :: to
            integer(c_int), value :: byte
            integer(c_size_t), value :: bytes
            type(c_ptr) :: same
        end function

        subroutine c_writer_open(writer, to) bind(C, name='prestore_writer_open')
            import :: c_ptr
            type(c_ptr), value :: writer, to
        end subroutine

        subroutine c_writer_put(writer, from, bytes) bind(C, name='prestore_writer_put')
            import :: c_ptr, c_size_t
            type(c_ptr), value :: writer, from
            integer(c_size_t), value :: bytes
        end subroutine

        function c_writer_close(writer) bind(C, name='prestore_writer_close') result(end)
            import :: c_ptr
            type(c_ptr), value :: writer
            type(c_ptr) :: end
        end function

        ! Orders earlier stores, those of prestore_copy_skip too, before later ones.
        subroutine prestore_fence() bind(C, name='prestore_fence')
        end subroutine

        function c_query(op, info) bind(C, name='prestore_query') result(status)
            import :: c_int, info_t
            integer(c_int), value :: op
            type(info_t), intent(out) :: info
            integer(c_int) :: status
        end function

        function c_strlen(text) bind(C, name='strlen') result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function

        ! Regions for the tracer, ids 0 to 4095; -1 for another id.
        function prestore_region_begin(id) bind(C, name='prestore_region_begin') result(status)
            import :: c_int
            integer(c_int), value :: id
            integer(c_int) :: status
        end function

        function prestore_region_end(id) bind(C, name='prestore_region_end') result(status)
            import :: c_int
            integer(c_int), value :: id
            integer(c_int) :: status
        end function
    end interface

contains

    subroutine prestore_address4(address, bytes, op)
        integer(c_intptr_t), intent(in) :: address
        integer(c_int32_t), intent(in) :: bytes
        integer(c_int), intent(in) :: op
        call c_prestore(address, positive(int(bytes, c_int64_t)), op)
    end subroutine

    subroutine prestore_address8(address, bytes, op)
        integer(c_intptr_t), intent(in) :: address
        integer(c_int64_t), intent(in) :: bytes
        integer(c_int), intent(in) :: op
        call c_prestore(address, positive(bytes), op)
    end subroutine

    subroutine prestore_pointer4(pointer, bytes, op)
        type(c_ptr), intent(in) :: pointer
        integer(c_int32_t), intent(in) :: bytes
        integer(c_int), intent(in) :: op
        call c_prestore(transfer(pointer, 0_c_intptr_t), positive(int(bytes, c_int64_t)), op)
    end subroutine

    subroutine prestore_pointer8(pointer, bytes, op)
        type(c_ptr), intent(in) :: pointer
        integer(c_int64_t), intent(in) :: bytes
        integer(c_int), intent(in) :: op
        call c_prestore(transfer(pointer, 0_c_intptr_t), positive(bytes), op)
    end subroutine

    ! An empty section's extent may come out negative, as that of a loop without iterations.
    pure function positive(bytes) result(size)
        integer(c_int64_t), intent(in) :: bytes
        integer(c_size_t) :: size
        size = max(bytes, 0_c_int64_t)
    end function

    ! Copies around the caches, as memcpy.
    subroutine prestore_copy_skip(to, from, bytes)
        type(c_ptr), intent(in) :: to, from
        integer(c_int64_t), intent(in) :: bytes
        type(c_ptr) :: same
        same = c_copy_skip(to, from, positive(bytes))
    end subroutine

    ! Fills around the caches, as memset.
    subroutine prestore_fill_skip(to, byte, bytes)
        type(c_ptr), intent(in) :: to
        integer(c_int), intent(in) :: byte
        integer(c_int64_t), intent(in) :: bytes
        type(c_ptr) :: same
        same = c_fill_skip(to, byte, positive(bytes))
    end subroutine

    ! Begins to write at `to`, which may have any alignment.
    subroutine prestore_writer_open(writer, to)
        type(prestore_writer_t), intent(inout), target :: writer
        type(c_ptr), intent(in) :: to
        call c_writer_open(raw(writer), to)
    end subroutine

    ! Writes what is left and returns the address after the last byte; then prestore_fence.
    subroutine prestore_writer_close(writer, end)
        type(prestore_writer_t), intent(inout), target :: writer
        type(c_ptr), intent(out), optional :: end
        type(c_ptr) :: last
        last = c_writer_close(raw(writer))
        if (present(end)) end = last
    end subroutine

    subroutine put_integer4(writer, value)
        type(prestore_writer_t), intent(inout), target :: writer
        integer(c_int32_t), intent(in), target :: value
        call c_writer_put(raw(writer), c_loc(value), 4_c_size_t)
    end subroutine

    subroutine put_integer8(writer, value)
        type(prestore_writer_t), intent(inout), target :: writer
        integer(c_int64_t), intent(in), target :: value
        call c_writer_put(raw(writer), c_loc(value), 8_c_size_t)
    end subroutine

    subroutine put_real4(writer, value)
        type(prestore_writer_t), intent(inout), target :: writer
        real(c_float), intent(in), target :: value
        call c_writer_put(raw(writer), c_loc(value), 4_c_size_t)
    end subroutine

    subroutine put_real8(writer, value)
        type(prestore_writer_t), intent(inout), target :: writer
        real(c_double), intent(in), target :: value
        call c_writer_put(raw(writer), c_loc(value), 8_c_size_t)
    end subroutine

    subroutine put_bytes(writer, from, bytes)
        type(prestore_writer_t), intent(inout), target :: writer
        type(c_ptr), intent(in) :: from
        integer(c_int64_t), intent(in) :: bytes
        call c_writer_put(raw(writer), from, positive(bytes))
    end subroutine

    ! Where the library's writer is: at the first beginning of a line.
    function raw(writer) result(pointer)
        type(prestore_writer_t), intent(in), target :: writer
        type(c_ptr) :: pointer
        integer(c_intptr_t) :: address
        address = transfer(c_loc(writer%room), address)
        address = iand(address + 63, not(63_c_intptr_t))
        pointer = transfer(address, pointer)
    end function

    ! The instruction behind an operation; empty if there is no such operation.
    function prestore_chosen(op) result(name)
        integer(c_int), intent(in) :: op
        character(:), allocatable :: name
        type(info_t) :: info
        name = ''
        if (c_query(op, info) == 0) name = text(info%instruction)
    end function

    ! Why that one.
    function prestore_reason(op) result(reason)
        integer(c_int), intent(in) :: op
        character(:), allocatable :: reason
        type(info_t) :: info
        reason = ''
        if (c_query(op, info) == 0) reason = text(info%reason)
    end function

    ! Whether an operation has an effect on this machine.
    function prestore_active(op) result(active)
        integer(c_int), intent(in) :: op
        logical :: active
        type(info_t) :: info
        active = .false.
        if (c_query(op, info) == 0) active = info%active /= 0
    end function

    ! Bytes a cache line.
    function prestore_line_size() result(bytes)
        integer :: bytes
        type(info_t) :: info
        bytes = 0
        if (c_query(PRESTORE_CLEAN, info) == 0) bytes = int(info%line_size)
    end function

    function text(c_text) result(copy)
        type(c_ptr), intent(in) :: c_text
        character(:), allocatable :: copy
        character(kind=c_char), pointer :: bytes(:)
        integer :: i, length
        length = int(c_strlen(c_text))
        call c_f_pointer(c_text, bytes, [length])
        allocate(character(length) :: copy)
        do i = 1, length
            copy(i:i) = bytes(i)
        end do
    end function

end module
