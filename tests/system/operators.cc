// The C++ operators: every form, new_handler and bad_alloc, from one program against the library.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

static int handled;

static void handler_that_gives_up()
{
    if (++handled == 3) {
        std::set_new_handler(nullptr);
    }
}

struct alignas(256) Wide {
    char bytes[1000];
};

#define CHECK(c) do { if (!(c)) { std::fprintf(stderr, "operators: line %d: %s\n", __LINE__, #c); std::exit(1); } } while (0)

int main()
{
    const std::size_t too_much = std::size_t(1) << 62;
    volatile std::size_t n = too_much;
    for (std::size_t bytes = 1; bytes < 100000; bytes = bytes * 3 + 1) {
        void *a = ::operator new(bytes), *b = ::operator new[](bytes, std::nothrow);
        void *c = ::operator new(bytes, std::align_val_t(512)), *d = ::operator new[](bytes, std::align_val_t(64), std::nothrow);
        CHECK(a && b && c && d && std::uintptr_t(c) % 512 == 0 && std::uintptr_t(d) % 64 == 0);
        ::operator delete(a, bytes);
        ::operator delete[](b, std::nothrow);
        ::operator delete(c, bytes, std::align_val_t(512));
        ::operator delete[](d, std::align_val_t(64));
    }
    delete new Wide;
    delete[] new Wide[7];
    bool thrown = false;
    try {
        ::operator delete(::operator new(n));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown);
    CHECK(::operator new(n, std::nothrow) == nullptr);
    std::set_new_handler(handler_that_gives_up);
    thrown = false;
    try {
        ::operator delete(::operator new(n));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown && handled == 3);
    std::set_new_handler([] { throw std::bad_alloc(); });
    CHECK(::operator new(n, std::nothrow) == nullptr);
    std::puts("ok operators");
}
