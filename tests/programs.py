"""Real programs with work to do, each run under a malloc library: for tests/preload/run and tests/bench/run.

`programs(work)` gives them by name. Each is a function of (settings, work, tag): settings are the environment variables
that choose the library ({} for glibc's malloc), work is the folder to run in, tag names the files of this run there. It
returns a Run.
"""
import contextlib, os, random, shutil, signal, socket, subprocess, threading, time
from pathlib import Path

FILES = Path(__file__).resolve().parent / "preload"
LIMIT_SECONDS = 900     # a run that takes longer is ended, and fails
OURS = ("LD_PRELOAD", "QEDMALLOC_CONF", "MALLOC_CONF", "MALLOC_ARENA_MAX", "MAKEFLAGS", "MFLAGS")


class Run:
    """One execution: exit status, output to compare, what it wrote to stderr, and what it cost.

    Peak memory is that of the largest process; CPU time and page faults are of all of them."""

    def __init__(self, status, output, stderr, seconds, cpu_seconds, peak_kib, faults):
        self.status, self.output, self.stderr = status, output, stderr
        self.seconds, self.cpu_seconds, self.peak_kib, self.faults = seconds, cpu_seconds, peak_kib, faults


def installed(program):
    return shutil.which({"redis": "redis-server"}.get(program, program)) is not None


def start(argv, settings, work, tag):
    """Under time(1): a process started from here would be charged with this one's peak memory."""
    environment = {k: v for k, v in os.environ.items() if k not in OURS}
    environment.update(LC_ALL="C", PYTHONMALLOC="malloc", PYTHONHASHSEED="0")
    (work / f"{tag}.cost").unlink(missing_ok=True)
    with open(work / f"{tag}.out", "wb") as out, open(work / f"{tag}.err", "wb") as err:
        return subprocess.Popen(["time", "-q", "-f", "%M %R %F", "-o", f"{tag}.cost", "env", *(f"{k}={v}" for k, v in settings.items()), *argv],
                                env=environment, cwd=work, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def finish(process, work, tag, since):
    limit = threading.Timer(LIMIT_SECONDS, kill, [process])
    limit.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.time() - since
    limit.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    cost = work / f"{tag}.cost"     # absent when time(1) itself was killed
    peak_kib, minor, major = map(int, cost.read_text().split()[-3:]) if cost.exists() else (0, 0, 0)
    return Run(process.returncode, (work / f"{tag}.out").read_bytes(), (work / f"{tag}.err").read_text(errors="replace"),
               seconds, usage.ru_utime + usage.ru_stime, peak_kib, minor + major)


def command(argv, results=()):
    """A program that runs to its end; the files it is to write count as output."""
    def run(settings, work, tag):
        for f in results:
            (work / f).unlink(missing_ok=True)
        t0 = time.time()
        r = finish(start(argv, settings, work, tag), work, tag, t0)
        r.output = (r.output, *((work / f).read_bytes() if (work / f).exists() else None for f in results))
        return r
    return run


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"no server on port {port}")


def served(argv, client, leave):
    """A server on a port of its own, and a client that gets the port and returns answers; `leave` tells the server to end.
    The answers are the output; the seconds are the client's."""
    def run(settings, work, tag):
        port = free_port()
        server = start([a.format(port=port) for a in argv], settings, work, tag)
        try:
            wait_for(port)
            t0 = time.time()
            answers, seconds = client(port)
            leave(server, port)
        except BaseException:
            kill(server)
            finish(server, work, tag, 0)
            raise
        r = finish(server, work, tag, t0)
        r.output, r.seconds = answers, seconds
        return r
    return run


def redis_client(port):
    """The time is redis-benchmark's; a script and a few questions follow for answers to compare."""
    t0 = time.time()
    subprocess.run(["redis-benchmark", "-p", str(port), "-q", "-n", "40000", "-r", "20000", "-d", "200", "-P", "16", "-t",
                    "set,get,incr,lpush,rpush,lpop,sadd,hset,spop,zadd,mset"], stdout=subprocess.DEVNULL, check=True)
    seconds = time.time() - t0
    script = "for i=1,20000 do redis.call('set','k'..i,string.rep('v',i%600)) end; local n=0; " \
             "for i=1,20000 do n=n+#redis.call('get','k'..i) end; return n"
    return [subprocess.run(["redis-cli", "-p", str(port)] + a, capture_output=True).stdout for a in
            (["eval", script, "0"], ["strlen", "k599"], ["flushall"], ["dbsize"])], seconds


