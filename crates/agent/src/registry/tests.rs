use super::*;

const APP: Loader = Loader::numbered(1);
const PLUGIN: Loader = Loader::numbered(2);

fn field(class: &str, name: &str, is_static: bool) -> FieldRef {
    FieldRef {
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: "I".to_owned(),
        is_static,
    }
}

/// Fields that are called `v…` are volatile.
fn shape_with(above: Option<&str>, fields: &[&str], is_static: bool) -> Shape {
    let one = |name: &&str| FieldShape {
        name: (*name).to_owned(),
        descriptor: "I".to_owned(),
        is_static,
        is_volatile: name.starts_with('v'),
        is_final: false,
    };
    Shape {
        super_class: above.map(str::to_owned),
        fields: fields.iter().map(one).collect(),
        apart: false,
    }
}

fn shape(above: Option<&str>, fields: &[&str]) -> Shape {
    shape_with(above, fields, false)
}

fn statics(above: Option<&str>, fields: &[&str]) -> Shape {
    shape_with(above, fields, true)
}

fn write(target: Target) -> Access {
    Access {
        kind: AccessKind::Write,
        target,
        volatile: false,
        wide: true,
        approximate: false,
    }
}

/// The sites that were declared: id, field, and whether it is volatile.
fn sites(registry: &Registry) -> Vec<(u32, u32, bool)> {
    let sites = registry.pending().into_iter().filter_map(|declaration| {
        let Declaration::Site { id, access, .. } = declaration else {
            return None;
        };
        let access = access?;
        let (Target::Field(field) | Target::Static(field)) = access.target else {
            return None;
        };
        assert_eq!(access.wide, !access.volatile);
        Some((id, field, access.volatile))
    });
    sites.collect()
}

#[test]
fn ids_are_dense_and_declared_in_order() {
    let registry = Registry::new(None);
    let class = registry.class(APP, "bank.Account", Some("Account.java"), Some(7));
    registry.shape(APP, "bank.Account", shape(None, &["balance"]));
    assert_eq!(
        registry.class(APP, "bank.Account", None, Some(7)),
        class,
        "the same class file"
    );
    let balance = field("bank.Account", "balance", false);
    let (id, _) = registry.field(APP, &balance);
    assert_eq!(registry.field(APP, &balance).0, id);
    let method = registry.method(class, "deposit", "(I)V");
    let site = registry
        .site(method, 7, Some(write(Target::Field(id))))
        .unwrap();
    let lock = registry.site(method, 8, None).unwrap();
    let ids: Vec<u32> = (registry.pending().iter())
        .filter_map(|declaration| match declaration {
            Declaration::Class { id, .. } => Some(*id),
            _ => None,
        })
        .collect();
    assert_eq!(ids, [0, 1]);
    registry.flush();
    assert!(registry.pending().is_empty());
    assert_eq!(
        registry.site_field(site),
        Some(("bank.Account".to_owned(), "balance".to_owned()))
    );
    assert_eq!(registry.site_field(lock), None);
    assert_eq!(registry.site_field(99), None);
}

#[test]
fn a_class_that_was_only_named_or_is_redefined_is_declared_anew() {
    let registry = Registry::new(None);
    registry.field(APP, &field("Later", "x", true));
    let seen = registry.class(APP, "Later", Some("Later.java"), Some(1));
    let redefined = registry.class(APP, "Later", Some("Later.java"), Some(2));
    assert_ne!(seen, redefined);
    let files: Vec<_> = (registry.pending().into_iter())
        .filter_map(|declaration| match declaration {
            Declaration::Class {
                source_file, hash, ..
            } => Some((source_file, hash)),
            _ => None,
        })
        .collect();
    let file = || Some("Later.java".to_owned());
    assert_eq!(files, [(None, None), (file(), Some(1)), (file(), Some(2))]);
}

#[test]
fn an_inherited_field_is_one_field_under_every_name() {
    let registry = Registry::new(None);
    registry.shape(APP, "Base", shape(Some("java.lang.Object"), &["x", "vy"]));
    registry.shape(APP, "Sub", shape(Some("Base"), &["z"]));
    let (x, declared) = registry.field(APP, &field("Base", "x", false));
    assert!(declared.is_some());
    assert_eq!(registry.field(APP, &field("Sub", "x", false)).0, x);
    let (_, declared) = registry.field(APP, &field("Sub", "vy", false));
    assert!(declared.unwrap().is_volatile);
}

#[test]
fn sites_wait_for_the_superclass_that_declares_their_field() {
    let registry = Registry::new(None);
    registry.shape(APP, "Sub", shape(Some("Middle"), &[]));
    let (through_sub, declared) = registry.field(APP, &field("Sub", "vx", false));
    assert!(declared.is_none());
    let site = registry.site(0, 1, Some(write(Target::Field(through_sub))));
    registry.shape(APP, "Middle", shape(Some("Base"), &["y"]));
    assert_eq!(sites(&registry), [], "not yet");
    registry.shape(APP, "Base", shape(None, &["vx"]));
    let (base, _) = registry.field(APP, &field("Base", "vx", false));
    assert_ne!(base, through_sub);
    assert_eq!(sites(&registry), [(site.unwrap(), base, true)]);
    assert_eq!(
        registry.site_field(0),
        Some(("Sub".to_owned(), "vx".to_owned()))
    );
}

