//! Removing phis that choose nothing, final types, loops.

use super::body::{Block, Body, Def, Op};
use crate::classes::{Classes, Type};
use crate::ids::{BlockId, ValueId};

/// Types settle after a few passes in reverse postorder; each pass can only go up the class hierarchy.
const MOST_PASSES: usize = 64;

/// Removes phis all of whose inputs are one value or the phi itself, and renumbers the values densely.
pub fn remove_trivial_phis(body: &mut Body) {
    let mut replaced: Vec<u32> = (0..body.values.len() as u32).collect();
    loop {
        let mut changed = false;
        for block in &mut body.blocks {
            block.phis.retain_mut(|phi| {
                let mut only = None;
                for input in &mut phi.inputs {
                    *input = find(&mut replaced, *input);
                    if *input != phi.result && only.is_none_or(|only| only == *input) {
                        only = Some(*input);
                    } else if *input != phi.result {
                        return true;
                    }
                }
                let Some(only) = only else { return true };
                replaced[phi.result.index()] = only.0;
                changed = true;
                false
            });
        }
        if !changed {
            break;
        }
    }
    compact(body, &mut replaced);
}

fn find(replaced: &mut [u32], value: ValueId) -> ValueId {
    let mut root = value.0;
    while replaced[root as usize] != root {
        root = replaced[root as usize];
    }
    let mut at = value.0;
    while replaced[at as usize] != root {
        at = std::mem::replace(&mut replaced[at as usize], root);
    }
    ValueId(root)
}

fn compact(body: &mut Body, replaced: &mut [u32]) {
    let mut number = vec![u32::MAX; body.values.len()];
    let mut values = Vec::new();
    for index in 0..body.values.len() {
        if replaced[index] == index as u32 {
            number[index] = values.len() as u32;
            values.push(body.values[index]);
        }
    }
    let mut map = |value: ValueId| ValueId(number[find(replaced, value).index()]);
    for block in &mut body.blocks {
        for phi in &mut block.phis {
            phi.result = map(phi.result);
            phi.inputs.iter_mut().for_each(|input| *input = map(*input));
        }
    }
    for instr in &mut body.instrs {
        instr.op.map_operands(&mut map);
        instr.result = instr.result.map(&mut map);
    }
    body.values = values;
}

/// Types phis by the join of their inputs, and array elements by their array, until nothing changes.
pub fn infer_types(body: &mut Body, classes: &Classes) {
    // Null is the bottom of references, so starting there gives the least types.
    for value in 0..body.values.len() {
        let open = match body.values[value].def {
            Def::Phi(_) => true,
            Def::Instr(instr) => matches!(body.instr(instr).op, Op::ArrayLoad { .. }),
            Def::Param(_) => false,
        };
        if open && body.values[value].ty.is_reference() {
            body.values[value].ty = Type::Null;
        }
    }
    for pass in 0.. {
        let mut changed = false;
        for block in &body.blocks {
            for phi in &block.phis {
                let old = body.values[phi.result.index()].ty;
                if !old.is_reference() {
                    continue;
                }
                let inputs = phi.inputs.iter().map(|input| body.values[input.index()].ty);
                let new = inputs.fold(old, |joined, input| classes.join(joined, input));
                changed |= new != old;
                body.values[phi.result.index()].ty = if pass < MOST_PASSES {
                    new
                } else {
                    top(classes, new)
                };
            }
            for index in block.first.index()..block.end.index() {
                if let (Op::ArrayLoad { array, .. }, Some(result)) =
                    (&body.instrs[index].op, body.instrs[index].result)
                    && body.values[result.index()].ty.is_reference()
                {
                    let new = classes.element_type(body.values[array.index()].ty);
                    changed |= new != body.values[result.index()].ty;
                    body.values[result.index()].ty = new;
                }
            }
        }
        if !changed || pass > MOST_PASSES {
            return;
        }
    }
}

fn top(classes: &Classes, ty: Type) -> Type {
    if ty.is_reference() {
        Type::Ref(classes.well_known.object)
    } else {
        ty
    }
}

/// Marks the blocks that lie on a cycle, by Tarjan's strongly connected components.
pub fn mark_loops(body: &mut Body) {
    let count = body.blocks.len();
    let mut index = vec![u32::MAX; count];
    let mut low = vec![0u32; count];
    let mut on_path = vec![false; count];
    let mut path: Vec<usize> = Vec::new();
    let mut next = 0;
    for start in 0..count {
        if index[start] != u32::MAX {
            continue;
        }
        let mut stack = vec![(start, 0)];
        while let Some((block, edge)) = stack.last_mut() {
            let at = *block;
            if *edge == 0 {
                index[at] = next;
                low[at] = next;
                next += 1;
                path.push(at);
                on_path[at] = true;
            }
            let target = successors(&body.blocks[at]).nth(*edge);
            *edge += 1;
            match target {
                Some(target) if index[target.index()] == u32::MAX => {
                    stack.push((target.index(), 0));
                }
                Some(target) => {
                    if on_path[target.index()] {
                        low[at] = low[at].min(index[target.index()]);
                    }
                }
                None => {
                    stack.pop();
                    if let Some((parent, _)) = stack.last() {
                        low[*parent] = low[*parent].min(low[at]);
                    }
                    if low[at] == index[at] {
                        let from = path.iter().rposition(|member| *member == at).unwrap_or(0);
                        let component = path.split_off(from);
                        let cyclic = component.len() > 1
                            || successors(&body.blocks[at]).any(|target| target.index() == at);
                        for member in component {
                            on_path[member] = false;
                            body.blocks[member].in_loop = cyclic;
                        }
                    }
                }
            }
        }
    }
}

fn successors(block: &Block) -> impl Iterator<Item = BlockId> + '_ {
    block
        .succs
        .iter()
        .copied()
        .chain(block.handlers.iter().map(|handler| handler.block))
}
