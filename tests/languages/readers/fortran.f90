program main
  implicit none
  integer :: i, number
  character(len=4) :: names = "abcd"
  do i = 1, 4
    open(unit=10, file="given/" // names(i:i), status="old", action="read")
    read(10, *) number
    close(10)
    if (number /= i) stop 3
    write(*, "(i0)") number
  end do
end program
