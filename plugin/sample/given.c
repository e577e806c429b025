/* Initial trees from a file of samples, or from any other derivations of the same pairs. */
#include "sample/options.h"
#include "sample/tree.h"

/* The node of a span on both sides among those of an alignment, first .. last: its number, or -1. */
static int32_t find_node(const lscfg_sampler *s, const int32_t span[4], int32_t first, int32_t last) {
  for (int32_t k = first; k <= last; k++)
    if (!memcmp(s->nodes[k].span, span, 4 * sizeof *span)) return k;
  return -1;
}

static int contains(const int32_t outer[2], const int32_t inner[2]) {
  return outer[0] <= inner[0] && inner[1] <= outer[1];
}

/* The spans of the heads right below the first of n heads in preorder, into child_spans; their number. */
static int32_t list_given_children(lscfg_sampler *s, const int32_t (*heads)[4], int32_t n) {
  int32_t n_children = 0, behind = heads[0][0];
  for (int32_t k = 1; k < n && contains(heads[0], heads[k]); k++) {
    if (heads[k][0] < behind) continue; /* below a child */
    memcpy(s->child_spans[n_children++], heads[k], sizeof s->child_spans[0]);
    behind = heads[k][1];
  }
  return n_children;
}

/* Edges for the nodes from a head to its children, each derivation as likely as another. */
static void draw_inside(lscfg_sampler *s, int32_t head) {
  int32_t height = 0;
  s->stack[height++] = head;
  while (height) {
    int32_t node = s->stack[--height];
    const forest_node *at = &s->nodes[node];
    const int32_t *first = s->first_tail + at->first_edge;
    double sum = 0, left = random_uniform(&s->random);
    for (int pass = 0; pass < 2; pass++) { /* the sum, and where in it the number lies */
      for (int32_t e = 0; e < at->n_edges; e++) {
        double product = 1;
        for (int32_t k = first[e]; k < first[e + 1]; k++) product *= s->ways[s->tails[k]];
        if (!pass) sum += product;
        if (!pass || product <= 0) continue;
        s->edge_of[node] = e;
        if ((left -= product / sum) < 0) break;
      }
    }
    int32_t n;
    const int32_t *tails = tails_of(s, node, &n);
    while (n-- > 0)
      if (!s->cut_of[tails[n]]) s->stack[height++] = tails[n];
  }
}

/* Puts the tree of the heads into the nodes of an alignment, whose root is last: 1, or 0 if it has no such tree. */
static int fit_tree(lscfg_sampler *s, const int32_t (*heads)[4], int32_t n, int32_t first, int32_t last) {
  if (find_node(s, heads[0], first, last) != last) return 0;
  for (int32_t k = first; k <= last; k++) s->cut_of[k] = 0;
  for (int32_t k = 0; k < n; k++) {
    int32_t node = find_node(s, heads[k], first, last);
    if (node < 0 || s->cut_of[node]) return 0;
    s->cut_of[node] = 1;
  }
  for (int32_t k = 0; k < n; k++) {
    int32_t head = find_node(s, heads[k], first, last), n_children = list_given_children(s, heads + k, n - k);
    if (sampler_count_derivations(s, head, n_children) < 1) return 0;
    draw_inside(s, head);
  }
  return 1;
}

/* The same for the first alignment of the current pair that has the tree. */
static int fit_alignment(lscfg_sampler *s, const int32_t (*heads)[4], int32_t n) {
  int32_t root = s->n_nodes - 1;
  if (!s->nodes[root].is_choice) return fit_tree(s, heads, n, 0, root);
  s->cut_of[root] = 0;
  const int32_t *roots = s->tails + s->first_tail[s->nodes[root].first_edge];
  for (int32_t e = 0; e < s->nodes[root].n_edges; e++) {
    s->edge_of[root] = e;
    if (fit_tree(s, heads, n, e ? roots[e - 1] + 1 : 0, roots[e])) return 1;
  }
  return 0;
}

static int fit_pair(lscfg_sampler *s, const int32_t (*heads)[4], int32_t n) {
  if (!s->n_nodes || !n) return !s->n_nodes && !n;
  int fits = fit_alignment(s, heads, n);
  for (int32_t k = 0; k < s->n_nodes; k++) /* long phrases outside the tree */
    if (s->nodes[k].must_cut) s->cut_of[k] = first_cut(&s->nodes[k], 1);
  return fits;
}

int lscfg_sampler_begin(lscfg_sampler *s, const int64_t *trees, const int32_t (*heads)[4], int64_t *wrong,
                        lscfg_error *error) {
  *wrong = -1;
  if (s->forests->labels.n_categories) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forests are not those of text");
  for (int64_t k = 0; k < s->n_pairs; k++) {
    sampler_open_pair(s, k, 0);
    int32_t n = (int32_t)(trees[k + 1] - trees[k]), root = s->n_nodes - 1;
    sampler_begin_options(s);
    if (root >= 0 && sampler_leave_tree(s, sampler_mark_tree(s, root))) return out_of_memory(error);
    s->left.size = 0; /* none comes back */
    int fits = fit_pair(s, heads + trees[k], n);
    if (fits && n && sampler_add_tree(s, sampler_mark_tree(s, root), 0)) return out_of_memory(error);
    if (!fits || s->forms.size != n) { /* or heads cross each other */
      *wrong = k;
      return lscfg_fail(error, LSCFG_EINPUT, 0, "a tree is not in the forest of its pair");
    }
    s->first_form[1] = s->forms.size;
    if (n && sampler_take(s, 0, 0) < 0) return out_of_memory(error);
  }
  return LSCFG_OK;
}
