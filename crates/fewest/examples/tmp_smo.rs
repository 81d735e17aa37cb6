use fewest::dual::*;
use fewest::kernel::{gram::GramMatrix, rows::CachedRows};
use fewest::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let b = std::fs::read(&a[1]).unwrap();
    let v: Vec<f64> = b.chunks(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    let (n, p) = (v[0] as usize, v[1] as usize);
    let x = v[2..2 + n * p].to_vec();
    let y = &v[2 + n * p..];
    let d = DenseDesign::new(n, p, x).unwrap();
    let c: f64 = a[2].parse().unwrap();
    let tol: f64 = a[3].parse().unwrap();
    for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 1.0 / p as f64 }] {
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            for bias in [Bias::Free, Bias::Penalised(1.0), Bias::None] {
                let s = SvmSettings { cost: c, tolerance: tol, loss, bias, ..Default::default() };
                let dual = BoxDual::new(y, &vec![1.0; n], &s);
                let all: Vec<usize> = (0..p).collect();
                let t = std::time::Instant::now();
                let gram = GramMatrix::linear(&d, &all).of_kernel(&kernel);
                let tg = t.elapsed();
                let r = smo::solve(&mut &gram, &dual, None, &mut Default::default(), &s, &mut || None);
                println!(
                    "{kernel:?} {loss:?} {bias:?} whole  {:?} (gram {tg:?}) {:?} P {} gap {:.2e} kkt {:.2e} it {}",
                    t.elapsed(),
                    r.status,
                    r.primal,
                    r.gap(),
                    r.kkt_residual,
                    r.iterations
                );
                let t = std::time::Instant::now();
                let rows = d.rows(&all);
                let r = smo::solve(
                    &mut CachedRows::new(&rows, kernel, s.memory),
                    &dual,
                    None,
                    &mut Default::default(),
                    &s,
                    &mut || None,
                );
                println!(
                    "{kernel:?} {loss:?} {bias:?} cached {:?} {:?} P {} gap {:.2e} kkt {:.2e} it {}",
                    t.elapsed(),
                    r.status,
                    r.primal,
                    r.gap(),
                    r.kkt_residual,
                    r.iterations
                );
            }
        }
    }
}
