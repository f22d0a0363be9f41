//! What is understood of Kotlin and Scala: names as their compilers make them, suppressions, marks.

use untorn_sources::{DeclarationKind, Language, SourceFile};

fn names(file: &SourceFile, kind: DeclarationKind) -> Vec<String> {
    (file.declarations().iter())
        .filter(|declaration| declaration.kind == kind)
        .map(|declaration| match kind {
            DeclarationKind::Class => declaration.class.clone(),
            _ => format!("{}.{}", declaration.class, declaration.name),
        })
        .collect()
}

fn suppressed(file: &SourceFile) -> Vec<String> {
    (file.declarations().iter())
        .filter(|declaration| {
            declaration.suppresses("untorn")
                || declaration.marks.iter().any(|m| m.text == "no_warn")
        })
        .map(|declaration| format!("{}.{}", declaration.class, declaration.name))
        .collect()
}

const KOTLIN: &str = r#"
package shop.till

import java.util.concurrent.ConcurrentHashMap

class Till(private val name: String, start: Int) {
    var sum = start
    @get:JvmName("open") var isOpen: Boolean = true
        private set
    private val lock = Any()

    @Suppress("unused", "untorn")
    fun add(amount: Int): Int {
        val before = sum /*# no_warn */
        fun inner() = before
        sum = before + amount
        return inner()
    }

    /*# no_warn */
    // counted twice a day
    suspend fun count(): Int = synchronized(lock) { sum }

    inner class Drawer {
        fun open() = isOpen
    }

    companion object {
        fun make() = Till("a", 1)
    }

    constructor() : this("b", 2)
}

object Register {
    val tills = ConcurrentHashMap<String, Till>()
    fun put(till: Till) { tills["x"] = till }
}

enum class Coin {
    CENT, EURO;
    fun worth() = ordinal
}

@Suppress("untorn")
class Quiet {
    fun any() = 1
}

fun total(tills: List<Till>): Int = tills.sumOf { it.sum }
"#;

#[test]
fn kotlin_is_named_as_its_compiler_names_it() {
    let file = SourceFile::parse_as(Language::Kotlin, "till.kt", KOTLIN.to_owned());
    assert!(!file.is_broken());
    assert_eq!(
        names(&file, DeclarationKind::Class),
        [
            "shop.till.Till",
            "shop.till.Till$Drawer",
            "shop.till.Till$Companion",
            "shop.till.Register",
            "shop.till.Coin",
            "shop.till.Quiet"
        ]
    );
    let methods = names(&file, DeclarationKind::Method);
    for wanted in [
        "shop.till.Till.getName",
        "shop.till.Till.getSum",
        "shop.till.Till.setSum",
        "shop.till.Till.isOpen",
        "shop.till.Till.setOpen",
        "shop.till.Till.add",
        "shop.till.Till.count",
        "shop.till.Till.<init>",
        "shop.till.Till$Drawer.open",
        "shop.till.Till$Companion.make",
        "shop.till.Register.put",
        "shop.till.Coin.worth",
        "shop.till.TillKt.total",
    ] {
        assert!(
            methods.contains(&wanted.to_owned()),
            "{wanted} in {methods:#?}"
        );
    }
    assert!(
        !methods
            .iter()
            .any(|name| name.contains("Start") || name.contains("inner"))
    );
    assert_eq!(
        suppressed(&file),
        [
            "shop.till.Till.add",
            "shop.till.Till.count",
            "shop.till.Quiet.Quiet"
        ]
    );
    let loose: Vec<u32> = file.loose_marks().iter().map(|mark| mark.line).collect();
    assert_eq!(loose, [14]);
}

#[test]
fn a_kotlin_file_can_name_its_class_and_suppress_everything() {
    let text = "@file:JvmName(\"Sums\")\n@file:Suppress(\"untorn\")\npackage a\n\nfun sum() = 1\n";
    let file = SourceFile::parse_as(Language::Kotlin, "Numbers.kt", text.to_owned());
    assert_eq!(names(&file, DeclarationKind::Method), ["a.Sums.sum"]);
    assert_eq!(suppressed(&file), ["a.Sums.sum"]);
}

const SCALA: &str = r#"
package shop
package till

class Till(start: Int) {
  private var sum = start
  val name: String = "till"

  @SuppressWarnings(Array("untorn"))
  def add(amount: Int): Int = {
    val before = sum
    sum = before + amount
    before
  }

  /*# no_warn */
  def count: Int = this.synchronized { sum }

  class Drawer { def open(): Unit = () }
}

object Till {
  def make(): Till = new Till(1)
  object Inner { def deep(): Int = 1 }
}

trait Counted { def count: Int }
"#;

#[test]
fn scala_is_named_as_its_compiler_names_it() {
    let file = SourceFile::parse_as(Language::Scala, "Till.scala", SCALA.to_owned());
    assert!(!file.is_broken());
    assert_eq!(
        names(&file, DeclarationKind::Class),
        [
            "shop.till.Till",
            "shop.till.Till$Drawer",
            "shop.till.Till$",
            "shop.till.Till$Inner$",
            "shop.till.Counted"
        ]
    );
    let methods = names(&file, DeclarationKind::Method);
    for wanted in [
        "shop.till.Till.sum_$eq",
        "shop.till.Till.name",
        "shop.till.Till.add",
        "shop.till.Till.count",
        "shop.till.Till$Drawer.open",
        "shop.till.Till$.make",
        "shop.till.Till$Inner$.deep",
    ] {
        assert!(
            methods.contains(&wanted.to_owned()),
            "{wanted} in {methods:#?}"
        );
    }
    assert_eq!(
        suppressed(&file),
        ["shop.till.Till.add", "shop.till.Till.count"]
    );
}

#[test]
fn broken_files_still_have_what_can_be_understood() {
    // The grammar does not know a body on one line; what is around it is understood.
    let text = format!("{KOTLIN}\nclass {{{{ fun ( \n");
    let file = SourceFile::parse_as(Language::Kotlin, "till.kt", text);
    assert!(file.is_broken());
    assert!(suppressed(&file).contains(&"shop.till.Till.add".to_owned()));
}
