! Systems of three diagonals, forward elimination and back substitution, each along another dimension,
! as alternating-direction solvers have them. The residual is the check.
program tridiagonal
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: n = 40
  real(real64) :: rhs(n, n, n), x(n, n, n), c(n), worst
  integer :: i, j, k, along

  do k = 1, n
     do j = 1, n
        do i = 1, n
           rhs(i, j, k) = sin(real(i * 7 + j * 13 + k * 29, real64))
        end do
     end do
  end do
  worst = 0
  do along = 1, 3
     x = rhs
     do k = 1, n
        do j = 1, n
           select case (along)
           case (1)
              call solve(x(:, j, k))
              worst = max(worst, residual(x(:, j, k), rhs(:, j, k)))
           case (2)
              call solve(x(j, :, k))
              worst = max(worst, residual(x(j, :, k), rhs(j, :, k)))
           case (3)
              call solve(x(j, k, :))
              worst = max(worst, residual(x(j, k, :), rhs(j, k, :)))
           end select
        end do
     end do
     print '(z16)', sum(x)
  end do
  if (worst > 1.0e-13_real64) then
     print *, 'WRONG', worst
     stop 1
  end if
  print '(a, z16)', 'verified ', worst

contains

  subroutine solve(v)
    real(real64), intent(inout) :: v(:)
    real(real64) :: by
    integer :: m
    c(1) = -1 / 4.0_real64
    v(1) = v(1) / 4
    do m = 2, n
       by = 1 / (4 + c(m - 1))
       c(m) = -by
       v(m) = (v(m) + v(m - 1)) * by
    end do
    do m = n - 1, 1, -1
       v(m) = v(m) - c(m) * v(m + 1)
    end do
  end subroutine

  pure function residual(v, b) result(r)
    real(real64), intent(in) :: v(:), b(:)
    real(real64) :: r, left
    integer :: m
    r = 0
    do m = 1, n
       left = 4 * v(m) - b(m)
       if (m > 1) left = left - v(m - 1)
       if (m < n) left = left - v(m + 1)
       r = max(r, abs(left))
    end do
  end function
end program
