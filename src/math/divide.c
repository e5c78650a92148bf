/* divide: everything is inline; this file is what the compiler and the prover parse. */
#include "math/divide.h"
