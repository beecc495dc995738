! The Fortran twin of sweeps.c: two sweeps over 3-D grids, in the spirit of the multigrid kernel NAS MG.
! Inputs have a ghost layer, outputs have none; each call sweeps one plane.
module sweeps
    use, intrinsic :: iso_fortran_env, only: real64
    implicit none
    private
    public :: resid, psinv

contains

    ! The residual r = v - A u of the 7-point Poisson operator A.
    subroutine resid(u, v, r, n, i3)
        integer, intent(in) :: n, i3
        real(real64), intent(in) :: u(0:n + 1, 0:n + 1, 0:n + 1), v(0:n + 1, 0:n + 1, 0:n + 1)
        real(real64), intent(inout) :: r(n, n, n)
        integer :: i1, i2

        do i2 = 1, n
            !GCC$ unroll 4
            do i1 = 1, n
                r(i1, i2, i3) = v(i1, i2, i3) - 6.0_real64 * u(i1, i2, i3) + u(i1 - 1, i2, i3) + u(i1 + 1, i2, i3) &
                    + u(i1, i2 - 1, i3) + u(i1, i2 + 1, i3) + u(i1, i2, i3 - 1) + u(i1, i2, i3 + 1)
            end do
        end do
    end subroutine resid

    ! A damped Jacobi correction: out = u + weight * r; adds each row's last point to `total`.
    subroutine psinv(u, r, out, weight, n, i3, total)
        integer, intent(in) :: n, i3
        real(real64), intent(in) :: u(0:n + 1, 0:n + 1, 0:n + 1), r(n, n, n), weight
        real(real64), intent(inout) :: out(n, n, n), total
        real(real64) :: corrected, plane_sum
        integer :: i1, i2

        plane_sum = 0
        corrected = 0
        do i2 = 1, n
            !GCC$ unroll 4
            do i1 = 1, n
                corrected = u(i1, i2, i3) + weight * r(i1, i2, i3)
                out(i1, i2, i3) = corrected
            end do
            plane_sum = plane_sum + corrected
        end do
        total = total + plane_sum
    end subroutine psinv
end module sweeps
