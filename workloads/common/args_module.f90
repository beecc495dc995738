! Command lines of the form --key=value for the Fortran programs, with the exit codes of the C ones.
module args
    use, intrinsic :: iso_fortran_env, only: int64, error_unit
    implicit none
    private
    public :: count_arg, args_parse, args_fail

    ! An integer argument; `value` holds the default before parsing and the user's value after.
    type :: count_arg
        character(len=16) :: name
        integer(int64) :: value, low, high
        character(len=64) :: help
    end type count_arg

    interface
        subroutine c_exit(status) bind(c, name="exit")
            use, intrinsic :: iso_c_binding, only: c_int
            integer(c_int), value :: status
        end subroutine c_exit
    end interface

contains

    ! Fills the values. An unknown key or a bad value prints the cause and the usage to stderr and exits with 2.
    subroutine args_parse(program_name, args)
        character(len=*), intent(in) :: program_name
        type(count_arg), intent(inout) :: args(:)
        character(len=128) :: text
        integer :: i

        do i = 1, command_argument_count()
            call get_command_argument(i, text)
            if (text == "--help") then
                call print_usage(6, program_name, args)
                call c_exit(0)
            end if
            call parse_one(program_name, args, trim(text))
        end do
    end subroutine args_parse

    subroutine args_fail(program_name, args, message)
        character(len=*), intent(in) :: program_name, message
        type(count_arg), intent(in) :: args(:)

        write (error_unit, '(4a)') program_name, ": ", message
        call print_usage(error_unit, program_name, args)
        call c_exit(2)
    end subroutine args_fail

    subroutine parse_one(program_name, args, text)
        character(len=*), intent(in) :: program_name, text
        type(count_arg), intent(inout) :: args(:)
        integer(int64) :: value
        integer :: equals, i, status

        equals = index(text, "=")
        do i = 1, size(args)
            if (equals == 0) exit
            if (text(1:equals - 1) /= "--" // trim(args(i)%name)) cycle
            status = 1
            value = 0
            if (equals < len(text) .and. verify(text(equals + 1:), "0123456789") == 0) &
                read (text(equals + 1:), *, iostat=status) value
            if (status == 0) then
                if (value < args(i)%low .or. value > args(i)%high) status = 1
            end if
            if (status /= 0) call args_fail(program_name, args, text // " is not in the range of " // trim(args(i)%name))
            args(i)%value = value
            return
        end do
        call args_fail(program_name, args, "unknown argument '" // text // "'; arguments are written --key=value")
    end subroutine parse_one

    subroutine print_usage(unit, program_name, args)
        integer, intent(in) :: unit
        character(len=*), intent(in) :: program_name
        type(count_arg), intent(in) :: args(:)
        integer :: i

        write (unit, '(3a)') "usage: ", program_name, " [--key=value ...]"
        do i = 1, size(args)
            write (unit, '(2x,3a,i0,/,8x,2a,i0,a,i0)') "--", trim(args(i)%name), "=", args(i)%value, &
                trim(args(i)%help), "; ", args(i)%low, " to ", args(i)%high
        end do
    end subroutine print_usage
end module args
