! Multigrid-like sweeps in Fortran: see main.c, whose structure and arguments it shares.
program stencil_f
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use args
    use sweeps
    implicit none

    integer, parameter :: weights = 2
    type(count_arg) :: options(4)
    real(real64), allocatable :: u(:, :, :), v(:, :, :), r(:, :, :, :), out(:, :, :, :, :)
    real(real64) :: total, seconds
    integer :: n, steps, threads, step
    integer(int64) :: state, started, ended, rate

    options = [ &
        count_arg("n", 64, 4, 1024, "points of a grid in each direction"), &
        count_arg("steps", 40, 1, 100000, "steps; each writes three fresh grids of n^3 doubles"), &
        count_arg("threads", 1, 1, 256, "OpenMP threads"), &
        count_arg("seed", 1, 0, 1000000000, "seed of the grids' contents")]
    call args_parse("stencil_f", options)
    n = int(options(1)%value)
    steps = int(options(2)%value)
    threads = int(options(3)%value)
    state = options(4)%value

    allocate (u(0:n + 1, 0:n + 1, 0:n + 1), v(0:n + 1, 0:n + 1, 0:n + 1))
    allocate (r(n, n, n, steps), out(n, n, n, weights, steps))
    call fill(u)
    call fill(v)

    total = 0
    call system_clock(started, rate)
    do step = 1, steps
        call sweep(step)
    end do
    call system_clock(ended)
    seconds = real(ended - started, real64) / real(rate, real64)
    write (*, '(a,i0,a,f0.6,a,i0,a,z16.16)') "stencil_f: ops=", int(steps, int64) * n * n * n, " seconds=", seconds, &
        " ops_per_s=", int(real(steps, real64) * real(n, real64)**3 / max(seconds, 1e-9_real64), int64), &
        " checksum=", transfer(total, 0_int64)

contains

    ! A linear congruential generator modulo 2^31 - 1 (Park and Miller), scaled to [0, 1).
    subroutine fill(grid)
        real(real64), intent(out) :: grid(0:, 0:, 0:)
        integer :: i1, i2, i3

        do i3 = 0, n + 1
            do i2 = 0, n + 1
                do i1 = 0, n + 1
                    state = mod((state + 1) * 16807_int64, 2147483647_int64)
                    grid(i1, i2, i3) = real(state, real64) / 2147483647.0_real64
                end do
            end do
        end do
    end subroutine fill

    ! One step: every plane's residual, and right after it the corrections that need it.
    subroutine sweep(step)
        integer, intent(in) :: step
        real(real64) :: first_weight
        integer :: i3, w

        first_weight = 1 / (7.0_real64 + step)
        !$omp parallel do schedule(static) num_threads(threads) reduction(+:total) private(w)
        do i3 = 1, n
            call resid(u, v, r(:, :, :, step), n, i3)
            do w = 1, weights
                call psinv(u, r(:, :, :, step), out(:, :, :, w, step), first_weight / w, n, i3, total)
            end do
        end do
        !$omp end parallel do
    end subroutine sweep
end program stencil_f
