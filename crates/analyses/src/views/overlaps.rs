//! What each view has in common with a maximal view.

use untorn_model::VarId;

/// By view what it has in common with the maximal view looked at.
///
/// Overlaps are nodes of a tree: each has one field more than its parent, in the order of the maximal view.
/// So equal ones are the same node, and a field is added in constant time.
#[derive(Clone, Debug)]
pub struct Overlaps {
    /// By view; the root is nothing.
    nodes: Vec<u32>,
    tree: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    field: VarId,
    /// How many fields it has.
    size: u32,
    /// The node with the field that is being added as well; before it is known, the node itself.
    with: u32,
    /// Which field that is, counted from 1.
    step: u32,
}

impl Overlaps {
    const NOTHING: u32 = 0;

    pub fn new(views: usize) -> Self {
        let root = Node {
            parent: Self::NOTHING,
            field: VarId(0),
            size: 0,
            with: Self::NOTHING,
            step: 0,
        };
        Self {
            nodes: vec![Self::NOTHING; views],
            tree: vec![root],
        }
    }

    /// Adds a field, by its number from 1, to a view's overlap; whether it is the first one.
    pub fn add(&mut self, view: usize, step: u32, field: VarId) -> bool {
        let before = self.nodes[view];
        let node = self.tree[before as usize];
        let after = if node.step == step {
            node.with
        } else {
            let made = self.tree.len() as u32;
            self.tree.push(Node {
                parent: before,
                field,
                size: node.size + 1,
                with: made,
                step: 0,
            });
            self.tree[before as usize].with = made;
            self.tree[before as usize].step = step;
            made
        };
        self.nodes[view] = after;
        before == Self::NOTHING
    }

    /// The overlap of a view: equal ones are equal.
    pub fn of(&self, view: usize) -> u32 {
        self.nodes[view]
    }

    pub fn fields(&self, mut node: u32) -> Vec<VarId> {
        let mut fields = Vec::with_capacity(self.tree[node as usize].size as usize);
        while node != Self::NOTHING {
            let Node { parent, field, .. } = self.tree[node as usize];
            fields.push(field);
            node = parent;
        }
        fields.reverse();
        fields
    }

    /// Forgets the overlaps of these views, which are all that have one.
    pub fn clear(&mut self, views: &[usize]) {
        for &view in views {
            self.nodes[view] = Self::NOTHING;
        }
        self.tree.truncate(1);
        self.tree[0].step = 0;
    }
}
