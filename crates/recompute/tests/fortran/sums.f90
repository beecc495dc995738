! The contract in Fortran: a loop on a file, found finished when it is opened again.
module body
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: columns = 8, rows = 4, rounds = 3
contains
    subroutine step(context, arrays, outer, region) bind(C)
        type(c_ptr), value :: context
        type(c_ptr), intent(in) :: arrays(*)
        integer(c_size_t), value :: outer, region
        real(c_double), pointer :: sums(:, :)
        if (c_associated(context)) error stop 'a context from nowhere'
        call c_f_pointer(arrays(1), sums, [columns, rows])
        sums(:, region + 1) = sums(:, region + 1) + real(outer + 1, c_double) * real(region + 1, c_double)
    end subroutine

    subroutine init(context, arrays) bind(C)
        type(c_ptr), value :: context
        type(c_ptr), intent(in) :: arrays(*)
        real(c_double), pointer :: sums(:, :)
        if (c_associated(context)) error stop 'a context from nowhere'
        call c_f_pointer(arrays(1), sums, [columns, rows])
        if (any(sums /= 0)) error stop 'not into zeros'
        sums = 1
    end subroutine

    subroutine reset(context, arrays, region) bind(C)
        type(c_ptr), value :: context
        type(c_ptr), intent(in) :: arrays(*)
        integer(c_size_t), value :: region
        real(c_double), pointer :: sums(:, :)
        if (c_associated(context)) error stop 'a context from nowhere'
        call c_f_pointer(arrays(1), sums, [columns, rows])
        sums(:, region + 1) = 0
    end subroutine
end module

program main
    use, intrinsic :: iso_c_binding
    use prestore_recompute_m
    use body
    implicit none
    type(loop_nest_t) :: nest
    type(loop_report_t) :: report
    type(c_ptr) :: loop
    real(c_double), pointer :: sums(:, :)
    character(1000) :: path
    integer :: i, row

    call get_command_argument(1, path)
    nest = loop_nest('sums', rounds, [loop_output(rows, 8 * columns, 1, 8 * columns)], c_funloc(step), &
                     reset=c_funloc(reset), order=LOOP_APART)
    do i = 1, 2
        loop = loop_open(nest, path, 'R', workers=2)
        if (.not. c_associated(loop)) error stop 'not opened'
        if (loop_run(loop, report) /= 0) error stop 'not run'
        if ((report%was_finished /= 0) .neqv. (i == 2)) error stop 'finished at the wrong time'
        call c_f_pointer(loop_array_at(loop, 0_c_size_t), sums, [columns, rows])
        do row = 1, rows
            if (any(sums(:, row) /= 6.0_c_double * row)) error stop 'wrong'
        end do
        if (len(loop_durability(loop)) == 0) error stop 'no durability'
        call loop_close(loop)
    end do
    loop = loop_open(nest, path, 'L')
    if (c_associated(loop)) error stop 'another scheme was taken'
    print '(a)', loop_error()

    nest = loop_nest('ones', rounds, [loop_output(rows, 8 * columns, 1, 8 * columns)], c_funloc(step), &
                     init=c_funloc(init), order=LOOP_APART)
    loop = loop_open(nest, trim(path)//'.ones', 'R')
    if (c_associated(loop)) error stop 'nothing can bring it back'
    print '(a)', loop_error()
    do i = 1, 3
        loop = loop_open(nest, trim(path)//'.ones', 'none')
        if (.not. c_associated(loop)) error stop 'not opened without a reset'
        if (loop_run(loop) /= 0) error stop 'not run without a reset'
        call c_f_pointer(loop_array_at(loop, 0_c_size_t), sums, [columns, rows])
        do row = 1, rows
            if (any(sums(:, row) /= 1 + 6.0_c_double * row)) error stop 'wrong without a reset'
        end do
        call loop_close(loop)
    end do
end program
