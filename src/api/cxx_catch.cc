/* cxx_catch: what C cannot say. A new_handler may throw, and operator new(nothrow) must then return NULL.
 *
 * The C++ runtime's symbols are weak, so that the library does not bring the runtime into programs without C++. A handler
 * exists only where a runtime does.
 */
#ifndef QED_STATIC_CXX
__asm__(".weak __gxx_personality_v0\n"
        ".weak __cxa_begin_catch\n"
        ".weak __cxa_end_catch\n"
        ".weak _Unwind_Resume\n"
        ".weak _ZSt9terminatev\n");
#endif

/* Calls the handler. Returns false if it threw. */
extern "C" bool cxx_catch(void (*handler)()) __attribute__((visibility("hidden")));

extern "C" bool cxx_catch(void (*handler)())
{
    try {
        handler();
        return true;
    } catch (...) {
        return false;
    }
}
