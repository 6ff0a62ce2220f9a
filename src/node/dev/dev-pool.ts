import { CodedError, undefinedIfCoded } from '@tandem/base/errors.ts'
import type { DevMiner } from '../../chain/dev/dev-miner.ts'
import type { NextBlockSettings } from '../../chain/dev/next-block.ts'
import type { ClientPoolPort } from '../../chain/store/types.ts'
import { decodeTransaction } from '../../primitives/transaction/transaction.ts'
import type { PoolError } from '../../txpool/pool/errors.ts'
import type { PoolParts } from '../parts/pool.ts'

/** Pool as the helpers of a development chain see it. */
export const devPool = ({ service, reset }: PoolParts) => ({
  reset,
  drop: (hashes: readonly `0x${string}`[]) => service.drop(hashes),
  clear: () => service.clear(),
  waiting: () => {
    const { pending, queued } = service.content()
    return [...pending.values(), ...queued.values()].flat()
  },
  submit: (raw: Uint8Array) => service.submit(raw),
})

/** Pool as clients see it: with automine a submission resolves when its block is committed. */
export const answeringPool = (
  service: PoolParts['service'],
  miner: DevMiner,
  settings: NextBlockSettings,
): ClientPoolPort => ({
  async submit(raw, sender) {
    checkGasLimit(raw, settings.current.gasLimit)
    const hash = await service.submit(raw, sender)
    if (miner.mode.automine) await miner.settled()
    return hash
  },
  get: hash => service.get(hash),
  nextNonce: address => service.nextNonce(address),
  counts: () => service.counts(),
  content: () => service.content(),
  onPending: listener => service.onPending(listener),
})

/** Refuses a transaction above a limit that `evm_setBlockGasLimit` has set; the pool knows the limit of the network only. */
const checkGasLimit = (raw: Uint8Array, limit: bigint | undefined): void => {
  if (limit === undefined) return
  // The pool tells why bytes are no transaction.
  const have = undefinedIfCoded(() => decodeTransaction(raw))?.gasLimit
  if (have !== undefined && have > limit) throw new CodedError<PoolError>({ code: 'GAS_LIMIT_TOO_HIGH', have, limit })
}
