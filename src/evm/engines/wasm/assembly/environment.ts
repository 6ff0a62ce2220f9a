/* Block and transaction values of the message: words that the host writes once, by index. */
export const WORDS: usize = memory.data(320, 16);
export const ORIGIN: usize = WORDS;
export const GAS_PRICE: usize = WORDS + 32;
export const COINBASE: usize = WORDS + 64;
export const TIMESTAMP: usize = WORDS + 96;
export const NUMBER: usize = WORDS + 128;
export const PREV_RANDAO: usize = WORDS + 160;
export const GAS_LIMIT: usize = WORDS + 192;
export const CHAIN_ID: usize = WORDS + 224;
export const BASE_FEE: usize = WORDS + 256;
export const BLOB_BASE_FEE: usize = WORDS + 288;

/** Versioned hashes of the transaction's blobs. */
export const MAX_BLOBS: u32 = 64;
export const BLOB_HASHES: usize = memory.data(2048, 16);
export let blobs: u32 = 0;
export function setBlobs(count: u32): void { blobs = count; }

/** Exchange between host and module: addresses, keys, words as 32 big-endian bytes. */
export const EXCHANGE: usize = memory.data(64, 16);
