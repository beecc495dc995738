! P0's listing 5 in small: each finished column is cleaned, both ways to name it; the sums must be as without.
program stencil
    use prestore_m
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: n = 50
    real(8), target :: r(n, n, n), u(n, n, n), copy(n, n, n)
    integer :: i1, i2, i3, status

    call random_number(r)
    u = 1
    status = prestore_region_begin(7)
    if (status /= 0) error stop 'region 7 is refused'
    do i3 = 2, n - 1
        do i2 = 2, n - 1
            do i1 = 2, n - 1
                u(i1, i2, i3) = u(i1, i2, i3) + 2 * r(i1, i2, i3)
            end do
            call prestore(loc(u(2, i2, i3)), 8 * (n - 2), PRESTORE_CLEAN)
            call prestore(c_loc(u(2, i2, i3)), 8_8 * (n - 2), PRESTORE_DEMOTE)
            call prestore(loc(u(2, i2, i3)), 8 * (2 - n), PRESTORE_CLEAN)
        end do
    end do
    status = prestore_region_end(7)
    if (prestore_region_begin(4096) /= -1) error stop 'region 4096 is accepted'

    if (any(u(2:n-1, 2:n-1, 2:n-1) /= 1 + 2 * r(2:n-1, 2:n-1, 2:n-1))) error stop 'pre-stores changed data'
    if (any(u(1, :, :) /= 1) .or. any(u(n, :, :) /= 1)) error stop 'neighbours changed'

    call prestore_copy_skip(c_loc(copy), c_loc(u), int(8, 8) * size(u))
    call prestore_fence()
    if (any(copy /= u)) error stop 'the copy differs'
    call prestore_fill_skip(c_loc(copy), 0, int(8, 8) * size(copy))
    if (any(copy /= 0)) error stop 'the fill differs'

    call check_writer(1)
    call check_writer(4)

    print '(a,"|",a,"|",l1,"|",i0)', prestore_chosen(PRESTORE_CLEAN), prestore_reason(PRESTORE_CLEAN), &
        prestore_active(PRESTORE_CLEAN), prestore_line_size()

contains

    ! Pieces of every kind, from the element on: each at its place, the one before untouched.
    subroutine check_writer(first)
        integer, intent(in) :: first
        type(prestore_writer_t) :: writer
        real(8), target :: values(500), tail(100)
        real(4) :: halves(2)
        type(c_ptr) :: last
        integer :: i

        values = -1
        tail = [(real(i, 8), i = 1, 100)]
        call prestore_writer_open(writer, c_loc(values(first)))
        do i = first, 300
            call prestore_writer_put(writer, real(i, 8))
        end do
        call prestore_writer_put(writer, transfer(1.5_8, 1_8))
        halves = transfer(2.5_8, halves)
        call prestore_writer_put(writer, halves(1))
        call prestore_writer_put(writer, transfer(halves(2), 1))
        call prestore_writer_put(writer, c_loc(tail), 800_8)
        call prestore_writer_close(writer, last)
        call prestore_fence()

        if (any(values(first:300) /= [(real(i, 8), i = first, 300)])) error stop 'written values differ'
        if (values(301) /= 1.5_8 .or. values(302) /= 2.5_8) error stop 'small pieces differ'
        if (any(values(303:402) /= tail)) error stop 'the block differs'
        if (any(values(:first - 1) /= -1) .or. any(values(403:) /= -1)) error stop 'the writer wrote beyond'
        if (.not. c_associated(last, c_loc(values(403)))) error stop 'the end is elsewhere'
    end subroutine
end program
