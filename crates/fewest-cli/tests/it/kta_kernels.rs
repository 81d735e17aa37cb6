//! `--kernel laplace` and `--categorical` of `kta`: what is selected, trained, predicted, proven
//! and written, and what is refused.

use std::fmt::Write as _;

use fewest_testing::Rng;
use serde_json::{Value, json};

use crate::common::Scratch;

const SELECT: [&str; 6] = ["select", "d.csv", "-m", "kta", "--max-features", "2"];
const MIXED: [&str; 4] = ["--kernel", "laplace", "--categorical", "shop,kind"];

/// A number whose sign counts the other way round in two of four shops, and columns that say
/// nothing; `colour` is text, `group` numbers.
fn mixed(n: usize) -> String {
    let mut rng = Rng::new(9);
    let mut out = "shop,kind,group,a,b,c,colour,y\n".to_owned();
    for i in 0..n {
        let [shop, kind, group] = [0; 3].map(|_: u32| rng.below(4));
        let [a, b, c] = [0; 3].map(|_: u32| 7.0 * rng.normal());
        let yes = (shop == 0 || shop == 3) ^ (b > 0.0);
        let (colour, y) = (["red", "green", "blue"][i % 3], if yes { "yes" } else { "no" });
        let _ = writeln!(out, "{shop},{kind},{group},{a:.4},{b:.4},{c:.4},{colour},{y}");
    }
    out
}

#[test]
fn the_search_the_svm_the_model_and_the_proof_have_one_kernel() {
    let scratch = Scratch::new("kta_mixed");
    scratch.file("d.csv", mixed(90));
    let outputs = ["--json", "r.json", "--model", "m.json", "--proof", "x.proof"];
    let ran = scratch.run(&[&SELECT[..], &MIXED, &outputs].concat()).code(0);
    assert!(ran.out.contains("laplace, gamma") && ran.out.contains("1 of 2 features categories"), "{}", ran.out);
    let (result, model) = (scratch.json("r.json"), scratch.json("m.json"));
    assert_eq!(result["selected"], json!(["shop", "b"]));
    let settings = &result["settings"];
    assert_eq!((&settings["kernel"], &settings["categorical"]), (&json!("laplace"), &json!(["shop", "kind"])));
    assert_eq!(settings["gamma_rule"], "sigest:1");
    for trained in [&result["model"], &model["model"]] {
        assert_eq!((&trained["kernel"], &trained["gamma"]), (&json!("laplace"), &settings["gamma"]));
        assert_eq!(trained["categorical"], json!(["shop"]));
        let scaling = &trained["scaling"]["features"];
        assert_eq!(scaling["shop"], json!({"centre": 0.0, "scale": 1.0}));
        assert!(scaling["b"]["scale"].as_f64().expect("a number") > 3.0);
    }
    decides_by_its_definition(&scratch, &model["model"]);
    // The proof says which columns were left as they are.
    assert!(scratch.run(&["verify", "x.proof", "d.csv"]).code(0).out.starts_with("VERIFIED"));
}

/// `fewest predict` by the kernel's definition, from the model file alone.
fn decides_by_its_definition(scratch: &Scratch, model: &Value) {
    let number = |value: &Value| value.as_f64().expect("a number");
    let rows = "shop,kind,group,a,b,c,colour,y\n1,0,0,0,5.5,0,red,no\n3,0,0,0,-2.25,0,red,no\n9,0,0,0,0.5,0,red,no\n";
    scratch.file("new.csv", rows);
    scratch.run(&["predict", "m.json", "new.csv", "--out", "p.csv"]).code(0);
    let predicted = std::fs::read_to_string(scratch.path("p.csv")).expect("predictions");
    let (of_b, gamma) = (&model["scaling"]["features"]["b"], number(&model["gamma"]));
    let machine = &model["machines"][0];
    for (line, (shop, b)) in predicted.lines().skip(1).zip([(1.0, 5.5), (3.0, -2.25), (9.0, 0.5)]) {
        let b = (b - number(&of_b["centre"])) / number(&of_b["scale"]);
        let sum: f64 = machine["coefficients"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|entry| {
                let vector = &model["support_vectors"][entry[0].as_u64().expect("an index") as usize];
                let differs = f64::from(u8::from(shop != number(&vector[0])));
                number(&entry[1]) * (-gamma * (differs + (b - number(&vector[1])).abs())).exp()
            })
            .sum();
        let wanted = sum + number(&machine["intercept"]);
        let found: f64 = line.split(',').nth(1).and_then(|x| x.parse().ok()).expect("a decision value");
        assert!((found - wanted).abs() <= 1e-9 * (1.0 + wanted.abs()), "{line}: {wanted}");
    }
}

