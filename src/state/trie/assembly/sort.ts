import { compareKeys } from "./nodes";

/** Sorts the u32 pointers lo .. hi by the 32-byte keys they point to (merge sort); `temp` has room for as many. */
export function sortPointers(lo: usize, hi: usize, temp: usize): void {
  if (hi - lo <= 4 || isSorted(lo, hi)) return;
  const middle = lo + (((hi - lo) >> 3) << 2);
  sortPointers(lo, middle, temp);
  sortPointers(middle, hi, temp);
  memory.copy(temp, lo, middle - lo);
  let a = temp;
  const aEnd = temp + (middle - lo);
  let b = middle;
  let out = lo;
  while (a < aEnd && b < hi) {
    if (compareKeys(load<u32>(b), load<u32>(a)) < 0) {
      store<u32>(out, load<u32>(b));
      b += 4;
    } else {
      store<u32>(out, load<u32>(a));
      a += 4;
    }
    out += 4;
  }
  memory.copy(out, a, aEnd - a);
}

function isSorted(lo: usize, hi: usize): bool {
  for (let p = lo + 4; p < hi; p += 4) if (compareKeys(load<u32>(p - 4), load<u32>(p)) > 0) return false;
  return true;
}

/** True when sorted pointers contain a duplicate key. */
export function hasDuplicate(lo: usize, hi: usize): bool {
  for (let p = lo + 4; p < hi; p += 4) if (compareKeys(load<u32>(p - 4), load<u32>(p)) == 0) return true;
  return false;
}
