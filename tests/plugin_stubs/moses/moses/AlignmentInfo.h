#include "moses/stub.h"
