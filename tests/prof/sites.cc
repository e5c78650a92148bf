// Functions that allocate and keep what they get: what a profile must name. With an argument all is freed but what forget_one leaks.
#include <cstdlib>
#include <new>
#include <vector>

static std::vector<void *> kept;

__attribute__((noinline)) void *sixteen_bytes() { return std::malloc(16); }
__attribute__((noinline)) void *one_kibibyte() { return ::operator new(1024); }
__attribute__((noinline)) void *one_mebibyte() { return std::calloc(1, 1 << 20); }
__attribute__((noinline)) void *forget_one() { return std::realloc(nullptr, 40000); }

static void *leak;

int main(int argc, char **)
{
    kept.reserve(600000);
    for (int i = 0; i < 500000; i++) {
        kept.push_back(sixteen_bytes());
    }
    for (int i = 0; i < 8000; i++) {
        kept.push_back(one_kibibyte());
    }
    for (int i = 0; i < 8; i++) {
        kept.push_back(one_mebibyte());
    }
    if (argc > 1) {
        for (void *p : kept) {
            std::free(p);
        }
        for (int i = 0; i < 100; i++) {
            leak = forget_one();
        }
    }
    return 0;
}
