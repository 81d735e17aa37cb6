use fewest::method::elimination::*;
use fewest::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let b = std::fs::read(&a[1]).unwrap();
    let v: Vec<f64> = b.chunks(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    let (n, p) = (v[0] as usize, v[1] as usize);
    let x = v[2..2 + n * p].to_vec();
    let y = &v[2 + n * p..];
    let d = DenseDesign::new(n, p, x).unwrap();
    let pr = Problem::new(&d, y, None).unwrap();
    let rules = Rules::at_most_features(p, a[2].parse().unwrap()).unwrap();
    let mut s = RfeSettings::default();
    if let Some(t) = a.get(3) {
        s.svm.tolerance = t.parse().unwrap();
    }
    let t = std::time::Instant::now();
    let r = rfe(&pr, &rules, &s, Limits::default(), &mut Silent).unwrap();
    println!(
        "{:?} {:?} obj {:?} {:?} iters {} calls {}",
        t.elapsed(),
        r.outcome.status,
        r.outcome.objective,
        r.outcome.subset,
        r.outcome.counts.solver_iterations,
        r.outcome.counts.oracle_calls
    );
}
