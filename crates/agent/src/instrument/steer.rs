//! Steered runs: hooks at which threads can be held up, by the [plans](untorn_plan) that the reader sent.
//!
//! Only classes that a plan names get hooks.
//! A hook stands before every access, call and `monitorenter`, where no access is under way; what happens there is the runtime's matter (`UntornSteer.java`).
//! It is told what is about to be accessed, and by two numbers what the plans say of this place: the pause point that is passed here, and the plan whose partner may wait here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use untorn_channel::config::ChosenRegion;
use untorn_classfile::read::{MemberRef, PoolIndex};
use untorn_classfile::{ClassFile, Insn, Op};
use untorn_plan::{MOST_PLACES, MOST_PLANS, PATIENCE_MS, PausePoint, Place, Plan, Steering};
use untorn_spec::{Pattern, PatternError};

use super::calls::OBJECT;
use super::model::Models;
use super::weave::{Result, Weaver};

/// `UntornSteer.WRITES`.
const WRITES: i32 = 1 << 30;
/// `UntornSteer.PLAN_SHIFT`: above the number of a place that somebody pauses after.
const PLAN_SHIFT: u32 = 16;
/// `UntornSteer.NO_ACCESS`, in the place of a location.
const NO_ACCESS: i32 = -1;
/// `UntornSteer.CONTENT`: all that an object of the platform holds.
const CONTENT: i32 = -2;
/// `UntornSteer.REGION_SHIFT`: above the number of a region, the plan that is about it.
const REGION_SHIFT: u32 = 22;

/// The plans of a run, ready for use.
#[derive(Debug)]
pub struct Steered {
    plans: Vec<Plan>,
    classes: Vec<Pattern>,
    /// What pause points name, by number from 1.
    places: Vec<Place>,
    all_pauses_ms: u32,
    /// What regions without named partners access, each with its plan; filled when their classes are loaded.
    accessed: Mutex<BTreeMap<Target, usize>>,
}

/// What a region accesses, as far as its text says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Field(String, String),
    /// What objects of this class of the platform hold.
    Content(String),
}

impl Steered {
    pub fn new(steering: &Steering) -> Result<Self, PatternError> {
        let mut plans = steering.plans.clone();
        plans.truncate(MOST_PLANS);
        let named = plans.iter().flat_map(|plan| &plan.classes);
        let classes: BTreeSet<&String> = named.collect();
        let mut places: Vec<Place> = Vec::new();
        for plan in &plans {
            for point in &plan.pause {
                if let PausePoint::After(place) = point
                    && !places.contains(place)
                    && places.len() < MOST_PLACES
                {
                    places.push(place.clone());
                }
            }
        }
        Ok(Self {
            classes: classes
                .into_iter()
                .map(|text| text.parse())
                .collect::<Result<_, _>>()?,
            plans,
            places,
            all_pauses_ms: steering.all_pauses_ms,
            accessed: Mutex::default(),
        })
    }

    /// Whether a class gets hooks.
    fn concerns(&self, class: &str) -> bool {
        (self.classes.iter()).any(|pattern| pattern.matches_name(class))
    }

    /// The plan about a region, by its number from 1; 0 if there is none.
    fn plan_of(&self, class: &str, region: &ChosenRegion) -> u32 {
        let at = self.plans.iter().position(|plan| {
            let wanted = &plan.region;
            wanted.class == class
                && wanted.method == region.method
                && (wanted.descriptor.as_ref()).is_none_or(|it| *it == region.descriptor)
                && wanted.block == region.block
        });
        at.map_or(0, |at| at as u32 + 1)
    }

    /// What the runtime is told: the bound on all pauses, then for each plan its patience (negative if every execution pauses), how many pause points it has, and these, a place as its number and a count of accesses as a negative one.
    pub fn to_runtime(&self) -> String {
        let mut numbers = vec![i64::from(self.all_pauses_ms), self.plans.len() as i64];
        for plan in &self.plans {
            let patience = i64::from(plan.patience_ms.unwrap_or(PATIENCE_MS));
            numbers.push(if plan.every_execution {
                -patience
            } else {
                patience
            });
            numbers.push(plan.pause.len() as i64);
            for point in &plan.pause {
                numbers.push(match point {
                    PausePoint::After(place) => {
                        let at = self.places.iter().position(|it| it == place);
                        at.map_or(0, |at| at as i64 + 1)
                    }
                    PausePoint::AfterAccess(count) => -i64::from(*count),
                });
            }
        }
        let words: Vec<String> = numbers.iter().map(i64::to_string).collect();
        words.join(" ")
    }

