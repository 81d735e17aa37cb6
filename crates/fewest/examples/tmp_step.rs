use fewest::subset_oracle::*;
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
    let rules = Rules::none(p);
    let s = SvmSettings { tolerance: a[2].parse().unwrap(), ..Default::default() };
    let every: usize = a[3].parse().unwrap();
    let mut o = SubsetOracle::new(&pr, &rules, Subset::full(p), &s).unwrap();

    let (mut it, mut tt, mut ts, mut tr) = (0, 0.0, 0.0, 0.0);
    for k in 0..p - 10 {
        let t = std::time::Instant::now();
        let sol = o.train(&mut || None);
        tt += t.elapsed().as_secs_f64();
        it += sol.iterations;
        let (free, bound) = (
            sol.beta.iter().filter(|b| b.abs() > 0.0 && b.abs() < 1.0).count(),
            sol.beta.iter().filter(|b| b.abs() >= 1.0).count(),
        );
        if k % every == 0 || k == p - 11 {
            println!(
                "left {} it {} train {:.1}us small {:.1}us rem {:.1}us free {free} bound {bound} gap {:.1e} {:?} P {}",
                p - k,
                it / every as u64,
                1e6 * tt / every as f64,
                1e6 * ts / every as f64,
                1e6 * tr / every as f64,
                sol.gap(),
                sol.status,
                sol.primal
            );
            it = 0;
            tt = 0.0;
            ts = 0.0;
            tr = 0.0;
        }
        let t = std::time::Instant::now();
        let u = o.smallest(5)[0].0;
        ts += t.elapsed().as_secs_f64();
        let t = std::time::Instant::now();

        o.remove(&[u]);
        tr += t.elapsed().as_secs_f64();
    }
}
