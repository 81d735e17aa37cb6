//! `kta` with other kernels than the Gaussian one against enumeration and its proof files, the
//! gamma that rules find for other distances, and the SVM on such kernels against the judge.

use fewest::dual::BoxDual;
use fewest::kernel::{DistanceKernel, Distances};
use fewest::method::kta::{KtaSettings, kta};
use fewest::model::{FitSettings, Model, fit};
use fewest::{
    Bias, Clock, DenseDesign, Design, Gamma, Kernel, Limits, Loss, Method, RuleList, Rules, Samples, Silent, Status,
    Subset, SvmSettings,
};
use fewest_testing::{
    KeptProofs, RandomProblem, Rng, alignment_by, allowed_subsets, assert_kkt_kernel, dense_copy, kernel_distance,
    random_rules, verify_alignment,
};

const KERNELS: [DistanceKernel; 2] = [DistanceKernel::Rbf, DistanceKernel::Laplace];

fn exact_limits() -> Limits {
    Limits { gap_rel: 0.0, ..Limits::default() }
}

fn is_laplace(kernel: DistanceKernel) -> bool {
    kernel == DistanceKernel::Laplace
}

/// Values with the columns listed rounded to a few codes; every other problem has nothing else, so
/// that samples, pairs and subsets tie.
fn with_codes(design: &DenseDesign<'_>, codes: &[usize], all: bool) -> DenseDesign<'static> {
    let (n, p) = (design.n_samples(), design.n_features());
    let coded = |j: usize| codes.contains(&j) || all;
    let value = |j: usize, x: f64| if coded(j) { x.round() } else { x };
    let values: Vec<f64> = (0..p).flat_map(|j| design.column(j).iter().map(move |x| value(j, *x))).collect();
    DenseDesign::new(n, p, values).expect("n p values")
}

/// Design with the values of the first column in the last.
fn twins(design: &DenseDesign<'_>) -> DenseDesign<'static> {
    let (n, p) = (design.n_samples(), design.n_features());
    let values: Vec<f64> = (0..p).flat_map(|j| design.column(j % (p - 1)).to_vec()).collect();
    DenseDesign::new(n, p, values).expect("n p values")
}

#[test]
fn equals_enumeration_and_the_proof_holds_for_every_kernel_and_mix_of_features() {
    let (mut rng, mut compared, mut ties) = (Rng::new(22), 0, 0);
    for case in 0..2000 {
        let p = 2 + rng.below(6);
        let drawn = RandomProblem { n: 6 + rng.below(14), p, density: 0.8, noise: 0.2, seed: 1000 + case };
        let (numbers, labels) = drawn.draw();
        let mut categorical: Vec<usize> = (0..p).filter(|_| rng.chance([0.0, 0.5, 1.0][case as usize % 3])).collect();
        let mut dense = with_codes(&numbers, &categorical, rng.chance(0.3));
        if rng.chance(0.3) {
            // The last feature is the first one again: subsets tie.
            dense = twins(&dense);
            categorical.retain(|j| *j != p - 1);
            categorical.extend(categorical.contains(&0).then_some(p - 1));
        }
        let (sparse, _) = drawn.draw_sparse();
        let design: &dyn Design = if case % 7 == 0 { &sparse } else { &dense };
        let mut class: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
        if rng.chance(0.3) {
            for c in &mut class {
                *c += rng.below(2) as u32;
            }
        }
        if class.iter().all(|c| *c == class[0]) {
            continue;
        }
        let weights: Vec<f64> = class.iter().map(|_| if rng.chance(0.2) { 2.0 * rng.unit() } else { 1.0 }).collect();
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let (kernel, gamma) = (KERNELS[rng.below(2)], [0.03, 0.3, 1.0, 4.0][rng.below(4)]);
        let wanted = 1 + rng.below(4);
        let settings = KtaSettings {
            kernel,
            gamma: Gamma::Number(gamma),
            categorical,
            solutions: wanted,
            ..KtaSettings::default()
        };
        let distance = kernel_distance(gamma, is_laplace(kernel), &settings.categorical);
        let value = |s: &Subset| alignment_by(design, &class, &weights, s, &distance);
        let mut all: Vec<f64> = allowed_subsets(&rules).iter().map(value).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        ties += usize::from(all.len() > 1 && all[0] - all[1] <= 1e-13);
        let mut kept = KeptProofs::default();
        let found = kta(design, &class, &weights, &rules, &settings, exact_limits(), &mut kept).expect("valid");
        let about = format!("case {case}: p {p}, {settings:?}, {:?}", rules.list());
        assert_eq!(found.outcome.status, Status::Optimal, "{about}");
        let (objective, bound) = (found.outcome.objective.expect("a subset"), found.outcome.bound.expect("a bound"));
        assert!((objective - all[0]).abs() <= 1e-12 * (1.0 + all[0].abs()), "{about}: {objective}, but {}", all[0]);
        assert!((bound - objective).abs() <= 1e-12, "{about}: bound {bound}, objective {objective}");
        assert_eq!(found.solutions.len(), wanted.min(all.len()), "{about}");
        for (solution, truth) in found.solutions.iter().zip(&all) {
            assert!(rules.allows(&solution.subset), "{about}");
            let own = value(&solution.subset);
            assert!((solution.objective - own).abs() <= 1e-12 * (1.0 + own), "{about}: {own}, but {solution:?}");
            assert!((own - truth).abs() <= 1e-12 * (1.0 + truth.abs()), "{about}: {own}, but {truth}");
        }
        let verdict = verify_alignment(&kept.files[0], design, &class, &weights);
        let verdict = verdict.unwrap_or_else(|error| panic!("{about}: {error}"));
        assert!((-verdict.best().expect("listed").objective - objective).abs() <= 1e-11, "{about}");
        assert!(-verdict.bound() <= bound + 1e-11, "{about}: {} proven of {bound}", -verdict.bound());
        compared += 1;
    }
    assert!(compared >= 1000 && ties >= 20, "{compared} problems, {ties} with ties");
}

#[test]
fn a_category_is_its_indicators_together() {
    // |e_a - e_b|^2 / 2 = |e_a - e_b|_1 / 2 = 1 for two different categories.
    let (n, codes) = (30, 4);
    let mut rng = Rng::new(3);
    let columns: Vec<Vec<f64>> = (0..4).map(|_| (0..n).map(|_| rng.below(codes) as f64).collect()).collect();
    let number: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
    let class: Vec<u32> =
        (0..n).map(|i| u32::from(((columns[0][i] + columns[1][i]) as u32).is_multiple_of(2))).collect();
    let coded = DenseDesign::new(n, 5, [columns.concat(), number.clone()].concat()).expect("n 5 values");
    for kernel in KERNELS {
        let half = if is_laplace(kernel) { 0.5 } else { 0.5f64.sqrt() };
        let is = |x: &f64, code: usize| if *x == code as f64 { half } else { 0.0 };
        let indicators: Vec<f64> =
            columns.iter().flat_map(|c| (0..codes).flat_map(move |k| c.iter().map(move |x| is(x, k)))).collect();
        let p = 4 * codes + 1;
        let spread = DenseDesign::new(n, p, [indicators, number.clone()].concat()).expect("n p values");
        let together: Vec<Vec<usize>> = (0..4).map(|j| (codes * j..codes * (j + 1)).collect()).collect();
        let exact = exact_limits;
        let solve = |design: &dyn Design, rules: &Rules, categorical: Vec<usize>| {
            let settings = KtaSettings { kernel, gamma: Gamma::Number(0.7), categorical, ..KtaSettings::default() };
            kta(design, &class, &vec![1.0; n], rules, &settings, exact(), &mut Silent).expect("valid").outcome
        };
        let of_codes = solve(&coded, &Rules::none(5), vec![3, 0, 2, 1, 0]);
        let rules = Rules::new(p, RuleList { together, ..RuleList::default() }, &[]).expect("valid");
        let of_indicators = solve(&spread, &rules, Vec::new());
        let (a, b) = (of_codes.objective.expect("a subset"), of_indicators.objective.expect("a subset"));
        assert!((a - b).abs() <= 1e-12, "{kernel:?}: {a}, but {b}");
        let chosen: Vec<usize> = of_indicators.subset.expect("a subset").iter().map(|j| (j / codes).min(4)).collect();
        let of_codes = of_codes.subset.expect("a subset");
        assert!(chosen.iter().all(|j| of_codes.contains(*j)), "{of_codes:?}, but {chosen:?}");
        assert!(of_codes.contains(0) && of_codes.contains(1), "{of_codes:?}");
    }
}

/// Values of the kernel by its definition.
fn matrix(design: &dyn Design, features: &[usize], distance: &dyn Fn(usize, f64, f64) -> f64) -> Vec<Vec<f64>> {
    let rows = dense_copy(design);
    let value = |a: &Vec<f64>, b: &Vec<f64>| (-features.iter().map(|&j| distance(j, a[j], b[j])).sum::<f64>()).exp();
    rows.iter().map(|a| rows.iter().map(|b| value(a, b)).collect()).collect()
}

#[test]
fn the_svm_on_these_kernels_is_optimal_and_predicts_by_its_definition() {
    let mut rng = Rng::new(8);
    for (n, p, density) in [(14, 3, 1.0), (40, 7, 1.0), (36, 6, 0.5)] {
        let drawn = RandomProblem { n, p, density, noise: 0.15, seed: 40 + n as u64 };
        let (numbers, labels) = drawn.draw();
        let (sparse, _) = drawn.draw_sparse();
        let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
        let weights: Vec<f64> = (0..n).map(|_| 0.5 + rng.unit()).collect();
        // Not all features, and not in order.
        let features: Vec<usize> = (0..p).rev().filter(|j| *j != 1).collect();
        for (kernel, categorical) in [
            (Kernel::Laplace { gamma: 0.4 }, vec![]),
            (Kernel::Laplace { gamma: 0.4 }, vec![0, 1]),
            (Kernel::Rbf { gamma: 0.6 }, vec![2]),
            (Kernel::Rbf { gamma: 0.6 }, (0..p).collect()),
        ] {
            let coded = with_codes(&numbers, &categorical, false);
            let design: &dyn Design = if density < 1.0 { &sparse } else { &coded };
            let laplace = matches!(kernel, Kernel::Laplace { .. });
            let distance = kernel_distance(kernel.gamma().expect("gamma"), laplace, &categorical);
            let gram = matrix(design, &features, &distance);
            for (loss, bias) in [(Loss::Hinge, Bias::Free), (Loss::SquaredHinge, Bias::Penalised(1.5))] {
                // A whole matrix, and rows that are made again and again.
                for (memory, tolerance) in [(1 << 30, 1e-10), (12 * n as u64, 1e-7)] {
                    let svm = SvmSettings { cost: 3.0, loss, bias, tolerance, memory, ..SvmSettings::default() };
                    let settings = FitSettings {
                        svm: svm.clone(),
                        kernel,
                        categorical: categorical.clone(),
                        ..Default::default()
                    };
                    let model =
                        fit(design, &features, &classes, &weights, &settings, &Clock::unlimited()).expect("valid");
                    let solution = &model.machines[0].solution;
                    assert_eq!(
                        solution.status,
                        Status::Optimal,
                        "{n} {kernel:?} {categorical:?} gap {}",
                        solution.gap()
                    );
                    assert_kkt_kernel(&gram, &BoxDual::new(&labels, &weights, &svm), solution, 2.0 * tolerance);
                    assert_decides_by_definition(&model, design, &features, &gram);
                }
            }
        }
    }
}

/// Decision values are sums over the support vectors.
fn assert_decides_by_definition(model: &Model, design: &dyn Design, features: &[usize], gram: &[Vec<f64>]) {
    let machine = &model.machines[0];
    assert_eq!(model.features, features);
    for (i, found) in model.decisions(design).into_iter().enumerate() {
        let wanted = gram[i].iter().zip(&machine.solution.beta).map(|(k, b)| k * b).sum::<f64>() + machine.bias;
        assert!((found - wanted).abs() <= 1e-10 * (1.0 + wanted.abs()), "sample {i}: {found}, but {wanted}");
    }
}

#[test]
fn values_never_seen_differ_from_all() {
    let train = DenseDesign::new(4, 1, vec![1.0, 2.0, 1.0, 2.0]).expect("4 values");
    let settings =
        FitSettings { kernel: Kernel::Laplace { gamma: 2.0 }, categorical: vec![0], ..FitSettings::default() };
    let model = fit(&train, &[0], &[0, 1, 0, 1], &[1.0; 4], &settings, &Clock::unlimited()).expect("valid");
    let unseen = DenseDesign::new(3, 1, vec![3.0, -700.0, 1.5]).expect("3 values");
    let decisions = model.decisions(&unseen);
    let apart: f64 = model.machines[0].coefficients.iter().map(|c| c.1 * (-2.0f64).exp()).sum();
    assert!(decisions.iter().all(|d| (d - apart - model.machines[0].bias).abs() < 1e-15), "{decisions:?}");
    let error = fit(
        &train,
        &[0],
        &[0, 1, 0, 1],
        &[1.0; 4],
        &FitSettings { kernel: Kernel::Linear, ..settings },
        &Clock::unlimited(),
    );
    assert!(error.expect_err("no distances").to_string().contains("rbf or laplace"));
}

#[test]
fn rules_for_gamma_are_those_of_the_distances() {
    let (n, p) = (9, 3);
    let mut rng = Rng::new(4);
    let values: Vec<f64> = (0..n * p).map(|_| (3.0 * rng.normal()).round()).collect();
    let design = DenseDesign::new(n, p, values.clone()).expect("n p values");
    let counts = [1.0, 2.0, 1.0, 0.0, 3.0, 1.0, 1.0, 2.0, 1.0];
    for (kernel, categorical) in [
        (Kernel::Laplace { gamma: 1.0 }, vec![]),
        (Kernel::Laplace { gamma: 1.0 }, vec![1]),
        (Kernel::Rbf { gamma: 1.0 }, vec![0, 2]),
    ] {
        let laplace = matches!(kernel, Kernel::Laplace { .. });
        let distance = kernel_distance(1.0, laplace, &categorical);
        for repeats in [[1.0; 9], counts] {
            let samples: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, repeats[i] as usize)).collect();
            let mut apart = Vec::new();
            for (at, &i) in samples.iter().enumerate() {
                for &h in &samples[..at] {
                    apart.push((0..p).map(|j| distance(j, values[j * n + i], values[j * n + h])).sum::<f64>());
                }
            }
            apart.sort_by(f64::total_cmp);
            let median = 0.5 * (apart[(apart.len() - 1) / 2] + apart[apart.len() / 2]);
            let distances = Distances::new(&kernel, &categorical);
            let find = |rule: Gamma| {
                let found = rule.number_within(&design, Some(&repeats), 2, &distances, &Clock::new(&Limits::default()));
                found.expect("distances").expect("time")
            };
            let sigest = find(Gamma::Sigest(0.5));
            assert!((sigest - 0.5 / (2.0 / 3.0 * median)).abs() <= 1e-12 * sigest, "{sigest}, median {median}");
            let numbers: Vec<f64> = (0..p)
                .filter(|j| !categorical.contains(j))
                .flat_map(|j| samples.iter().map(move |i| (j, *i)))
                .map(|(j, i)| values[j * n + i])
                .collect();
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
            let unit = if laplace { variance.sqrt() } else { variance };
            let scale = find(Gamma::Scale);
            assert!((scale - 1.0 / (2.0 * unit)).abs() <= 1e-10 * scale, "{scale}, variance {variance}");
        }
    }
    let all = Distances::new(&Kernel::Rbf { gamma: 1.0 }, &[0, 1, 2]);
    assert_eq!(Gamma::Scale.number_within(&design, None, 2, &all, &Clock::new(&Limits::default())), Ok(Some(0.5)));
}