    /// The number of the place that an access is at, from 1; 0 for none that somebody pauses after.
    fn place(&self, class: &str, method: &str, line: u32, writes: bool) -> i32 {
        let mut all = self.places.iter();
        let at = all.position(|place| place.covers(class, method, line, writes));
        at.map_or(0, |at| at as i32 + 1)
    }

    /// The number of the plan whose partner may wait before an access, from 1.
    fn partner_of(&self, at: (&str, &str, u32, bool), target: &Target) -> i32 {
        let (class, method, line, writes) = at;
        let named = self.plans.iter().position(|plan| {
            (plan.partners.iter()).any(|place| place.covers(class, method, line, writes))
        });
        if let Some(at) = named {
            return at as i32 + 1;
        }
        let accessed = self.accessed.lock().ok();
        let plan = accessed.and_then(|accessed| accessed.get(target).copied());
        let elsewhere = |&plan: &usize| {
            let region = &self.plans[plan].region;
            region.class != class || region.method != method
        };
        plan.filter(elsewhere).map_or(0, |plan| plan as i32 + 1)
    }

    /// Notes what the regions of a class access, where their plans name no partners.
    pub(super) fn learn(&self, class: &ClassFile<'_>, models: &Models) {
        let name = class.name.replace('/', ".");
        for (at, plan) in self.plans.iter().enumerate() {
            if plan.region.class != name || !plan.partners.is_empty() {
                continue;
            }
            let targets = accessed_by(class, &plan.region.method, models);
            if let Ok(mut accessed) = self.accessed.lock() {
                for target in targets {
                    accessed.entry(target).or_insert(at);
                }
            }
        }
    }
}