#[test]
fn a_site_is_declared_before_its_first_use_in_any_case() {
    let registry = Registry::new(None);
    registry.shape(APP, "Sub", shape(Some("Never"), &[]));
    let (id, _) = registry.field(APP, &field("Sub", "x", false));
    let site = registry.site(0, 1, Some(write(Target::Field(id)))).unwrap();
    assert_eq!(sites(&registry), []);
    locked(&registry.tables).settle(id);
    assert_eq!(sites(&registry), [(site, id, false)]);
}

#[test]
fn circles_and_fields_that_nobody_declares_end() {
    let registry = Registry::new(None);
    registry.shape(APP, "A", shape(Some("B"), &[]));
    registry.shape(APP, "B", shape(Some("A"), &[]));
    assert!(registry.field(APP, &field("A", "x", false)).1.is_none());
    registry.shape(APP, "C", shape(None, &[]));
    assert!(registry.field(APP, &field("C", "x", false)).1.is_none());
}

#[test]
fn a_static_field_is_one_per_loader() {
    let registry = Registry::new(None);
    for loader in [APP, PLUGIN] {
        registry.shape(loader, "Counter", statics(None, &["count"]));
    }
    let count = field("Counter", "count", true);
    let (one, declared) = registry.field(APP, &count);
    assert!(declared.is_some());
    let (other, _) = registry.field(PLUGIN, &count);
    assert_ne!(one, other);
    assert_eq!(registry.same_field(one, &[]), one);
    assert_eq!(registry.same_field(other, &[]), other);
}

#[test]
fn a_static_field_of_another_loaders_class_is_known_at_its_first_use() {
    let registry = Registry::new(None);
    registry.shape(APP, "Base", statics(None, &["vcount"]));
    registry.shape(APP, "Counter", statics(Some("Base"), &[]));
    let count = field("Counter", "vcount", true);
    let (through_plugin, declared) = registry.field(PLUGIN, &count);
    assert!(declared.is_none(), "the plugin may yet define its own");
    let early = registry.site(0, 1, Some(write(Target::Static(through_plugin))));
    assert_eq!(sites(&registry), []);
    assert_eq!(
        registry.unsettled(through_plugin),
        Some((PLUGIN, "Counter".to_owned()))
    );
    let found = [(APP, "Counter".to_owned()), (APP, "Base".to_owned())];
    let same = registry.same_field(through_plugin, &found);
    let (base, _) = registry.field(APP, &field("Base", "vcount", true));
    assert_eq!(same, base);
    assert_eq!(registry.unsettled(through_plugin), None);
    let (again, _) = registry.field(PLUGIN, &count);
    assert_eq!(again, through_plugin);
    let late = registry.site(0, 2, Some(write(Target::Static(again))));
    let late = late.map(|site| (site, base));
    let declared: Vec<_> = sites(&registry).iter().map(|s| (s.0, s.1)).collect();
    // What was declared before is flushed by the first use.
    assert_eq!(declared, [late.unwrap()]);
    assert_ne!(early.map(|site| (site, base)), late);
}

#[test]
fn fields_of_one_name_differ_by_type_and_by_being_static() {
    let registry = Registry::new(None);
    let mut both = shape(None, &["x"]);
    both.fields.extend(statics(None, &["x"]).fields);
    let mut long = both.fields[0].clone();
    long.descriptor = "J".to_owned();
    both.fields.push(long);
    registry.shape(APP, "Odd", both);
    let mut wide = field("Odd", "x", false);
    wide.descriptor = "J".to_owned();
    let ids = [field("Odd", "x", false), field("Odd", "x", true), wide]
        .map(|field| registry.field(APP, &field).0);
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
}

#[test]
fn instance_fields_of_one_name_are_told_apart_where_an_object_can_have_both() {
    let registry = Registry::new(None);
    let x = field("A", "x", false);
    registry.shape(APP, "A", shape(None, &["x"]));
    registry.shape(APP, "B", shape(Some("A"), &[]));
    let (above, _) = registry.field(APP, &x);
    // Another loader's A below B, which is below A.
    registry.shape(PLUGIN, "A", shape(Some("B"), &["x"]));
    let (below, _) = registry.field(PLUGIN, &x);
    assert_ne!(above, below);
    assert_eq!(registry.field(PLUGIN, &field("B", "x", false)).0, above);
    // A third loader could mean either, so it means neither.
    let (unclear, _) = registry.field(Loader::numbered(3), &x);
    assert!(unclear != above && unclear != below);
}

#[test]
fn two_versions_of_a_class_do_not_decide_for_each_other() {
    let registry = Registry::new(None);
    registry.shape(APP, "A", shape(None, &["x"]));
    registry.shape(APP, "B", shape(Some("A"), &[]));
    registry.shape(PLUGIN, "B", shape(Some("A"), &["x"]));
    let x = field("B", "x", false);
    let (inherited, _) = registry.field(APP, &x);
    let (own, _) = registry.field(PLUGIN, &x);
    assert_ne!(inherited, own);
    let (unclear, _) = registry.field(Loader::numbered(3), &x);
    assert!(unclear != inherited && unclear != own);
}
