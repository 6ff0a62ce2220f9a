/* Block and transaction values of the message: words that the host writes once, by index. */
import { WORD_BASE_FEE, WORD_BLOB_BASE_FEE, WORD_CHAIN_ID, WORD_COINBASE, WORD_GAS_LIMIT, WORD_GAS_PRICE, WORD_NUMBER, WORD_ORIGIN, WORD_PREV_RANDAO, WORD_TIMESTAMP } from "./layout";

export const WORDS: usize = memory.data(320, 16);
export const ORIGIN: usize = WORDS + WORD_ORIGIN * 32;
export const GAS_PRICE: usize = WORDS + WORD_GAS_PRICE * 32;
export const COINBASE: usize = WORDS + WORD_COINBASE * 32;
export const TIMESTAMP: usize = WORDS + WORD_TIMESTAMP * 32;
export const NUMBER: usize = WORDS + WORD_NUMBER * 32;
export const PREV_RANDAO: usize = WORDS + WORD_PREV_RANDAO * 32;
export const GAS_LIMIT: usize = WORDS + WORD_GAS_LIMIT * 32;
export const CHAIN_ID: usize = WORDS + WORD_CHAIN_ID * 32;
export const BASE_FEE: usize = WORDS + WORD_BASE_FEE * 32;
export const BLOB_BASE_FEE: usize = WORDS + WORD_BLOB_BASE_FEE * 32;

/** Versioned hashes of the transaction's blobs. */
export const BLOB_HASHES: usize = memory.data(1024 * 32, 16);
export let blobs: u32 = 0;
export function setBlobs(count: u32): void { blobs = count; }

/** Exchange between host and module: addresses, keys, words as 32 big-endian bytes. */
export const EXCHANGE: usize = memory.data(64, 16);
