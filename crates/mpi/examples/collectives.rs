//! Tests the collectives on the ranks started by `mpirun`; run by `crates/mpi/test.sh`.

use manyview::comm::{self, Comm};
use manyview::linalg::Real;
use manyview_mpi::Mpi;

fn main() {
    let mpi = Mpi::start().expect("MPI is initialized once");
    // Including odd lengths, and more than fit into one message of the sum.
    for length in [0, 1, 7, (1 << 18) - 1, (1 << 19) + 3] {
        sums::<f32>(&mpi, length);
        sums::<f64>(&mpi, length);
    }
    for most in [1, 2, 5, 1 << 20] {
        blocks::<f32>(&mpi, most);
        blocks::<f64>(&mpi, most);
    }
    for length in [0, 1, 1000, (1 << 20) + 1] {
        broadcast(&mpi, length);
    }
    if mpi.rank() == 0 {
        eprintln!("collectives are correct on {} ranks", mpi.size());
    }
}

fn sums<T: Real>(mpi: &Mpi, length: usize) {
    let number = |rank: usize, at: usize| ((at % 1000) * (rank + 1)) as f64;
    let mut buf: Vec<T> = (0..length).map(|at| T::from_f64(number(mpi.rank(), at))).collect();
    comm::all_reduce_sum(mpi, &mut buf);
    for (at, sum) in buf.iter().enumerate() {
        let expected: f64 = (0..mpi.size()).map(|rank| number(rank, at)).sum();
        assert_eq!(sum.to_f64(), expected, "{at} of {length}");
    }
}

/// Blocks of unequal length, some of them empty.
fn blocks<T: Real>(mpi: &Mpi, most: usize) {
    let block = |rank: usize| (0..rank * 3 % 5).map(move |at| T::from_f64((100 * rank + at) as f64));
    let expected: Vec<T> = (0..mpi.size()).flat_map(block).collect();
    let part: Vec<T> = block(mpi.rank()).collect();
    let mut whole = vec![T::ZERO; expected.len()];
    mpi.gather_in_pieces(T::slice(&part), T::slice_mut(&mut whole), most);
    assert_eq!(whole, expected);
}

fn broadcast(mpi: &Mpi, length: usize) {
    let byte = |rank: usize, at: usize| (at % 251 + 7 * rank) as u8;
    let mut bytes: Vec<u8> = (0..length).map(|at| byte(mpi.rank(), at)).collect();
    mpi.broadcast(&mut bytes);
    assert!(bytes.iter().enumerate().all(|(at, &sent)| sent == byte(0, at)), "{length} bytes");
}
