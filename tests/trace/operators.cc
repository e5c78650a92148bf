// The C++ operators under the recorder: each pair once, by size; and one that finds no memory.
#include <cstdio>
#include <new>

struct alignas(128) Wide { char x[128 * 1000]; };

int main()
{
    volatile std::size_t huge = static_cast<std::size_t>(-1) / 4;
    int caught = 0;
    delete new char;                                    // 1 byte
    delete[] new char[100001];
    ::operator delete(::operator new(100002, std::nothrow), std::nothrow);
    delete new Wide;
    delete[] new Wide[2];
    try {
        delete[] new char[huge];
    } catch (const std::bad_alloc &) {
        caught = 1;
    }
    return caught == 1 && new (std::nothrow) char[huge] == nullptr ? 0 : 1;
}