/// What the methods of a name access, and those of the same class that they call.
fn accessed_by(class: &ClassFile<'_>, method: &str, models: &Models) -> BTreeSet<Target> {
    let mut targets = BTreeSet::new();
    let mut done = BTreeSet::new();
    let mut next = vec![method.to_owned()];
    while let Some(name) = next.pop() {
        if !done.insert(name.clone()) {
            continue;
        }
        for method in class.methods.iter().filter(|method| method.name == *name) {
            // What cannot be read here is not instrumented either.
            let Ok(Some(code)) = method.code(&class.pool) else {
                continue;
            };
            let Ok(code) = code.decode() else { continue };
            for (_, insn) in &code {
                match *insn {
                    Insn::Field { field, .. } => {
                        if let Ok(field) = class.pool.field_ref(field) {
                            targets.insert(Target::field(&field));
                        }
                    }
                    Insn::Invoke { method, .. } => {
                        let Ok(called) = class.pool.method_ref(method) else {
                            continue;
                        };
                        if called.class == class.name {
                            next.push(called.name.to_string());
                        } else if models.access(&called).is_some() {
                            targets.insert(Target::Content(called.class.to_string()));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    targets
}

impl Target {
    fn field(reference: &MemberRef<'_>) -> Self {
        Self::Field(reference.class.to_string(), reference.name.to_string())
    }
}

impl super::Subject<'_, '_> {
    /// The plans, if this class gets hooks.
    fn steered(&self) -> Option<&Steered> {
        let steered = self.plan.steered.as_ref()?;
        steered.concerns(&self.facts.name).then_some(steered)
    }

    /// What is added to the number of a region that a plan is about.
    pub(super) fn planned(&self, region: &ChosenRegion) -> i32 {
        let plan = self.plan_number(region);
        (plan << REGION_SHIFT) as i32
    }

    /// Whether a plan is about a region.
    pub(super) fn is_planned(&self, region: &ChosenRegion) -> bool {
        self.plan_number(region) != 0
    }

    fn plan_number(&self, region: &ChosenRegion) -> u32 {
        let steered = self.plan.steered.as_ref();
        steered.map_or(0, |steered| steered.plan_of(&self.facts.name, region))
    }
}

impl Weaver<'_, '_> {
    /// What the plans say of an access: the flags of a hook; `None` if there is none.
    fn steering(&self, index: usize, writes: bool, target: &Target) -> Option<i32> {
        let steered = self.subject.steered()?;
        let class = &self.subject.facts.name;
        let at = (class.as_str(), &*self.facts.name, self.line(index), writes);
        let place = steered.place(at.0, at.1, at.2, at.3);
        let partner = steered.partner_of(at, target) << PLAN_SHIFT;
        Some(place | partner | if writes { WRITES } else { 0 })
    }

    /// A hook before an access to a field, whose object and value are on the stack.
    pub(super) fn steer_field(
        &mut self,
        index: usize,
        (op, field, two_slots): (Op, PoolIndex, bool),
        id: u32,
    ) -> Result<()> {
        let reference = self.pool.base().field_ref(field)?;
        let writes = matches!(op, Op::Putfield | Op::Putstatic);
        let Some(flags) = self.steering(index, writes, &Target::field(&reference)) else {
            return Ok(());
        };
        let context = self.context()?;
        let steer = self.entry("steer", "Ljava/lang/Object;II")?;
        let mut code = self.body.before(index);
        match op {
            Op::Getfield => code.op(Op::Dup),
            Op::Putfield if two_slots => code.op(Op::Dup2X1).op(Op::Pop2).op(Op::DupX2),
            Op::Putfield => code.op(Op::Dup2).op(Op::Pop),
            _ => code.op(Op::AconstNull),
        };
        code.push_int(id as i32, self.pool)?
            .push_int(flags, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, steer);
        self.counts.add("hooks of plans");
        Ok(())
    }

    /// A hook before a call on what an object in a local variable holds.
    pub(super) fn steer_content(
        &mut self,
        index: usize,
        called: &MemberRef<'_>,
        object: u16,
        writes: bool,
    ) -> Result<()> {
        let target = Target::Content(called.class.to_string());
        let Some(flags) = self.steering(index, writes, &target) else {
            return Ok(());
        };
        self.steer_at(index, Some(object), (CONTENT, flags))
    }

    /// A hook before a call of an updater or a handle, on an object in a local variable if it has one.
    pub(super) fn steer_handle(
        &mut self,
        index: usize,
        called: &MemberRef<'_>,
        (object, handle): (Option<u16>, u16),
        writes: bool,
    ) -> Result<()> {
        let target = Target::Content(called.class.to_string());
        let Some(flags) = self.steering(index, writes, &target) else {
            return Ok(());
        };
        let context = self.context()?;
        let steer = self.entry("steerHandle", &format!("{OBJECT}{OBJECT}I"))?;
        let mut code = self.body.before(index);
        match object {
            Some(slot) => code.local(Op::Aload, slot),
            None => code.op(Op::AconstNull),
        };
        code.local(Op::Aload, handle)
            .push_int(flags, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, steer);
        self.counts.add("hooks of plans");
        Ok(())
    }

    /// A hook before an access to an element of the array in a local variable; elements are not told apart.
    pub(super) fn steer_element(&mut self, index: usize, array: u16, writes: bool) -> Result<()> {
        let target = Target::Content("[".to_owned());
        let Some(flags) = self.steering(index, writes, &target) else {
            return Ok(());
        };
        self.steer_at(index, Some(array), (CONTENT, flags))
    }

    /// A hook where nothing is accessed.
    pub(super) fn steer_point(&mut self, index: usize) -> Result<()> {
        if self.subject.steered().is_none() {
            return Ok(());
        }
        self.steer_at(index, None, (NO_ACCESS, 0))
    }

    fn steer_at(
        &mut self,
        index: usize,
        object: Option<u16>,
        (location, flags): (i32, i32),
    ) -> Result<()> {
        let context = self.context()?;
        let steer = self.entry("steer", "Ljava/lang/Object;II")?;
        let mut code = self.body.before(index);
        match object {
            Some(object) => code.local(Op::Aload, object),
            None => code.op(Op::AconstNull),
        };
        code.push_int(location, self.pool)?
            .push_int(flags, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, steer);
        self.counts.add("hooks of plans");
        Ok(())
    }

    /// Whether a call is an access that gets a hook of its own.
    pub(super) fn is_content_call(&self, called: &MemberRef<'_>) -> bool {
        self.subject.plan.models.access(called).is_some()
    }
}
