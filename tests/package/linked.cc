// As linked.c, through the C++ operators.
#include <qedmalloc/qedmalloc.h>
#include <iostream>
#include <memory>

int main()
{
    auto block = std::make_unique<char[]>(100);
    bool same = qed_malloc_usable_size(block.get()) == 112;
    std::cout << (same ? "ok linked " QEDMALLOC_VERSION : "FAILED linked: operator new is another one") << std::endl;
    return !same;
}
