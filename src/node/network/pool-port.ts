import type { Hex } from '@tandem/base/bytes.ts'
import type { PeerPoolPort, PeerPoolVerdict } from '../../network/ports.ts'
import type { PoolService } from '../../txpool/pool-service.ts'
import type { AdmitOutcome } from '../../txpool/pool-submission.ts'

/**
 * Errors of a transaction that is invalid on every node, whatever its head and options; its sender should have known.
 */
const INVALID: ReadonlySet<string> = new Set([
  'TRANSACTION_MALFORMED',
  'INVALID_CHAIN_ID',
  'INVALID_SENDER',
  'TIP_ABOVE_FEE_CAP',
  'OVERSIZED',
  'NONCE_MAX',
])

/** Pool as peers see it. */
export const poolPort = (pool: Pick<PoolService, 'get' | 'select' | 'receive'>): PeerPoolPort => ({
  has: hash => pool.get(hash) !== undefined,
  raw: hash => pool.get(hash)?.raw,
  ready(limit) {
    const selection = pool.select()
    const hashes: Hex[] = []
    for (let next = selection.next(); next !== undefined && hashes.length < limit; next = selection.next())
      hashes.push(next.hash)
    return hashes
  },
  receive: async raws => (await pool.receive(raws)).map(verdictOf),
})

const verdictOf = (admitOutcome: AdmitOutcome): PeerPoolVerdict => {
  if (typeof admitOutcome === 'string') return 'accepted'
  if (admitOutcome.code === 'ALREADY_KNOWN') return 'known'
  return INVALID.has(admitOutcome.code) ? 'invalid' : 'refused'
}
