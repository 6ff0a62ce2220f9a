/*
 * Rules of the current fork. Prices and stack bounds of opcodes come from the host's table (evm/opcodes.ts), one row of
 * 8 bytes each: price u16, smallest height, largest height (both in bytes of the stack), flags.
 */
export const TABLE: usize = memory.data(2048, 16);

/** Prices besides those of opcodes. Berlin (EIP-2929). */
export const COLD_ACCOUNT: i64 = 2600;
export const WARM_READ: i64 = 100;
export const COLD_SLOT: i64 = 2100;

export let fork: i32 = 0;
export function setFork(place: i32): void { fork = place; }
/** Flags of a row: the fork has it; it fails in a static frame; a tracer watches it; and the number of operands on which its price depends. */
export const KNOWN: u32 = 1;
export const WRITES: u32 = 2;
export const WATCHED: u32 = 4;
export const PRICED_SHIFT: u32 = 4;
export function setOpcode(op: u32, price: u32, least: u32, most: u32, writes: bool, priced: u32): void {
  const row = TABLE + (<usize>op << 3);
  store<u16>(row, <u16>price);
  store<u16>(row, <u16>least, 2);
  store<u16>(row, <u16>most, 4);
  store<u16>(row, <u16>(KNOWN | (writes ? WRITES : 0) | priced << PRICED_SHIFT), 6);
}
/** Chooses whether a tracer sees the opcode. */
export function watchOpcode(op: u32, isWatched: bool): void {
  const row = TABLE + (<usize>op << 3), flags = <u32>load<u16>(row, 6) & ~WATCHED;
  store<u16>(row, <u16>(flags | (isWatched ? WATCHED : 0)), 6);
}
/** An opcode without a row fails: its smallest height exceeds any stack. */
export function clearOpcodes(): void {
  memory.fill(TABLE, 0, 2048);
  for (let op = 0; op < 256; op++) store<u16>(TABLE + (<usize>op << 3), 0xffff, 2);
}

/** Largest end of a memory range: its price is beyond every gas limit. */
const MEMORY_LIMIT: u64 = STEPS ? 1 << 31 : 1 << 32;
/** The step build adds up to three of them, where the other one stops at the first. */
export const UNPAYABLE: i64 = STEPS ? 1 << 61 : 1 << 62;

@inline export function words(size: u64): i64 { return <i64>((size + 31) >> 5); }
@inline function memoryPrice(count: i64): i64 { return 3 * count + ((count * count) >> 9); }

/** Gas for a memory of `have` bytes to reach `end` (yellow paper, C_mem). */
export function growthPrice(have: u64, end: u64): i64 {
  if (end <= have) return 0;
  if (end > MEMORY_LIMIT) return UNPAYABLE;
  return memoryPrice(words(end)) - memoryPrice(<i64>(have >> 5));
}
/** End of a range of memory; 0 when it is empty. */
@inline export function endOf(offset: u64, size: u64): u64 {
  if (size == 0) return 0;
  return offset > MEMORY_LIMIT || size > MEMORY_LIMIT ? u64.MAX_VALUE : offset + size;
}
/** Gas per word for any size; an unpayable amount where it would overflow. */
@inline export function perWord(size: u64, price: i64): i64 {
  return size > MEMORY_LIMIT ? UNPAYABLE : words(size) * price;
}