#[test]
fn folds_paths_and_costs_know_the_categories() {
    let scratch = Scratch::new("kta_mixed_more");
    scratch.file("d.csv", mixed(90));
    let evaluate = ["evaluate", "d.csv", "-m", "kta", "--max-features", "2", "--cv", "3", "--json", "e.json"];
    scratch.run(&[&evaluate[..], &MIXED].concat()).code(0);
    let with = scratch.json("e.json")["summary"]["accuracy"]["mean"].as_f64().expect("a number");
    let path = ["path", "d.csv", "-m", "kta", "--max-features", "1..2", "--json", "p.json", "--proof", "q.proof"];
    scratch.run(&[&path[..], &MIXED].concat()).code(0);
    let points = &scratch.json("p.json")["path"];
    assert_eq!(points[1]["selected"], json!(["shop", "b"]));
    assert_eq!(points[1]["settings"]["categorical"], json!(["shop", "kind"]));
    scratch.run(&["verify", "q-k2.proof", "d.csv"]).code(0);
    scratch.run(&[&SELECT[..], &MIXED, &["--cost", "auto", "--json", "c.json"]].concat()).code(0);
    assert_eq!(scratch.json("c.json")["model"]["categorical"], json!(["shop"]));
    assert!(with > 0.6, "{with}");
}

#[test]
fn a_missing_category_is_the_most_frequent_one() {
    let scratch = Scratch::new("kta_mixed_missing");
    let lines: Vec<String> = mixed(60).lines().map(str::to_owned).collect();
    let without = |(at, line): (usize, &String)| {
        if at % 20 == 5 { format!("{}\n", line.replacen(&line[..1], "", 1)) } else { format!("{line}\n") }
    };
    scratch.file("d.csv", lines.iter().enumerate().map(without).collect::<String>());
    let shops = lines.iter().enumerate().skip(1).filter(|(at, _)| at % 20 != 5).map(|(_, line)| &line[..1]);
    let shops: Vec<&str> = shops.collect();
    let count = |shop: &str| shops.iter().filter(|other| **other == shop).count();
    let most = ["0", "1", "2", "3"].into_iter().rev().max_by_key(|shop| count(shop)).expect("four shops");
    let options = ["--require", "shop", "--missing", "mean", "--json", "r.json"];
    scratch.run(&[&SELECT[..], &MIXED, &options].concat()).code(0);
    let fill = &scratch.json("r.json")["model"]["imputation"]["features"]["shop"]["fill"];
    assert_eq!(fill.as_f64(), most.parse().ok());
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let scratch = Scratch::new("kta_mixed_refused");
    scratch.file("d.csv", mixed(40));
    for (options, words) in [
        (&["--categorical", "colour"][..], "--categorical: there is no feature \"colour\": it became dummy columns"),
        (&["--categorical", "shops"], "did you mean \"shop\"?"),
        (&["--categorical", "shop,"], "empty name"),
        (&["--kernel", "poly"], "--kernel is poly, but must be rbf or laplace"),
        (&["--kernel", "laplace", "--scale", "none", "--model", "m", "--model-format", "libsvm"], "no laplace kernel"),
        (&["--kernel", "laplace", "--model", "m", "--model-format", "liblinear"], "liblinear has no kernels"),
    ] {
        let ran = scratch.run(&[&SELECT[..], options].concat()).code(2);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    let other = ["select", "d.csv", "-m", "exact", "--max-features", "2", "--categorical", "shop"];
    assert!(
        scratch.run(&other).code(2).err.contains("--categorical is an option of kta, milo-k and rmilo-k, not of exact")
    );
    // A state is of one kernel and one list of categories.
    let resume = ["--gamma", "0.4", "--resume", "state"];
    scratch.run(&[&SELECT[..], &MIXED, &resume].concat()).code(0);
    for (other, word) in [
        (&["--kernel", "rbf", "--categorical", "shop,kind"][..], "kernel was \"laplace\""),
        (&["--kernel", "laplace", "--categorical", "shop"], "categorical was"),
    ] {
        let ran = scratch.run(&[&SELECT[..], other, &resume].concat()).code(2);
        assert!(ran.err.contains(word), "{}", ran.err);
    }
}

#[test]
fn fit_and_rfe_take_the_laplace_kernel() {
    let scratch = Scratch::new("kta_mixed_fit");
    scratch.file("d.csv", mixed(60));
    let fit = ["fit", "d.csv", "--kernel", "laplace", "--features", "a,b", "--model", "m.json"];
    assert!(scratch.run(&fit).code(0).out.contains("laplace, gamma"));
    let model = &scratch.json("m.json")["model"];
    // scale: 1 / (2 sd) of columns that are standardised.
    assert!((model["gamma"].as_f64().expect("a number") - 0.5).abs() < 1e-12);
    assert_eq!((&model["kernel"], &model["categorical"]), (&json!("laplace"), &json!([])));
    scratch.run(&["predict", "m.json", "d.csv", "--out", "p.csv"]).code(0);
    let rfe = ["select", "d.csv", "-m", "rfe", "--kernel", "laplace", "--max-features", "2", "--json", "r.json"];
    scratch.run(&rfe).code(0);
    assert_eq!(scratch.json("r.json")["model"]["kernel"], "laplace");
}
