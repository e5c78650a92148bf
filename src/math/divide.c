/* divide: all functions are inline. The compiler and the prover parse this file. */
#include "math/divide.h"
