import { concatBytes, type Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import { wire } from '../network/raw-peer.ts'

const HASH: Hex = `0x${'ab'.repeat(32)}`

/** One to three bytes changed, taken out or put in; rather at the front, where the heads are. */
export const mutate = (bytes: Uint8Array, random: Random): Uint8Array => {
  const out = [...bytes]
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.chance(0.7) ? random.below(Math.min(40, out.length)) : random.below(out.length)
    const how = random.below(4)
    if (how === 0) out[at] = random.below(256)
    else if (how === 1) out[at] = (out[at] ?? 0) ^ (1 << random.below(8))
    else if (how === 2) out.splice(at, 1 + random.below(4))
    else out.splice(at, 0, random.below(256))
  }
  return Uint8Array.from(out)
}

/** Messages that a stranger may send, one of each kind. */
export const TALK = concatBytes(
  wire('ping', { head: { number: 0, hash: HASH }, earliest: 0 }, 1),
  wire('transactionHashes', [HASH]),
  wire('getBlocks', { from: 0, count: 3 }, 2),
  wire('newTransactions', [new Uint8Array(50).fill(1)]),
  wire('newBlockHash', {
    number: 1,
    hash: HASH,
    certificate: { round: 0, bitmap: Uint8Array.of(1), seals: [new Uint8Array(65)] },
  }),
  wire('links', []),
)
