//! Strongly connected components.

/// Not numbered yet.
const NEW: usize = usize::MAX;

/// Component number of each node, numbered by smallest member, of the strongly connected components
/// (Tarjan 1972, iterative).
pub(super) fn strongly_connected(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    if edges.is_empty() {
        return (0..nodes).collect();
    }
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for &(a, b) in edges {
        next[a].push(b);
    }
    let (mut index, mut low, mut on_stack) = (vec![NEW; nodes], vec![0; nodes], vec![false; nodes]);
    let (mut stack, mut leader, mut clock) = (Vec::new(), vec![NEW; nodes], 0);
    for root in 0..nodes {
        if index[root] != NEW {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&mut (v, ref mut at)) = path.last_mut() {
            if *at == 0 {
                (index[v], low[v], on_stack[v]) = (clock, clock, true);
                clock += 1;
                stack.push(v);
            }
            if let Some(&w) = next[v].get(*at) {
                *at += 1;
                if index[w] == NEW {
                    path.push((w, 0));
                } else if on_stack[w] {
                    low[v] = low[v].min(index[w]);
                }
                continue;
            }
            if low[v] == index[v] {
                let first = stack.iter().rposition(|&w| w == v).expect("v is on the stack");
                let smallest = stack[first..].iter().copied().min().expect("not empty");
                for w in stack.drain(first..) {
                    on_stack[w] = false;
                    leader[w] = smallest;
                }
            }
            path.pop();
            if let Some(&mut (parent, _)) = path.last_mut() {
                low[parent] = low[parent].min(low[v]);
            }
        }
    }
    let mut number = vec![NEW; nodes];
    let mut count = 0;
    for v in 0..nodes {
        if leader[v] == v {
            number[v] = count;
            count += 1;
        }
    }
    (0..nodes).map(|v| number[leader[v]]).collect()
}
