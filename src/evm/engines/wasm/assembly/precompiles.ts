/* Precompiles that the module runs itself: IDENTITY, SHA256 of inputs up to half a kilobyte, and ECADD. The others are the host's. */
import { sha256 } from "../../../../crypto/assembly/sha256";
import { sumPoints } from "./curve-sums";
import { endFrame } from "./ends";
import { returned } from "./memory";
import { fork, perWord } from "./prices";
import { frame } from "./frames";
import { failFor, needs } from "./status";
import { INPUT, NEEDS_PRECOMPILE, OUT_OF_GAS, RETURNED } from "./layout";
import { ISTANBUL } from "./forks";

const SHA256: u32 = 2;
const SHA256_PRICE: i64 = 60;
const SHA256_WORD_PRICE: i64 = 12;
/** Longer inputs go to the host, whose code hashes faster, in parts. */
const SHA256_LIMIT: u32 = 512;
const IDENTITY: u32 = 4;
const IDENTITY_PRICE: i64 = 15;
const IDENTITY_WORD_PRICE: i64 = 3;

const ECADD: u32 = 6;
/** EIP-1108. */
const ECADD_PRICE: i64 = 150;

/** Runs the precompile of the current frame, or hands it to the host. */
export function precompile(number: u32, gas: i64, size: u32): i32 {
  if (number == SHA256 && size <= SHA256_LIMIT) return hash(gas - SHA256_PRICE - perWord(size, SHA256_WORD_PRICE), size);
  if (number == IDENTITY) return identity(gas - IDENTITY_PRICE - perWord(size, IDENTITY_WORD_PRICE), size);
  if (number == ECADD && fork >= ISTANBUL) return sum(gas - ECADD_PRICE, size);
  return needs(NEEDS_PRECOMPILE, number);
}

/** The host fails where a point is invalid, as its error is not that of other failures. */
function sum(left: i64, size: u32): i32 {
  if (left < 0) return endFrame(failFor(OUT_OF_GAS), 0, 0, 0);
  if (!sumPoints(returned, load<u32>(frame, INPUT), size)) return needs(NEEDS_PRECOMPILE, ECADD);
  return endFrame(RETURNED, left, returned, 64);
}

function hash(left: i64, size: u32): i32 {
  if (left < 0) return endFrame(failFor(OUT_OF_GAS), 0, 0, 0);
  sha256(load<u32>(frame, INPUT), size, returned);
  return endFrame(RETURNED, left, returned, 32);
}

function identity(left: i64, size: u32): i32 {
  if (left < 0) return endFrame(failFor(OUT_OF_GAS), 0, 0, 0);
  return endFrame(RETURNED, left, load<u32>(frame, INPUT), size);
}
