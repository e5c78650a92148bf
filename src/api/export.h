/* export: every public function is defined once as qed_NAME. The drop-in library also exports it as NAME. The library for
 * embedding, which is built with QED_PREFIX_ONLY, does not. */
#ifndef QED_API_EXPORT_H
#define QED_API_EXPORT_H

#define PUBLIC __attribute__((visibility("default")))

#ifdef QED_PREFIX_ONLY
#define EXPORT(result, name, parameters) _Static_assert(1, "")
#define EXPORT_AS(also, result, name, parameters) _Static_assert(1, "")
#else
#define EXPORT(result, name, parameters) PUBLIC result name parameters __attribute__((alias("qed_" #name)))
/* Weak, so that tools which show one name for an address show the other one. */
#define EXPORT_AS(also, result, name, parameters) PUBLIC result also parameters __attribute__((weak, alias("qed_" #name)))
#endif

#endif