def memcached_client(port):
    """Sets and gets over the text protocol, 8 connections in turn."""
    t0 = time.time()
    dice, answers = random.Random(1), []
    links = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
    files = [s.makefile("rb") for s in links]
    for i in range(20000):
        s, f = links[i % 8], files[i % 8]
        if dice.random() < 0.5:
            size = dice.randrange(1, 3000)
            s.sendall(b"set k%d 0 0 %d\r\n%s\r\n" % (dice.randrange(4000), size, b"x" * size))
            answers.append(f.readline())
        else:
            s.sendall(b"get k%d\r\n" % dice.randrange(4000))
            line = f.readline()
            answers.append(line)
            if line.startswith(b"VALUE"):
                answers.append(f.read(int(line.split()[3]) + 2))
                answers.append(f.readline())
    for s in links:
        s.close()
    return answers, time.time() - t0


def redis_leaves(server, port):
    subprocess.run(["redis-cli", "-p", str(port), "shutdown", "nosave"], capture_output=True)


def memcached_leaves(server, port):
    os.killpg(server.pid, signal.SIGINT)    # it leaves through exit() then; time(1) ignores it


def git(settings, work, tag):
    """A repository with history to work on, made once."""
    if not (work / "repo").exists():
        quiet = dict(cwd=work / "repo", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        (work / "repo").mkdir()
        subprocess.run(["git", "init", "-q"], **quiet)
        for i in range(30):
            for j in range(20):
                (work / "repo" / f"f{j}.txt").write_text("".join(f"line {k * (i + 1) % 97} of {j}\n" for k in range(300)))
            subprocess.run(["git", "add", "-A"], **quiet)
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", f"c{i}"], **quiet)
    return command(["sh", "-c", "cd repo && git log -p --stat | cksum && git fsck --full && git repack -adfq && "
                                "git blame f3.txt | cut -c 60- | cksum"])(settings, work, tag)


def write_inputs(work):
    (work / "many.c").write_text("#include <stdio.h>\n" + "".join(
        f"static int f{i}(int x) {{ int s = {i}; for (int k = 0; k < x; k++) s += (s * {i + 3}) ^ k; return s; }}\n" for i in range(600))
        + "int main(void) { int s = 0;" + "".join(f" s += f{i}({i % 17});" for i in range(600)) + ' printf("%d\\n", s); }\n')
    (work / "many.cc").write_text("".join(f"#include <{h}>\n" for h in ("algorithm", "functional", "iostream", "map", "regex", "string", "vector"))
        + "".join(f"std::map<std::string, std::vector<int>> m{i}() {{ return {{{{\"k{i}\", {{{i}, 2, 3}}}}}}; }}\n" for i in range(40))
        + "int main() { std::regex r(\"a+b\"); std::cout << std::regex_match(\"aab\", r) << m3().size() << std::endl; }\n")
    if not (work / "data.bin").exists():
        dice = random.Random(2)
        (work / "data.bin").write_bytes(b"".join(b"%d,%s;" % (dice.randrange(10**6), b"abc" * dice.randrange(8)) for _ in range(600000)))


def programs(work):
    write_inputs(work)
    return {
        "redis": served(["redis-server", "--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], redis_client, redis_leaves),
        "python3": command(["python3", str(FILES / "work.py")]),
        "sqlite3": command(["sqlite3", ":memory:", (FILES / "work.sql").read_text()]),
        "gcc": command(["gcc", "-O2", "-c", "many.c", "-o", "many.o"], ["many.o"]),
        "memcached": served(["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", "{port}", "-t", "4", "-m", "256"], memcached_client, memcached_leaves),
        "git": git,
        "perl": command(["perl", str(FILES / "work.pl")]),
        "g++": command(["g++", "-O1", "-std=c++17", "-c", "many.cc", "-o", "many.o"], ["many.o"]),
        "clang++": command(["clang++", "-O1", "-std=c++17", "many.cc", "-o", "many"], ["many"]),
        "lua5.4": command(["lua5.4", str(FILES / "work.lua")]),
        "gs": command(["gs", "-q", "-dNOPAUSE", "-dBATCH", "-dSAFER", "-sDEVICE=pgmraw", "-r150", "-sOutputFile=out.pgm", str(FILES / "work.ps")],
                      ["out.pgm"]),
        "zstd": command(["zstd", "-q", "-f", "-T2", "-9", "data.bin", "-o", "data.zst"], ["data.zst"]),
        "z3": command(["z3", str(FILES / "work.smt2")]),
    }
