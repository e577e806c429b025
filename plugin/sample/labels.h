/* Labels of the edges of given forests, such as the productions of a treebank. A rule of such a forest is a fragment of
 * a tree: the labels of its edges in preorder, with CUT_TAIL for each tail at which it ends. */
#ifndef LSCFG_SAMPLE_LABELS_H
#define LSCFG_SAMPLE_LABELS_H

#include "base/common.h"

enum { CUT_TAIL = -1 };

typedef struct {
  ARRAY(int32_t) category; /* [labels] of the head */
  ARRAY(double) weight;    /* [labels] log probability given the category, for the base distribution */
  int32_t n_categories;    /* 0: the forests are those of text */
} label_table;

/* Log of the base probability of a fragment: of its labels, and of each tail's cut, which is as likely as not. */
double labels_log_weight(const label_table *, const int32_t *symbols, int32_t n);
/* True if symbols are a fragment of known labels; whether the tails fit the labels is not looked at. */
int labels_are_fragment(const label_table *, const int32_t *symbols, int64_t n, int32_t arity);

#endif
