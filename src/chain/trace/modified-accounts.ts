import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import type { TraceOutput } from '../../evm/tracers/tracer-context.ts'
import { bytesToHex, type Hex } from '../../util/bytes.ts'
import { CodedError } from '../../util/errors.ts'
import type { AddressPreimages } from './preimages.ts'

/** Writes the addresses of hashed keys, in the order of the keys. Throws TRACE_FAILED when there are too many, or one is unknown. */
export const writeAddresses = (output: TraceOutput, keys: readonly Uint8Array[], known: AddressPreimages): void => {
  const limit = TRACE_LIMITS.modifiedAccounts
  if (keys.length > limit) throw failed(`more than ${limit} accounts were modified, ask for fewer blocks`)
  const addresses = keys.map(key => {
    const hash = bytesToHex(key)
    return known.get(hash) ?? unknown(hash)
  })
  output.write(JSON.stringify(addresses))
}

const failed = (reason: string) => new CodedError<TraceError>({ code: 'TRACE_FAILED', reason })

const unknown = (hash: Hex): never => {
  throw failed(`no preimage found for hash ${hash.slice(2)}`)
}
