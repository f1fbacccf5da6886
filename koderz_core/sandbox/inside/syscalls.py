"""The system calls that koderz lets programs make, by name, with their numbers on the machines that it knows.

What is not named here is refused. Taken from Linux's unistd_64.h (x86_64) and asm-generic/unistd.h (aarch64);
the numbers of aarch64 have not been tried on such a machine.
"""

from __future__ import annotations

MACHINES = ("x86_64", "aarch64")

# What an interpreter needs to load modules of the standard library, compute, wait, and answer. Landlock says which
# files may be opened. No processes, threads, sockets, timers with signals, shared memory, or changes to a file system.
PROGRAM = """
    read 0 63           readv 19 65         pread64 17 67       write 1 64          writev 20 66
    close 3 57          lseek 8 62          open 2 -            openat 257 56       dup 32 23
    stat 4 -            lstat 6 -           fstat 5 80          newfstatat 262 79   statx 332 291
    access 21 -         faccessat 269 48    faccessat2 439 439  getdents64 217 61   getcwd 79 17
    mmap 9 222          munmap 11 215       mprotect 10 226     mremap 25 216       madvise 28 233
    brk 12 214          sigaltstack 131 132 rt_sigaction 13 134 rt_sigprocmask 14 135 rt_sigreturn 15 139
    restart_syscall 219 128                 exit 60 93          exit_group 231 94   getpid 39 172       getppid 110 173
    gettid 186 178      getuid 102 174      geteuid 107 175     getgid 104 176      getegid 108 177
    getrandom 318 278   clock_gettime 228 113 clock_getres 229 114 clock_nanosleep 230 115 nanosleep 35 101
    gettimeofday 96 169 time 201 -          times 100 153       getrusage 98 165    sched_yield 24 124
    sched_getaffinity 204 123               getcpu 309 168      uname 63 160        sysinfo 99 179
    select 23 -         pselect6 270 72     poll 7 -            ppoll 271 73        setitimer 38 103
    getitimer 36 102    alarm 37 -          pause 34 -          getrlimit 97 163
"""
# What the worker's own processes need besides: to fork, watch and kill candidates, to pass descriptors over a pair of
# sockets, and to restrict themselves and their children further.
WORKER = """
    kill 62 129         tgkill 234 131      wait4 61 260        waitid 247 95
    pipe 22 -           pipe2 293 59        dup2 33 -           dup3 292 24         close_range 436 436
    sendmsg 46 211      recvmsg 47 212      sendto 44 206       recvfrom 45 207     shutdown 48 210
    getsockname 51 204  getsockopt 55 209
    epoll_create1 291 20 epoll_ctl 233 21   epoll_wait 232 -    epoll_pwait 281 22  eventfd2 290 19
    pidfd_open 434 434  pidfd_send_signal 424 424               rt_sigtimedwait 128 137 rt_sigsuspend 130 133
    set_robust_list 273 99 rseq 334 293     setsid 112 157      setrlimit 160 164   prlimit64 302 261
    seccomp 317 277     landlock_create_ruleset 444 444         landlock_add_rule 445 445
    landlock_restrict_self 446 446          capset 126 91
"""
# Allowed with certain arguments only: see seccomp.py.
WITH_ARGUMENTS = """
    futex 202 98        fcntl 72 25         ioctl 16 29         prlimit64 302 261   kill 62 129
    tgkill 234 131      clone 56 220        clone3 435 435      socketpair 53 199   prctl 157 167
    sched_setaffinity 203 122
"""
NEWEST = 462
"""The last number that was looked at (mseal, Linux 6.10): what comes later is as if the kernel did not have it."""


def numbers(table: str, machine: str) -> dict[str, int]:
    """The numbers of a table's calls on ``machine``, by name."""
    words = table.split()
    column = 1 + MACHINES.index(machine)
    return {words[at]: int(words[at + column]) for at in range(0, len(words), 3) if words[at + column] != "-"}