#[test]
fn the_report_names_the_kernel_and_its_categories_on_a_path_as_well() {
    let design = DenseDesign::new(6, 2, vec![0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).expect("12");
    let samples = Samples::new(&design, &[0, 1, 1, 0, 1, 1], None).expect("valid");
    let settings = KtaSettings { kernel: DistanceKernel::Laplace, categorical: vec![0], ..KtaSettings::default() };
    let report = settings.select(&samples, &Rules::none(2), Limits::default(), &mut Silent).expect("valid");
    assert!(matches!(report.kernel, Kernel::Laplace { gamma } if gamma > 0.0));
    assert_eq!(report.categorical, [0]);
    let path = settings.path(&samples, &Rules::none(2), &[1, 2], &Limits::default(), &mut Silent).expect("valid");
    for point in &path {
        assert!(matches!(point.report.kernel, Kernel::Laplace { gamma } if gamma > 0.0));
        let fit = point.report.fit_settings(&SvmSettings::default(), None, &Rules::none(2));
        assert_eq!((fit.kernel, fit.categorical), (point.report.kernel, vec![0]));
    }
    let wrong = KtaSettings { categorical: vec![2], ..settings };
    assert!(wrong.check(2).expect_err("no feature").to_string().contains("categorical is 2"));
}

#[test]
fn a_proof_is_one_of_its_kernel_alone() {
    let (numbers, labels) = RandomProblem { n: 24, p: 5, density: 1.0, noise: 0.2, seed: 5 }.draw();
    let design = with_codes(&numbers, &[0], false);
    let class: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let prove = |settings: KtaSettings| {
        let mut kept = KeptProofs::default();
        let rules = Rules::at_most_features(5, 3).expect("valid");
        kta(&design, &class, &[1.0; 24], &rules, &settings, exact_limits(), &mut kept).expect("valid");
        kept.files.remove(0)
    };
    let verify = |file: &[u8]| verify_alignment(file, &design, &class, &[1.0; 24]).map(drop);
    let gamma = Gamma::Number(0.8);
    let file =
        prove(KtaSettings { kernel: DistanceKernel::Laplace, gamma, categorical: vec![0], ..KtaSettings::default() });
    assert_eq!(verify(&file), Ok(()));
    let change = |from: &str, to: &str| {
        let end = file.iter().position(|b| *b == b'\n').expect("a header");
        let header = std::str::from_utf8(&file[..end]).expect("JSON");
        assert!(header.contains(from), "{header}");
        [header.replace(from, to).as_bytes(), &file[end..]].concat()
    };
    for (from, to) in [
        ("\"kernel\":\"laplace\"", "\"kernel\":\"rbf\""),
        ("\"categorical\":[0]", "\"categorical\":[]"),
        ("\"categorical\":[0]", "\"categorical\":[5]"),
        ("\"kernel\":\"laplace\"", "\"kernel\":\"cubic\""),
    ] {
        assert!(verify(&change(from, to)).is_err(), "{to}");
    }
    // Files of earlier versions name no kernel: theirs is the Gaussian one.
    let gaussian = prove(KtaSettings { gamma, ..KtaSettings::default() });
    let text = String::from_utf8_lossy(&gaussian[..gaussian.iter().position(|b| *b == b'\n').expect("a header")]);
    let before = text.replace("\"categorical\":[],", "").replace("\"kernel\":\"rbf\",", "");
    assert!(before.len() < text.len() - 20, "{text}");
    assert_eq!(verify(&[before.as_bytes(), &gaussian[text.len()..]].concat()), Ok(()));
}
