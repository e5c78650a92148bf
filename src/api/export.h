/* export: every public function is defined once as qed_NAME. The drop-in library also exports it as NAME. The library for
 * embedding, which is built with QED_PREFIX_ONLY, does not. */
#ifndef QED_API_EXPORT_H
#define QED_API_EXPORT_H

#define PUBLIC __attribute__((visibility("default")))

#ifdef QED_PREFIX_ONLY
#define EXPORT_AS(also, result, name, parameters) _Static_assert(1, "")
#else
#define EXPORT_AS(also, result, name, parameters) PUBLIC result also parameters __attribute__((alias("qed_" #name)))
#endif
#define EXPORT(result, name, parameters) EXPORT_AS(name, result, name, parameters)

#endif
