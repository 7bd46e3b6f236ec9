//! Changes that know nothing of a format.

use crate::LONGEST;
use crate::random::Random;

/// Bytes that readers treat specially.
const SPECIAL: &[u8] =
    b"\0\n\r\t \",;#%'=[]{}\\/\x1b\x7f\x80\xc3\xef\xbb\xbf\xfe\xff\x1f\x8b\x28\xb5\x2f\xfd";

/// Makes one change.
pub fn change_bytes(input: &mut Vec<u8>, random: &mut Random) {
    let length = input.len();
    if length == 0 {
        input.push(random.byte());
        return;
    }
    let at = random.below(length);
    let some = 1 + random.below((length - at).min(16));
    match random.below(9) {
        0 => input[at] ^= 1 << random.below(8),
        1 => input[at] = random.byte(),
        2 => input[at] = SPECIAL[random.below(SPECIAL.len())],
        3 => input.insert(at, SPECIAL[random.below(SPECIAL.len())]),
        4 => input.truncate(at),
        5 => _ = input.drain(at..at + some),
        6 => {
            let copy = input[at..at + some].to_vec();
            let to = random.below(length);
            input.splice(to..to, copy);
        }
        7 => {
            let from = random.below(length - some + 1);
            input.copy_within(from..from + some, at);
        }
        _ => {
            // Long enough to pass the first buffer of a reader.
            let most = if random.one_in(50) { 2000 } else { 8 };
            let times = 1 + random.below(most);
            let copy = input[at..at + some].repeat(times);
            input.splice(at..at, copy);
            input.truncate(LONGEST);
        }
    }
}
