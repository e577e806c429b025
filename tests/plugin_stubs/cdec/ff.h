#include "cdec_stub.h"
